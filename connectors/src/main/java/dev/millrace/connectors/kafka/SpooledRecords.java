package dev.millrace.connectors.kafka;

import dev.millrace.batch.Batch;
import dev.millrace.connectors.outbox.OutboxRows;
import java.nio.ByteBuffer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Kafka's records as an outbox has them: length of the key, 4 bytes, -1 if there is none, and the key; length of the value likewise, and the value.
 */
final class SpooledRecords implements OutboxRows {
    private static final int LENGTHS_BYTES = 8;
    private static final int NONE = -1;

    private final RecordMaker maker;
    private byte[] scratch = new byte[1 << 10];

    /** @param maker is closed with this */
    SpooledRecords(RecordMaker maker) {
        this.maker = maker;
    }

    @Override
    public void write(Batch batch, Records records) {
        maker.write(batch, (key, value) -> add(key, value, records));
    }

    @Override
    public void endEpoch(Records records) {
        maker.endEpoch((key, value) -> add(key, value, records));
    }

    private void add(byte @Nullable [] key, byte @Nullable [] value, Records records) {
        int bytes = LENGTHS_BYTES + (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
        if (bytes > scratch.length) {
            scratch = new byte[Math.max(bytes, scratch.length * 2)];
        }
        ByteBuffer to = ByteBuffer.wrap(scratch);
        put(key, to);
        put(value, to);
        records.add(scratch, 0, bytes);
    }

    private static void put(byte @Nullable [] bytes, ByteBuffer to) {
        to.putInt(bytes == null ? NONE : bytes.length);
        if (bytes != null) {
            to.put(bytes);
        }
    }

    /** The record that was made to these bytes. */
    static ProducerRecord<byte[], byte[]> read(String topic, ByteBuffer from) {
        byte @Nullable [] key = get(from);
        return new ProducerRecord<>(topic, key, get(from));
    }

    private static byte @Nullable [] get(ByteBuffer from) {
        int length = from.getInt();
        if (length == NONE) {
            return null;
        }
        byte[] bytes = new byte[length];
        from.get(bytes);
        return bytes;
    }

    @Override
    public void close() {
        maker.close();
    }
}
