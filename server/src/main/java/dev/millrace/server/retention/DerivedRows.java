package dev.millrace.server.retention;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Source;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The past of a stream that a query fills: epochs of the query are its entries. By who shows the query's epochs.
 *
 * @param past what finite queries read of it
 * @param allocator of rows that wait to be written
 * @param flush writes what waits
 */
record DerivedRows(Source past, SegmentStore store, Schema schema, BufferAllocator allocator, Runnable flush)
        implements KeptOutput {
    private static final long MOST_BYTES = 32 << 20; // that wait
    private static final long MOST_BYTES_FOR_DISK = 4 * MOST_BYTES; // while the disk takes nothing

    @Override
    public boolean isBegun() {
        return store.lastEntry() > 0;
    }

    @Override
    public void append(long epoch, long micros, List<Batch> rows) {
        List<Batch> own = new ArrayList<>();
        try {
            rows.forEach(batch -> own.add(copy(batch)));
            if (store.append(epoch, micros, own) > MOST_BYTES) {
                makeRoom();
            }
        } finally {
            Closing.all(own);
        }
    }

    /** A disk that takes nothing for a while is no reason for the query to fail. */
    private void makeRoom() {
        try {
            flush.run();
        } catch (MillraceException e) {
            boolean mayPass = e.sqlState() == SqlState.DISK_FULL || e.sqlState() == SqlState.IO_ERROR;
            if (!mayPass || store.pendingBytes() > MOST_BYTES_FOR_DISK) {
                throw e;
            }
        }
    }

    /** The rows in memory that the query does not need back, each as often as its weight says. */
    private Batch copy(Batch batch) {
        int[] places = IntStream.range(0, schema.size()).toArray();
        try (RowCopier copier = new RowCopier(schema, allocator)) {
            for (int row = 0; row < batch.rowCount(); row++) {
                long times = batch.weights().isPresent() ? batch.weights().get().get(row) : 1;
                if (times <= 0) {
                    throw MillraceException.internal("a row of a derived stream is taken back");
                }
                for (long i = 0; i < times; i++) {
                    copier.copy(batch, places, row, 1);
                }
            }
            return copier.build();
        }
    }
}
