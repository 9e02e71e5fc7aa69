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
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * PAUSE and RESUME. A query that failed begins anew, with the rows that can be had (files and generators from the first, tables and
 * views as they are, streams from now on), and so do those over it that failed with it.
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
            Optional<StandingQuery> query = running(resume.kind(), resume.name(), resume.ifExists());
            if (query.isPresent() && query.get().state() == QueryState.FAILED) {
                restart(database.catalog().require(resume.kind(), resume.name()));
            } else {
                query.ifPresent(StandingQuery::resume);
            }
            return Command.of("RESUME");
        } finally {
            database.definitionLock().unlock();
        }
    }

    private Optional<StandingQuery> running(ObjectKind kind, String name, boolean ifExists) {
        if (ifExists && database.catalog().object(name).isEmpty()) {
            notices.accept(kind.sqlName() + " \"" + name + "\" does not exist, skipping");
            return Optional.empty();
        }
        return database.standing(database.catalog().require(kind, name).name());
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
            Optional<CatalogObject> above = database.catalog().object(name).filter(this::hasFailed);
            if (above.isPresent()
                    && above.get().kind() != ObjectKind.SINK
                    && failedInputs(above.get()).isEmpty()) {
                restart(above.get());
            } else if (above.isPresent()) {
                notices.accept(above.get().kind().sqlName() + " \"" + name + "\" over it is still failed");
            }
        }
    }

    private void startAnew(CatalogObject object) {
        StandingQuery failed = database.standing(object.name()).orElseThrow();
        QueryOptions how = queries.limits()
                .limited(
                        failed.materialized() ? QueryOptions.view() : QueryOptions.streaming(),
                        new Options(object.options()));
        int priority = Integer.parseInt(object.options().getOrDefault("priority", "0"));
        StandingQuery query = database.engine()
                .alter(
                        object.name(),
                        failed.plan(),
                        how.withPriority(priority)
                                .withMostBytes(queries.limits().mostBytes()));
        database.queries().put(object.name(), query);
        queries.epochs().wrote(query.firstEpoch());
        String passed = object.reads().stream()
                .filter(this::keepsNothing)
                .sorted()
                .map(name -> '"' + name + '"')
                .collect(Collectors.joining(", "));
        if (!passed.isEmpty()) {
            notices.accept("\"" + object.name() + "\" begins anew: former rows of " + passed + " are not kept");
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
