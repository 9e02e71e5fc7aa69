package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * PAUSE and RESUME. A query that was stopped by rows that fail goes on with all that it has, when they were taken back or are left out. Any
 * other that failed begins anew, with the rows that can be had (files and generators from the first, tables and views as they are, streams
 * from now on), and so do those over it that failed with it.
 */
public final class Restarts {
    private final Instance database;
    private final Consumer<String> notices;
    private final Queries queries;

    public Restarts(Instance database, Consumer<String> notices, Queries queries) {
        this.database = database;
        this.notices = notices;
        this.queries = queries;
    }

    public Command pause(Statement.Pause pause) {
        running(pause.kind(), pause.name(), pause.ifExists()).ifPresent(StandingQuery::pause);
        return Command.of("PAUSE");
    }

    public Command resume(Statement.Resume resume) {
        database.lockDefinitions();
        try {
            running(resume.kind(), resume.name(), resume.ifExists())
                    .ifPresent(query ->
                            resume(query, database.catalog().require(resume.kind(), resume.name()), resume.skipRow()));
            return Command.of("RESUME");
        } finally {
            database.definitionLock().unlock();
        }
    }

    private void resume(StandingQuery query, CatalogObject object, boolean skipRow) {
        boolean failed = query.state() == QueryState.FAILED;
        if (failed) {
            requireInputs(object);
        }
        if (skipRow) {
            leaveOut(query, object);
        }
        if (!failed) {
            goOn(query);
        } else if (query.isStopped() && goesOn(query, object)) {
            goOn(query);
            notices.accept("\"" + object.name() + "\" goes on with its state");
            tellOfFailedSinks(object);
        } else {
            restart(object);
        }
    }

    /** What the session reads next has what waited. */
    private void goOn(StandingQuery query) {
        query.resume().ifPresent(queries.epochs()::wrote);
    }

    /** A sink gets no epoch that lacks rows: it has failed with what it reads, for good. */
    private void tellOfFailedSinks(CatalogObject object) {
        for (String name :
                database.catalog().dependents(object.name()).stream().sorted().toList()) {
            database.catalog()
                    .object(name)
                    .filter(above -> above.kind() == ObjectKind.SINK && hasFailed(above))
                    .ifPresent(this::tellThatItIsFailed);
        }
    }

    private void tellThatItIsFailed(CatalogObject above) {
        notices.accept(above.kind().sqlName() + " \"" + above.name() + "\" over it is still failed");
    }

    private void leaveOut(StandingQuery query, CatalogObject object) {
        if (query.state() == QueryState.FAILED && !query.isStopped()) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + object.name() + "\" did not fail of a row that could be skipped: " + why(object))
                    .withHint("RESUME without SKIP ROW begins it anew");
        }
        long rows = query.leaveOutFailedRows();
        notices.accept("rows left out of \"" + object.name() + "\": " + rows);
    }

    /**
     * Whether a query that is stopped goes on with what it has: else it begins anew, which loses nothing as all that it reads can be read
     * again.
     *
     * @throws MillraceException what a row fails with, if it fails still and the others would not come again
     */
    private boolean goesOn(StandingQuery query, CatalogObject object) {
        Optional<MillraceException> why = query.failureOfRows();
        if (why.isPresent() && object.reads().stream().anyMatch(this::keepsNothing)) {
            throw MillraceException.user(
                            why.get().sqlState(),
                            object.kind().sqlName() + " \"" + object.name() + "\" fails still: "
                                    + why.get().getMessage())
                    .withHint("its state is kept: change or delete what the row comes from, or leave it out: RESUME "
                            + object.kind().sqlName().toUpperCase(Locale.ROOT) + " "
                            + RelationNames.quoted(object.name()) + " SKIP ROW");
        }
        return why.isEmpty();
    }

    private Optional<StandingQuery> running(ObjectKind kind, String name, boolean ifExists) {
        if (ifExists && database.catalog().object(name).isEmpty()) {
            notices.accept(kind.sqlName() + " \"" + name + "\" does not exist, skipping");
            return Optional.empty();
        }
        CatalogObject object = database.catalog().require(kind, name);
        Optional<StandingQuery> query = database.standing(object.name());
        if (query.isEmpty()) {
            throw MillraceException.notAvailableYet("PAUSE and RESUME of a " + kind.sqlName())
                    .withHint("they are for continuous queries, streams of a query, materialized views and sinks"
                            + (database.feeds().isFed(object.name())
                                    ? "; a table whose outside is away is waited for by itself"
                                    : ""));
        }
        return query;
    }

    /**
     * Starts a query that failed, and those over it.
     *
     * @throws MillraceException what it fails of at once again; 55000 where something else has to be done before
     */
    private void restart(CatalogObject object) {
        requireInputs(object);
        if (object.kind() == ObjectKind.SINK) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "sink \"" + object.name() + "\" failed and cannot go on where it was: " + why(object))
                    .withHint("DROP SINK and create it again, with existing = 'append' to keep what a file has");
        }
        startAnew(object);
        for (String name :
                database.catalog().dependents(object.name()).stream().sorted().toList()) {
            Optional<CatalogObject> above = database.catalog()
                    .object(name)
                    .filter(each -> each.reads().contains(object.name()) && hasFailed(each));
            if (above.isPresent()
                    && above.get().kind() != ObjectKind.SINK
                    && failedInputs(above.get()).isEmpty()) {
                restart(above.get());
            } else if (above.isPresent()) {
                tellThatItIsFailed(above.get());
            }
        }
    }

    private void startAnew(CatalogObject object) {
        StandingQuery failed = database.standing(object.name()).orElseThrow();
        boolean rowsFailed = failed.isStopped();
        QueryOptions how = queries.limits()
                .limited(
                        failed.materialized() ? QueryOptions.view() : QueryOptions.streaming(),
                        new Options(object.options()));
        how = Schedules.scheduled(how, new Options(object.options()));
        how = database.retained().derived(object.name()).map(how::withKept).orElse(how);
        int priority = Integer.parseInt(object.options().getOrDefault("priority", "0"));
        StandingQuery query = database.engine()
                .alter(
                        object.name(),
                        failed.plan(),
                        how.withPriority(priority)
                                .withMostBytes(queries.limits().mostBytes()));
        database.queries().put(object.name(), query);
        queries.epochs().wrote(query.firstEpoch());
        if (!rowsFailed) { // else its subscribers are the new one's
            tellSubscribers(object);
        }
        String passed = object.reads().stream()
                .filter(this::keepsNothing)
                .sorted()
                .map(name -> '"' + name + '"')
                .collect(Collectors.joining(", "));
        notices.accept("\"" + object.name() + "\" begins anew, as "
                + (rowsFailed ? "rows fail still" : "its state went when it failed") + ": "
                + (passed.isEmpty()
                        ? "all that it reads is read again"
                        : "former rows of " + passed + " are not kept"));
    }

    private void tellSubscribers(CatalogObject object) {
        try {
            database.histories().begunAnew(object.name());
        } catch (MillraceException e) {
            notices.accept("subscriptions to \"" + object.name() + "\" do not go on: " + e.getMessage());
        }
    }

    private boolean keepsNothing(String relation) {
        return database.catalog()
                .object(relation)
                .filter(read -> read.kind() == ObjectKind.CONTINUOUS_QUERY
                        || read.kind() == ObjectKind.STREAM
                                && !read.input().map(StreamInput::replayable).orElse(false))
                .isPresent();
    }

    private void requireInputs(CatalogObject object) {
        List<String> failed = failedInputs(object);
        if (!failed.isEmpty()) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + object.name() + "\" reads \"" + failed.get(0) + "\", which has failed")
                    .withHint("RESUME \"" + failed.get(0) + "\" first: those over it begin with it");
        }
    }

    private List<String> failedInputs(CatalogObject object) {
        return object.reads().stream()
                .filter(name ->
                        database.catalog().object(name).filter(this::hasFailed).isPresent())
                .sorted()
                .toList();
    }

    private boolean hasFailed(CatalogObject object) {
        return database.standing(object.name())
                .filter(query -> query.state() == QueryState.FAILED)
                .isPresent();
    }

    private String why(CatalogObject object) {
        return database.standing(object.name())
                .flatMap(StandingQuery::failure)
                .map(MillraceException::getMessage)
                .orElse("");
    }
}
