package dev.millrace.server.ddl;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.permission.Permissions;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.SchemaStatement;
import dev.millrace.sql.statement.SchemaStatement.CreateSchema;
import dev.millrace.sql.statement.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** CREATE and DROP SCHEMA. A schema is an object of the catalog that all depends on which is in it. */
public final class Schemas {
    private final Instance database;
    private final Consumer<String> notices;
    private final Identity identity;
    private final Permissions permissions;
    private final Drops drops;
    private final HeldDefinitions held;

    public Schemas(
            Instance database,
            Consumer<String> notices,
            Identity identity,
            Permissions permissions,
            Drops drops,
            HeldDefinitions held) {
        this.database = database;
        this.notices = notices;
        this.identity = identity;
        this.permissions = permissions;
        this.drops = drops;
        this.held = held;
    }

    public Command execute(SchemaStatement statement) {
        return create((CreateSchema) statement);
    }

    private Command create(CreateSchema create) {
        Command created = Command.of("CREATE SCHEMA");
        database.lockDefinitions();
        try {
            DatabaseCatalog catalog = database.catalog();
            String owner = catalog.roles()
                    .require(create.owner().map(identity::named).orElseGet(identity::current))
                    .name();
            String schema = create.name().orElse(owner);
            permissions.requireMember(owner);
            if (catalog.isSchema(schema)) {
                String exists = "schema \"" + schema + "\" already exists";
                if (!create.ifNotExists()) {
                    throw MillraceException.user(SqlState.DUPLICATE_SCHEMA, exists);
                }
                notices.accept(exists + ", skipping");
                return created;
            }
            requireMayBe(catalog, schema);
            CatalogObject object =
                    CatalogObject.schema(schema, database.catalogStore().creationMicros());
            catalog.add(object);
            held.made(object.name(), () -> drops.takeBack(object.name()));
            catalog.made(object, owner);
            return created;
        } finally {
            database.definitionLock().unlock();
        }
    }

    /**
     * Refuses what cannot be the name of a schema: those of the system's, and what looks like one in a name of {@code public}, which before there
     * were schemas could have a point.
     */
    static void requireMayBe(DatabaseCatalog catalog, String schema) {
        if (schema.startsWith("pg_")) {
            throw MillraceException.user(SqlState.RESERVED_NAME, "unacceptable schema name \"" + schema + "\"")
                    .withHint("names that begin with \"pg_\" are the system's");
        }
        if (catalog.isSchema(schema)) {
            return;
        }
        Optional<String> taken = catalog.objects().stream()
                .map(CatalogObject::name)
                .filter(name -> name.startsWith(RelationNames.ofSchema(schema)))
                .findFirst();
        if (taken.isPresent()) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + taken.get() + "\" of the schema public has a name as if it were in a schema \""
                                    + schema + "\"")
                    .withHint("another name for the schema; or make it anew under another name, and drop it");
        }
    }

    /** DROP SCHEMA: with CASCADE all that is in it, and what reads that. */
    public Command drop(Statement.Drop drop) {
        database.lockDefinitions();
        try {
            List<String> present = new ArrayList<>();
            for (String name : drop.names()) {
                String schema = RelationNames.shown(name);
                if (RelationNames.isAlwaysThere(schema)) {
                    throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "cannot drop schema \"" + schema + "\" because it is required by the database system");
                } else if (database.catalog().isSchema(schema)) {
                    present.add(name);
                } else if (drop.ifExists()) {
                    notices.accept("schema \"" + schema + "\" does not exist, skipping");
                } else {
                    throw DatabaseCatalog.undefinedSchema(schema);
                }
            }
            drops.all(present, drop.cascade()).forEach(database.catalog().roles()::forget);
            return Command.of("DROP SCHEMA");
        } finally {
            database.definitionLock().unlock();
        }
    }
}
