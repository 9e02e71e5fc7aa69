package dev.millrace.server.rows;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** Changes shown as rows: what happened ('+' or '-') and when its epoch was committed, then the row. */
public final class ChangeRows {
    /** The columns before those of the answer. */
    public static final Schema PREFIX =
            Schema.of(new Field("op", DataType.TEXT, false), new Field("epoch_time", DataType.TIMESTAMPTZ, false));

    private static final Field DROPPED = new Field("dropped", DataType.BIGINT, true);

    /**
     * How changes are shown.
     *
     * @param progress whether a row of {@code =} follows each epoch: all up to its time was told
     * @param gaps whether a row of {@code !} tells in one more column how many rows were dropped before what follows
     */
    public record Form(Schema answer, boolean progress, boolean gaps) {
        /** The rows' columns. */
        public Schema schema() {
            if (!progress && !gaps) {
                return PREFIX.concat(answer);
            }
            List<Field> fields = new ArrayList<>(PREFIX.fields());
            if (gaps) {
                fields.add(DROPPED);
            }
            // Rows that tell of something else have no answer in them.
            answer.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
            return new Schema(fields);
        }
    }

    private ChangeRows() {}

    /** All rows of an epoch, none of the batches empty; the caller owns them, and still owns the epoch. */
    public static List<Batch> of(EpochChanges epoch, Form form, BufferAllocator allocator) {
        List<Batch> rows = new ArrayList<>();
        if (form.gaps() && epoch.droppedRows() > 0) {
            rows.add(mark(form, "!", epoch, allocator));
        }
        for (Batch batch : epoch.batches()) {
            if (batch.rowCount() > 0) {
                try (Batch plain = of(batch, epoch.epochMicros(), allocator)) {
                    rows.add(shown(plain, form, allocator));
                }
            }
        }
        if (form.progress()) {
            rows.add(mark(form, "=", epoch, allocator));
        }
        return rows;
    }

    private static Batch shown(Batch plain, Form form, BufferAllocator allocator) {
        if (!form.gaps()) {
            return Batch.view(
                    form.schema(), columns(plain), plain.rowCount(), Optional.empty(), List.of(plain.retain()));
        }
        Schema schema = form.schema();
        FieldVector[] columns = new FieldVector[schema.size()];
        FieldVector dropped = ArrowTypes.arrowField(DROPPED).createVector(allocator);
        dropped.setInitialCapacity(plain.rowCount());
        dropped.allocateNew();
        dropped.setValueCount(plain.rowCount());
        for (int column = 0; column < columns.length; column++) {
            int of = PREFIX.size();
            columns[column] = column < of ? plain.column(column) : column == of ? dropped : plain.column(column - 1);
        }
        Batch own = Batch.of(Schema.of(DROPPED), new FieldVector[] {dropped}, plain.rowCount());
        return Batch.view(schema, columns, plain.rowCount(), Optional.empty(), List.of(own, plain.retain()));
    }

    private static FieldVector[] columns(Batch batch) {
        FieldVector[] columns = new FieldVector[batch.columnCount()];
        for (int column = 0; column < columns.length; column++) {
            columns[column] = batch.column(column);
        }
        return columns;
    }

    /** A row that tells of the epoch. */
    private static Batch mark(Form form, String op, EpochChanges epoch, BufferAllocator allocator) {
        Schema schema = form.schema();
        try (RowBuilder rows = new RowBuilder(schema, allocator)) {
            Object[] values = new Object[schema.size()];
            Arrays.fill(values, Optional.empty());
            values[0] = op;
            values[1] = epoch.epochMicros();
            if (form.gaps() && epoch.droppedRows() > 0) {
                values[PREFIX.size()] = epoch.droppedRows();
            }
            rows.row(values);
            return rows.build();
        }
    }

    /** A row of weight three is shown three times. The caller owns the result, and still owns {@code changes}. */
    public static Batch of(Batch changes, long epochMicros, BufferAllocator allocator) {
        Optional<BigIntVector> weights = changes.weights();
        if (weights.isPresent() && !allAreOnce(weights.get(), changes.rowCount())) {
            try (Batch repeated = repeated(changes, weights.get(), allocator)) {
                return of(repeated, epochMicros, allocator);
            }
        }
        int rows = changes.rowCount();
        FieldVector[] columns = new FieldVector[PREFIX.size() + changes.columnCount()];
        columns[0] = operations(weights, rows, allocator);
        columns[1] = times(epochMicros, rows, allocator);
        Batch prefix = Batch.of(PREFIX, new FieldVector[] {columns[0], columns[1]}, rows);
        for (int column = 0; column < changes.columnCount(); column++) {
            columns[PREFIX.size() + column] = changes.column(column);
        }
        Schema schema = PREFIX.concat(changes.schema());
        return Batch.view(schema, columns, rows, Optional.empty(), List.of(prefix, changes.retain()));
    }

    private static boolean allAreOnce(BigIntVector weights, int rows) {
        for (int row = 0; row < rows; row++) {
            if (Math.abs(weights.get(row)) != 1) {
                return false;
            }
        }
        return true;
    }

    private static Batch repeated(Batch changes, BigIntVector weights, BufferAllocator allocator) {
        int[] places = new int[changes.columnCount()];
        for (int column = 0; column < places.length; column++) {
            places[column] = column;
        }
        try (RowCopier copier = new RowCopier(changes.schema(), allocator)) {
            for (int row = 0; row < changes.rowCount(); row++) {
                long weight = weights.get(row);
                for (long copy = Math.abs(weight); copy > 0; copy--) {
                    copier.copy(changes, places, row, Long.signum(weight));
                }
            }
            return copier.build();
        }
    }

    private static FieldVector operations(Optional<BigIntVector> weights, int rows, BufferAllocator allocator) {
        BaseVariableWidthVector vector =
                (BaseVariableWidthVector) Vectors.allocate(PREFIX.field(0), rows, rows, allocator);
        long data = vector.getDataBufferAddress();
        long offsets = vector.getOffsetBufferAddress();
        Memory.fill(data, rows, (byte) '+');
        for (int row = 0; row < rows; row++) {
            Memory.putInt(offsets + 4L * row + 4, row + 1);
            if (weights.isPresent() && weights.get().get(row) < 0) {
                Memory.putByte(data + row, (byte) '-');
            }
        }
        return finished(vector, rows);
    }

    private static FieldVector times(long epochMicros, int rows, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(PREFIX.field(1), rows, 0, allocator);
        for (int row = 0; row < rows; row++) {
            Memory.putLong(vector.getDataBufferAddress() + 8L * row, epochMicros);
        }
        return finished(vector, rows);
    }

    private static FieldVector finished(FieldVector vector, int rows) {
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }
}
