package dev.millrace.testing.harness;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.operator.Output;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.arrow.vector.FieldVector;

/**
 * Collects what an operator emits and holds it against the contract: schema, value counts, no NULL where the schema
 * promises none, no weight of 0, batches of bounded size that nobody writes to after they were emitted.
 */
final class CheckedOutput implements Output {
    private static final int UNBOUNDED = Integer.MAX_VALUE;

    private final Optional<Schema> expected;
    private final boolean appendOnly;
    private final ZSet collected = new ZSet();
    private final List<Witness> held = new ArrayList<>();
    private int room = UNBOUNDED;
    private int mostRows;
    private int emitted;

    CheckedOutput(Optional<Schema> expected, boolean appendOnly) {
        this.expected = expected;
        this.appendOnly = appendOnly;
    }

    /** Before a call of {@code process}: any number of batches, of at most so many rows each. */
    void beforeProcess(int mostRowsPerBatch) {
        room = UNBOUNDED;
        mostRows = mostRowsPerBatch;
        emitted = 0;
    }

    /** Before a call of a signal method: room for a few batches, or for any number. */
    void beforeSignal(boolean bounded, int mostRowsPerBatch, RandomGenerator random) {
        room = bounded ? 1 + random.nextInt(3) : UNBOUNDED;
        mostRows = mostRowsPerBatch;
        emitted = 0;
    }

    /** Batches emitted since the last {@code before...}. */
    int emitted() {
        return emitted;
    }

    @Override
    public void emit(Batch batch) {
        Witness witness = Witness.of(batch);
        List<Row> rows = witness.rows();
        held.add(witness); // from here on it is closed whatever happens
        emitted++;
        Schema schema = expected.orElse(batch.schema());
        check(
                batch.schema().fields().stream()
                        .map(field -> field.type())
                        .toList()
                        .equals(schema.fields().stream()
                                .map(field -> field.type())
                                .toList()),
                () -> "emitted (" + batch.schema() + "), expected (" + schema + ")");
        check(
                batch.rowCount() <= mostRows,
                () -> "emitted " + batch.rowCount() + " rows at once, at most " + mostRows + " asked");
        for (int column = 0; column < batch.columnCount(); column++) {
            checkColumn(batch, column, schema);
        }
        for (int index = 0; index < rows.size(); index++) {
            Row row = rows.get(index);
            long weight = TestBatches.weight(batch, index);
            check(weight != 0, () -> "weight 0 of " + row);
            check(weight > 0 || !appendOnly, () -> "weight " + weight + " in append-only output, of " + row);
            collected.add(row, weight);
        }
    }

    private static void checkColumn(Batch batch, int column, Schema schema) {
        FieldVector vector = batch.column(column);
        Supplier<String> name = () -> "column " + schema.field(column);
        check(
                vector.getValueCount() == batch.rowCount(),
                () -> name.get() + " has " + vector.getValueCount() + " values in a batch of " + batch.rowCount());
        check(
                vector.getField().getType().equals(ArrowTypes.arrowType(schema.type(column))),
                () -> name.get() + " is in a vector of " + vector.getField().getType());
        check(schema.field(column).nullable() || !batch.hasNulls(column), () -> name.get() + " has a NULL");
    }

    @Override
    public boolean isFull() {
        return emitted >= room;
    }

    /** All that was emitted so far, minus what was retracted. */
    ZSet collected() {
        return collected;
    }

    /** Checks that emitted batches are still what they were, and gives them back. */
    void release() {
        Witness.release(held, "an emitted batch");
    }

    private static void check(boolean holds, Supplier<String> otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise.get());
        }
    }
}
