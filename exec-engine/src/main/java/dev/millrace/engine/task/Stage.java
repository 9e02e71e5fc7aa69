package dev.millrace.engine.task;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.engine.watermark.LowWatermark;
import dev.millrace.operator.Operator;
import java.util.ArrayList;
import java.util.List;

/**
 * One node of a task's graph: where rows enter, an operator, or an outlet. Rows go from stage to stage by calls;
 * watermarks are noted at each stage and carried on by the task in the order of the graph, so that a stage with several
 * inputs sees all of them move before it acts.
 */
public abstract sealed class Stage permits EntryStage, OperatorStage, OutletStage {
    private final List<Stage> consumers = new ArrayList<>(1);
    private final List<Integer> consumerPorts = new ArrayList<>(1);
    private final List<Integer> timelessPorts = new ArrayList<>(0);
    private Stage[] consumerArray = new Stage[0];
    private int[] portArray = new int[0];

    @SuppressWarnings("NullAway.Init") // by start, before the task runs
    private LowWatermark low;

    private int ports;
    private boolean moved; // the watermark did, and was not handled
    private StageMark goneOnAt = StageMark.NONE; // where it began
    private boolean idlePassedOn;

    @SuppressWarnings("NullAway.Init")
    PipelineTask task; // set once, by the task

    // Written by the worker that runs the task, read by statistics.
    private volatile long rowsIn;
    private volatile long rowsOut;
    private volatile long batchesIn;
    private volatile long cpuNanos;

    Stage() {}

    /** Has this stage's output go to a new port of another. Only while the graph is built. */
    public void feed(Stage consumer) {
        consumers.add(consumer);
        consumerPorts.add(consumer.newPort());
    }

    /** Nobody is to wait for the event time of a port. Only while the graph is built. */
    public void ignoreTimeOf(int port) {
        timelessPorts.add(port);
    }

    int newPort() {
        return ports++;
    }

    void start(PipelineTask newTask) {
        task = newTask;
        low = new LowWatermark(ports);
        timelessPorts.forEach(low::ignore);
        consumerArray = consumers.toArray(Stage[]::new);
        portArray = consumerPorts.stream().mapToInt(Integer::intValue).toArray();
    }

    List<Stage> consumers() {
        return consumers;
    }

    /** Handles rows; owns the batch. */
    abstract void process(int port, Batch batch);

    /** Rows of another part of the source that feeds this task follow, for those that make watermarks of them. */
    void begin(Part part) {
        for (Stage consumer : consumerArray) {
            consumer.begin(part);
        }
    }

    /** Handles a watermark and passes it on; returns false if it has to be called again once there is room. */
    abstract boolean onWatermark(long micros);

    /** Handles an epoch's end; the task tells the consumers. */
    abstract boolean onEpochEnd(long epoch);

    final void receive(int port, Batch batch) {
        low.active(port);
        rowsIn += batch.rowCount();
        batchesIn++;
        Stage caller = task.enter(this);
        process(port, batch);
        task.leave(caller);
    }

    final void passOn(Batch batch) {
        rowsOut += batch.rowCount();
        idlePassedOn = false;
        if (consumerArray.length == 1) {
            consumerArray[0].receive(portArray[0], batch);
            return;
        }
        for (int i = 1; i < consumerArray.length; i++) {
            batch.retain();
        }
        int passed = 0;
        try {
            while (passed < consumerArray.length) {
                int next = passed++;
                consumerArray[next].receive(portArray[next], batch);
            }
        } finally {
            for (; passed < consumerArray.length; passed++) {
                batch.close(); // a consumer failed: the references of those behind it
            }
        }
    }

    final void passOnWatermark(long micros) {
        idlePassedOn = false;
        for (int i = 0; i < consumerArray.length; i++) {
            consumerArray[i].advance(portArray[i], micros);
        }
    }

    final void passOnIdle() {
        if (!idlePassedOn) {
            idlePassedOn = true;
            for (int i = 0; i < consumerArray.length; i++) {
                consumerArray[i].idle(portArray[i]);
            }
        }
    }

    /** How far event time is here; between two steps of the task. */
    public StageMark mark() {
        return new StageMark(low.micros(), false);
    }

    /**
     * Has the stage begin where another was, whatever its inputs say; once, before its task runs. Those behind it are told again
     * how far it is.
     */
    public void goOnAt(StageMark mark) {
        goneOnAt = mark;
        if (low.goOnAt(mark.watermark()) || mark.idle()) {
            moved = true;
            task.watermarksMoved();
        }
    }

    StageMark goneOnAt() {
        return goneOnAt;
    }

    /** An input's watermark. */
    final void advance(int port, long micros) {
        if (low.advance(port, micros)) {
            moved = true;
            task.watermarksMoved();
        }
    }

    /** An input became idle. */
    void idle(int port) {
        if (low.idle(port)) {
            moved = true;
            task.watermarksMoved();
        }
        if (isIdle()) {
            passOnIdle();
        }
    }

    /** If the watermark moved, handles it; returns false if there is more to do once there is room. */
    final boolean handleWatermark() {
        if (!moved) {
            return true;
        }
        Stage caller = task.enter(this);
        boolean done = onWatermark(low.micros());
        task.leave(caller);
        moved = !done;
        if (done && isIdle()) {
            passOnIdle(); // again, behind the watermark, for which they would wait for more
        }
        return done;
    }

    /** Whether nobody should wait for any of the inputs. */
    final boolean isIdle() {
        return low.isIdle();
    }

    final boolean handleEpochEnd(long epoch) {
        Stage caller = task.enter(this);
        boolean done = onEpochEnd(epoch);
        task.leave(caller);
        if (done && isIdle()) {
            passOnIdle(); // again, behind what it emitted
        }
        return done;
    }

    /** The least watermark of the inputs. */
    long watermark() {
        return low == null ? Operator.NO_WATERMARK : low.micros();
    }

    void spent(long nanos) {
        cpuNanos += nanos;
    }

    /** Frees all; idempotent. */
    abstract void close();

    public long rowsIn() {
        return rowsIn;
    }

    public long rowsOut() {
        return rowsOut;
    }

    public long batchesIn() {
        return batchesIn;
    }

    public long cpuNanos() {
        return cpuNanos;
    }
}
