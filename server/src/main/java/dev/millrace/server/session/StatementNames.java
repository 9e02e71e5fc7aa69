package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.names.SearchPath;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.NamedText;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.CommentStatement;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.SubscriptionStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * What statements of one session say, in the names of the catalog: queries and changes of rows are bound in these, all else is as it is
 * written. A statement whose text is kept becomes one that says the same in the catalog's names. Belongs to the session's thread.
 */
final class StatementNames {
    private final Frontend frontend;
    private final SessionCatalog names;
    private final SearchPath path;
    private final BiFunction<ParsedStatement, Catalog, Statement> analysis;
    private final Consumer<String> notices;

    /** @param analysis of a statement without parameters */
    StatementNames(
            Frontend frontend,
            SessionCatalog names,
            BiFunction<ParsedStatement, Catalog, Statement> analysis,
            Consumer<String> notices) {
        this.frontend = frontend;
        this.names = names;
        this.path = names.path();
        this.analysis = analysis;
        this.notices = notices;
    }

    // ---- what is kept ----------------------------------------------------------------------------------------------

    /**
     * A definition in the catalog's names, which is to be analysed with these; empty if it is.
     *
     * @throws MillraceException 0A000 where it would mean something else
     */
    Optional<ParsedStatement> kept(ParsedStatement parsed, Statement statement, Parameters parameters) {
        Optional<String> made = made(statement).filter(name -> !RelationNames.isOfSession(name));
        boolean isKept = made.isPresent() || statement instanceof Statement.AlterQuery;
        boolean hasPoint = made.filter(name -> name.indexOf('.') >= 0).isPresent();
        boolean isPlain = path.isPlain() && !path.maySayDatabase(parsed.text());
        if (!isKept || isPlain && !hasPoint) {
            return Optional.empty();
        }
        if (statement instanceof Statement.CreateQueryTemplate && !path.isOfPublicAlone()) {
            throw MillraceException.notAvailableYet("CREATE QUERY TEMPLATE where search_path is not public alone")
                    .withHint("SET search_path TO public, and what is in other schemas by its full name");
        }
        NamedText text = isPlain ? new NamedText(parsed) : frontend.named(parsed, names, parameters);
        Optional<Query> query = StatementKinds.query(statement);
        boolean isTemporary = statement instanceof Statement.CreateView
                && query.filter(StatementNames::readsTemporary).isPresent();
        if (made.isPresent() && !isTemporary) {
            text.newName()
                    .filter(parts -> parts.size() > 2 || !path.nameNew(parts).equals(made.get()))
                    .map(path::nameNew)
                    .ifPresent(text::putNewName);
        }
        if (!text.isOther()) {
            return Optional.empty();
        }
        ParsedStatement literal = frontend.parse(text.text()).get(0).inStyle(parsed.style());
        Optional<Query> again = StatementKinds.query(analysis.apply(literal, names.ofDefinitions()));
        if (!again.map(Query::dependsOn).equals(query.map(Query::dependsOn))) {
            throw MillraceException.notAvailableYet(
                            "names of this definition that search_path alone gives a meaning to")
                    .withHint("write them with their schemas, also in the functions that it calls");
        }
        return Optional.of(literal);
    }

    /** The definition of a stream whose columns are still to be found, with the name that it will have in the catalog. */
    Statement.CreateStream named(Statement.CreateStream create, ParsedStatement parsed) {
        return new Statement.CreateStream(
                new NamedText(parsed).newName().map(path::nameNew).orElse(create.name()),
                create.ifExists(),
                create.columns(),
                create.rules(),
                create.watermark(),
                create.options());
    }

    private static boolean readsTemporary(Query query) {
        return query.named().stream().anyMatch(RelationNames::isOfSession);
    }

    /** The name of what a statement makes that keeps the statement's text. */
    private static Optional<String> made(Statement statement) {
        if (statement instanceof Statement.CreateStream create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateStreamAs create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateTable create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateContinuousQuery create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateView create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateSink create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateQueryTemplate create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateFromTemplate create) {
            return Optional.of(create.name());
        } else if (statement instanceof Statement.CreateFunction create) {
            return Optional.of(create.name());
        }
        return Optional.empty();
    }

    // ---- what is there ---------------------------------------------------------------------------------------------

    /**
     * The statement with the catalog's names of what is there, and of the rows that it makes a table of.
     *
     * @throws MillraceException 3F000 for a schema that is not there
     */
    Statement resolved(Statement statement, ParsedStatement parsed) {
        if (statement instanceof Statement.Drop drop && drop.kind() != ObjectKind.SCHEMA) {
            return new Statement.Drop(drop.kind(), dropped(drop), drop.ifExists(), drop.cascade());
        } else if (statement instanceof Statement.CreateTableAs create
                && !RelationNames.isTemporary(create.name())
                && !RelationNames.isOfSession(create.name())) {
            String name = path.nameNew(new NamedText(parsed)
                    .newName()
                    .orElseGet(() -> List.of(create.name().split("\\."))));
            return new Statement.CreateTableAs(
                    name, create.ifExists(), create.query(), create.withData(), create.options());
        } else if (statement instanceof Statement.CreateFromTemplate create) {
            return new Statement.CreateFromTemplate(
                    create.name(),
                    create.ifExists(),
                    create.options(),
                    path.meant(ObjectKind.TABLE, create.template()),
                    create.arguments());
        } else if (statement instanceof Statement.Pause pause) {
            return new Statement.Pause(pause.kind(), path.meant(pause.kind(), pause.name()), pause.ifExists());
        } else if (statement instanceof Statement.Resume resume) {
            return new Statement.Resume(
                    resume.kind(), path.meant(resume.kind(), resume.name()), resume.ifExists(), resume.skipRow());
        } else if (statement instanceof Statement.AlterQuery alter) {
            return new Statement.AlterQuery(
                    alter.kind(), path.meant(alter.kind(), alter.name()), alter.query(), alter.queryText());
        } else if (statement instanceof Statement.AlterOptions alter) {
            return new Statement.AlterOptions(alter.kind(), path.meant(alter.kind(), alter.name()), alter.options());
        } else if (statement instanceof Statement.AlterEdge alter) {
            return new Statement.AlterEdge(
                    path.meant(ObjectKind.STREAM, alter.stream()), alter.device(), alter.settings());
        } else if (statement instanceof Statement.Reprocess reprocess) {
            return reprocess(reprocess);
        } else if (statement instanceof Statement.ApplyReplacement apply) {
            return new Statement.ApplyReplacement(
                    apply.kind(),
                    path.meant(apply.kind(), apply.name()),
                    path.meant(apply.kind(), apply.replacement()));
        } else if (statement instanceof AlterTable alter) {
            return new AlterTable(
                    path.meant(ObjectKind.TABLE, alter.name()),
                    alter.ifExists(),
                    alter.actions().stream().map(this::action).toList());
        } else if (statement instanceof Statement.CreateTable create
                && !create.rules().foreignKeys().isEmpty()) {
            return new Statement.CreateTable(
                    create.name(),
                    create.ifExists(),
                    create.columns(),
                    create.primaryKey(),
                    create.rules()
                            .withForeignKeys(create.rules().foreignKeys().stream()
                                    .map(key -> meant(key, create.name()))
                                    .toList()),
                    create.watermark(),
                    create.options());
        } else if (statement instanceof RenameStatement rename) {
            return rename(rename);
        } else if (statement instanceof CommentStatement comment) {
            return comment(comment);
        } else if (statement instanceof IndexStatement index) {
            return index(index);
        } else if (statement instanceof SubscriptionStatement.CreateSubscription create) {
            return new SubscriptionStatement.CreateSubscription(
                    create.name(),
                    create.ifNotExists(),
                    path.meant(create.query()),
                    create.limitBytes(),
                    create.retention());
        } else if (statement instanceof Statement.NoOperation nothing) {
            return new Statement.NoOperation(nothing.command(), all(nothing.relations()), nothing.notice());
        } else if (statement instanceof Statement.ShowCreate show) {
            return new Statement.ShowCreate(
                    show.kind(),
                    show.kind().map(kind -> path.meant(kind, show.name())).orElseGet(() -> path.meant(show.name())));
        } else if (statement instanceof Statement.ExplainRunning explain) {
            return new Statement.ExplainRunning(explain.kind(), path.meant(explain.kind(), explain.name()));
        } else if (statement instanceof Statement.ChangeOwner change && change.kind() != ObjectKind.SCHEMA) {
            return new Statement.ChangeOwner(change.kind(), path.meant(change.kind(), change.name()), change.owner());
        } else if (statement instanceof Statement.GrantPrivileges grant) {
            return privileges(grant);
        }
        return statement;
    }

    private AlterTable.Action action(AlterTable.Action action) {
        if (action instanceof AlterTable.AddConstraint add) {
            return new AlterTable.AddConstraint(
                    add.definition(), add.foreignKey().map(this::meant));
        } else if (action instanceof AlterTable.AddColumn add) {
            return new AlterTable.AddColumn(
                    add.column(),
                    add.ifNotExists(),
                    add.definition(),
                    add.foreignKeys().stream().map(this::meant).toList());
        }
        return action;
    }

    private ForeignKey meant(ForeignKey key) {
        return key.withTable(path.meant(ObjectKind.TABLE, key.table()));
    }

    /** The same of a table that is made, and may be meant itself. */
    private ForeignKey meant(ForeignKey key, String made) {
        boolean isOwn = key.table().equals(RelationNames.shown(made))
                || RelationNames.inCatalog(key.table()).equals(made);
        return isOwn ? key.withTable(made) : meant(key);
    }

    private List<String> all(List<String> written) {
        return written.stream().map(path::meant).toList();
    }

    /** With IF EXISTS what is in a schema that is not there is said not to be, and passed over. */
    private List<String> dropped(Statement.Drop drop) {
        List<String> all = new ArrayList<>();
        for (String name : drop.names()) {
            try {
                all.add(path.meant(drop.kind(), name));
            } catch (MillraceException e) {
                if (!drop.ifExists() || e.sqlState() != SqlState.INVALID_SCHEMA_NAME) {
                    throw e;
                }
                notices.accept(e.getMessage() + ", skipping");
            }
        }
        return all;
    }

    private Statement reprocess(Statement.Reprocess reprocess) {
        String name = path.meant(reprocess.kind(), reprocess.name());
        Optional<String> query = reprocess.queryText().map(text -> {
            if (path.isPlain()) {
                return text;
            }
            ParsedStatement select = frontend.parse(text).get(0);
            return frontend.named(select, names, Parameters.none()).text();
        });
        return new Statement.Reprocess(
                reprocess.kind(),
                name,
                reprocess.start(),
                reprocess.stop(),
                reprocess.beside().map(other -> path.nameNew(List.of(other.split("\\.")))),
                query);
    }

    /** An index is in the schema of its relation; those of a session's own have plain names. */
    private Statement index(IndexStatement index) {
        if (index instanceof IndexStatement.CreateIndex create) {
            String relation = path.meant(create.relation());
            return new IndexStatement.CreateIndex(
                    create.name().map(name -> beside(relation, name)),
                    relation,
                    create.method(),
                    create.unique(),
                    create.columns(),
                    create.beside(),
                    create.ifNotExists());
        } else if (index instanceof IndexStatement.RenameIndex rename) {
            String name = path.meant(ObjectKind.INDEX, rename.name());
            return new IndexStatement.RenameIndex(name, rename.ifExists(), beside(name, rename.newName()));
        }
        IndexStatement.Reindex reindex = (IndexStatement.Reindex) index;
        return new IndexStatement.Reindex(
                reindex.index(),
                reindex.index() ? path.meant(ObjectKind.INDEX, reindex.name()) : path.meant(reindex.name()));
    }

    private Statement rename(RenameStatement statement) {
        if (statement instanceof RenameStatement.Rename rename && rename.kind() != ObjectKind.SCHEMA) {
            requireNoPoint(rename.newName());
            String name = path.meant(rename.kind(), rename.name());
            return new RenameStatement.Rename(rename.kind(), name, rename.ifExists(), beside(name, rename.newName()));
        } else if (statement instanceof RenameStatement.SetSchema set) {
            return new RenameStatement.SetSchema(
                    set.kind(), path.meant(set.kind(), set.name()), set.ifExists(), set.schema());
        } else if (statement instanceof RenameStatement.Swap swap) {
            return new RenameStatement.Swap(
                    swap.kind(), path.meant(swap.kind(), swap.name()), path.meant(swap.kind(), swap.other()));
        }
        return statement;
    }

    private Statement comment(CommentStatement statement) {
        if (statement instanceof CommentStatement.OnObject on && on.kind() != ObjectKind.SCHEMA) {
            return new CommentStatement.OnObject(on.kind(), path.meant(on.kind(), on.name()), on.text());
        } else if (statement instanceof CommentStatement.OnColumn on) {
            return new CommentStatement.OnColumn(path.meant(on.relation()), on.column(), on.text());
        } else if (statement instanceof CommentStatement.OnConstraint on) {
            return new CommentStatement.OnConstraint(path.meant(on.relation()), on.constraint(), on.text());
        }
        return statement;
    }

    private static void requireNoPoint(String name) {
        if (name.indexOf('.') >= 0) {
            throw MillraceException.user(
                    SqlState.INVALID_NAME, "\"" + name + "\" cannot be the name of something: it has a point");
        }
    }

    /** The name in the catalog that something has in the schema of another. */
    private String beside(String other, String name) {
        return RelationNames.isOfSession(other) ? name : RelationNames.in(names.schemaOf(other), name);
    }

    private Statement privileges(Statement.GrantPrivileges grant) {
        boolean isOfSchemas = grant.kind() == Securable.Kind.RELATION || grant.kind() == Securable.Kind.FUNCTION;
        if (!isOfSchemas) {
            return grant;
        }
        List<String> objects = grant.kind() == Securable.Kind.FUNCTION
                ? grant.objects().stream()
                        .map(name -> path.meant(ObjectKind.FUNCTION, name))
                        .toList()
                : all(grant.objects());
        return new Statement.GrantPrivileges(
                grant.privileges(),
                grant.kind(),
                objects,
                grant.schemas(),
                grant.only(),
                grant.grantees(),
                grant.revoke(),
                grant.option(),
                grant.optionOnly(),
                grant.grantor());
    }
}
