package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.session.StatementResult.Command;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.Parameters;
import dev.millrace.sql.statement.Statement;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Executes the statements of one session: says which class does which. */
final class Execution {
    private final Database database;
    private final SessionSettings settings;
    private final SessionCatalog names;
    private final Identity identity;
    private final RoleStatements roles;
    private final Consumer<String> notices;
    private final Definitions definitions;
    private final Functions functions;
    private final Queries queries;
    private final Writes writes;
    private final Copies copies;
    private final Inspection inspection;
    private final Alterations alterations;
    private final Explanations explanations;

    /** How far the statement under way is; written by the session's thread, read by any. */
    private volatile Supplier<Optional<Progress>> progress = Optional::empty;

    Execution(
            Database database,
            SessionSettings settings,
            SessionCatalog names,
            Cancellation cancellation,
            Consumer<String> notices) {
        this.database = database;
        this.settings = settings;
        this.names = names;
        this.identity = names.identity();
        this.roles = new RoleStatements(database, identity, names.permissions(), notices);
        this.notices = notices;
        this.queries = new Queries(database, settings, cancellation, source -> progress = source);
        this.definitions = new Definitions(database, notices, queries, names.permissions(), identity);
        this.functions = new Functions(database, identity);
        this.writes = new Writes(database, queries);
        this.copies = new Copies(database, queries, writes);
        this.inspection = new Inspection(database, settings);
        this.alterations = new Alterations(database, notices, queries);
        this.explanations = new Explanations(database, alterations);
    }

    Queries queries() {
        return queries;
    }

    /** Inserts rows, which are taken over, under the names of their columns; all at once. */
    long insert(String relation, Batch rows) {
        try {
            names.permissions().requireInsert(relation);
        } catch (MillraceException e) {
            rows.close();
            throw e;
        }
        return writes.insert(relation, rows);
    }

    Optional<Progress> progress() {
        return progress.get();
    }

    StatementResult execute(ParsedStatement parsed, Parameters parameters) {
        progress = Optional::empty;
        Statement statement = database.plans().analyze(parsed, names, parameters);
        names.permissions().require(statement, parsed.syntax());
        return Keeper.concerns(statement)
                ? keep(statement, () -> execute(statement, parsed.text()))
                : execute(statement, parsed.text());
    }

    /** Answers a statement that changes what is kept when that is on disk: changes are kept in the order they are made. */
    private StatementResult keep(Statement statement, Supplier<StatementResult> change) {
        database.definitionLock().lock();
        try {
            StatementResult result;
            try {
                result = change.get();
            } catch (RuntimeException e) {
                try {
                    database.keeper().keep(statement, false); // what it did before it failed
                } catch (MillraceException unkept) {
                    e.addSuppressed(unkept);
                }
                throw e;
            }
            database.keeper().keep(statement, true).ifPresent(failure -> {
                failure.made().forEach(definitions::takeBack);
                throw failure.why();
            });
            return result;
        } finally {
            database.definitionLock().unlock();
        }
    }

    private StatementResult execute(Statement statement, String text) {
        if (statement instanceof Statement.Select select) {
            return queries.select(select);
        } else if (statement instanceof Statement.Insert insert) {
            return writes.insert(insert);
        } else if (statement instanceof Statement.Update update) {
            return writes.update(update);
        } else if (statement instanceof Statement.Delete delete) {
            return writes.delete(delete);
        } else if (statement instanceof Statement.Truncate truncate) {
            return writes.truncate(truncate);
        } else if (statement instanceof Statement.Subscribe subscribe) {
            return queries.subscribe(subscribe);
        } else if (statement instanceof Statement.Flush) {
            return flush();
        } else if (statement instanceof Statement.CreateContinuousQuery create) {
            return definitions.createContinuousQuery(create, text);
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            return definitions.createMaterializedView(create, text);
        } else if (statement instanceof Statement.CreateStream create) {
            return definitions.createStream(create, text);
        } else if (statement instanceof Statement.CreateTable create) {
            return definitions.createTable(create, text);
        } else if (statement instanceof Statement.CreateSink create) {
            return definitions.createSink(create, text);
        } else if (statement instanceof Statement.AlterQuery alter) {
            return alterations.alter(alter);
        } else if (statement instanceof Statement.Drop drop) {
            return definitions.drop(drop);
        } else if (statement instanceof Statement.Pause pause) {
            return definitions.pause(pause);
        } else if (statement instanceof Statement.Resume resume) {
            return definitions.resume(resume);
        } else if (statement instanceof Statement.Show show) {
            return inspection.show(show.listing());
        } else if (statement instanceof Statement.ShowCreate show) {
            return inspection.showCreate(show);
        } else if (statement instanceof Statement.Describe describe) {
            return inspection.describe(describe);
        } else if (statement instanceof Statement.ShowSetting show) {
            return inspection.showSetting(show);
        } else if (statement instanceof Statement.Explain explain) {
            return explanations.explain(explain);
        } else if (statement instanceof Statement.ExplainRunning explain) {
            return explanations.explainRunning(explain);
        } else if (statement instanceof Statement.SetSetting set) {
            return set(set);
        } else if (statement instanceof Statement.ResetSetting reset) {
            return reset(reset);
        }
        return executeForDrivers(statement, text);
    }

    /** What clients send by habit, and what comes with later versions. */
    private StatementResult executeForDrivers(Statement statement, String text) {
        if (statement instanceof Statement.RoleStatement change) {
            return roles.execute(change);
        } else if (statement instanceof Statement.SetRole set) {
            set.role().map(identity::named).ifPresentOrElse(identity::setRole, identity::resetRole);
            return Command.of("SET");
        } else if (statement instanceof Statement.SetSessionAuthorization set) {
            set.role().map(identity::named).ifPresentOrElse(identity::setSession, identity::resetSession);
            return Command.of("SET");
        } else if (statement instanceof Statement.CreateFunction create) {
            return functions.create(create, text);
        } else if (statement instanceof Statement.CopyFrom copy) {
            return copies.from(copy);
        } else if (statement instanceof Statement.CopyTo copy) {
            return copies.to(copy);
        } else if (statement instanceof Statement.Begin) {
            notices.accept("there are no transactions: each statement takes effect by itself");
            return Command.of("BEGIN");
        } else if (statement instanceof Statement.Commit) {
            return Command.of("COMMIT");
        } else if (statement instanceof Statement.Rollback) {
            notices.accept("nothing is rolled back: each statement took effect by itself");
            return Command.of("ROLLBACK");
        } else if (statement instanceof Statement.Discard discard) {
            if (discard.what().equals("ALL")) {
                settings.resetAll();
                identity.resetSession();
            }
            return Command.of("DISCARD " + discard.what());
        }
        throw MillraceException.notAvailableYet(name(statement))
                .withHint("a query with its values written in: those that differ in constants only share their code");
    }

    /** The statement's name as a user knows it: {@code CreateQueryTemplate} is CREATE QUERY TEMPLATE. */
    private static String name(Statement statement) {
        return statement
                .getClass()
                .getSimpleName()
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toUpperCase(java.util.Locale.ROOT);
    }

    Command flush() {
        queries.flush();
        return Command.of("FLUSH");
    }

    private Command set(Statement.SetSetting set) {
        Setting setting = Setting.named(set.name());
        set.value().ifPresentOrElse(value -> settings.set(setting, value), () -> settings.reset(setting));
        applied(setting);
        return Command.of("SET");
    }

    /** One setting is everybody's. RESET ALL, which drivers send when they give a session back, leaves it alone. */
    private void applied(Setting setting) {
        if (setting == Setting.SCHEDULING_POLICY) {
            database.engine().setSchedulingPolicy(settings.get(setting));
        }
    }

    private Command reset(Statement.ResetSetting reset) {
        Optional<Setting> one = reset.name().map(Setting::named);
        one.ifPresentOrElse(settings::reset, settings::resetAll);
        one.ifPresent(this::applied);
        return Command.of("RESET");
    }

    static MillraceException wrongKind(String name, String is, String wanted) {
        return MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "\"" + name + "\" is a " + is + ", not a " + wanted);
    }
}
