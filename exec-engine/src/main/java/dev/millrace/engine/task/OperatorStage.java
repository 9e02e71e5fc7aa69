package dev.millrace.engine.task;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.engine.watermark.WatermarkOperator;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.scheduler.SweepingWatermarks;
import dev.millrace.time.Clock;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** An operator in a task, and what it is given. */
public final class OperatorStage extends Stage implements OperatorContext, Output {
    private final Operator operator;
    private final TaskHost host;
    private final BufferAllocator allocator;
    private final KeyGroups keyGroups;
    private final OperatorMetrics metrics = new OperatorMetrics();
    private final Optional<WatermarkOperator> assigner;
    private final Optional<Alarm> alarm;
    private final Optional<WindowEnds> windowEnds;
    private long assigned = Operator.NO_WATERMARK;
    private long received = Operator.NO_WATERMARK;
    private long passed = Operator.NO_WATERMARK;
    private long lastRowNanos;
    private long tickNanos; // when one that follows the clock is to look at it; at once before its first row
    private boolean assignerIdle;
    private Optional<FailedRows.Part> failedRows = Optional.empty(); // set once, before it is opened

    // Written by the task's worker, read by statistics.
    private volatile long lateRows;
    private volatile long assignedSinceMicros;
    private volatile long assignedMicros = Operator.NO_WATERMARK;
    private volatile boolean assignedIdle;

    /** @param allocator the operator's own; whoever made it closes it */
    public OperatorStage(Operator operator, TaskHost host, BufferAllocator allocator, KeyGroups keyGroups) {
        this.operator = operator;
        this.host = host;
        this.allocator = allocator;
        this.keyGroups = keyGroups;
        this.assigner = operator instanceof WatermarkOperator watermarks ? Optional.of(watermarks) : Optional.empty();
        this.alarm = operator instanceof Alarm timed ? Optional.of(timed) : Optional.empty();
        this.windowEnds = assigner.flatMap(WatermarkOperator::lateBeyond).flatMap(WindowEnds::of);
    }

    /** What is known of when the windows will end whose watermarks are assigned here, if there are any. */
    public Optional<SweepingWatermarks> windows() {
        return windowEnds.map(WindowEnds::estimates);
    }

    /** Has failures of rows kept; before it is opened. */
    public void keepFailedRows(FailedRows.Part part) {
        failedRows = Optional.of(part);
    }

    @Override
    public boolean keepsFailedRows() {
        return failedRows.isPresent();
    }

    @Override
    public boolean failsForGood() {
        return failedRows.filter(FailedRows.Part::isForGood).isPresent();
    }

    @Override
    public void failedRow(MillraceException failure, long weight) {
        failedRows.orElseThrow(() -> failure).failed(failure, weight);
    }

    /** Opens the operator; before the task runs, on any thread. */
    public void open() {
        operator.open(this);
        lastRowNanos = host.clock().nanoTime();
        assignedSinceMicros = host.clock().epochMicros();
    }

    public Operator operator() {
        return operator;
    }

    @Override
    void process(int port, Batch batch) {
        operator.process(port, batch, this);
        if (assigner.isPresent()) {
            assignerIdle = false;
            lastRowNanos = task.nowNanos();
            passOnAssigned(assigner.get().watermark());
            waitForClock(assigner.get());
        }
    }

    @Override
    void begin(Part part) {
        if (assigner.isPresent()) {
            assigner.get().begin(part);
        } else {
            super.begin(part);
        }
    }

    boolean followsClock() {
        return assigner.isPresent() && assigner.get().followsClock();
    }

    /** Rows were there, but not read: whether they come from now on is what counts. */
    void beginToBeIdle() {
        lastRowNanos = host.clock().nanoTime();
    }

    /** Passes on a watermark that went on without a row, as other parts of the source did; returns whether it has. */
    boolean tellTime() {
        long before = assigned;
        passOnAssigned(assigner.orElseThrow().watermark());
        return assigned > before;
    }

    private void waitForClock(WatermarkOperator watermarks) {
        if (watermarks.followsClock()) {
            long nextMicros = watermarks.nextTickMicros();
            tickNanos = nextMicros == Long.MAX_VALUE
                    ? Long.MAX_VALUE
                    : lastRowNanos + 1_000 * (nextMicros - watermarks.watermark());
        }
    }

    private void passOnAssigned(long micros) {
        if (micros > assigned) {
            assigned = micros;
            passOnWatermark(micros);
            assignedMicros = micros;
            assignedIdle = false;
            assignedSinceMicros = host.clock().epochMicros();
            if (windowEnds.isPresent() && micros != Operator.END_OF_INPUT) {
                windowEnds
                        .get()
                        .reached(micros, assignedSinceMicros, host.clock().nanoTime());
            }
        }
    }

    @Override
    public StageMark mark() {
        return new StageMark(super.mark().watermark(), assignerIdle);
    }

    /** Says what it said last before it was restored. */
    private void passOnRestored() {
        passOnAssigned(assigner.orElseThrow().watermark());
        if (goneOnAt().idle()) {
            assignerIdle = true;
            assignedIdle = true;
            passOnIdle();
        }
    }

    @Override
    boolean onWatermark(long micros) {
        if (assigner.isPresent()) {
            if (assigned == Operator.NO_WATERMARK) {
                passOnRestored();
            }
            if (micros == Operator.END_OF_INPUT) {
                passOnAssigned(micros);
            }
            return true;
        }
        if (!operator.onWatermark(micros, this)) {
            return false;
        }
        received = micros;
        passOnReleased();
        return true;
    }

    private void passOnReleased() {
        long released = operator.passedWatermark(received);
        if (released > passed) {
            passed = released;
            passOnWatermark(released);
        }
    }

    @Override
    boolean onEpochEnd(long epoch) {
        if (assigner.isPresent()) {
            assigner.get().endEpoch();
            passOnAssigned(assigner.get().watermark()); // one that was restored, before any row comes
            if (assignerIdle
                    && assigned
                            != Operator
                                    .END_OF_INPUT) { // for so long already that nobody is to wait for it, nor for what
                // it just passed on
                assignedIdle = true;
                passOnIdle();
            }
        }
        if (!operator.onEpochEnd(epoch, this)) {
            return false;
        }
        failedRows.ifPresent(part -> part.epochEnd(epoch));
        if (received > passed && assigner.isEmpty()) {
            passOnReleased();
        }
        return true;
    }

    /** Whether the operator has something to emit at a time of the clock. */
    boolean hasAlarm() {
        return alarm.isPresent();
    }

    /**
     * When an assigner without rows becomes idle, or looks at the clock, or something is due by the clock; {@code
     * Long.MAX_VALUE} for never.
     */
    long idleAtNanos() {
        if (alarm.isPresent()) {
            return alarm.get().dueNanos();
        }
        if (assigner.isPresent() && assigner.get().followsClock() && !assignerIdle) {
            return tickNanos;
        }
        return assigner.isPresent() && assigner.get().idleTimeoutMicros() > 0 && !assignerIdle
                ? lastRowNanos + 1_000 * assigner.get().idleTimeoutMicros()
                : Long.MAX_VALUE;
    }

    /** Its time has come: windows end by the clock, or it is idle. Nobody waits for an assigner with nothing open. */
    void becomeIdle() {
        if (alarm.isPresent()) {
            alarm.get().awaitEpochEnd(); // which the task asks for
            return;
        }
        if (assigner.orElseThrow().followsClock()) {
            lastRowNanos = host.clock().nanoTime();
            assigner.get().clockSays(host.clock().epochMicros());
            passOnAssigned(assigner.get().watermark());
            waitForClock(assigner.get());
            if (tickNanos != Long.MAX_VALUE) {
                return;
            }
        }
        assignerIdle = true;
        assignedIdle = true;
        passOnIdle();
    }

    /** Whether the operator assigns watermarks. */
    public boolean assignsWatermarks() {
        return assigner.isPresent();
    }

    public long assignedMicros() {
        return assignedMicros;
    }

    public long assignedSinceEpochMicros() {
        return assignedSinceMicros;
    }

    public boolean isAssignerIdle() {
        return assignedIdle;
    }

    /** Rows it reported late. */
    public long lateRows() {
        return lateRows;
    }

    @Override
    public void emit(Batch batch) {
        if (batch.rowCount() == 0) {
            batch.close();
        } else if (host.interrupt().isStopped()) { // one row may become very many, and nobody wants them any more
            batch.close();
            host.interrupt().check();
        } else {
            passOn(batch);
        }
    }

    @Override
    public boolean isFull() {
        return task.isFull();
    }

    @Override
    public BufferAllocator allocator() {
        return allocator;
    }

    @Override
    public Clock clock() {
        return host.clock();
    }

    @Override
    public long epochMicros(long epoch) {
        return host.epochMicros(epoch);
    }

    @Override
    public KeyGroups keyGroups() {
        return keyGroups;
    }

    @Override
    public int batchRows() {
        return host.batchRows();
    }

    @Override
    public OperatorMetrics metrics() {
        return metrics;
    }

    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        lateRows += count;
        host.lateRows(batch, rows, count, watermarkMicros);
    }

    @Override
    void close() {
        operator.close();
    }
}
