package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.calc.DirectCalc;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.runtime.FlushProgress;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.Result;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.subscription.SubscriptionOptions.WhenFull;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.role.Role;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.OnSlow;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * SELECT, SUBSCRIBE and FLUSH, and what a session waits for before it reads.
 *
 * <p>Long because the three share what may be read, what is waited for, and what a query may use.
 */
final class Queries {
    private static final int MOST_OWN_EPOCHS = 256;
    private static final int MOST_COMPUTED_DIRECTLY = 4096; // rows; a task for more can be cancelled
    private static final int MANY_NODES = 12; // whose tasks and code take some milliseconds to make

    private final Instance database;
    private final SessionSettings settings;
    private final Transactions transactions;
    private final Cancellation cancellation;
    private final Offload offload;
    private final Consumer<String> notices;
    private final KeyRows keys;
    private final RangeRows ranges;
    private final Consumer<Supplier<Optional<Progress>>> showProgress;
    private final Map<String, Batch> atHand = new LinkedHashMap<>(); // what parts of the statement under way returned
    private final Set<Long> ownEpochs = new LinkedHashSet<>();
    private long nowMicros; // when the statement under way was begun
    private long begunVersion; // of the catalog, then
    private OptionalLong subscribeAfter = OptionalLong.empty(); // while a SUBSCRIBE is executed
    private volatile Optional<Progress> flushProgress = Optional.empty(); // written by the session's thread

    Queries(
            Instance database,
            SessionSettings settings,
            Transactions transactions,
            Cancellation cancellation,
            Offload offload,
            Consumer<String> notices,
            Consumer<Supplier<Optional<Progress>>> showProgress) {
        this.database = database;
        this.settings = settings;
        this.transactions = transactions;
        this.cancellation = cancellation;
        this.offload = offload;
        this.notices = notices;
        this.keys = new KeyRows(database, statementClock());
        this.ranges = new RangeRows(database, statementClock());
        this.showProgress = showProgress;
    }

    /** A statement begins: all that it computes reads one time. */
    void begin() {
        nowMicros = database.clock().epochMicros();
        begunVersion = database.catalog().version();
    }

    /**
     * Fails if a relation is not what it was when the statement began: what was made of the statement may have other columns in
     * mind.
     *
     * @throws MillraceException 40001
     */
    void requireAsBegun(Collection<String> relations) {
        for (String name : relations) {
            if (!database.catalog().isAsOf(name, begunVersion)) {
                throw MillraceException.user(
                                SqlState.SERIALIZATION_FAILURE, "\"" + name + "\" was altered or dropped meanwhile")
                        .withHint("try the statement again");
            }
        }
    }

    /** The same of an answer, whose rows stay as they were when it was begun. */
    <T extends StatementResult> T asBegun(Query query, T answer) {
        try {
            requireAsBegun(query.relations());
            return answer;
        } catch (MillraceException e) {
            answer.close();
            throw e;
        }
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

    /** A clock that stands during each statement and goes on with the next. */
    Clock statementClock() {
        return new Clock() {
            @Override
            public long epochMicros() {
                return nowMicros;
            }

            @Override
            public long nanoTime() {
                return database.clock().nanoTime();
            }
        };
    }

    /** The time of the statement under way, which stands. */
    Clock clock() {
        return Clock.standingAt(nowMicros, database.clock());
    }

    StatementResult select(Statement.Select select) {
        return rows(select.query());
    }

    /** What may take long for long statements is done by way of it. */
    Offload offload() {
        return offload;
    }

    /** The plan of a query over the rows that are there. */
    PhysicalPlan plan(Query query) {
        return offload.run(() -> database.plans().pull(query));
    }

    /** The plan of a query whose answer is kept current. */
    PhysicalPlan plan(Query query, StandingRules rules) {
        return offload.run(() -> rules.plan(database.plans(), query));
    }

    /** The rows of a finite query. */
    StatementResult.Rows rows(Query query) {
        return asBegun(query, read(query));
    }

    private StatementResult.Rows read(Query query) {
        PlanNode plan = plan(query).root();
        tellOfViews(query);
        prepareToRead(query);
        Optional<StatementResult.Rows> byKey =
                atHand.isEmpty() ? keys.rows(query, plan, transactions.withChanges()) : Optional.empty();
        if (byKey.isPresent()) {
            return byKey.get();
        }
        Optional<StatementResult.Rows> byRange = atHand.isEmpty() ? byRange(query, plan) : Optional.empty();
        if (byRange.isPresent()) {
            return byRange.get();
        }
        if (transactions.withChanges().isPresent() || !atHand.isEmpty()) {
            Map<String, OwnRows> shown = new LinkedHashMap<>();
            return runInPlace(plan, query.schema(), shown, () -> addSeen(query, shown));
        }
        return run(plan, query.schema());
    }

    /** The rows of a query that reads some of one relation's, if an ordered index has those next to each other. */
    private Optional<StatementResult.Rows> byRange(Query query, PlanNode plan) {
        Optional<RangePlan> byRange = ranges.plan(plan);
        if (byRange.isEmpty()) {
            return Optional.empty();
        }
        RangePlan found = byRange.get();
        String relation = found.scan().relation();
        List<Batch> changes =
                transactions.withChanges().map(own -> own.changes(relation)).orElse(List.of());
        if (changes.isEmpty() && found.answer().isPresent()) {
            return ranges.answer(found, query.schema(), GivenValues.none());
        }
        return ranges.rows(found, GivenValues.none()).map(batch -> {
            try (batch) {
                OwnRows rows = changes.isEmpty()
                        ? new OwnRows(batch)
                        : new OwnRows(
                                batch.schema(),
                                FixedRows.of(batch.schema(), Optional.of(batch.retain())),
                                changes,
                                database.engine().allocator());
                Map<String, OwnRows> shown = new LinkedHashMap<>();
                shown.put(relation, rows);
                return runInPlace(plan, query.schema(), shown, () -> {});
            }
        });
    }

    /** Rows that are found by an order. */
    RangeRows ranges() {
        return ranges;
    }

    /** What is read in the place of relations: rows that parts of the statement returned, and tables with own changes. */
    private void addSeen(Query query, Map<String, OwnRows> shown) {
        atHand.forEach((name, rows) -> shown.put(name, new OwnRows(rows)));
        transactions.withChanges().ifPresent(own -> addOwn(query.relations(), own, shown));
    }

    /** Rows that are read under a name until {@link #forgetAtHand}; they stay the caller's. */
    void putAtHand(String name, Batch rows) {
        atHand.put(name, rows);
    }

    void forgetAtHand() {
        atHand.clear();
    }

    /** Views do not show what the transaction changed, which may end it, if nobody began it. */
    private void tellOfViews(Query query) {
        Optional<Transaction> own = transactions.withChanges();
        if (own.isPresent()) {
            query.relations().forEach(relation -> tellOfView(relation, own.get().changed()));
        }
    }

    private void tellOfView(String relation, Set<String> changed) {
        Optional<CatalogObject> view = database.catalog()
                .object(relation)
                .filter(object -> object.kind() != ObjectKind.TABLE && object.kind() != ObjectKind.VIEW)
                .filter(object -> readsAny(object, changed));
        view.ifPresent(object -> transactions.readsViewOfOwnChanges(object.name()));
    }

    private boolean readsAny(CatalogObject object, Set<String> changed) {
        return object.reads().stream()
                .anyMatch(read -> changed.contains(read)
                        || database.catalog()
                                .object(read)
                                .filter(inner -> readsAny(inner, changed))
                                .isPresent());
    }

    /** The rows of a query over rows at hand, which stay the caller's; it may read relations, too. */
    StatementResult.Rows over(Query query, Batch atHand) {
        PlanNode plan = plan(query).root();
        if (atHand.rowCount() <= MOST_COMPUTED_DIRECTLY
                && DirectCalc.suits(plan, Relation.AT_HAND)
                && !UserCalls.isIn(plan)) {
            return FixedRows.of(
                    query.schema(),
                    DirectCalc.compute(plan, atHand, database.engine().allocator(), clock()));
        }
        query.relations().forEach(this::requireReadable);
        awaitOwnWrites(query);
        Map<String, OwnRows> shown = new LinkedHashMap<>();
        shown.put(Relation.AT_HAND, new OwnRows(atHand));
        return runInPlace(plan, query.schema(), shown, () -> addSeen(query, shown));
    }

    /** Reads tables that the transaction changed as it sees them. */
    private StatementResult.Rows runOverOwn(
            PlanNode plan, Collection<String> relations, Schema schema, Transaction own) {
        Map<String, OwnRows> shown = new LinkedHashMap<>();
        return runInPlace(plan, schema, shown, () -> addOwn(relations, own, shown));
    }

    private void addOwn(Collection<String> relations, Transaction own, Map<String, OwnRows> shown) {
        for (String name : relations) {
            List<Batch> changes = own.changes(name);
            if (!changes.isEmpty()) {
                CatalogObject table = database.catalog().object(name).orElseThrow();
                shown.put(
                        name,
                        new OwnRows(
                                table.schema(),
                                run(scan(table), table.schema()),
                                changes,
                                database.engine().allocator()));
            }
        }
    }

    /** Runs a plan with rows in the place of relations, which are taken over; {@code fill} adds more of them. */
    private StatementResult.Rows runInPlace(PlanNode plan, Schema schema, Map<String, OwnRows> shown, Runnable fill) {
        Map<String, String> hidden = new LinkedHashMap<>();
        Runnable forget = () -> {
            hidden.values().forEach(database.engine().relations()::drop);
            Closing.all(shown.values());
        };
        try {
            fill.run();
            shown.forEach((name, seen) -> {
                String as = database.ownRowsName(name);
                database.engine().relations().addSource(as, seen, OnError.FAIL);
                hidden.put(name, as);
            });
            PlanNode over = Rewriter.rewrite(
                    plan,
                    node -> node instanceof PlanNode.Scan scan && hidden.containsKey(scan.relation())
                            ? Optional.of(new PlanNode.Scan(
                                    hidden.get(scan.relation()), scan.columns(), scan.predicates(), scan.schema()))
                            : Optional.empty());
            return run(over, schema, forget);
        } catch (RuntimeException e) {
            forget.run();
            throw e;
        }
    }

    /** All rows of a table as the session sees it. */
    StatementResult.Rows all(CatalogObject table) {
        Optional<Transaction> own = transactions.withChanges();
        return own.isPresent()
                ? runOverOwn(scan(table), List.of(table.name()), table.schema(), own.get())
                : run(scan(table), table.schema());
    }

    /** The rows of a result in one batch that the caller owns; closes the result. */
    Batch whole(StatementResult.Rows source) {
        int[] columns = IntStream.range(0, source.schema().size()).toArray();
        try (source;
                RowCopier copier =
                        new RowCopier(source.schema(), database.engine().allocator())) {
            source.forEach(batch -> copier.copyAll(batch, columns));
            return copier.build();
        }
    }

    private static PlanNode scan(CatalogObject table) {
        List<Integer> columns =
                IntStream.range(0, table.schema().size()).boxed().toList();
        return new PlanNode.Scan(table.name(), columns, List.of(), table.schema());
    }

    private StatementResult.Rows run(PlanNode plan, Schema schema) {
        return run(plan, schema, () -> {});
    }

    private StatementResult.Rows run(PlanNode plan, Schema schema, Runnable onClose) {
        long mostBytes = mostBytes();
        Result result = offload.run(
                hasMany(plan, MANY_NODES), () -> database.engine().run(plan, nowMicros, mostBytes), Result::close);
        long startNanos = database.clock().nanoTime();
        showProgress.accept(() -> Optional.of(progressOf(result, startNanos)));
        return new ResultRows(schema, result, cancellation, database.engine().allocator(), () -> {
            showProgress.accept(Optional::empty);
            onClose.run();
        });
    }

    /** Whether a plan has so many nodes; shared ones count each time. */
    private static boolean hasMany(PlanNode plan, int many) {
        return nodes(plan, many) >= many;
    }

    private static int nodes(PlanNode plan, int most) {
        int count = 1;
        for (PlanNode input : plan.inputs()) {
            count += count < most ? nodes(input, most - count) : 0;
        }
        return count;
    }

    /** What a query that this session makes may hold; one that is made again, as its owner's role says. */
    long mostBytes() {
        Setting limit = Setting.MAX_QUERY_MEMORY;
        Optional<Role> owner = database.keeper()
                .restoringOwner()
                .flatMap(name -> database.catalog().roles().find(name));
        String said = owner.isPresent()
                ? owner.get().settings().getOrDefault(limit.settingName(), limit.defaultValue())
                : settings.get(limit);
        long most = SessionSettings.bytes(said);
        return most == 0 ? Long.MAX_VALUE : most;
    }

    private Progress progressOf(Result result, long startNanos) {
        double seconds = (database.clock().nanoTime() - startNanos) / 1e9;
        long rows = result.rowsRead();
        return new Progress(result.progress(), rows, rows / Math.max(1e-3, seconds));
    }

    /** Whether no part of the statement under way returned rows, which others read. */
    boolean hasNoneAtHand() {
        return atHand.isEmpty();
    }

    /** Whether what is read is what is committed, and there is nothing to wait for. */
    boolean readsAtOnce() {
        return ownEpochs.isEmpty()
                && atHand.isEmpty()
                && transactions.withChanges().isEmpty();
    }

    /** Rows that are found by their keys. */
    KeyRows keys() {
        return keys;
    }

    /** Before the rows of a query are read by a key: what {@link #rows(Query)} does before it reads. */
    Optional<Transaction> prepareToReadByKey(Query query) {
        tellOfViews(query);
        prepareToRead(query);
        return transactions.withChanges();
    }

    /** Before the rows of a query are read, by whatever way. */
    private void prepareToRead(Query query) {
        awaitOwnWrites(query); // which may be what makes a relation readable, or not
        query.relations().forEach(this::requireReadable);
    }

    private void awaitOwnWrites(Query query) {
        if (!query.relations().isEmpty() && settings.isOn(Setting.READ_YOUR_WRITES)) {
            ownEpochs.removeIf(epoch -> database.engine().awaitEpoch(epoch, query.relations()));
        }
    }

    /** Waits until what the session wrote is in all answers, also in those that it does not read. */
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
        Optional<StandingQuery> query = database.standing(object.name());
        Optional<MillraceException> failure = query.flatMap(StandingQuery::failure);
        if (failure.isPresent()) {
            MillraceException cause = failure.get();
            if (query.get().state() != QueryState.FAILED) {
                throw MillraceException.user(
                                cause.sqlState(),
                                object.kind().sqlName() + " \"" + object.name()
                                        + "\" has a row that cannot be computed: " + cause.getMessage())
                        .withHint("it answers again when the rows that this comes from are changed or deleted");
            }
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

    /** Executes something with what SUBSCRIBE says of its beginning replaced by a time, if there is one. */
    StatementResult beginningAfter(OptionalLong micros, Supplier<StatementResult> what) {
        subscribeAfter = micros;
        try {
            return what.get();
        } finally {
            subscribeAfter = OptionalLong.empty();
        }
    }

    StatementResult subscribe(Statement.Subscribe asked) {
        Statement.Subscribe subscribe = asked;
        if (subscribeAfter.isPresent()) {
            subscribe = new Statement.Subscribe(
                    asked.relation(),
                    asked.query(),
                    false,
                    asked.progress(),
                    subscribeAfter,
                    asked.onSlow(),
                    asked.bufferBytes());
        }
        return begin(subscribe);
    }

    private StatementResult begin(Statement.Subscribe subscribe) {
        if (subscribe.asOfMicros().isPresent() && subscribe.snapshot()) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "a subscription AS OF a time has no snapshot")
                    .withHint("AS OF goes on behind what was seen; SNAPSHOT begins again");
        }
        Optional<CatalogObject> object = subscribe.relation().flatMap(database.catalog()::object);
        object.ifPresent(this::requireHealthy);
        requireStreaming(subscribe.query().relations(), "SUBSCRIBE");
        Optional<StandingQuery> running = object.filter(
                        found -> !database.plans().isReplayable(found.name()))
                .flatMap(found -> database.standing(found.name()));
        if (running.isPresent()) {
            SubscriptionOptions options = new SubscriptionOptions(
                    subscribe.snapshot(),
                    subscribe.progress(),
                    bufferBytes(subscribe),
                    whenFull(onSlow(subscribe)),
                    subscribe.asOfMicros());
            return new StandingChanges(
                    running.get().subscribe(options),
                    form(subscribe),
                    object.get().appendOnly(),
                    cancellation,
                    notices);
        }
        if (subscribe.asOfMicros().isPresent()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "AS OF needs a continuous query or a view, whose changes are kept for a while")
                    .withHint("CREATE CONTINUOUS QUERY q AS ...; SUBSCRIBE TO q AS OF '...'");
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
        PhysicalPlan plan = plan(subscribe.query(), StandingRules.NONE);
        // Who reads only what is read for it alone, from the first row on, makes nobody else wait.
        boolean alone = !subscribe.query().relations().isEmpty()
                && subscribe.query().relations().stream().allMatch(database.plans()::givesAllRowsAgain);
        OnSlow onSlow = alone ? subscribe.onSlow().orElse(OnSlow.BLOCK) : onSlow(subscribe);
        ChangeQueue queue = new ChangeQueue(database.clock(), whenFull(onSlow), bufferBytes(subscribe));
        StandingQuery query = database.engine()
                .start(
                        database.subscriptionName(),
                        plan.root(),
                        limited(QueryOptions.streaming().withSink(queue))
                                .withMostSinkNanos(
                                        Long.MAX_VALUE) // a client may read when it likes, or on_slow says what else
                                .withMostBytes(mostBytes()));
        return new OwnChanges(
                subscribe.query().schema(), query, queue, plan.appendOnly(), form(subscribe), cancellation, notices);
    }

    /** How a query that this session makes runs. */
    QueryOptions limited(QueryOptions options) {
        return options.withMostRowNanos(nanosOrNever(Setting.ROW_TIMEOUT))
                .withMostSinkNanos(nanosOrNever(Setting.SINK_TIMEOUT));
    }

    private long nanosOrNever(Setting setting) {
        long millis = settings.millis(setting);
        return millis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private OnSlow onSlow(Statement.Subscribe subscribe) {
        return subscribe
                .onSlow()
                .orElseGet(() -> OnSlow.valueOf(settings.get(Setting.ON_SLOW).toUpperCase(Locale.ROOT)));
    }

    private long bufferBytes(Statement.Subscribe subscribe) {
        return subscribe.bufferBytes().orElseGet(() -> settings.bytes(Setting.SUBSCRIPTION_BUFFER));
    }

    private static WhenFull whenFull(OnSlow onSlow) {
        return switch (onSlow) {
            case BLOCK -> WhenFull.WAIT;
            case DROP_OLDEST -> WhenFull.DROP_OLDEST;
            case DISCONNECT -> WhenFull.END;
        };
    }

    /** How the changes of a subscription are shown as rows. */
    ChangeRows.Form form(Statement.Subscribe subscribe) {
        return new ChangeRows.Form(
                subscribe.query().schema(), subscribe.progress(), onSlow(subscribe) == OnSlow.DROP_OLDEST);
    }

    /** What the system says about itself is computed when asked; it does not tell when it changes. */
    void requireStreaming(Collection<String> relations, String statement) {
        requireAsBegun(relations);
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
