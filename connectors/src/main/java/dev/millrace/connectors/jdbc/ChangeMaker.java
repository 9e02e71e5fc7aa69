package dev.millrace.connectors.jdbc;

import dev.millrace.batch.Batch;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.upsert.UpsertEpoch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;

/** Makes changes of a table of a query's rows: of each row, or at the end of an epoch of each key that it changed. Owned by one thread. */
final class ChangeMaker implements AutoCloseable {
    private static final int FIRST_BYTES = 4 << 10;

    private final TargetTable table;
    private final boolean upsert;
    private final BufferAllocator allocator;
    private final TextBuffer scratch;
    private final RowBytes rowBytes;
    private final List<Integer> allColumns;
    private final UpsertEpoch epoch;
    private boolean isChanged; // in the epoch under way
    private boolean closed;

    /** @param mostEpochBytes that the changes of an epoch may have on the heap, where they are held */
    ChangeMaker(TargetTable table, boolean upsert, long mostEpochBytes, SinkContext context) {
        this.table = table;
        this.upsert = upsert;
        this.epoch = new UpsertEpoch(mostEpochBytes);
        this.allocator = context.allocator().newChildAllocator("sink " + context.name(), 0, Long.MAX_VALUE);
        this.scratch = new TextBuffer(allocator, FIRST_BYTES);
        this.rowBytes = new RowBytes(table.schema(), scratch);
        this.allColumns = table.allColumns();
    }

    /** Rows of the epoch under way. */
    void write(Batch batch, Consumer<WrittenChange> changes) {
        long weights = batch.weightsAddress();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            byte[] bytes = rowBytes.of(batch, row, allColumns);
            if (upsert) {
                requireKey(batch, row);
                epoch.add(rowBytes.of(batch, row, table.key()), bytes, weight);
            } else {
                for (long times = weight; times > 0; times--) {
                    changes.accept(WrittenChange.put(bytes)); // without a key epochs need no end between them
                }
            }
        }
    }

    private void requireKey(Batch batch, int row) {
        for (int column : table.key()) {
            if (batch.column(column).isNull(row)) {
                throw MillraceException.user(SqlState.NOT_NULL_VIOLATION, "a row of the sink has NULL in its key");
            }
        }
    }

    /** The epoch has no more rows. Deletes come first: a value that is unique may have gone from one key to another. */
    void endEpoch(Consumer<WrittenChange> changes) {
        List<WrittenChange> puts = new ArrayList<>();
        epoch.drain((key, value) -> {
            isChanged = true;
            if (value == null) {
                changes.accept(WrittenChange.delete(key));
            } else {
                puts.add(WrittenChange.put(value));
            }
        });
        puts.forEach(changes);
        if (isChanged) {
            changes.accept(WrittenChange.END);
        }
        isChanged = false;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try (allocator) {
                scratch.close();
            }
        }
    }
}
