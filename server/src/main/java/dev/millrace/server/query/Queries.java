package dev.millrace.server.query;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.engine.calc.DirectCalc;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.runtime.Result;
import dev.millrace.engine.statistic.FlushProgress;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Offload;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.lookup.GivenValues;
import dev.millrace.server.lookup.KeyRows;
import dev.millrace.server.lookup.RangePlan;
import dev.millrace.server.lookup.RangeRows;
import dev.millrace.server.planning.MaxError;
import dev.millrace.server.planning.PlanBasis;
import dev.millrace.server.planning.StandingRules;
import dev.millrace.server.planning.UserCalls;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.Progress;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.OwnRows;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * SELECT and FLUSH: the rows of queries as a session sees them, its own changes included. Belongs to the session's thread.
 *
 * <p>Long because all ways to read begin with the same checks and see the same rows, which is written once.
 */
public final class Queries {
    private static final long MOST_OF_RECURSION = 256L << 20; // bytes, with max_query_memory or without
    private static final int MANY_NODES = 12; // whose tasks and code take some milliseconds to make

    private final Instance database;
    private final SessionSettings settings;
    private final Transactions transactions;
    private final Cancellation cancellation;
    private final Offload offload;
    private final ReadChecks checks;
    private final OwnEpochs epochs;
    private final QueryLimits limits;
    private final KeyRows keys;
    private final RangeRows ranges;
    private final Consumer<Supplier<Optional<Progress>>> showProgress;
    private final Map<String, Batch> atHand = new LinkedHashMap<>(); // what parts of the statement under way returned
    private final Map<String, FileRelation> files = new HashMap<>(); // that the statement under way names
    private final Consumer<String> notices;
    private long nowMicros; // when the statement under way, or the transaction that it is of, was begun
    private volatile Optional<Progress> flushProgress = Optional.empty(); // written by the session's thread

    public Queries(
            Instance database,
            SessionSettings settings,
            Transactions transactions,
            Cancellation cancellation,
            Offload offload,
            Consumer<Supplier<Optional<Progress>>> showProgress,
            Consumer<String> notices) {
        this.notices = notices;
        this.database = database;
        this.settings = settings;
        this.checks = new ReadChecks(database);
        this.epochs = new OwnEpochs(database, settings, showProgress);
        this.limits = new QueryLimits(database, settings);
        this.transactions = transactions;
        this.cancellation = cancellation;
        this.offload = offload;
        this.keys = new KeyRows(database, statementClock());
        this.ranges = new RangeRows(database, statementClock());
        this.showProgress = showProgress;
    }

    /** A statement begins: all that it computes reads one time, when its transaction began. */
    public void begin() {
        nowMicros = transactions.beganMicros().orElseGet(database.clock()::epochMicros);
        files.clear();
        checks.begin();
    }

    /** What {@link ReadChecks#requireAsBegun} asks of an answer, whose rows stay as they were when it was begun. */
    <T extends StatementResult> T asBegun(Query query, T answer) {
        try {
            checks.requireAsBegun(query.relations());
            return answer;
        } catch (MillraceException e) {
            answer.close();
            throw e;
        }
    }

    /** What may be read. */
    public ReadChecks checks() {
        return checks;
    }

    /** What the session wrote, and waits for. */
    public OwnEpochs epochs() {
        return epochs;
    }

    /** What a query may use. */
    public QueryLimits limits() {
        return limits;
    }

    /** A clock that stands during each statement, or transaction, and goes on with the next. */
    public Clock statementClock() {
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

    /** The time of the statement under way, or of its transaction, which stands. */
    public Clock clock() {
        return Clock.standingAt(nowMicros, database.clock());
    }

    public StatementResult select(Statement.Select select) {
        return rows(select.query());
    }

    /** What may take long for long statements is done by way of it. */
    public Offload offload() {
        return offload;
    }

    /** The plan of a query over the rows that are there. */
    public PhysicalPlan plan(Query query) {
        OptionalDouble maxError = MaxError.of(query, settings.limit(Setting.MAX_ERROR));
        return offload.run(() -> database.plans().pull(query, maxError));
    }

    /**
     * A query that was analysed without the values of its parameters, with these, and planned.
     *
     * @param count of the statement's parameters
     * @return empty if the statement has to be analysed with the values, which also tells what is wrong with them
     */
    public Optional<Query> planned(Query open, Parameters parameters, int count) {
        if (open.isRecursive()) {
            return Optional.empty(); // values stand in its recursions, too
        }
        Optional<Query> given = new GivenValues(parameters).in(open, count);
        try {
            given.ifPresent(this::plan);
            return given;
        } catch (MillraceException e) {
            Interrupt.checkCurrent();
            return Optional.empty();
        }
    }

    /** The plan of a query whose answer is kept current. */
    public PhysicalPlan plan(Query query, StandingRules rules) {
        return plan(query, rules, PlanBasis.first());
    }

    /** The same, as the planner is told of rows. */
    public PhysicalPlan plan(Query query, StandingRules rules, PlanBasis basis) {
        if (query.isRecursive()) {
            throw MillraceException.notAvailableYet("WITH RECURSIVE in an answer that is kept current");
        }
        FileScans.requireNone(query, "an answer that is kept current");
        return offload.run(() -> rules.plan(database.plans(), query, basis));
    }

    /** The rows of a finite query. */
    public StatementResult.Rows rows(Query query) {
        return asBegun(query, read(query));
    }

    private StatementResult.Rows read(Query query) {
        files.putAll(query.files());
        if (query.isRecursive()) {
            tellOfViews(query);
            prepareToRead(query);
            return new Recursions(
                            atHand,
                            this::named,
                            this::overHand,
                            database.engine().allocator(),
                            Math.min(limits.mostBytes(), MOST_OF_RECURSION))
                    .rows(query);
        }
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

    /** All rows of what can be read by a name, as the session sees it. */
    private StatementResult.Rows named(String relation) {
        Optional<CatalogObject> object = database.catalog().object(relation);
        if (object.isPresent()) {
            return all(object.get());
        }
        Optional<Schema> ofFiles = Optional.ofNullable(files.get(relation))
                .map(found -> found.source().schema());
        if (ofFiles.isPresent()) {
            return run(scan(relation, ofFiles.get()), ofFiles.get());
        }
        Schema schema =
                database.catalog().systemRelation(relation).orElseThrow().schema();
        return run(scan(relation, schema), schema);
    }

    private Recursions.Reading overHand(Query query) {
        return query.isRecursive()
                ? () -> read(query)
                : new OverHand(
                        query, plan(query).root(), atHand, database.engine().allocator(), clock(), this::runInPlace);
    }

    /** What is read in the place of relations: rows that parts of the statement returned, and tables with own changes. */
    private void addSeen(Query query, Map<String, OwnRows> shown) {
        atHand.forEach((name, rows) -> shown.put(name, new OwnRows(rows)));
        transactions.withChanges().ifPresent(own -> addOwn(query.relations(), own, shown));
    }

    /** Rows that are read under a name until {@link #forgetAtHand}; they stay the caller's. */
    public void putAtHand(String name, Batch rows) {
        atHand.put(name, rows);
    }

    public void forgetAtHand() {
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
    public StatementResult.Rows over(Query query, Batch atHand) {
        files.putAll(query.files());
        if (query.isRecursive()) {
            return recursiveOver(query, atHand);
        }
        PlanNode plan = plan(query).root();
        if (atHand.rowCount() <= OverHand.MOST_COMPUTED_DIRECTLY
                && DirectCalc.suits(plan, Relation.AT_HAND)
                && !UserCalls.isIn(plan)) {
            return FixedRows.of(
                    query.schema(),
                    DirectCalc.compute(plan, atHand, database.engine().allocator(), clock()));
        }
        query.relations().forEach(checks::requireReadable);
        epochs.await(query);
        Map<String, OwnRows> shown = new LinkedHashMap<>();
        shown.put(Relation.AT_HAND, new OwnRows(atHand));
        return runInPlace(plan, query.schema(), shown, () -> addSeen(query, shown));
    }

    private StatementResult.Rows recursiveOver(Query query, Batch rows) {
        putAtHand(Relation.AT_HAND, rows);
        try {
            return FixedRows.of(whole(read(query)));
        } finally {
            atHand.remove(Relation.AT_HAND);
        }
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
    public StatementResult.Rows all(CatalogObject table) {
        Optional<Transaction> own = transactions.withChanges();
        return own.isPresent()
                ? runOverOwn(scan(table), List.of(table.name()), table.schema(), own.get())
                : run(scan(table), table.schema());
    }

    /** The rows of a result in one batch that the caller owns; closes the result. */
    public Batch whole(StatementResult.Rows source) {
        int[] columns = IntStream.range(0, source.schema().size()).toArray();
        try (source;
                RowCopier copier =
                        new RowCopier(source.schema(), database.engine().allocator())) {
            source.forEach(batch -> copier.copyAll(batch, columns));
            return copier.build();
        }
    }

    private static PlanNode scan(CatalogObject table) {
        return scan(table.name(), table.schema());
    }

    private static PlanNode scan(String relation, Schema schema) {
        List<Integer> columns = IntStream.range(0, schema.size()).boxed().toList();
        return new PlanNode.Scan(relation, columns, List.of(), schema);
    }

    private ResultRows run(PlanNode plan, Schema schema) {
        return run(plan, schema, () -> {});
    }

    private ResultRows run(PlanNode plan, Schema schema, Runnable onClose) {
        long mostBytes = limits.mostBytes();
        FileScans scans = new FileScans(database, files, notices);
        Result result;
        try {
            PlanNode over = scans.in(plan);
            result = offload.run(
                    hasMany(plan, MANY_NODES), () -> database.engine().run(over, nowMicros, mostBytes), Result::close);
        } catch (RuntimeException e) {
            scans.close();
            throw e;
        }
        long startNanos = database.clock().nanoTime();
        showProgress.accept(() -> Optional.of(progressOf(result, startNanos)));
        return new ResultRows(schema, result, cancellation, database.engine().allocator(), () -> {
            showProgress.accept(Optional::empty);
            scans.close();
            onClose.run();
        });
    }

    /** Runs a query by its plan, without the ways round it, to its end; the rows are let go of. */
    public QueryStatistics runToEnd(Query query) {
        if (query.isRecursive()) {
            throw MillraceException.notAvailableYet("EXPLAIN ANALYZE of WITH RECURSIVE")
                    .withHint("EXPLAIN shows the plan of what reads it");
        }
        files.putAll(query.files());
        PlanNode plan = plan(query).root();
        prepareToRead(query);
        checks.requireAsBegun(query.relations());
        try (ResultRows rows = run(plan, query.schema())) {
            rows.forEach(batch -> {});
            return rows.statistics();
        }
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

    private Progress progressOf(Result result, long startNanos) {
        double seconds = (database.clock().nanoTime() - startNanos) / 1e9;
        long rows = result.rowsRead();
        return new Progress(result.progress(), rows, rows / Math.max(1e-3, seconds));
    }

    /** Whether no part of the statement under way returned rows, which others read. */
    public boolean hasNoneAtHand() {
        return atHand.isEmpty();
    }

    /** Whether what is read is what is committed, and there is nothing to wait for. */
    boolean readsAtOnce(String relation) {
        return epochs.isNothingFor(relation)
                && atHand.isEmpty()
                && transactions.withChanges().isEmpty();
    }

    /** Rows that are found by their keys. */
    public KeyRows keys() {
        return keys;
    }

    /** Before the rows of a query are read by a key: what {@link #rows(Query)} does before it reads. */
    public Optional<Transaction> prepareToReadByKey(Query query) {
        tellOfViews(query);
        prepareToRead(query);
        return transactions.withChanges();
    }

    /** Before the rows of a query are read, by whatever way. */
    private void prepareToRead(Query query) {
        epochs.await(query); // which may be what makes a relation readable, or not
        query.relations().forEach(checks::requireReadable);
    }

    public void flush() {
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
