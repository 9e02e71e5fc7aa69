package dev.millrace.server.history;

import dev.millrace.batch.Batch;
import dev.millrace.storage.batch.BatchBytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Makes the records of a history's log; the package has their form. */
final class HistoryRecords {
    static final byte FORMAT = 1;
    static final byte ROWS = 1;
    static final byte EPOCH = 2;
    static final byte BASE = 3;
    static final byte TOLD = 4;
    static final byte SUBSCRIPTION = 5;
    static final byte DROPPED = 6;

    private HistoryRecords() {}

    static List<ByteBuffer> bytes(List<Batch> batches) {
        List<ByteBuffer> bytes = new ArrayList<>();
        for (Batch batch : batches) {
            if (batch.rowCount() > 0) {
                bytes.add(BatchBytes.write(batch));
            }
        }
        return bytes;
    }

    static KeptEpoch kept(long number, long micros, List<ByteBuffer> batches, long firstRecord) {
        long bytes = 0;
        long rows = 0;
        for (ByteBuffer batch : batches) {
            bytes += batch.remaining();
            rows += BatchBytes.rows(batch);
        }
        return new KeptEpoch(number, micros, batches, bytes, rows, firstRecord);
    }

    private static ByteBuffer record(byte kind, int bytes) {
        return ByteBuffer.allocate(1 + bytes).order(ByteOrder.LITTLE_ENDIAN).put(kind);
    }

    static ByteBuffer[] rows(ByteBuffer batch) {
        return new ByteBuffer[] {record(ROWS, 0).flip(), batch};
    }

    static ByteBuffer epoch(long micros, int batches) {
        return record(EPOCH, 12).putLong(micros).putInt(batches).flip();
    }

    static ByteBuffer told(long micros) {
        return record(TOLD, 8).putLong(micros).flip();
    }

    static ByteBuffer[] base(HistoryContents.Base base, Collection<NamedSubscription> subscriptions) {
        byte[] query = utf8(base.query());
        List<ByteBuffer> parts = new ArrayList<>();
        parts.add(record(BASE, 33 + query.length)
                .put(FORMAT)
                .putInt(query.length)
                .put(query)
                .putInt(base.types())
                .putLong(base.micros())
                .putLong(base.reachMicros())
                .putInt(base.rows().size())
                .putInt(subscriptions.size())
                .flip());
        subscriptions.forEach(subscription -> parts.add(fields(subscription).position(1)));
        return parts.toArray(ByteBuffer[]::new);
    }

    static ByteBuffer subscription(NamedSubscription subscription) {
        return fields(subscription);
    }

    private static ByteBuffer fields(NamedSubscription subscription) {
        byte[] name = utf8(subscription.name());
        byte[] owner = utf8(subscription.owner());
        byte[] broken = utf8(subscription.broken().orElse(""));
        return record(SUBSCRIPTION, 28 + name.length + owner.length + broken.length)
                .putInt(name.length)
                .put(name)
                .putInt(owner.length)
                .put(owner)
                .putLong(subscription.limitBytes())
                .putLong(subscription.acknowledgedMicros())
                .putInt(broken.length)
                .put(broken)
                .flip();
    }

    static ByteBuffer dropped(String name) {
        byte[] bytes = utf8(name);
        return record(DROPPED, 4 + bytes.length).putInt(bytes.length).put(bytes).flip();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
