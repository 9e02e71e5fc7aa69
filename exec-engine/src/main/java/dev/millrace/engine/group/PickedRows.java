package dev.millrace.engine.group;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.calc.Gather;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** A member's rows of the batch at hand, whose first column says whose they are. For one thread. */
final class PickedRows {
    private static final int FIRST_ROWS = 8;
    private static final int MOST_ROWS = 1 << 10; // that there is room for still when there were more

    private int[] rows = new int[FIRST_ROWS];
    private int count;

    /** One more of the batch. @return whether it is the first */
    boolean add(int row) {
        if (count == rows.length) {
            rows = Arrays.copyOf(rows, 2 * count);
        }
        rows[count++] = row;
        return count == 1;
    }

    /** Copies them out of the batch, behind its first column, and is empty then. The copy is the caller's. */
    Batch copy(Batch batch, Schema schema, BufferAllocator allocator) {
        List<FieldVector> columns = new ArrayList<>();
        try {
            for (int column = 0; column < schema.size(); column++) {
                columns.add(Gather.column(batch, column + 1, schema.field(column), rows, count, allocator));
            }
            FieldVector[] all = columns.toArray(FieldVector[]::new);
            return batch.weights().isEmpty()
                    ? Batch.of(schema, all, count)
                    : Batch.weighted(schema, all, count, Gather.weights(batch, rows, count, allocator));
        } catch (RuntimeException | Error e) {
            Closing.all(columns);
            throw e;
        } finally {
            clear();
        }
    }

    /** Stages them in a view, behind what is staged there, and is empty then. @param columns of the batch that are the view's */
    void stage(Batch batch, int[] columns, VersionedView view, VersionedView.Staged staged) {
        try {
            view.stage(batch, columns, rows, count, staged);
        } finally {
            clear();
        }
    }

    /** None of them is the member's after all. */
    void clear() {
        count = 0;
        if (rows.length > MOST_ROWS) {
            rows = new int[FIRST_ROWS];
        }
    }
}
