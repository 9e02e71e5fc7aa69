package dev.millrace.server.session;

import dev.millrace.engine.runtime.FlushProgress;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QueryState;
import dev.millrace.engine.runtime.Result;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.runtime.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.Schema;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** SELECT, SUBSCRIBE and FLUSH, and what a session waits for before it reads. */
final class Queries {
    private static final int MOST_OWN_EPOCHS = 256;

    private final Database database;
    private final SessionSettings settings;
    private final Cancellation cancellation;
    private final Consumer<Supplier<Optional<Progress>>> showProgress;
    private final Set<Long> ownEpochs = new LinkedHashSet<>();
    private volatile Optional<Progress> flushProgress = Optional.empty(); // written by the session's thread

    Queries(
            Database database,
            SessionSettings settings,
            Cancellation cancellation,
            Consumer<Supplier<Optional<Progress>>> showProgress) {
        this.database = database;
        this.settings = settings;
        this.cancellation = cancellation;
        this.showProgress = showProgress;
    }

    /** The session made rows of this epoch: its next SELECT waits for it. Epochs of unrelated relations end in any order. */
    void wrote(long epoch) {
        if (ownEpochs.size() >= MOST_OWN_EPOCHS) {
            awaitOwnEpochs(); // nearly all ended long ago
        }
        ownEpochs.add(epoch);
    }

    /** The epochs that the session made and nothing has waited for yet. */
    Set<Long> ownEpochs() {
        return ownEpochs;
    }

    StatementResult select(Statement.Select select) {
        return rows(select.query());
    }

    /** The rows of a finite query. */
    StatementResult.Rows rows(Query query) {
        PlanNode plan = database.plans().pull(query).root();
        query.relations().forEach(this::requireReadable);
        awaitOwnWrites(query);
        return run(plan, query.schema());
    }

    /** All rows of a table as it is now. */
    StatementResult.Rows scan(CatalogObject table) {
        List<Integer> columns =
                IntStream.range(0, table.schema().size()).boxed().toList();
        return run(new PlanNode.Scan(table.name(), columns, List.of(), table.schema()), table.schema());
    }

    private StatementResult.Rows run(PlanNode plan, Schema schema) {
        Result result = database.engine().run(plan);
        long startNanos = database.clock().nanoTime();
        showProgress.accept(() -> Optional.of(progressOf(result, startNanos)));
        return new ResultRows(
                schema,
                result,
                cancellation,
                database.engine().allocator(),
                () -> showProgress.accept(Optional::empty));
    }

    private Progress progressOf(Result result, long startNanos) {
        double seconds = (database.clock().nanoTime() - startNanos) / 1e9;
        long rows = result.rowsRead();
        return new Progress(result.progress(), rows, rows / Math.max(1e-3, seconds));
    }

    private void awaitOwnWrites(Query query) {
        if (!query.relations().isEmpty() && settings.isOn(Setting.READ_YOUR_WRITES)) {
            awaitOwnEpochs();
        }
    }

    /** Waits until what the session wrote is in all answers. */
    void awaitOwnEpochs() {
        ownEpochs.forEach(database.engine()::awaitEpoch);
        ownEpochs.clear();
    }

    /** What a SELECT cannot be answered from, with what to do instead. */
    private void requireReadable(String name) {
        Optional<CatalogObject> found = database.catalog().object(name);
        if (found.isEmpty()) {
            return; // a system relation
        }
        CatalogObject object = found.get();
        requireHealthy(object);
        if (object.kind() == ObjectKind.CONTINUOUS_QUERY) {
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "continuous query \"" + name + "\" does not keep its rows, so there is nothing to SELECT")
                    .withHint("SUBSCRIBE TO " + name
                            + " shows them as they come; CREATE MATERIALIZED VIEW keeps the current answer");
        }
        if (object.kind() == ObjectKind.STREAM && !object.input().orElseThrow().finite()) {
            StreamInput input = object.input().orElseThrow();
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "stream \"" + name + "\" (" + input.connector()
                                    + ") has no end and does not keep its rows, so there is nothing to SELECT")
                    .withHint("SUBSCRIBE TO " + name
                            + " shows rows as they come; CREATE MATERIALIZED VIEW ... AS SELECT ... FROM " + name
                            + " keeps an answer current");
        }
    }

    /** An answer that stopped being current is not given: says what failed, here or further up. */
    private void requireHealthy(CatalogObject object) {
        Optional<MillraceException> failure = database.standing(object.name())
                .filter(query -> query.state() == QueryState.FAILED)
                .flatMap(StandingQuery::failure);
        if (failure.isPresent()) {
            MillraceException cause = failure.get();
            throw MillraceException.user(
                            cause.sqlState(),
                            object.kind().sqlName() + " \"" + object.name() + "\" failed: " + cause.getMessage())
                    .withHint(cause.hint()
                            .orElse(
                                    "its answer stopped at the last whole epoch; DROP it, or create it again with a query that"
                                            + " can take such rows"));
        }
        object.reads().stream()
                .flatMap(read -> database.catalog().object(read).stream())
                .forEach(this::requireHealthy);
    }

    StatementResult subscribe(Statement.Subscribe subscribe) {
        if (subscribe.asOfMicros().isPresent()) {
            throw MillraceException.notAvailableYet("SUBSCRIBE ... AS OF")
                    .withHint("SUBSCRIBE .. WITH (SNAPSHOT) begins with what is there now");
        }
        Optional<CatalogObject> object = subscribe.relation().flatMap(database.catalog()::object);
        object.ifPresent(this::requireHealthy);
        requireStreaming(subscribe.query().relations(), "SUBSCRIBE");
        Optional<StandingQuery> running = object.filter(
                        found -> !database.plans().isReplayable(found.name()))
                .flatMap(found -> database.standing(found.name()));
        if (running.isPresent()) {
            SubscriptionOptions options =
                    subscribe.snapshot() ? SubscriptionOptions.withSnapshot() : SubscriptionOptions.changes();
            StandingChanges changes = new StandingChanges(
                    running.get().subscribe(subscribe.progress() ? options.withProgress() : options),
                    object.get().appendOnly(),
                    cancellation);
            return changes;
        }
        Optional<CatalogObject> live = object.filter(
                found -> found.input().filter(input -> !input.replayable()).isPresent());
        if (subscribe.snapshot() && live.isPresent()) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "stream \"" + live.get().name() + "\" keeps no rows to make a snapshot of");
        }
        return subscribeToOwn(subscribe);
    }

    private StatementResult subscribeToOwn(Statement.Subscribe subscribe) {
        PhysicalPlan plan = StandingRules.NONE.plan(database.plans(), subscribe.query());
        ChangeQueue queue = new ChangeQueue(database.clock());
        StandingQuery query = database.engine()
                .start(
                        database.subscriptionName(),
                        plan.root(),
                        QueryOptions.streaming().withSink(queue));
        return new OwnChanges(
                subscribe.query().schema(), query, queue, plan.appendOnly(), subscribe.progress(), cancellation);
    }

    /** What the system says about itself is computed when asked; it does not tell when it changes. */
    void requireStreaming(Collection<String> relations, String statement) {
        for (String name : relations) {
            if (database.catalog().systemRelation(name).isPresent()) {
                throw MillraceException.user(
                        SqlState.WRONG_OBJECT_TYPE,
                        statement + " cannot follow system relation \"" + name + "\"; it can only be SELECTed");
            }
        }
    }

    void flush() {
        flushProgress = Optional.empty();
        showProgress.accept(() -> flushProgress);
        try {
            database.engine().flush(this::flushed);
        } finally {
            showProgress.accept(Optional::empty);
        }
    }

    private void flushed(FlushProgress progress) {
        flushProgress = Optional.of(new Progress(progress.fraction(), progress.rows(), progress.rowsPerSecond()));
    }
}
