package dev.millrace.connectors.outbox;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.testing.connector.SinkOutside;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An outside in memory that takes records and a number in one step, is away at times, and fails at random before and after it has taken
 * them. Safe on any thread.
 */
final class MemoryOutside implements SinkOutside {
    private final Random random;
    private final int failuresOfHundred;
    private final List<Long> ids = new ArrayList<>();
    private long number;
    private boolean away;
    private int failing; // how many deliveries are to fail for good

    MemoryOutside(long seed, int failuresOfHundred) {
        this.random = new Random(seed);
        this.failuresOfHundred = failuresOfHundred;
    }

    @Override
    public synchronized List<Long> seen() {
        return List.copyOf(ids);
    }

    @Override
    public synchronized boolean goes() {
        away = true;
        return true;
    }

    @Override
    public synchronized void comes() {
        away = false;
    }

    synchronized void setNumber(long other) {
        number = other;
    }

    /** The next delivery fails with the user's fault. */
    synchronized void failForGood() {
        failing = 1;
    }

    private synchronized void mayFail() {
        if (away || random.nextInt(100) < failuresOfHundred) {
            throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the outside is away");
        }
    }

    @Override
    public CheckpointedSink open(SinkContext context) {
        return open(context, new SpoolRoom());
    }

    CheckpointedSink open(SinkContext context, SpoolRoom room) {
        return new OutboxSink(
                context, "memory", new IdRows(), delivery(), new Options(Map.of("outbox.limit_mb", "1")), room);
    }

    Delivery delivery() {
        return new Delivery() {
            @Override
            public long lastDelivered() {
                mayFail();
                synchronized (MemoryOutside.this) {
                    return number;
                }
            }

            @Override
            public void deliver(long checkpoint, Records records) {
                mayFail();
                List<Long> taken = new ArrayList<>();
                records.forEach(record -> taken.add(record.getLong()));
                synchronized (MemoryOutside.this) {
                    if (failing-- > 0) {
                        throw MillraceException.user(SqlState.CHECK_VIOLATION, "the outside wants no such row");
                    }
                    ids.addAll(taken);
                    number = checkpoint;
                }
                mayFail(); // the answer is lost
            }

            @Override
            public void close() {}
        };
    }

    /** A record of each row: its id. */
    static final class IdRows implements OutboxRows {
        @Override
        public void write(Batch batch, Records records) {
            for (int row = 0; row < batch.rowCount(); row++) {
                byte[] bytes = ByteBuffer.allocate(Long.BYTES)
                        .putLong(Memory.getLong(batch.dataAddress(0) + 8L * row))
                        .array();
                records.add(bytes, 0, bytes.length);
            }
        }

        @Override
        public void endEpoch(Records records) {}

        @Override
        public void close() {}
    }
}
