package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Closing;
import dev.millrace.engine.channel.Item;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Operator;
import dev.millrace.operator.RowByRow;
import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.scheduler.Task;
import dev.millrace.scheduler.Timers;
import dev.millrace.scheduler.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * One instance of a pipeline. A unit of its work is one item of one input: rows run through the operators to the outlets
 * at once, then the watermarks that moved are carried through; an input that reached an epoch's end is not read until all
 * inputs reached it, then the end is carried through, stage by stage.
 *
 * <pre>
 *   an outlet is full            -> wait for room
 *   a watermark or epoch's end is half handled (an operator had more to emit than there was room) -> go on with it
 *   a checkpoint has not got all of what the task kept at an epoch's end -> some of it before each unit of work, all before the end
 *   all inputs ended             -> end the outlets, DONE
 *   else                         -> the next item, of the input whose event time is least; none: flush, wait, as for a source that keeps pace with others
 * </pre>
 *
 * <p>Long because all that one step may have to go on with is decided here.
 */
public final class PipelineTask implements Task, AutoCloseable {
    private static final long NO_EPOCH = -1;

    private final TaskHost host;
    private final List<Stage> stages;
    private final TaskWorkload workload;
    private final List<TaskInput> inputs;
    private final List<OutletStage> outlets = new ArrayList<>();
    private final List<OperatorStage> idleAssigners = new ArrayList<>();
    private final List<EntryStage> unfed = new ArrayList<>();
    private final List<Settling> settling = new ArrayList<>();
    private final boolean passesSignals; // while it is full
    private boolean watermarksMoved;
    private boolean wasHeldBack; // an input was, when there was nothing to do
    private long aligning = NO_EPOCH; // the epoch some inputs have reached the end of
    private long endingEpoch = NO_EPOCH; // the epoch all inputs have reached the end of
    private int endedStages; // of the epoch that is ending
    private long served;
    private Stage current;
    private long sinceNanos;
    private long idleTimerNanos = Long.MAX_VALUE; // when the timer is due, if one is set
    private Optional<Timers.Timer> idleTimer = Optional.empty();
    private Runnable wake = () -> {};

    @GuardedBy("this") private boolean paused;

    @GuardedBy("this") private TaskInput.Keeping keeping = TaskInput.Keeping.ALL_OR_FAIL; // while it is paused

    @GuardedBy("this") private boolean unsaved; // a part of what it kept when a checkpoint was cut

    @GuardedBy("this") private boolean resting; // had nothing to do when it was asked last

    private @Nullable Thread runner; // of the run under way, or of the last
    private @Nullable Stage seenStage; // the watch's, as what follows: what it saw last, and for how long
    private long seenSinceNanos;
    private long seenRows;
    private final StepTime seen = new StepTime();
    private volatile boolean done; // written by the worker or by close, read by the other
    private volatile boolean saving; // written by the worker, read by the watch

    /**
     * @param stages all, each before those it feeds
     * @param inputs all that feed the entries among the stages
     */
    public PipelineTask(TaskHost host, List<Stage> stages, List<TaskInput> inputs) {
        this.host = host;
        this.stages = List.copyOf(stages);
        this.inputs = List.copyOf(inputs);
        this.workload = new TaskWorkload(host, this.stages, this.inputs);
        this.current = stages.get(0);
        for (Stage stage : this.stages) {
            stage.start(this);
            if (stage instanceof OutletStage outlet) {
                outlets.add(outlet);
            }
            if (stage instanceof OperatorStage operator && (operator.assignsWatermarks() || operator.hasAlarm())) {
                idleAssigners.add(operator);
            }
            if (stage instanceof OperatorStage operator && operator.operator() instanceof Settling settles) {
                settling.add(settles);
            }
            if (stage instanceof EntryStage entry && inputs.stream().noneMatch(input -> input.entry() == entry)) {
                unfed.add(entry);
            }
        }
        this.passesSignals = stages.stream().noneMatch(OperatorStage.class::isInstance)
                && outlets.stream().allMatch(outlet -> outlet.outlet().takesSignalsWhenFull());
    }

    /** What timers wake; before the task runs. */
    public void start(Runnable newWake) {
        wake = newWake;
    }

    public List<Stage> stages() {
        return stages;
    }

    public List<TaskInput> inputs() {
        return inputs;
    }

    /** Has the task keep what comes for later. Waits for a run under way; the task's epochs must be at rest. */
    public void pause() {
        pause(TaskInput.Keeping.ALL_OR_FAIL);
    }

    /** The same for a task that goes on as soon as its state is there: who brings more than it keeps waits that long. */
    public void pauseForState() {
        pause(TaskInput.Keeping.WHAT_HAS_ROOM);
    }

    /**
     * Its state is there, and it goes on when its epochs are at rest: until then it keeps all that comes, as tasks that run and bring it rows have to end
     * theirs.
     */
    public synchronized void keepAll() {
        if (keeping == TaskInput.Keeping.WHAT_HAS_ROOM) {
            keeping = TaskInput.Keeping.ALL;
        }
    }

    private synchronized void pause(TaskInput.Keeping what) {
        keeping = what;
        while (unsaved) { // whoever pauses may have plans for the operators
            saveMore(TaskHost.Saving.AT_ONCE);
        }
        paused = true;
    }

    /** Whether it is paused, and all that came before the cut of a checkpoint waits in its inputs. */
    public synchronized boolean isPausedPast(LongPredicate cut) {
        return paused && inputs.stream().allMatch(input -> input.isPast(cut));
    }

    /** Lets go of the epochs' ends that came while it was paused; before {@link #resume}, its epochs at rest. */
    public synchronized void prepareToResume() {
        inputs.forEach(input -> input.nextWhilePaused(
                host::isCut, keeping == TaskInput.Keeping.ALL_OR_FAIL ? keeping : TaskInput.Keeping.ALL));
    }

    public synchronized void resume() {
        paused = false;
    }

    /** Whether it runs no more; any thread. */
    public boolean isDone() {
        return done;
    }

    /**
     * Runs an action when no step of the task is under way, nor will one begin before it returns. Not for one that may wait for
     * the task.
     */
    public synchronized void whileStill(Runnable action) {
        action.run();
    }

    @Override
    public synchronized Outcome run(long untilNanos, long mostRows) {
        if (done) {
            return Outcome.DONE;
        }
        runner = Thread.currentThread();
        sinceNanos = host.clock().nanoTime();
        long rows = mostRows == Long.MAX_VALUE ? 0 : workload.rowsIn();
        try (Interrupt.Binding binding = host.interrupt().bind()) {
            while (true) {
                Outcome outcome = step();
                if (outcome != Outcome.READY) {
                    done = outcome == Outcome.DONE;
                    return outcome;
                }
                if (host.clock().nanoTime() >= untilNanos
                        || mostRows != Long.MAX_VALUE && workload.rowsIn() - rows >= mostRows) {
                    return Outcome.READY;
                }
            }
        } catch (Throwable e) {
            done = true;
            host.failed(e);
            return Outcome.DONE;
        }
    }

    /**
     * Fails the query when a stage does not get on with a row. Looks at fields of the worker without a lock: what it sees may
     * be old, but not for as long as it takes.
     */
    @Override
    public void runsLong() {
        if (saving) {
            return; // it is at no row, and may wait for a disk
        }
        Stage stage = current;
        long since = sinceNanos;
        Optional<RowByRow> rows =
                stage instanceof OperatorStage operator && operator.operator() instanceof RowByRow byRow
                        ? Optional.of(byRow)
                        : Optional.empty();
        long done = rows.map(RowByRow::rowsDone).orElse(0L);
        Thread thread = runner;
        if (thread == null) {
            return;
        }
        long now = host.clock().nanoTime();
        long processor = StepTime.processorNanos(thread);
        if (stage != seenStage || since != seenSinceNanos || done != seenRows) {
            seenStage = stage;
            seenSinceNanos = since;
            seenRows = done;
            seen.begin(now, processor);
        } else if (seen.look(now, processor, StepTime.waits(thread)) > host.mostRowNanos()) {
            MillraceException why = MillraceException.user(
                            SqlState.QUERY_CANCELED,
                            "query \"" + host.name() + "\" was at one row for longer than row_timeout ("
                                    + TimeUnit.NANOSECONDS.toMillis(host.mostRowNanos()) + " ms)")
                    .withHint("a query may have more time: SET row_timeout before it is created");
            host.failed(why.in((rows.isPresent() ? "row " + (done + 1) : "a row") + of(stage)));
        }
    }

    /** Which operator a stage is of, by the name that its class has: of a filter and projections just the row is said. */
    private static String of(Stage stage) {
        if (!(stage instanceof OperatorStage operator)) {
            return "";
        }
        String name = operator.operator().getClass().getSimpleName().replaceFirst("Operator$", "");
        return name.equals("Calc") ? "" : " of " + name;
    }

    @GuardedBy("this") private Outcome step() {
        if (!unsaved) {
            return work();
        }
        saveMore(resting ? TaskHost.Saving.IDLE : TaskHost.Saving.BETWEEN_ROWS);
        if (unsaved && inputs.stream().allMatch(TaskInput::isEnded)) {
            resting = true; // the end is the operators' end, too
            return Outcome.READY;
        }
        Outcome outcome = work();
        resting = outcome == Outcome.WAITING;
        return resting && unsaved ? Outcome.READY : outcome;
    }

    @GuardedBy("this") private void saveMore(TaskHost.Saving how) {
        saving = true;
        try {
            unsaved = !host.saveMore(this, how);
        } finally {
            saving = false;
        }
    }

    @GuardedBy("this") private Outcome work() {
        if (paused) {
            inputs.forEach(input -> input.nextWhilePaused(host::isCut, keeping));
            return Outcome.WAITING;
        }
        if (isFull()) {
            return passesSignals && passEpochEnd() ? Outcome.READY : Outcome.WAITING;
        }
        if (!carryWatermarks()) {
            return isFull() ? Outcome.WAITING : Outcome.READY;
        }
        if (endingEpoch != NO_EPOCH) {
            carryEpochEnd();
            return isFull() ? Outcome.WAITING : Outcome.READY; // an outlet may be full until others end the epoch
        }
        if (!unfed.isEmpty()) {
            // A pipeline with fewer readers than instances: nothing comes here.
            unfed.forEach(entry -> entry.passOnWatermark(Operator.END_OF_INPUT));
            unfed.clear();
            return Outcome.READY;
        }
        Optional<Item> item = nextItem();
        if (item.isPresent()) {
            return Outcome.READY;
        }
        if (inputs.stream().allMatch(TaskInput::isEnded)) {
            outlets.forEach(outlet -> outlet.outlet().end());
            host.ended(this);
            return Outcome.DONE;
        }
        settling.forEach(Settling::settle);
        outlets.forEach(outlet -> outlet.outlet().flush());
        if (inputs.stream().anyMatch(TaskInput::isHeldBack)) {
            wasHeldBack = true;
            return Outcome.WAITING;
        }
        if (wasHeldBack) {
            wasHeldBack = false;
            idleAssigners.forEach(OperatorStage::beginToBeIdle);
        }
        return becomeIdle() ? Outcome.READY : Outcome.WAITING;
    }

    /** Without rows: for who reads what is brought here, and is past all of it. Returns whether there was something to do. */
    @GuardedBy("this") private boolean passEpochEnd() {
        if (endingEpoch != NO_EPOCH) {
            carryEpochEnd();
            return true;
        }
        for (TaskInput input : inputs) {
            Optional<Item> end =
                    input.isOpen() && input instanceof SourceInput source ? source.nextEpochEnd() : Optional.empty();
            if (end.isPresent()) {
                handle(input, end.get());
                return true;
            }
        }
        return false;
    }

    /**
     * Reads one item, of the open input that is behind the others, and handles it. When nothing is at hand there, those that
     * are ahead wait as long as their producers need not: what they bring could only be kept until the other has come as far.
     */
    private Optional<Item> nextItem() {
        long round = served;
        long least = Operator.NO_WATERMARK;
        for (int tries = inputs.size(); tries > 0; tries--) {
            Optional<TaskInput> input = furthestBehind(round);
            if (input.isEmpty()) {
                return Optional.empty();
            }
            input.get().served(++served);
            long progress = inputs.size() == 1 ? least : input.get().progress();
            if (least != Operator.NO_WATERMARK
                    && progress > least
                    && input.get().mayWait()) {
                continue;
            }
            least = tries == inputs.size() ? progress : least;
            enter(input.get().entry());
            Optional<Item> item = input.get().next();
            if (item.isPresent()) {
                handle(input.get(), item.get());
                return item;
            }
        }
        return Optional.empty();
    }

    private Optional<TaskInput> furthestBehind(long round) {
        if (inputs.size() == 1) {
            return inputs.get(0).isOpen() ? Optional.of(inputs.get(0)) : Optional.empty();
        }
        Optional<TaskInput> behind = Optional.empty();
        for (TaskInput input : inputs) {
            if (input.isOpen() && input.lastServed() <= round && (behind.isEmpty() || isBehind(input, behind.get()))) {
                behind = Optional.of(input);
            }
        }
        return behind;
    }

    private static boolean isBehind(TaskInput a, TaskInput b) {
        long progressA = a.progress();
        long progressB = b.progress();
        return progressA != progressB ? progressA < progressB : a.lastServed() < b.lastServed();
    }

    private void handle(TaskInput input, Item item) {
        if (item instanceof Item.Rows rows) {
            if (rows.batch().rowCount() == 0) {
                rows.batch().close(); // a reader's way to take a pause in a long search, or to say that time went on
                if (input.entry().tellTime() && input instanceof SourceInput source) {
                    source.touch(); // and not the host, whose output may not be attached when the first rows come
                }
            } else {
                input.entry().receive(input.port(), rows.batch());
            }
        } else if (item instanceof Item.Watermark watermark) {
            input.entry().advance(input.port(), watermark.micros());
        } else if (item instanceof Item.Idle) {
            input.entry().idle(input.port());
        } else if (item instanceof Item.EpochEnd end) {
            input.setAtEpochEnd(true);
            startEpochEnd(end.epoch());
        } else if (item instanceof Item.Failure failed) {
            throw failed.failure();
        } else {
            input.setEnded();
            endAlignedEpoch();
        }
        carryWatermarks();
    }

    private void startEpochEnd(long epoch) {
        assert aligning == NO_EPOCH || aligning == epoch : "epoch " + epoch + " while others end " + aligning;
        aligning = epoch;
        endAlignedEpoch();
    }

    /** Begins to end the epoch if no input is to come to its end any more. */
    private void endAlignedEpoch() {
        if (aligning == NO_EPOCH || inputs.stream().anyMatch(TaskInput::isOpen)) {
            return;
        }
        endingEpoch = aligning;
        endedStages = 0;
        aligning = NO_EPOCH;
    }

    /** Carries watermarks that moved through the stages; false if there is more to do. */
    private boolean carryWatermarks() {
        while (watermarksMoved) {
            watermarksMoved = false;
            for (Stage stage : stages) {
                while (!stage.handleWatermark()) {
                    if (isFull()) {
                        watermarksMoved = true;
                        return false;
                    }
                }
            }
        }
        return true;
    }

    /** Ends the epoch stage by stage; false if there is more to do. */
    @GuardedBy("this") private boolean carryEpochEnd() {
        while (endedStages < stages.size()) {
            if (!stages.get(endedStages).handleEpochEnd(endingEpoch)) {
                return false;
            }
            endedStages++;
            if (!carryWatermarks()) {
                return false;
            }
        }
        saving = true;
        try {
            unsaved |= host.epochEnded(this, endingEpoch); // of an earlier epoch some may be left
        } finally {
            saving = false;
        }
        endingEpoch = NO_EPOCH;
        for (TaskInput input : inputs) {
            input.setAtEpochEnd(false);
        }
        return true;
    }

    /** Has assigners of watermarks become idle that had no row for too long; returns whether one did. */
    private boolean becomeIdle() {
        if (idleAssigners.isEmpty()) {
            return false;
        }
        boolean any = false;
        long next = Long.MAX_VALUE;
        long now = host.clock().nanoTime();
        for (OperatorStage assigner : idleAssigners) {
            if (isHeldFrom(assigner)) {
                continue; // its rows have come; when they go on the task looks again
            }
            if (assigner.idleAtNanos() <= now) {
                assigner.becomeIdle();
                any = true;
            }
            next = Math.min(next, assigner.idleAtNanos());
        }
        if (next < idleTimerNanos) {
            idleTimer.ifPresent(Timers.Timer::cancel);
            idleTimerNanos = next;
            idleTimer = Optional.of(host.workers().schedule(next, this::idleTimerDue));
        }
        if (any) {
            host.touch();
        }
        return any;
    }

    /** Whether rows wait whose event time it is to assign. */
    private boolean isHeldFrom(OperatorStage assigner) {
        for (TaskInput input : inputs) {
            if (input.isHolding()
                    && assigner.assignsWatermarks()
                    && input.entry().mayBeAssignedBy(assigner)) {
                return true;
            }
        }
        return false;
    }

    /** On the timer's thread; the task looks at the time once it is woken. */
    private void idleTimerDue() {
        idleTimerNanos = Long.MAX_VALUE;
        wake.run();
    }

    void watermarksMoved() {
        watermarksMoved = true;
    }

    boolean isFull() {
        for (int i = 0; i < outlets.size(); i++) {
            if (outlets.get(i).outlet().isFull()) {
                return true;
            }
        }
        return false;
    }

    /** From now on time is a stage's; returns whose it was. */
    Stage enter(Stage stage) {
        long now = host.clock().nanoTime();
        Stage before = current;
        before.spent(now - sinceNanos);
        sinceNanos = now;
        current = stage;
        return before;
    }

    /** The time of the last change of stages. */
    long nowNanos() {
        return sinceNanos;
    }

    void leave(Stage caller) {
        enter(caller);
    }

    @Override
    public String owner() {
        return host.name();
    }

    @Override
    public int priority() {
        return host.priority();
    }

    @Override
    public boolean isBackground() {
        return host.isBackground();
    }

    @Override
    public Workload workload() {
        return workload;
    }

    /** Says who takes its rows, or most of them. */
    public void feeds(ScheduledTask next) {
        workload.feeds(next);
    }

    /** Closes inputs and operators. The task must not run any more. */
    @Override
    public void close() {
        done = true;
        idleTimer.ifPresent(Timers.Timer::cancel);
        List<AutoCloseable> all = new ArrayList<>(inputs);
        stages.forEach(stage -> all.add(stage::close));
        Closing.all(all);
    }
}
