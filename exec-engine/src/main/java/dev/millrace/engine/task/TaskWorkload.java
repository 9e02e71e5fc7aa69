package dev.millrace.engine.task;

import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.scheduler.WindowProgress;
import dev.millrace.scheduler.Workload;
import java.util.List;
import java.util.Optional;

/** What a pipeline's instance has before it and made of what it had, summed from its inputs and stages whenever a policy asks. */
final class TaskWorkload implements Workload {
    private final TaskHost host;
    private final TaskInput[] inputs;
    private final EntryStage[] entries;
    private final OutletStage[] outlets;
    private final boolean seesWindows;
    private volatile Optional<ScheduledTask> downstream = Optional.empty(); // set once the tasks of a query are there

    TaskWorkload(TaskHost host, List<Stage> stages, List<TaskInput> inputs) {
        this.host = host;
        this.inputs = inputs.toArray(TaskInput[]::new);
        this.entries = stages.stream()
                .filter(EntryStage.class::isInstance)
                .map(EntryStage.class::cast)
                .toArray(EntryStage[]::new);
        this.outlets = stages.stream()
                .filter(OutletStage.class::isInstance)
                .map(OutletStage.class::cast)
                .toArray(OutletStage[]::new);
        this.seesWindows = stages.stream()
                .anyMatch(stage -> stage instanceof OperatorStage operator
                        && operator.windows().isPresent());
    }

    void feeds(ScheduledTask next) {
        downstream = Optional.of(next);
    }

    // Asked for each decision: loops without streams.

    @Override
    public long queuedRows() {
        long rows = 0;
        for (TaskInput input : inputs) {
            rows += input.queuedRows();
        }
        return rows;
    }

    @Override
    public long queuedBytes() {
        long bytes = 0;
        for (TaskInput input : inputs) {
            bytes += input.queuedBytes();
        }
        return bytes;
    }

    @Override
    public long queueNanos() {
        long nanos = 0;
        for (TaskInput input : inputs) {
            nanos += input.waitNanos();
        }
        return nanos;
    }

    @Override
    public long rowsIn() {
        long rows = 0;
        for (EntryStage entry : entries) {
            rows += entry.rowsIn();
        }
        return rows;
    }

    @Override
    public long rowsOut() {
        long rows = 0;
        for (OutletStage outlet : outlets) {
            rows += outlet.rowsIn();
        }
        return rows;
    }

    @Override
    public Optional<ScheduledTask> downstream() {
        return downstream;
    }

    /** Of a task that sees when windows end. What is behind an exchange has no estimate: what comes there is due, as it is of windows before. */
    @Override
    public Optional<WindowProgress> progress() {
        return seesWindows ? host.windows() : Optional.empty();
    }
}
