package dev.millrace.connectors.jdbc;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkStatus;
import dev.millrace.connectors.upsert.UpsertEpoch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Writes the rows of an epoch, or the newest row of each key that it changed, in one transaction of the database when the epoch ends. Until
 * then they are on the heap. Written by one thread.
 */
final class JdbcSink implements Sink {
    private static final long MOST_EPOCH_BYTES = Runtime.getRuntime().maxMemory() / 8;
    private static final int ROW_OBJECT_BYTES = 48;
    private static final int FIRST_BYTES = 4 << 10;

    private final DatabaseAddress address;
    private final TargetTable table;
    private final boolean upsert;
    private final JdbcWriter writer;
    private final BufferAllocator allocator;
    private final TextBuffer scratch;
    private final RowBytes rowBytes;
    private final List<Integer> allColumns;
    private final UpsertEpoch epoch = new UpsertEpoch(MOST_EPOCH_BYTES);
    private final List<RowChange> added = new ArrayList<>(); // of the epoch, where there are no keys
    private long addedBytes;
    private volatile long records; // written by the sink's thread, read by any
    private volatile long waiting; // likewise
    private volatile long waitingSinceNanos; // likewise
    private boolean closed;

    JdbcSink(DatabaseAddress address, TargetTable table, boolean upsert, int batchRows, SinkContext context) {
        this.address = address;
        this.table = table;
        this.upsert = upsert;
        this.writer = new JdbcWriter(address, table, upsert, batchRows);
        this.allocator = context.allocator().newChildAllocator("sink " + context.name(), 0, Long.MAX_VALUE);
        this.scratch = new TextBuffer(allocator, FIRST_BYTES);
        this.rowBytes = new RowBytes(table.schema(), scratch);
        this.allColumns = table.allColumns();
    }

    @Override
    public void check() {
        try (Connection connection = address.connect()) {
            table.check(connection, address);
        } catch (SQLException e) {
            throw address.failure(e);
        }
    }

    @Override
    public void write(Batch batch) {
        long weights = batch.weightsAddress();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            byte[] bytes = rowBytes.of(batch, row, allColumns);
            if (upsert) {
                requireKey(batch, row);
                epoch.add(rowBytes.of(batch, row, table.key()), bytes, weight);
            } else {
                add(bytes, weight);
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

    private void add(byte[] bytes, long weight) {
        RowChange change = new RowChange(false, bytes);
        for (long times = weight; times > 0; times--) {
            added.add(change);
            addedBytes += ROW_OBJECT_BYTES + bytes.length;
            if (addedBytes > MOST_EPOCH_BYTES) {
                throw MillraceException.resources(
                                SqlState.OUT_OF_MEMORY,
                                "an epoch adds " + added.size() + " rows with more than " + MOST_EPOCH_BYTES
                                        + " bytes, which a sink of connector jdbc holds until it ends")
                        .withHint("give the server a larger heap");
            }
        }
    }

    @Override
    public void commit(long number) {
        List<RowChange> changes = new ArrayList<>(added);
        epoch.drain(
                (key, value) -> changes.add(value == null ? new RowChange(true, key) : new RowChange(false, value)));
        waitingSinceNanos = System.nanoTime();
        waiting = changes.size();
        writer.write(changes);
        added.clear();
        addedBytes = 0;
        records += changes.size();
        waiting = 0;
    }

    @Override
    public Optional<SinkStatus> status() {
        long now = waiting;
        return Optional.of(new SinkStatus(
                "table " + table.name() + " of " + address,
                records,
                now,
                now == 0 ? 0 : TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - waitingSinceNanos),
                writer.lastError(),
                writer.waitsFor()));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try (allocator;
                    scratch) {
                writer.close();
            }
        }
    }
}
