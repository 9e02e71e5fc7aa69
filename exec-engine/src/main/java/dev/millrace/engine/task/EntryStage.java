package dev.millrace.engine.task;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Operator;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** Where rows of a relation, or of another pipeline, enter a task: one port per input. */
public final class EntryStage extends Stage {
    private final Schema schema;
    private final Optional<int[]> columns;
    private Optional<OperatorStage> assigner = Optional.empty(); // found when the task starts

    /** Rows come as they are to go on. */
    public EntryStage(Schema schema) {
        this.schema = schema;
        this.columns = Optional.empty();
    }

    /** Rows come with all columns of a relation; those given go on. */
    public EntryStage(Schema schema, List<Integer> columns) {
        this.schema = schema;
        this.columns = Optional.of(columns.stream().mapToInt(Integer::intValue).toArray());
    }

    @Override
    void start(PipelineTask newTask) {
        super.start(newTask);
        Stage stage = this;
        while (stage.consumers().size() == 1 && assigner.isEmpty()) {
            stage = stage.consumers().get(0);
            if (stage instanceof OperatorStage operator && operator.assignsWatermarks()) {
                assigner = Optional.of(operator);
            }
        }
    }

    /** The watermark assigned to what enters here, if that happens in this task. */
    long assigned() {
        return assigner.isPresent() ? assigner.get().assignedMicros() : Operator.NO_WATERMARK;
    }

    /** Whether the watermark of what enters here is assigned by a stage, or it is not known by which. */
    boolean mayBeAssignedBy(OperatorStage stage) {
        return assigner.isEmpty() || assigner.get() == stage;
    }

    /** Whether that is the time of the clock. */
    boolean followsClock() {
        return assigner.isPresent() && assigner.get().followsClock();
    }

    /** Time may have gone on without a row; returns whether it has. */
    boolean tellTime() {
        return assigner.isPresent() && assigner.get().tellTime();
    }

    @Override
    void process(int port, Batch batch) {
        passOn(columns.isPresent() ? select(batch, columns.get()) : batch);
    }

    private Batch select(Batch batch, int[] chosen) {
        FieldVector[] vectors = new FieldVector[chosen.length];
        for (int i = 0; i < chosen.length; i++) {
            vectors[i] = batch.column(chosen[i]);
        }
        return Batch.view(schema, vectors, batch.rowCount(), batch.weights(), List.of(batch));
    }

    @Override
    boolean onWatermark(long micros) {
        passOnWatermark(micros);
        return true;
    }

    @Override
    boolean onEpochEnd(long epoch) {
        return true;
    }

    @Override
    void close() {}
}
