package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.management.ThreadMXBean;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.alteration.Alteration;
import dev.millrace.engine.checkpoint.CheckpointReader;
import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.heap.HeapRelief;
import dev.millrace.engine.operators.FiniteRun;
import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.relation.Relations;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QueryTasks.FeedScan;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.MemoryScopes;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.constant.ConstantRows;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.Subplans;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The engine of one process.
 *
 * <p>Long because it is all that a program may ask of one, over the locks that these share.
 */
class LocalEngine implements Engine {
    private static final long SINK_THREAD_IDLE_SECONDS = 5;
    private static final long MOST_SPOOLED_BYTES = 64L << 20; // of a checkpoint, on their way to its writer
    private static final int SPOOLED_PART = 16; // of all memory

    private static final long PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final EngineOptions options;
    private final Clock clock;
    private final Workers workers;
    private volatile String schedulingPolicy; // set and read by anyone who asks
    private final Function<PlanNode, Operator> operators;
    private final Signal signal = new Signal();
    private final MemoryScopes memory;
    private final Epochs epochs;
    private final Quiescence quiescence;
    private final Resources resources;
    private final RelationRegistry relations;
    private final HeapBudget heap;
    private final Optional<HeapRelief> relief = HeapRelief.ofProcess().map(this::newRelief);
    private final ReentrantLock changes = new ReentrantLock(); // who starts queries and brings epochs to rest

    @GuardedBy("queries") private final Map<String, LocalStandingQuery> queries = new LinkedHashMap<>();

    @GuardedBy("results") private final Set<LocalResult> results = new HashSet<>();

    private final ReentrantLock checkpointing = new ReentrantLock(); // one checkpoint at a time

    private volatile Optional<LocalResumption> restoring = Optional.empty(); // written under the lock of changes

    private boolean closed;

    LocalEngine(
            EngineOptions options,
            Clock clock,
            Workers workers,
            Executor sinkThreads,
            Function<PlanNode, Operator> operators) {
        this(options, clock, workers, sinkThreads, operators, Journal.NONE, HeapBudget.ofProcess());
    }

    LocalEngine(
            EngineOptions options,
            Clock clock,
            Workers workers,
            Executor sinkThreads,
            Function<PlanNode, Operator> operators,
            Journal journal,
            HeapBudget heap) {
        this.heap = heap;
        this.options = options;
        this.clock = clock;
        this.workers = workers;
        this.schedulingPolicy = options.schedulingPolicy();
        this.operators = operators;
        this.memory = new MemoryScopes(options.memoryLimitBytes(), sinkThreads);
        this.epochs = new Epochs(workers, clock, TimeUnit.MILLISECONDS.toNanos(options.epochMillis()), signal, journal);
        this.quiescence = new Quiescence(epochs, workers, signal);
        this.resources = new Resources(
                workers,
                clock,
                epochs,
                signal,
                memory,
                options.batchRows(),
                options.channelHighBytes(),
                options.channelLowBytes(),
                options.memoryLimitBytes() / 8,
                sinkThreads);
        this.relations = new RelationRegistry(resources);
    }

    static Engine threaded(EngineOptions options, Clock clock, Journal journal) {
        Workers workers =
                new WorkerThreads(options.workers(), SchedulingPolicies.named(options.schedulingPolicy()), clock);
        LocalEngine engine = new LocalEngine(
                options, clock, workers, newSinkThreads(), OperatorFactory::create, journal, HeapBudget.ofProcess());
        engine.relief.ifPresent(HeapRelief::begin);
        return engine;
    }

    private HeapRelief newRelief(HeapRelief.Heap ofProcess) {
        return new HeapRelief(ofProcess, new HeapRelief.Queries() {
            @Override
            public void giveWay(double part) {
                memory.giveWay(
                        part,
                        owner -> "out of memory: the Java heap of "
                                + (Runtime.getRuntime().maxMemory() >> 20)
                                + " MB is nearly full, and " + owner
                                + " gives way because it is one of those that hold most");
            }

            @Override
            public boolean areGivingWay() {
                return memory.areGivingWay();
            }
        });
    }

    /** As many threads as sinks are at work at a time; gone when there is nothing to do for a while. */
    static Executor newSinkThreads() {
        AtomicInteger count = new AtomicInteger();
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, SINK_THREAD_IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> {
                    Thread thread = new Thread(work, "millrace-sink-" + count.getAndIncrement());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    static SteppedEngine stepped(
            EngineOptions options, Clock clock, long seed, Journal journal, BooleanSupplier others) {
        SteppedWorkers workers = new SteppedWorkers(seed, clock, others);
        return new SteppedLocalEngine(options, clock, workers, OperatorFactory::create, journal);
    }

    @Override
    public EngineOptions options() {
        return options;
    }

    @Override
    public Relations relations() {
        return relations;
    }

    @Override
    public BufferAllocator allocator() {
        return memory.root();
    }

    @Override
    public CheckpointSummary checkpoint(CheckpointWriter writer, Runnable atCut) {
        Interrupt.lock(checkpointing);
        try {
            long mostBytes = Math.min(MOST_SPOOLED_BYTES, options.memoryLimitBytes() / SPOOLED_PART);
            return new CheckpointRun(resources, quiescence, mostBytes).run(writer, atCut, this::cut);
        } finally {
            checkpointing.unlock();
        }
    }

    private void cut(CheckpointRun.Cutting cutting) {
        Interrupt.lock(changes);
        try {
            if (restoring.isPresent() || closed) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        closed ? "the engine is closed" : "the engine is being opened from a checkpoint");
            }
            relations.expect(cutting.barrier());
            List<LocalStandingQuery> all;
            synchronized (queries) {
                all = List.copyOf(queries.values());
            }
            cutting.cut(all);
        } finally {
            changes.unlock();
        }
    }

    @Override
    public Resumption restore(CheckpointReader reader) {
        Interrupt.lock(changes);
        try {
            if (restoring.isPresent() || relations.hasFeeds()) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "an engine goes on from a checkpoint before anything is declared in it");
            }
            LocalResumption resumption = new LocalResumption(reader, this::endResumption);
            epochs.beginOpening(resumption.numbers());
            relations.restoreFrom(Optional.of(resumption.saved()));
            restoring = Optional.of(resumption);
            return resumption;
        } finally {
            changes.unlock();
        }
    }

    private void endResumption() {
        changes.lock();
        try {
            if (restoring.isPresent()) {
                restoring = Optional.empty();
                relations.restoreFrom(Optional.empty());
                epochs.endOpening();
            }
        } finally {
            changes.unlock();
        }
    }

    @Override
    public StandingQuery start(String name, PlanNode plan, QueryOptions askedOptions) {
        QueryOptions queryOptions;
        try {
            queryOptions = restoring
                    .map(checkpoint -> checkpoint.optionsOf(name, plan, askedOptions))
                    .orElse(askedOptions);
        } catch (RuntimeException | Error e) {
            Closing.all(askedOptions.sinks());
            throw e;
        }
        return startWith(name, plan, queryOptions);
    }

    private StandingQuery startWith(String name, PlanNode plan, QueryOptions queryOptions) {
        try {
            Interrupt.lock(changes);
        } catch (MillraceException e) {
            Closing.all(queryOptions.sinks());
            throw e;
        }
        try {
            try {
                relations.requireFree(name);
            } catch (MillraceException e) {
                Closing.all(queryOptions.sinks());
                throw e;
            }
            HeapBudget.Taken taken = takeHeap(name, plan, queryOptions);
            long allocatedBefore = THREADS.getCurrentThreadAllocatedBytes();
            LocalStandingQuery query;
            try {
                query = new LocalStandingQuery(name, plan, queryOptions, options.workers(), this, resources);
            } catch (RuntimeException | Error e) {
                heap.give(taken);
                Closing.all(queryOptions.sinks());
                throw e;
            }
            Optional<MillraceException> failure = queryOptions.restore().flatMap(SavedQuery::failure);
            boolean finished = queryOptions.restore().map(SavedQuery::finished).orElse(false);
            try {
                if (!finished && failure.isEmpty()) {
                    new TaskBuilder(
                                    query.tasks(),
                                    plan,
                                    relations,
                                    query.parallelism(),
                                    true,
                                    operators,
                                    query.output(),
                                    queryOptions.restore(),
                                    query::isSeen)
                            .build();
                }
                attach(query);
                query.took(heap.started(taken, THREADS.getCurrentThreadAllocatedBytes() - allocatedBefore));
                if (finished) {
                    query.endAtOnce();
                }
                failure.ifPresent(query::failed);
            } catch (RuntimeException | Error e) {
                heap.give(taken);
                query.abandon();
                memory.release(query.tasks().memory());
                throw QueryTasks.explain(e);
            }
            return query;
        } finally {
            changes.unlock();
        }
    }

    /** Counts a query that is about to run on the Java heap, or closes its sinks and refuses it. */
    private HeapBudget.Taken takeHeap(String name, PlanNode plan, QueryOptions queryOptions) {
        try {
            return heap.take(name, HeapBudget.estimate(plan, options.workers()));
        } catch (MillraceException e) {
            Closing.all(queryOptions.sinks());
            throw e;
        }
    }

    @Override
    public Alteration alteration(String name, PlanNode plan) {
        LocalStandingQuery query = (LocalStandingQuery) query(name);
        return new Alteration(query.plan(), plan, query.state(), relations::scannable);
    }

    @Override
    public StandingQuery alter(String name, PlanNode plan, QueryOptions queryOptions) {
        Interrupt.lock(changes);
        try {
            LocalStandingQuery old = (LocalStandingQuery) query(name);
            if (old.state() == QueryState.PAUSED) {
                throw MillraceException.user(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + name + "\" is paused")
                        .withHint("RESUME it first");
            }
            old.requireNoFailedRows();
            Alteration alteration = alteration(name, plan);
            if (alteration.changesNothing()) {
                return old;
            }
            HeapBudget.Taken taken = takeHeap(name, plan, queryOptions); // both run for a while
            LocalStandingQuery query;
            try {
                query = new HandOver(this, resources, relations, operators).run(old, plan, queryOptions, alteration);
            } catch (RuntimeException | Error e) {
                heap.give(taken);
                throw e;
            }
            old.taken().ifPresent(heap::give);
            query.took(taken);
            return query;
        } finally {
            changes.unlock();
        }
    }

    /** Has a query take the place of another of its name. */
    void replace(LocalStandingQuery old, LocalStandingQuery query) {
        resources
                .barriers()
                .current()
                .ifPresent(barrier -> barrier.fail(MillraceException.user(
                                SqlState.OBJECT_IN_USE,
                                "query \"" + query.name() + "\" was altered while the checkpoint was made")
                        .withHint("try again")));
        relations.replaceQuery(query.name(), query.feed());
        relations.readsNothing(query.name());
        scans(query.plan()).forEach(scan -> relations.reads(query.name(), scan.relation()));
        synchronized (queries) {
            queries.replace(query.name(), old, query);
        }
    }

    private void attach(LocalStandingQuery query) {
        Set<EpochDomain> domains = new LinkedHashSet<>(); // in an order that a seed repeats
        for (FeedScan scan : query.tasks().feeds) {
            domains.add(scan.feed().domain().get());
        }
        if (domains.isEmpty()) {
            query.attach(epochs.newDomain());
        } else {
            quiescence.join(domains, query);
        }
        relations.addQuery(query.name(), query.feed());
        scans(query.plan()).forEach(scan -> relations.reads(query.name(), scan.relation()));
        synchronized (queries) {
            queries.put(query.name(), query);
        }
        query.tasks().start();
        query.beginFirstEpoch();
    }

    static Set<Scan> scans(PlanNode plan) {
        Set<Scan> scans = new HashSet<>();
        for (PlanNode node : Subplans.of(plan)) {
            if (node instanceof Scan scan) {
                scans.add(scan);
            }
        }
        return scans;
    }

    /** Runs an action while the epochs of a query are at rest: nothing of it is half done anywhere. */
    void atRest(LocalStandingQuery query, Runnable action) {
        Interrupt.lock(changes);
        try {
            if (query.state() == QueryState.RUNNING || query.state() == QueryState.PAUSED) {
                atRest(Set.of(query.domain()), domain -> action.run());
            } else {
                query.exclusively(action);
            }
        } finally {
            changes.unlock();
        }
    }

    /** Runs an action while domains are at rest, which are one then. By who holds the lock of changes. */
    void atRest(Set<EpochDomain> domains, Consumer<EpochDomain> action) {
        quiescence.atRest(domains, action);
    }

    /** Whether somebody starts or changes a query, or waits for a moment to do so. For tests. */
    boolean isChanging() {
        return changes.isLocked();
    }

    /** Waits for a condition over the engine's state. */
    void await(BooleanSupplier condition) {
        quiescence.await(condition, Long.MAX_VALUE);
    }

    void forget(LocalStandingQuery query) {
        relations.removeQuery(query.name());
        relations.readsNothing(query.name());
        synchronized (queries) {
            queries.remove(query.name(), query);
        }
        query.taken().ifPresent(heap::give);
    }

    @Override
    public StandingQuery query(String name) {
        synchronized (queries) {
            LocalStandingQuery query = queries.get(name);
            if (query == null) {
                throw MillraceException.user(SqlState.UNDEFINED_OBJECT, "query \"" + name + "\" does not exist");
            }
            return query;
        }
    }

    @Override
    public List<StandingQuery> queries() {
        synchronized (queries) {
            return List.copyOf(queries.values());
        }
    }

    @Override
    public Result run(PlanNode plan) {
        return run(plan, clock.epochMicros());
    }

    @Override
    public Result run(PlanNode plan, long nowMicros, long mostBytes) {
        if (plan instanceof PlanNode.Values values && values.rows().size() <= resources.batchRows()) {
            return new ConstantResult(plan.schema(), ConstantRows.of(values, resources.batchRows(), allocator()));
        }
        LocalResult result = new LocalResult(plan.schema(), options.channelHighBytes(), this::free);
        MemoryScope scope = memory.newScope("a SELECT", mostBytes);
        scope.mayGiveWay(result::giveWay);
        QueryTasks tasks = new QueryTasks(
                "select",
                0,
                scope,
                resources,
                Clock.standingAt(nowMicros, clock),
                Optional.of(result.failedRows()),
                result);
        result.attach(tasks, FiniteRun.mayRetract(plan));
        synchronized (results) {
            results.add(result);
        }
        try {
            awaitBeginOf(scans(plan));
            new TaskBuilder(
                            tasks,
                            plan,
                            relations,
                            options.workers(),
                            false,
                            operators,
                            result,
                            Optional.empty(),
                            leaf -> false)
                    .build();
            tasks.start();
            return result;
        } catch (RuntimeException | Error e) {
            result.close();
            throw QueryTasks.explain(e);
        }
    }

    @Override
    public Optional<VersionedView> kept(String relation) {
        LocalStandingQuery query;
        synchronized (queries) {
            query = queries.get(relation);
        }
        if (query != null && !query.hasBegun()) {
            return Optional.empty();
        }
        if (!(relations.scannable(relation) instanceof Scannable.Feed feed)) {
            return Optional.empty();
        }
        feed.requireCurrent();
        return feed.view();
    }

    /** Views are not read before their first epoch is whole: until then they lack rows that are there. */
    private void awaitBeginOf(Set<Scan> scans) {
        List<LocalStandingQuery> read = new ArrayList<>();
        synchronized (queries) {
            scans.forEach(
                    scan -> Optional.ofNullable(queries.get(scan.relation())).ifPresent(read::add));
        }
        if (!read.stream().allMatch(LocalStandingQuery::hasBegun)) {
            await(() -> closed || read.stream().allMatch(LocalStandingQuery::hasBegun));
        }
    }

    private void free(LocalResult result) {
        synchronized (results) {
            results.remove(result);
        }
        QueryTasks tasks = result.tasks();
        tasks.late().close(); // nobody asks
        tasks.stop(
                () -> Closing.all(List.<AutoCloseable>of(result::free, tasks, () -> memory.release(tasks.memory()))));
    }

    static MillraceException keepsNothing(String relation) {
        return MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        "\"" + relation + "\" keeps no rows to select from: they only pass through")
                .withHint("create a materialized view over it, or subscribe to a continuous query");
    }

    @Override
    public Accepted accept(Map<String, List<Batch>> rows) {
        return relations.append(rows, domains -> {
            Interrupt.lock(changes);
            try {
                Set<EpochDomain> apart = domains.get();
                if (apart.size() > 1) {
                    atRest(apart, merged -> {});
                }
            } finally {
                changes.unlock();
            }
        });
    }

    @Override
    public void awaitEpoch(long epoch) {
        await(() -> closed || epochs.isCommitted(epoch));
    }

    @Override
    public boolean awaitEpoch(long epoch, Collection<String> read) {
        List<EpochOutput> outputs = new ArrayList<>();
        for (String name : read) {
            Optional<EpochOutput> output = relations.output(name);
            if (output.isEmpty()) {
                awaitEpoch(epoch);
                return true;
            }
            outputs.add(output.get());
        }
        await(() -> closed || outputs.stream().allMatch(output -> epochs.isPublished(output, epoch)));
        return epochs.isCommitted(epoch);
    }

    @Override
    public void flush(Consumer<FlushProgress> progress) {
        List<LocalStandingQuery> all;
        synchronized (queries) {
            all = List.copyOf(queries.values());
        }
        long rowsBefore = rowsRead(all);
        long lastRows = rowsBefore;
        long lastNanos = clock.nanoTime();
        List<Long> pending = new ArrayList<>();
        boolean[] read = {false};
        Map<LocalStandingQuery, Long> commits = new HashMap<>();
        while (!quiescence.await(
                () -> {
                    if (!read[0] && all.stream().allMatch(LocalEngine::hasReadAll)) {
                        read[0] = true;
                        pending.addAll(epochs.pending());
                    }
                    if (!read[0] || !pending.stream().allMatch(epochs::isCommitted)) {
                        return false;
                    }
                    if (commits.isEmpty()) { // what sinks have to themselves, of all epochs up to those
                        all.forEach(query ->
                                commits.put(query, query.output().sinks().commitsBegun()));
                    }
                    return all.stream()
                            .allMatch(query -> query.state() == QueryState.DROPPED
                                    || query.output().sinks().hasCommitted(Objects.requireNonNull(commits.get(query))));
                },
                PROGRESS_NANOS)) {
            long now = clock.nanoTime();
            long rows = rowsRead(all);
            double perSecond = (rows - lastRows) / Math.max(1e-9, (now - lastNanos) / 1e9);
            progress.accept(new FlushProgress(fractionRead(all), rows - rowsBefore, perSecond));
            lastRows = rows;
            lastNanos = now;
        }
    }

    static boolean hasReadAll(LocalStandingQuery query) {
        return query.state() != QueryState.RUNNING
                || query.tasks().sources.stream()
                        .allMatch(source -> !source.bounded() || source.input().isFinished());
    }

    private static long rowsRead(List<LocalStandingQuery> queries) {
        return queries.stream()
                .mapToLong(query -> Statistics.rowsRead(query.tasks()))
                .sum();
    }

    private static double fractionRead(List<LocalStandingQuery> queries) {
        return queries.stream()
                .filter(query -> query.state() == QueryState.RUNNING)
                .flatMap(query -> query.tasks().progress().stream())
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(-1);
    }

    @Override
    public void setSchedulingPolicy(String name) {
        workers.setPolicy(SchedulingPolicies.named(name));
        schedulingPolicy = name;
    }

    @Override
    public String schedulingPolicy() {
        return schedulingPolicy;
    }

    @Override
    public long allocatedBytes() {
        return memory.root().getAllocatedMemory();
    }

    private List<LocalStandingQuery> newestFirst() {
        List<LocalStandingQuery> all;
        synchronized (queries) {
            all = new ArrayList<>(queries.values());
        }
        Collections.reverse(all);
        return all;
    }

    @Override
    public void close() {
        quiescence.end(); // who holds the lock waits for nothing any more
        changes.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            List<AutoCloseable> all = new ArrayList<>();
            relief.ifPresent(all::add);
            synchronized (results) {
                List.copyOf(results)
                        .forEach(result -> all.add(() -> {
                            result.shutDown();
                            result.close();
                        }));
            }
            List<LocalStandingQuery> running = newestFirst();
            resources.abandoned().beginClosing();
            running.forEach(
                    LocalStandingQuery::halt); // before one is waited for: those left would take all turns meanwhile
            running.forEach(query -> all.add(query::drop));
            all.add(relations);
            all.add(workers);
            all.add(() -> resources.abandoned().closeAfter(memory));
            Closing.all(all);
        } finally {
            changes.unlock();
        }
        signal.raise();
    }
}
