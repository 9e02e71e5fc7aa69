package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.GradualSave;
import dev.millrace.engine.checkpoint.StateChain;
import dev.millrace.engine.graph.PlanGraph;
import dev.millrace.engine.intake.QueryIntakes;
import dev.millrace.engine.join.SharedJoinOperator;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.statistic.LateRowLog;
import dev.millrace.engine.task.ChannelInput;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.task.SourceInput;
import dev.millrace.engine.task.Stage;
import dev.millrace.engine.task.TaskHost;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Operator;
import dev.millrace.operator.StateFormat;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.scheduler.SweepingWatermarks;
import dev.millrace.scheduler.WindowProgress;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.arrow.memory.OutOfMemoryException;

/** The tasks of one query, and what they need of it. Built by {@link TaskBuilder}, then started, then stopped once. */
final class QueryTasks implements TaskHost, AutoCloseable {
    /** Who is told how the tasks fare. Called on workers. */
    interface Listener {
        void failed(MillraceException failure);

        /** All tasks ended by themselves. */
        void ended();

        /** The query's epoch should end soon. */
        void touch();
    }

    /** A scan of a relation that other queries may read, too. */
    record FeedScan(PlanNode scan, Scannable.Feed feed, Channel channel, ChannelInput input) {}

    /** A join some of whose sides are read where they are kept, and the scans of those. */
    record SharedJoin(SharedJoinOperator operator, List<PlanNode> scans) {}

    /** A stage and where it belongs; of a standing query's operator with a hash of what its state is of, and where checkpoints have that. */
    record PlacedStage(PlanGraph.Node node, int instance, Stage stage, long schemaHash, StateChain chain) {
        PlacedStage(PlanGraph.Node node, int instance, Stage stage, long schemaHash) {
            this(node, instance, stage, schemaHash, new StateChain());
        }
    }

    /** A reader and what it reads. */
    record PlacedSource(PlanGraph.Node node, int partition, boolean bounded, SourceInput input) {}

    private final Supplier<String> name;
    private final int priority;
    private final Resources resources;
    private final Clock clock;
    private final MemoryScope memory;
    private final Listener listener;
    private final LateRowLog lateRows;
    private final Optional<FailedRows> failedRows;
    private long mostRowNanos = Long.MAX_VALUE; // set before the tasks start
    private QueryIntakes intakes = QueryIntakes.always(); // likewise
    private final Interrupt interrupt = new Interrupt();
    final List<PipelineTask> tasks = new ArrayList<>();
    final List<ScheduledTask> scheduled = new ArrayList<>();
    final List<PlacedStage> stages = new ArrayList<>();
    final List<PlacedSource> sources = new ArrayList<>();
    final List<FeedScan> feeds = new ArrayList<>();
    final List<SharedJoin> sharedJoins = new ArrayList<>();
    final Set<StateFormat> formats = ConcurrentHashMap.newKeySet(); // of states written for checkpoints
    final List<Restores.Part> restores = new CopyOnWriteArrayList<>(); // that were to be read later
    final List<Channel> channels = new ArrayList<>();
    final List<Operator> opened = new ArrayList<>(); // also those that no task has, because building it failed
    final Object freeing =
            new Object(); // held while they are freed, or are not to be; never together with the query's life
    private final AtomicInteger running = new AtomicInteger();
    private final Map<PipelineTask, GradualSave> saves = new ConcurrentHashMap<>(); // under way, each its task's

    /** Whether a task was closed before it had written all that a checkpoint was to have of it. By who makes one, and who closes the tasks. */
    volatile boolean lostState;

    /** Of a paused query: whether rows wait that a relation has already, which is read where it is kept. By who makes a checkpoint. */
    volatile boolean waitsForShared;

    private volatile Optional<WindowProgress> windows =
            Optional.empty(); // written when the tasks start, read by policies
    private volatile boolean stopping; // written by who stops the tasks, read by their workers
    private volatile boolean closed; // written by who frees the tasks, read by who would take a snapshot of them

    /**
     * @param memory the owner's to release
     * @param clock what expressions read; that of a finite query stands still
     * @param failedRows where failures of rows are noted; if it is none, each is the query's failure
     */
    QueryTasks(
            Supplier<String> name,
            int priority,
            MemoryScope memory,
            Resources resources,
            Clock clock,
            Optional<FailedRows> failedRows,
            Listener listener) {
        this.failedRows = failedRows;
        this.clock = clock;
        this.name = name;
        this.priority = priority;
        this.resources = resources;
        this.memory = memory;
        this.listener = listener;
        this.lateRows = new LateRowLog(resources.clock(), () -> memory.newChildForSpare("late rows"));
    }

    void limitRows(long nanos) {
        mostRowNanos = nanos;
    }

    void take(QueryIntakes newIntakes) {
        intakes = newIntakes;
    }

    QueryIntakes intakes() {
        return intakes;
    }

    MemoryScope memory() {
        return memory;
    }

    Resources resources() {
        return resources;
    }

    Optional<FailedRows> failedRows() {
        return failedRows;
    }

    LateRowLog late() {
        return lateRows;
    }

    /** Adds a task whose stages and inputs are complete. */
    ScheduledTask add(PipelineTask task) {
        tasks.add(task);
        ScheduledTask added = resources.workers().add(task);
        scheduled.add(added);
        task.start(added::wake);
        return added;
    }

    void start() {
        running.set(tasks.size());
        List<SweepingWatermarks> ends = new ArrayList<>();
        for (PlacedStage placed : stages) {
            if (placed.stage() instanceof OperatorStage operator) {
                operator.windows().ifPresent(ends::add);
            }
        }
        windows = ends.isEmpty() ? Optional.empty() : Optional.of(new WindowProgress(ends));
        scheduled.forEach(ScheduledTask::wake);
    }

    void wakeAll() {
        scheduled.forEach(ScheduledTask::wake);
    }

    /** The mean of what the sources that can tell have read, 0 to 1; empty if none can. */
    Optional<Double> progress() {
        double sum = 0;
        int known = 0;
        for (PlacedSource source : sources) {
            double progress = source.input().readProgress();
            if (progress >= 0) {
                sum += progress;
                known++;
            }
        }
        return known == 0 ? Optional.empty() : Optional.of(sum / known);
    }

    @Override
    public String name() {
        return name.get();
    }

    @Override
    public int priority() {
        return priority;
    }

    @Override
    public boolean isBackground() {
        for (PlacedSource source : sources) { // with the run queue's lock held: no streams
            if (source.input().readsPast()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public Optional<WindowProgress> windows() {
        return windows;
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public long epochMicros(long epoch) {
        return resources.epochs().micros(epoch);
    }

    @Override
    public Workers workers() {
        return resources.workers();
    }

    @Override
    public int batchRows() {
        return resources.batchRows();
    }

    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        lateRows.add(batch, rows, count, watermarkMicros);
    }

    @Override
    public void touch() {
        listener.touch();
    }

    @Override
    public void failed(Throwable failure) {
        if (!stopping) { // then it is what made a long step end
            listener.failed(explain(failure));
        }
    }

    static MillraceException explain(Throwable failure) {
        if (failure instanceof MillraceException known) {
            return known;
        }
        if (failure instanceof OutOfMemoryException) { // Arrow's: others took what was freed for this one
            return MillraceException.resources(SqlState.OUT_OF_MEMORY, "out of memory: memory_limit is used up");
        }
        if (failure instanceof OutOfMemoryError) {
            return MillraceException.resources(
                            SqlState.OUT_OF_MEMORY, "out of memory on the Java heap: " + failure.getMessage())
                    .withHint("let it keep less, or start with a larger heap (-Xmx)");
        }
        if (failure instanceof InternalError
                && String.valueOf(failure.getMessage()).contains("unsafe memory access")) {
            return MillraceException.external( // that is how the JVM tells of an I/O error in a mapped file
                    SqlState.IO_ERROR, "state on disk cannot be read or written: " + failure.getMessage(), failure);
        }
        if (failure instanceof StackOverflowError) {
            return MillraceException.resources(
                    SqlState.STATEMENT_TOO_COMPLEX, "the query's expressions are nested too deeply");
        }
        return MillraceException.internal("internal error: " + failure, failure);
    }

    @Override
    public long mostRowNanos() {
        return mostRowNanos;
    }

    @Override
    public Interrupt interrupt() {
        return interrupt;
    }

    @Override
    public boolean epochEnded(PipelineTask task, long epoch) {
        Optional<Barrier> barrier = resources.barriers().at(epoch);
        if (barrier.isPresent()) {
            save(task, barrier.get(), true);
            return saves.containsKey(task);
        }
        return false;
    }

    @Override
    public boolean saveMore(PipelineTask task, Saving how) {
        GradualSave save = saves.get(task);
        if (save == null) {
            return true;
        }
        try {
            if (how == Saving.IDLE) {
                save.awaitRoom();
            }
            long since = clock.nanoTime(); // no row waited before
            boolean done = save.writeMore(formats, how == Saving.AT_ONCE);
            save.barrier().held(clock.nanoTime() - since);
            if (!done && save.barrier().failure().isEmpty()) {
                return false;
            }
            giveUp(task);
            save.barrier().wentOn(task);
        } catch (IOException | RuntimeException | Error e) { // the checkpoint's, not the query's
            giveUp(task);
            save.barrier().fail(e);
        }
        return true;
    }

    private void giveUp(PipelineTask task) {
        GradualSave save = saves.remove(task);
        if (save != null) {
            save.close();
        }
    }

    @Override
    public boolean isCut(long epoch) {
        return resources.barriers().at(epoch).isPresent();
    }

    /** Writes what a task keeps for a checkpoint, unless that was done, or it is not in it. While the task runs no other step. */
    void save(PipelineTask task, Barrier barrier) {
        save(task, barrier, false);
    }

    private void save(PipelineTask task, Barrier barrier, boolean gradually) {
        if (!barrier.begin(task)) {
            return;
        }
        giveUp(task); // for a checkpoint that came to nothing
        long since = clock.nanoTime();
        GradualSave rest = new GradualSave(barrier);
        try {
            SavedTask.write(this, task, barrier, gradually ? Optional.of(rest::add) : Optional.empty());
            if (rest.isEmpty()) {
                barrier.done(clock.nanoTime() - since);
            } else {
                saves.put(task, rest);
                barrier.goesOn(task, clock.nanoTime() - since);
            }
        } catch (IOException | RuntimeException | Error e) { // the checkpoint's, not the query's
            rest.close();
            barrier.failed(e);
        }
    }

    @Override
    public void ended(PipelineTask task) {
        resources.barriers().current().ifPresent(barrier -> save(task, barrier)); // nothing will change any more
        if (running.decrementAndGet() == 0) {
            listener.ended();
        }
    }

    /**
     * Has no task run any more, and then {@code free} what they and their query hold: before this returns unless a step goes
     * on in spite of its interrupt. Not from within one of the tasks.
     */
    void stop(Runnable free) {
        interruptSteps();
        resources.abandoned().end(name.get(), scheduled, this::detach, free);
    }

    /** Has no other run of a task begin, and those under way end soon; whoever does so is about to {@link #stop} them. Returns at once. */
    void halt() {
        interruptSteps();
        scheduled.forEach(task -> task.remove(0));
    }

    private void interruptSteps() {
        stopping = true;
        interrupt.stop(
                MillraceException.user(SqlState.QUERY_CANCELED, "query \"" + name.get() + "\" is being stopped"));
    }

    /** Has those that feed the tasks go on without them. */
    private void detach() {
        for (FeedScan scan : feeds) {
            scan.feed().fanout().remove(scan.channel());
            scan.feed().onRoom().run();
        }
    }

    /** Whether the rows of a scan are read where they are kept, and only what changes is to come. */
    boolean isShared(PlanNode scan) {
        return sharedJoins.stream().anyMatch(join -> join.scans().contains(scan));
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Frees all that the tasks hold, which have stopped. The memory's scope is the owner's to release: a view may still have an
     * epoch to come.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        restores.forEach(Restores.Part::cancel);
        for (FeedScan scan : feeds) {
            scan.feed().fanout().remove(scan.channel());
        }
        List<AutoCloseable> all = new ArrayList<>();
        saves.forEach((task, save) -> all.add(() -> {
            lostState = true;
            giveUp(task);
            save.barrier().forget(task);
        }));
        all.addAll(tasks);
        all.addAll(channels);
        all.addAll(opened);
        sources.forEach(source -> all.add(source.input()));
        try {
            Closing.all(all);
        } finally {
            feeds.forEach(scan -> scan.feed().onRoom().run());
        }
    }
}
