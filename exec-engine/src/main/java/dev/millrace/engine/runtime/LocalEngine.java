package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
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
import dev.millrace.engine.epoch.Quiescence;
import dev.millrace.engine.group.Member;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.heap.HeapRelief;
import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.engine.relation.Beside;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.relation.Relations;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.FlushProgress;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.task.MemoryScopes;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.SpillSpace;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.Subplans;
import dev.millrace.scheduler.SchedulerStatistics;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one process: its standing queries, and the lock under which they are started and changed. What runs besides them has
 * classes of its own. Long because all methods of {@link Engine} are here.
 */
class LocalEngine implements Engine {
    private static final System.Logger LOG = System.getLogger(LocalEngine.class.getPackageName());
    private static final long SINK_THREAD_IDLE_SECONDS = 5;

    private volatile EngineOptions options; // limits are set by anyone, as seen by anyone who asks
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
    private final Optional<HeapRelief> relief;
    private final ReentrantLock changes = new ReentrantLock(); // who starts queries and brings epochs to rest

    @GuardedBy("queries") private final Map<String, LocalStandingQuery> queries = new LinkedHashMap<>();

    @GuardedBy("queries") private final Map<String, MemberQuery> members = new LinkedHashMap<>(); // of groups

    @GuardedBy("queries") private final Map<LocalStandingQuery, LocalQueryGroup> ofGroups = new HashMap<>(); // by what runs them

    private final Set<MemberQuery> leaving = new HashSet<>(); // their groups; of who holds the lock of changes

    private final PullQueries pullQueries;
    private final EngineCheckpoints checkpoints;
    private volatile boolean closed; // written under the lock of changes, read by who waits

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
        this(options, clock, workers, sinkThreads, operators, journal, heap, SpillSpace.NONE);
    }

    LocalEngine(
            EngineOptions options,
            Clock clock,
            Workers workers,
            Executor sinkThreads,
            Function<PlanNode, Operator> operators,
            Journal journal,
            HeapBudget heap,
            SpillSpace spill) {
        this.heap = heap;
        this.options = options;
        this.clock = clock;
        this.workers = workers;
        this.schedulingPolicy = options.schedulingPolicy();
        this.operators = operators;
        this.memory = new MemoryScopes(options.memoryLimitBytes(), sinkThreads, spill, options.spillLimitBytes());
        workers.measureMemory(() -> (double) memory.bytes() / Math.max(1, this.options.memoryLimitBytes()));
        this.relief = HeapRelief.ofProcess().map(ofProcess -> new HeapRelief(ofProcess, memory));
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
        this.relations = new RelationRegistry(resources, this::feedOfMember, this::asMembers);
        this.pullQueries = new PullQueries(resources, relations, options, operators);
        this.checkpoints = new EngineCheckpoints(resources, relations, quiescence, changes, options.memoryLimitBytes());
    }

    static Engine threaded(EngineOptions options, Clock clock, Journal journal, SpillSpace spill) {
        Workers workers =
                new WorkerThreads(options.workers(), SchedulingPolicies.named(options.schedulingPolicy()), clock);
        LocalEngine engine = new LocalEngine(
                options,
                clock,
                workers,
                newSinkThreads(),
                OperatorFactory::create,
                journal,
                HeapBudget.ofProcess(),
                spill);
        engine.relief.ifPresent(HeapRelief::begin);
        return engine;
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
            EngineOptions options, Clock clock, long seed, Journal journal, BooleanSupplier others, Runnable pause) {
        SteppedWorkers workers = new SteppedWorkers(seed, clock, others, pause);
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
    public CheckpointSummary checkpoint(CheckpointWriter writer, LongConsumer atCut) {
        return checkpoints.write(writer, atCut, this::running, () -> closed);
    }

    @Override
    public void published(long number) {
        running().forEach(query -> query.checkpoint().sinks().published(number));
    }

    @Override
    public Resumption restore(CheckpointReader reader) {
        return checkpoints.restore(reader, Optional.empty());
    }

    @Override
    public Resumption restoreSideBySide(CheckpointReader reader) {
        return checkpoints.restore(reader, Optional.of(Restores.ofNobody(options.workers(), resources.sinkThreads())));
    }

    @Override
    public StandingQuery start(String name, PlanNode plan, QueryOptions askedOptions) {
        QueryOptions queryOptions;
        try {
            queryOptions = checkpoints.optionsOf(name, plan, askedOptions);
        } catch (RuntimeException | Error e) {
            Closing.all(askedOptions.sinks());
            throw e;
        }
        return startWith(name, plan, queryOptions, operators, start -> {});
    }

    /** Starts a query that somebody else joins to the epochs of what it reads; by who holds the lock of changes. */
    LocalStandingQuery startBeside(
            String name, PlanNode plan, QueryOptions queryOptions, Consumer<LocalStandingQuery> attaching) {
        return startWith(name, plan, queryOptions, operators, start -> start.attaching(attaching));
    }

    @Override
    public QueryGroup group(String name, GroupPlan plan, QueryOptions queryOptions) {
        LocalQueryGroup group =
                new LocalQueryGroup(this, resources, relations, quiescence, changes, plan, queryOptions);
        changing(() -> {
            QueryOptions running = queryOptions.withoutAnswer(); // which each member has for itself
            LocalStandingQuery query = startWith(
                    name,
                    plan.running(),
                    LocalQueryGroup.isKept(plan, queryOptions) ? goingOn(name, group, running) : running,
                    group.operators(operators),
                    start -> start.whenMade(group::begin).attaching(group::attach));
            synchronized (queries) {
                ofGroups.put(query, group);
            }
        });
        return group;
    }

    /** With the state of its members, if there is some; a group that had failed begins anew. */
    private QueryOptions goingOn(String name, LocalQueryGroup group, QueryOptions queryOptions) {
        QueryOptions restored = checkpoints.optionsOf(name, group.plan().running(), queryOptions);
        Optional<MillraceException> failure = restored.restore().flatMap(SavedQuery::failure);
        failure.ifPresent(group::hadFailed);
        return failure.isPresent() ? queryOptions : restored;
    }

    private LocalStandingQuery startWith(
            String name,
            PlanNode plan,
            QueryOptions queryOptions,
            Function<PlanNode, Operator> making,
            Consumer<QueryStart> how) {
        try {
            Interrupt.lock(changes);
        } catch (MillraceException e) {
            Closing.all(queryOptions.sinks());
            throw e;
        }
        try {
            try {
                requireFree(name);
                haveLeft(plan);
            } catch (MillraceException e) {
                Closing.all(queryOptions.sinks());
                throw e;
            }
            HeapBudget.Taken taken = takeHeap(name, plan, queryOptions);
            try {
                QueryStart start =
                        new QueryStart(this, resources, relations, making, quiescence, checkpoints.restores());
                how.accept(start);
                LocalStandingQuery query =
                        start.run(name, plan, queryOptions, allocated -> heap.started(taken, allocated));
                if (query.isRestored()) {
                    checkpoints.isRestored(query);
                }
                return query;
            } catch (RuntimeException | Error e) {
                heap.give(taken);
                throw e;
            }
        } finally {
            changes.unlock();
        }
    }

    void requireFree(String name) {
        relations.requireFree(name);
        synchronized (queries) {
            MemberQuery member = members.get(name);
            if (member != null && !leaving.contains(member)) {
                throw MillraceException.user(SqlState.DUPLICATE_TABLE, "relation \"" + name + "\" already exists");
            }
        }
    }

    /** Members of groups that a plan reads run by themselves from now on, as no query that goes on reads a member. */
    private void haveLeft(PlanNode plan) {
        haveLeft(relations(plan));
    }

    /** Those of such names do. */
    private void haveLeft(Set<String> names) {
        members(names).forEach(MemberQuery::own);
    }

    private List<MemberQuery> members(Set<String> names) {
        List<MemberQuery> found = new ArrayList<>();
        synchronized (queries) {
            names.forEach(name -> Optional.ofNullable(members.get(name)).ifPresent(found::add));
        }
        return found;
    }

    private static Set<String> relations(PlanNode plan) {
        Set<String> names = new LinkedHashSet<>();
        scans(plan).forEach(scan -> names.add(scan.relation()));
        return names;
    }

    /** What reads the answer of a member of a group. */
    private Optional<Scannable.Feed> feedOfMember(String name) {
        return members(Set.of(name)).stream().findFirst().flatMap(MemberQuery::feed);
    }

    /** The members of a group, by the name of what runs them; any other query itself. */
    private List<String> asMembers(String name) {
        Optional<LocalQueryGroup> group;
        synchronized (queries) {
            group = Optional.ofNullable(queries.get(name)).map(ofGroups::get);
        }
        return group.map(LocalQueryGroup::names).orElseGet(() -> List.of(name));
    }

    /** Starts a query in the place of a member, who leaves its group and is there until the query is. By who holds the lock of changes. */
    LocalStandingQuery inPlaceOf(MemberQuery member, Supplier<LocalStandingQuery> start) {
        leaving.add(member);
        try {
            LocalStandingQuery query = start.get();
            synchronized (queries) {
                members.remove(member.name(), member);
            }
            return query;
        } finally {
            leaving.remove(member);
        }
    }

    /** The same of one that cannot go on in its group, if that can be had; else it stays as it is. */
    void haveLeft(Member member) {
        Optional<MemberQuery> query;
        synchronized (queries) {
            query = Optional.ofNullable(members.get(member.name())).filter(each -> each.member() == member);
        }
        try {
            changing(() -> query.filter(each -> !leaving.contains(each)).ifPresent(MemberQuery::own));
        } catch (MillraceException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "query \"" + member.name() + "\" stays in its group: SQLSTATE "
                            + e.sqlState().code());
        }
    }

    /** Runs an action with the lock of changes held. */
    void changing(Runnable action) {
        whileChanging(() -> {
            action.run();
            return action;
        });
    }

    /** The same with a result. */
    <T> T whileChanging(Supplier<T> action) {
        Interrupt.lock(changes);
        try {
            return action.get();
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
        haveLeft(plan);
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
            if (old.state() != QueryState.FAILED) {
                old.requireNoFailedRows();
            }
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

    @Override
    public StandingQuery replace(
            String name, String by, PlanNode plan, Set<String> dropped, Map<String, String> renamed) {
        Interrupt.lock(changes);
        try {
            LocalStandingQuery old = (LocalStandingQuery) query(name);
            LocalStandingQuery next = (LocalStandingQuery) query(by);
            new HandOver(this, resources, relations, operators).run(old, next, plan, () -> {
                dropped.forEach(relations::drop);
                renamed.forEach(relations::rename);
            });
            old.taken().ifPresent(heap::give);
            return next;
        } finally {
            changes.unlock();
        }
    }

    @Override
    public void rename(Map<String, String> names, UnaryOperator<PlanNode> named) {
        Interrupt.lock(changes);
        try {
            requireNoMemberReads(names.keySet());
            haveLeft(names.keySet());
            resources
                    .barriers()
                    .current()
                    .ifPresent(barrier -> barrier.fail(QueryCheckpoint.changedMeanwhile(
                            names.keySet().iterator().next(), "renamed")));
            Set<EpochDomain> domains = new LinkedHashSet<>(); // in an order that a seed repeats
            for (LocalStandingQuery query : running()) {
                QueryState state = query.lifeState();
                if (names.containsKey(query.name()) && (state == QueryState.RUNNING || state == QueryState.PAUSED)) {
                    domains.add(query.domain());
                }
            }
            if (domains.isEmpty()) {
                renameNow(names, named);
            } else {
                atRest(domains, domain -> renameNow(names, named));
            }
        } finally {
            changes.unlock();
        }
    }

    /** The groups of views are kept by what their stream is, and those of others by its name. */
    private void requireNoMemberReads(Set<String> names) {
        Set<String> readers = new TreeSet<>();
        names.forEach(name -> readers.addAll(relations.readersOf(name)));
        synchronized (queries) {
            readers.retainAll(members.keySet());
        }
        members(readers).stream().filter(MemberQuery::isView).forEach(view -> readers.remove(view.name()));
        if (!readers.isEmpty()) {
            throw MillraceException.notAvailableYet("another name of what \""
                            + readers.iterator().next() + "\" reads, which runs with others like it")
                    .withHint("a view has the same rows under another name");
        }
    }

    private void renameNow(Map<String, String> names, UnaryOperator<PlanNode> named) {
        relations.rename(names);
        synchronized (queries) {
            List<LocalStandingQuery> all = List.copyOf(queries.values());
            queries.clear();
            for (LocalStandingQuery query : all) {
                String name = names.getOrDefault(query.name(), query.name());
                boolean reads = scans(query.plan()).stream().anyMatch(scan -> names.containsKey(scan.relation()));
                PlanNode plan = reads ? named.apply(query.plan()) : query.plan();
                if (!name.equals(query.name())) {
                    query.rename(name, plan);
                } else if (reads) {
                    query.renameRead(plan);
                    LocalQueryGroup group = ofGroups.get(query);
                    if (group != null) {
                        group.renameRead(named);
                    }
                }
                queries.put(name, query);
            }
        }
    }

    /** A query is about to have another name. */
    void forgetName(LocalStandingQuery query) {
        relations.removeQuery(query.name());
        relations.readsNothing(query.name());
        synchronized (queries) {
            queries.remove(query.name(), query);
        }
    }

    /**
     * Has a query take the place of another of its name.
     *
     * @param first done when nobody reads what the other read, and before the query is known to read
     */
    void replace(LocalStandingQuery old, LocalStandingQuery query, Runnable first) {
        resources
                .barriers()
                .current()
                .ifPresent(barrier -> barrier.fail(QueryCheckpoint.changedMeanwhile(query.name(), "altered")));
        relations.replaceQuery(query.name(), query.feed());
        relations.readsNothing(query.name());
        first.run();
        scans(query.plan()).forEach(scan -> relations.reads(query.name(), scan.relation()));
        synchronized (queries) {
            queries.replace(query.name(), old, query);
        }
    }

    /** Shows a member of a group under its name. */
    void add(MemberQuery member) {
        synchronized (queries) {
            members.put(member.name(), member);
        }
    }

    /** A member of a group is about to be gone. */
    void remove(MemberQuery member) {
        synchronized (queries) {
            members.remove(member.name(), member);
        }
    }

    @Override
    public boolean goesOn(String name) {
        return checkpoints.has(name);
    }

    EngineCheckpoints checkpoints() {
        return checkpoints;
    }

    /** Has a query whose state is being read begin now, when it is there. */
    void haveGoneOn(LocalStandingQuery query) {
        checkpoints.haveGoneOn(query);
    }

    HeapBudget heap() {
        return heap;
    }

    Workers workers() {
        return workers;
    }

    long epochMicros() {
        return clock.epochMicros();
    }

    /** Shows a query under its name. */
    void add(LocalStandingQuery query) {
        relations.addQuery(query.name(), query.feed(), query.kept().map(KeptOutput::past));
        scans(query.plan()).forEach(scan -> relations.reads(query.name(), scan.relation()));
        synchronized (queries) {
            queries.put(query.name(), query);
        }
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
            QueryState state = query.lifeState();
            if (state == QueryState.RUNNING || state == QueryState.PAUSED) {
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

    /** The same for so long at most. */
    void await(BooleanSupplier condition, long timeoutNanos) {
        quiescence.await(condition, timeoutNanos);
    }

    void forget(LocalStandingQuery query) {
        forgetName(query);
        synchronized (queries) {
            ofGroups.remove(query);
        }
        query.taken().ifPresent(heap::give);
    }

    @Override
    public StandingQuery query(String name) {
        MemberQuery member;
        synchronized (queries) {
            LocalStandingQuery query = queries.get(name);
            if (query != null) {
                return query;
            }
            member = members.get(name);
        }
        if (member == null) {
            throw MillraceException.user(SqlState.UNDEFINED_OBJECT, "query \"" + name + "\" does not exist");
        }
        return member.own();
    }

    @Override
    public List<StandingQuery> queries() {
        synchronized (queries) {
            List<StandingQuery> all = new ArrayList<>(queries.values());
            all.removeAll(ofGroups.keySet());
            for (MemberQuery member : members.values()) {
                if (!queries.containsKey(member.name())) { // else it is leaving
                    all.add(member);
                }
            }
            return all;
        }
    }

    private List<LocalStandingQuery> running() {
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
        List<MemberQuery> read = members(relations(plan));
        try {
            return pullQueries.run(plan, nowMicros, mostBytes, this::awaitBeginOf);
        } catch (MillraceException e) {
            boolean hasLeft = read.stream().anyMatch(member -> member.group().isEmpty());
            if (hasLeft && e.sqlState() == SqlState.SERIALIZATION_FAILURE) { // it has the same answer elsewhere
                return run(plan, nowMicros, mostBytes);
            }
            throw e;
        }
    }

    @Override
    public Optional<VersionedView> kept(String relation) {
        LocalStandingQuery query;
        MemberQuery member;
        synchronized (queries) {
            query = queries.get(relation);
            member = members.get(relation);
        }
        if (!haveBegun(query, member) || !(relations.scannable(relation) instanceof Scannable.Feed feed)) {
            return Optional.empty();
        }
        if (member != null && feed.view().filter(VersionedView::isClosed).isPresent()) {
            return Optional.empty(); // who plans to read it reads what it became
        }
        feed.requireCurrent();
        return feed.view();
    }

    private static boolean haveBegun(@Nullable LocalStandingQuery query, @Nullable MemberQuery member) {
        return query != null ? query.hasBegun() : member == null || member.hasBegun();
    }

    /** Whether a relation, if it is the answer of a query, is that of a whole epoch; any thread. */
    private boolean hasBegun(String relation) {
        LocalStandingQuery query;
        MemberQuery member;
        synchronized (queries) {
            query = queries.get(relation);
            member = members.get(relation);
        }
        return haveBegun(query, member);
    }

    /** Views are not read before their first epoch is whole: until then they lack rows that are there. */
    private void awaitBeginOf(Set<Scan> scans) {
        BooleanSupplier haveAll = () -> scans.stream().allMatch(scan -> hasBegun(scan.relation()));
        if (!haveAll.getAsBoolean()) {
            await(() -> closed || haveAll.getAsBoolean());
        }
    }

    static MillraceException keepsNothing(String relation) {
        return MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        "\"" + relation + "\" keeps no rows to select from: they only pass through")
                .withHint("create a materialized view over it, or subscribe to a continuous query");
    }

    @Override
    public Accepted accept(Map<WritableRelation, List<Batch>> rows, Beside beside) {
        return relations.append(rows, beside, domains -> {
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
    public boolean awaitVisible(long epoch, String relation, long mostNanos) {
        Optional<EpochOutput> output = relations.output(relation);
        BooleanSupplier isVisible =
                () -> output.map(of -> epochs.isPublished(of, epoch)).orElseGet(() -> epochs.isCommitted(epoch));
        if (mostNanos > 0) {
            await(() -> closed || isVisible.getAsBoolean(), mostNanos);
        }
        return closed || isVisible.getAsBoolean();
    }

    @Override
    public <T> T showing(Supplier<T> action) {
        return epochs.showing(action);
    }

    @Override
    public void flush(Consumer<FlushProgress> progress) {
        new Flush(running(), epochs, quiescence, clock).run(progress);
    }

    @Override
    public void setSchedulingPolicy(String name) {
        workers.setPolicy(SchedulingPolicies.named(name));
        schedulingPolicy = name;
    }

    @Override
    public SchedulerStatistics scheduler() {
        return workers.statistics();
    }

    @Override
    public String schedulingPolicy() {
        return schedulingPolicy;
    }

    @Override
    public long allocatedBytes() {
        return memory.bytes();
    }

    @Override
    public long spilledBytes() {
        return memory.spilledBytes();
    }

    @Override
    public synchronized void setMemoryLimits(long memoryBytes, long spillBytes) {
        EngineOptions limited = options.withMemoryLimitBytes(memoryBytes).withSpillLimitBytes(spillBytes);
        memory.limit(memoryBytes, spillBytes);
        options = limited;
    }

    private List<LocalStandingQuery> newestFirst() {
        List<LocalStandingQuery> all = new ArrayList<>(running());
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
            all.add(pullQueries);
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
