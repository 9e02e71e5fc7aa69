package dev.millrace.server.permission;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.user.UserModules;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.pgcatalog.RelationAccess;
import dev.millrace.server.role.Roles;
import dev.millrace.server.secret.SecretReferences;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.CommentStatement;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.SchemaStatement;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.statement.SubscriptionStatement;
import dev.millrace.sql.statement.WithChanges;
import dev.millrace.sql.syntax.Syntax;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Whether a session's role may do what a statement says; asked once for each statement, when its names are bound and before
 * anything is done, so that what was granted or revoked meanwhile counts from the next statement on.
 */
public final class Permissions {
    /** Connectors that reach files of the server. */
    private static final Set<String> FILE_CONNECTORS = Set.of("file", "jdbc"); // by addresses such as jdbc:sqlite:/path

    private static final Securable DATABASE = new Securable(Securable.Kind.DATABASE, Setting.DATABASE.defaultValue());

    private final DatabaseCatalog catalog;
    private final Roles roles;
    private final Identity identity;

    public Permissions(DatabaseCatalog catalog, Identity identity) {
        this.catalog = catalog;
        this.roles = catalog.roles();
        this.identity = identity;
    }

    /**
     * @param syntax that the statement was made of
     * @throws MillraceException 42501 if the role may not
     */
    public void require(Statement statement, Syntax syntax) {
        if (!identity.isSuperuser()) {
            check(statement, syntax);
        }
    }

    /** @throws MillraceException 42501 if the role may not insert into the relation */
    public void requireInsert(String relation) {
        if (!identity.isSuperuser()) {
            on(relation, Privilege.INSERT);
        }
    }

    private void check(Statement statement, Syntax syntax) {
        if (statement instanceof Statement.Select select) {
            reads(select.query());
        } else if (statement instanceof Statement.Subscribe subscribe) {
            reads(subscribe.query());
        } else if (statement instanceof Statement.Insert insert) {
            on(insert.relation(), Privilege.INSERT);
            returns(insert.relation(), insert.returning());
            if (insert.onConflict() instanceof OnConflict.Replace) {
                on(insert.relation(), Privilege.UPDATE);
            } else if (insert.onConflict() instanceof OnConflict.Update update) {
                on(insert.relation(), Privilege.UPDATE);
                reads(update.changes());
                if (update.reads()) {
                    on(insert.relation(), Privilege.SELECT);
                }
            }
            if (insert.source() instanceof Query query) {
                reads(query);
            }
        } else if (statement instanceof Statement.Update update) {
            on(update.relation(), Privilege.UPDATE);
            boolean chooses =
                    syntax instanceof Syntax.Update text && text.where().isPresent();
            changes(update.relation(), update.changes(), chooses);
            returns(update.relation(), update.returning());
        } else if (statement instanceof Statement.Delete delete) {
            on(delete.relation(), Privilege.DELETE);
            boolean chooses =
                    syntax instanceof Syntax.Delete text && text.where().isPresent();
            changes(delete.relation(), delete.rows(), chooses);
            returns(delete.relation(), delete.returning());
        } else if (statement instanceof Merge merge) {
            merge.actions()
                    .forEach(action ->
                            on(merge.relation(), Privilege.valueOf(action.kind().name())));
            reads(merge.changes()); // the table, too: ON looks at it
            returns(merge.relation(), merge.returning());
        } else if (statement instanceof WithChanges with && syntax instanceof Syntax.WithChanges text) {
            for (int i = 0; i < with.parts().size(); i++) {
                check(with.parts().get(i).change(), text.parts().get(i).change());
            }
            check(with.main(), text.main());
        } else if (statement instanceof Statement.Truncate truncate) {
            truncate.relations().forEach(name -> on(name, Privilege.TRUNCATE));
        } else if (statement instanceof Statement.CopyFrom copy) {
            on(copy.relation(), Privilege.INSERT);
            if (copy.file().isPresent()) {
                files(Roles.READ_FILES, "COPY from a file");
            }
        } else if (statement instanceof Statement.CopyTo copy) {
            check(copy.source(), syntax);
            if (copy.file().isPresent()) {
                files(Roles.WRITE_FILES, "COPY to a file");
            }
        } else if (statement instanceof Statement.DeclareCursor declare) {
            check(declare.source(), syntax);
        } else if (statement instanceof Statement.Explain explain) {
            check(explain.statement(), syntax);
        } else if (statement instanceof Statement.ExplainAnalyze explain) {
            check(explain.statement(), syntax);
        } else if (statement instanceof Statement.ExplainRunning explain) {
            on(explain.name(), Privilege.SELECT);
        } else if (statement instanceof Statement.SetSetting set) {
            settings(PassiveSettings.isPassive(set.name()) ? List.of() : List.of(Setting.named(set.name())));
        } else if (statement instanceof Statement.AlterSystem && !identity.isSuperuser()) {
            throw denied("permission denied to change settings of the system: only superusers do");
        } else if (statement instanceof Statement.ResetSetting reset
                && reset.name().filter(name -> !PassiveSettings.isPassive(name)).isPresent()) {
            settings(List.of(Setting.named(reset.name().get())));
        } else {
            definition(statement);
        }
    }

    private void definition(Statement statement) {
        if (statement instanceof Statement.CreateStream create) {
            creates(create.name(), create.ifExists());
            sources(create.options());
        } else if (statement instanceof Statement.CreateStreamAs create) {
            creates(create.name(), create.ifExists());
            reads(create.query());
        } else if (statement instanceof Statement.CreateTable create) {
            creates(create.name(), create.ifExists());
            sources(create.options());
        } else if (statement instanceof Statement.CreateContinuousQuery create) {
            creates(create.name(), create.ifExists());
            replaces(create.options());
            reads(create.query());
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            creates(create.name(), create.ifExists());
            replaces(create.options());
            reads(create.query());
        } else if (statement instanceof Statement.CreateView create) {
            creates(create.name(), create.ifExists());
            reads(create.query());
        } else if (statement instanceof Statement.CreateTableAs create) {
            creates(create.name(), create.ifExists());
            reads(create.query());
        } else if (statement instanceof Statement.CreateSink create) {
            creates(create.name(), create.ifExists());
            reads(create.query());
            if (FILE_CONNECTORS.contains(create.options().getOrDefault("connector", ""))) {
                files(Roles.WRITE_FILES, "write files of the server");
            }
            references(create.options());
        } else if (statement instanceof Statement.CreateQueryTemplate create) {
            creates(create.name(), create.ifExists());
        } else if (statement instanceof Statement.CreateFunction create) {
            creates(create.name(), create.ifExists());
            Securable language = new Securable(Securable.Kind.LANGUAGE, create.language());
            if (!create.language().equals("sql") && !roles.has(identity.current(), Privilege.USAGE, language)) {
                throw denied("permission denied for language " + create.language())
                        .withHint(
                                "what it runs, the server runs: a superuser can create the function and GRANT EXECUTE");
            }
            if (create.language().equals("wasm")
                    && !UserModules.isInline(create.definition().get(0))) {
                files(Roles.READ_FILES, "read files of the server");
            }
        } else if (statement instanceof SchemaStatement.CreateSchema) {
            requireOnDatabase();
        } else if (statement instanceof Statement.Drop drop) {
            drop.names().forEach(this::owns);
        } else if (statement instanceof SubscriptionStatement.CreateSubscription create) {
            creates(create.name(), Statement.IfExists.FAIL);
            on(create.query(), Privilege.SELECT);
        } else if (statement instanceof Statement.AlterQuery alter) {
            owns(alter.name());
            reads(alter.query());
        } else if (statement instanceof AlterTable alter) {
            owns(alter.name());
        } else if (statement instanceof RenameStatement rename) {
            renames(rename);
        } else if (statement instanceof CommentStatement comment) {
            comments(comment);
        } else if (statement instanceof IndexStatement.CreateIndex create) {
            owns(create.relation());
        } else if (statement instanceof IndexStatement.RenameIndex rename) {
            owns(rename.name());
        } else if (statement instanceof IndexStatement.Reindex reindex) {
            owns(reindex.name());
        } else if (statement instanceof Statement.NoOperation nothing) {
            boolean reads = nothing.command().equals("LOCK TABLE"); // in a mode that SELECT takes, too
            nothing.relations().forEach(reads ? name -> on(name, Privilege.SELECT) : this::owns);
        } else if (statement instanceof Statement.AlterOptions alter) {
            owns(alter.name());
        } else if (statement instanceof Statement.AlterEdge alter) {
            owns(alter.stream());
        } else if (statement instanceof Statement.Pause pause) {
            owns(pause.name());
        } else if (statement instanceof Statement.Resume resume) {
            owns(resume.name());
        } else if (statement instanceof Statement.Reprocess reprocess) {
            owns(reprocess.name());
        } else if (statement instanceof Statement.ApplyReplacement apply) {
            owns(apply.name());
            owns(apply.replacement());
        }
    }

    private void renames(RenameStatement statement) {
        owns(statement.name());
        if (statement instanceof RenameStatement.Rename rename && rename.kind() == ObjectKind.SCHEMA) {
            requireOnDatabase();
        } else if (statement instanceof RenameStatement.Rename rename) {
            creates(rename.newName(), Statement.IfExists.FAIL);
        } else if (statement instanceof RenameStatement.SetSchema set && catalog.isSchema(set.schema())) {
            requireOnSchema(Privilege.CREATE, set.schema());
        } else if (statement instanceof RenameStatement.Swap swap) {
            owns(swap.other());
        }
    }

    private void comments(CommentStatement statement) {
        if (statement instanceof CommentStatement.OnObject on && on.kind() == ObjectKind.SCHEMA) {
            String schema = RelationNames.shown(on.name());
            if (catalog.isSchema(schema)) {
                requireOwner(roles.owner(on.name()), "schema " + schema);
            }
        } else if (statement instanceof CommentStatement.OnObject on) {
            owns(on.name());
        } else if (statement instanceof CommentStatement.OnColumn on) {
            owns(on.relation());
        } else if (statement instanceof CommentStatement.OnConstraint on) {
            owns(on.relation());
        } else if (statement instanceof CommentStatement.OnDatabase on) {
            requireOwner(Roles.OWNER, "database " + on.database());
        }
    }

    private void requireOwner(String owner, String what) {
        if (!roles.hasPrivilegesOf(identity.current(), owner)) {
            throw denied("must be owner of " + what);
        }
    }

    private void requireOnDatabase() {
        if (!roles.has(identity.current(), Privilege.CREATE, DATABASE)) {
            throw denied("permission denied for database " + DATABASE.name())
                    .withHint("GRANT CREATE ON DATABASE " + DATABASE.name() + " TO " + identity.current());
        }
    }

    private void replaces(Map<String, String> options) {
        Optional.ofNullable(options.get(CatalogObject.REPLACES)).ifPresent(this::owns);
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    private void reads(Query query) {
        query.files().values().forEach(files -> sources(files.options()));
        query.named().forEach(this::reads);
    }

    /** A relation, or a view, which reads with the privileges of its owner. */
    private void reads(String name) {
        Optional<CatalogObject> ofTemplate = catalog.object(name)
                .filter(object -> TemplateQueries.template(object).isPresent());
        if (ofTemplate.isPresent()) {
            ofTemplate.get().reads().forEach(this::reads);
            return;
        }
        on(name, Privilege.SELECT);
        catalog.object(name).filter(object -> object.kind() == ObjectKind.VIEW).ifPresent(this::ownerReads);
    }

    private void ownerReads(CatalogObject view) {
        String owner = roles.owner(view.name());
        for (String read : view.reads()) {
            if (!RelationAccess.allows(catalog, owner, Privilege.SELECT, read)) {
                throw denied("permission denied for " + kind(read) + " " + read)
                        .withHint("view \"" + view.name() + "\" reads it as its owner, \"" + owner + "\"");
            }
            catalog.object(read)
                    .filter(object -> object.kind() == ObjectKind.VIEW)
                    .ifPresent(this::ownerReads);
        }
    }

    private void returns(String relation, Optional<Statement.Returning> returning) {
        returning.ifPresent(rows -> {
            on(relation, Privilege.SELECT);
            reads(rows.query());
        });
    }

    private void changes(String target, Query query, boolean readsTarget) {
        Set<String> read = new HashSet<>(query.named());
        if (!readsTarget) {
            read.remove(target);
        }
        read.forEach(this::reads);
    }

    /** What is in a schema of users is for those who may use that. */
    private void uses(String name) {
        String schema = catalog.schemaOf(name);
        if (!RelationNames.isSchema(name) && !RelationNames.isAlwaysThere(schema)) {
            requireOnSchema(Privilege.USAGE, schema);
        }
    }

    private void on(String name, Privilege privilege) {
        uses(name);
        if (!RelationAccess.allows(catalog, identity.current(), privilege, name)) {
            throw denied(
                    catalog.object(name).isPresent()
                            ? "permission denied for " + kind(name) + " " + name
                            : "permission denied for view " + name.substring(name.indexOf('.') + 1));
        }
    }

    private String kind(String name) {
        return catalog.object(name).map(object -> object.kind().sqlName()).orElse("relation");
    }

    /** Calls of a function, where its name is bound. */
    public void requireExecute(String function) {
        if (identity.isSuperuser()) {
            return;
        }
        uses(function);
        if (!roles.has(identity.current(), Privilege.EXECUTE, Securable.function(function))) {
            throw denied("permission denied for function " + function);
        }
    }

    // ---- objects ---------------------------------------------------------------------------------------------------

    private void creates(String name, Statement.IfExists ifExists) {
        if (!RelationNames.isOfSession(name)) {
            requireOnSchema(Privilege.CREATE, catalog.schemaOf(name));
        }
        if (ifExists == Statement.IfExists.REPLACE) {
            owns(name);
        }
    }

    private void requireOnSchema(Privilege privilege, String schema) {
        if (!roles.has(identity.current(), privilege, new Securable(Securable.Kind.SCHEMA, schema))) {
            throw denied("permission denied for schema " + schema)
                    .withHint("GRANT " + privilege + " ON SCHEMA " + schema + " TO " + identity.current());
        }
    }

    /** @throws MillraceException 42501 if the role is neither that one nor a member of it */
    public void requireMember(String owner) {
        if (!identity.isSuperuser() && !roles.isMember(identity.current(), owner)) {
            throw denied("must be member of role \"" + owner + "\"");
        }
    }

    /** What changes or drops an object: its owner does, and members of its owner. A name that is nobody's is found missing. */
    void owns(String name) {
        boolean there = catalog.object(name).isPresent();
        uses(name);
        String owned = catalog.index(name).map(Index::relation).orElse(name); // an index is its relation's
        if (there) {
            requireOwner(roles.owner(owned), kind(name) + " " + RelationNames.shown(name));
        }
    }

    /** Who made a durable subscription reads, acknowledges and drops it, and members of that role do. */
    public void requireSubscription(String name, String owner) {
        if (!identity.isSuperuser() && !roles.hasPrivilegesOf(identity.current(), owner)) {
            throw denied("must be owner of subscription " + name);
        }
    }

    /** @throws MillraceException 42501 if the role may not have rows brought in with these options of a connector */
    public void requireSource(Map<String, String> options) {
        if (!identity.isSuperuser()) {
            sources(options);
        }
    }

    private void sources(Map<String, String> options) {
        if (FILE_CONNECTORS.contains(options.getOrDefault("connector", ""))) {
            files(Roles.READ_FILES, "read files of the server");
        }
        references(options);
    }

    /** What options have the server look up: secrets, files and its environment, and what properties of a client may name. */
    private void references(Map<String, String> options) {
        options.forEach((name, value) -> {
            if (name.startsWith("properties.")) {
                files(Roles.READ_FILES, "give option \"" + name + "\", which may name files of the server");
            }
            if (name.equals("schema_file") || name.endsWith(".schema_file")) { // of a format, or of that of keys
                files(Roles.READ_FILES, "have the server read a schema");
            }
            SecretReferences.in(value)
                    .forEach(reference -> files(Roles.READ_FILES, "have the server look up " + reference));
        });
    }

    private void files(String right, String what) {
        if (!roles.hasPrivilegesOf(identity.current(), right)) {
            throw denied("must be superuser or have privileges of the " + right + " role to " + what);
        }
    }

    /** Settings that are everybody's, or limits. */
    public void settings(Collection<Setting> changed) {
        for (Setting setting : changed) {
            if (setting.isForSuperusers() && !identity.isSuperuser()) {
                throw denied("permission denied to set parameter \"" + setting.settingName() + "\"");
            }
        }
    }

    /** Limits of the role that is about to own one more query. */
    public void requireRoom(IntSupplier ownedObjects, IntSupplier ownedQueries, LongSupplier ownedBytes) {
        if (identity.isSuperuser()) {
            return;
        }
        var limits = roles.require(identity.current()).settings();
        long most = Long.parseLong(limits.getOrDefault(Setting.MAX_QUERIES.settingName(), "0"));
        boolean mayHaveAll = most > 0 && ownedObjects.getAsInt() >= most;
        int owned = mayHaveAll ? ownedQueries.getAsInt() : 0;
        if (mayHaveAll && owned >= most) {
            throw MillraceException.resources(
                            SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                            "role \"" + identity.current() + "\" owns " + owned + " queries, and max_queries is "
                                    + most)
                    .withHint("DROP one that is not needed");
        }
        long mostBytes = SessionSettings.bytes(limits.getOrDefault(Setting.MAX_QUERY_MEMORY.settingName(), "0"));
        long memoryBytes = mostBytes > 0 ? ownedBytes.getAsLong() : 0;
        if (mostBytes > 0 && memoryBytes >= mostBytes) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY,
                            "the queries of role \"" + identity.current() + "\" hold " + memoryBytes
                                    + " bytes, and max_query_memory is " + mostBytes)
                    .withHint("DROP one that is not needed");
        }
    }

    /** Whether the role may own any number of queries. */
    public boolean hasRoomForAny() {
        return identity.isSuperuser()
                || Collections.disjoint(
                        roles.require(identity.current()).settings().keySet(),
                        List.of(Setting.MAX_QUERIES.settingName(), Setting.MAX_QUERY_MEMORY.settingName()));
    }

    private static MillraceException denied(String message) {
        return MillraceException.user(SqlState.INSUFFICIENT_PRIVILEGE, message);
    }
}
