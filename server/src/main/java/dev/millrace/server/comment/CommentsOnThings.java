package dev.millrace.server.comment;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Comments;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.ddl.HeldDefinitions;
import dev.millrace.server.ddl.Indexes;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.CommentStatement;
import dev.millrace.sql.statement.CommentStatement.OnColumn;
import dev.millrace.sql.statement.CommentStatement.OnConstraint;
import dev.millrace.sql.statement.CommentStatement.OnDatabase;
import dev.millrace.sql.statement.CommentStatement.OnObject;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** COMMENT ON what is in the catalog; on roles it is part of what is kept of them. */
public final class CommentsOnThings {
    /** What COMMENT ON TABLE may name, too, as ALTER TABLE does. */
    private static final Set<ObjectKind> RELATIONS = Set.of(
            ObjectKind.STREAM,
            ObjectKind.TABLE,
            ObjectKind.VIEW,
            ObjectKind.MATERIALIZED_VIEW,
            ObjectKind.CONTINUOUS_QUERY);

    private final Instance database;
    private final HeldDefinitions held;
    private final Consumer<String> notices;

    public CommentsOnThings(Instance database, HeldDefinitions held, Consumer<String> notices) {
        this.database = database;
        this.held = held;
        this.notices = notices;
    }

    public Command execute(CommentStatement statement) {
        database.lockDefinitions();
        try {
            target(statement).ifPresent(on -> {
                Comments comments = database.catalog().comments();
                Optional<String> before = comments.on(on);
                comments.put(on, statement.text());
                held.step(() -> comments.put(on, before), () -> {});
            });
            return Command.of("COMMENT");
        } finally {
            database.definitionLock().unlock();
        }
    }

    private Optional<Commented> target(CommentStatement statement) {
        if (statement instanceof OnObject on) {
            return Optional.of(Commented.thing(object(on.kind(), on.name())));
        } else if (statement instanceof OnColumn on) {
            return Optional.of(column(relation(on.relation()), on.column()));
        } else if (statement instanceof OnConstraint on) {
            CatalogObject table = relation(on.relation());
            return Optional.of(Optional.of(Comments.constraint(database.catalog(), table.name(), on.constraint()))
                    .filter(found -> isConstraint(table, found))
                    .orElseThrow(() -> MillraceException.user(
                            SqlState.UNDEFINED_OBJECT,
                            "constraint \"" + on.constraint() + "\" for table \"" + RelationNames.shown(table.name())
                                    + "\" does not exist")));
        }
        return database(((OnDatabase) statement).database());
    }

    /** As in PostgreSQL a dump of another database can be read. */
    private Optional<Commented> database(String name) {
        if (!name.equals(Setting.DATABASE.defaultValue())) {
            notices.accept("database \"" + name + "\" does not exist");
            return Optional.empty();
        }
        return Optional.of(Commented.DATABASE);
    }

    private String object(ObjectKind kind, String name) {
        DatabaseCatalog catalog = database.catalog();
        if (kind == ObjectKind.SCHEMA && RelationNames.isAlwaysThere(RelationNames.shown(name))) {
            return name;
        }
        Optional<ObjectKind> is = catalog.object(name).map(CatalogObject::kind);
        boolean isRelation =
                kind == ObjectKind.TABLE && is.filter(RELATIONS::contains).isPresent();
        boolean isView = kind == ObjectKind.VIEW && is.equals(Optional.of(ObjectKind.CONTINUOUS_QUERY));
        if (kind == ObjectKind.INDEX && is.isEmpty()) {
            throw Indexes.undefined(name);
        }
        return isRelation || isView ? name : catalog.require(kind, name).name();
    }

    private CatalogObject relation(String name) {
        return database.catalog()
                .object(name)
                .filter(object -> RELATIONS.contains(object.kind()))
                .orElseGet(() -> database.catalog().require(ObjectKind.TABLE, name)); // which says what it is
    }

    private static Commented column(CatalogObject relation, String column) {
        if (relation.schema().indexOf(column) < 0) {
            MillraceException error = MillraceException.user(
                    SqlState.UNDEFINED_COLUMN,
                    "column \"" + column + "\" of relation \"" + RelationNames.shown(relation.name())
                            + "\" does not exist");
            throw Suggestion.nearest(column, relation.schema().names())
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElse(error);
        }
        return new Commented(Commented.Kind.COLUMN, relation.name(), column);
    }

    private boolean isConstraint(CatalogObject table, Commented on) {
        boolean isIndex = database.catalog().indexes(table.name()).stream()
                .anyMatch(
                        index -> database.catalog().withoutSchema(index.name()).equals(on.part()));
        return !isIndex && Comments.has(table, on);
    }
}
