package dev.millrace.connectors.kafka;

import dev.millrace.batch.Batch;
import dev.millrace.connectors.upsert.UpsertEpoch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordEncoder;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.jspecify.annotations.Nullable;

/** Makes a record of each row, or of each key that an epoch changed. Owned by one thread. */
final class RecordMaker implements AutoCloseable {
    private static final long MOST_EPOCH_BYTES = Runtime.getRuntime().maxMemory() / 8;
    private static final int FIRST_BYTES = 4 << 10;

    /** Takes a record; who calls it does not change the arrays any more. */
    @FunctionalInterface
    interface Records {
        void add(byte @Nullable [] key, byte @Nullable [] value);
    }

    private final RecordKey key;
    private final boolean upsert;
    private final boolean isEnveloped; // in Debezium's envelope
    private final RecordEncoder encoder;
    private final UpsertEpoch epoch = new UpsertEpoch(MOST_EPOCH_BYTES);
    private final BufferAllocator allocator = new RootAllocator();
    private final TextBuffer text = new TextBuffer(allocator, FIRST_BYTES);

    /**
     * @param isEnveloped whether values are what happens to a row, in Debezium's envelope: then {@code encoder} makes JSON
     * @param encoder is closed with this
     */
    RecordMaker(RecordKey key, boolean upsert, boolean isEnveloped, RecordEncoder encoder) {
        this.key = key;
        this.upsert = upsert;
        this.isEnveloped = isEnveloped;
        this.encoder = encoder;
    }

    void write(Batch batch, Records to) {
        long weights = batch.weightsAddress();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            byte @Nullable [] keyBytes = key.of(batch, row, text);
            text.clear();
            encoder.encode(batch, row, text);
            byte[] value = text.toBytes();
            if (upsert) {
                if (keyBytes == null) {
                    throw MillraceException.user(SqlState.NOT_NULL_VIOLATION, "a row of the sink has NULL in its key");
                }
                epoch.add(keyBytes, value, weight);
            } else {
                byte[] record = isEnveloped ? DebeziumChange.of(null, value) : value;
                for (long times = weight; times > 0; times--) {
                    to.add(keyBytes, record);
                }
            }
        }
    }

    /** The epoch has no more rows. */
    void endEpoch(Records to) {
        if (!isEnveloped) {
            epoch.drain(to::add);
            return;
        }
        epoch.drainChanges((keyBytes, before, after) -> {
            to.add(keyBytes, DebeziumChange.of(before, after));
            if (after == null) {
                to.add(keyBytes, null); // by which brokers forget the key
            }
        });
    }

    @Override
    public void close() {
        try (allocator;
                text) {
            encoder.close();
        }
    }
}
