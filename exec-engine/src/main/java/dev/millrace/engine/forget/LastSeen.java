package dev.millrace.engine.forget;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * When the last row of each key was, and whose is long ago. Keys lie in buckets by that time; one that was seen again is
 * moved when its old bucket is due, so that a row costs no more than a comparison.
 */
final class LastSeen implements AutoCloseable {
    /** The time of a key that has none yet. */
    static final long NEVER = Long.MIN_VALUE;

    private static final class Bucket {
        private long[] entries = new long[8];
        private int count;

        void add(long entry) {
            if (count == entries.length) {
                entries = Arrays.copyOf(entries, 2 * count);
            }
            entries[count++] = entry;
        }
    }

    private final KeyLayout keys;
    private final GroupTable table;
    private final long ttlMicros;
    private final long bucketMicros;
    private final NavigableMap<Long, Bucket> buckets = new TreeMap<>();

    LastSeen(KeyLayout keys, long ttlMicros, BufferAllocator allocator) {
        this.keys = keys;
        this.ttlMicros = ttlMicros;
        this.bucketMicros = Math.max(1_000, ttlMicros / 64);
        long[] initial = new long[(keys.end() - GroupTable.BODY) / 8 + 1];
        initial[initial.length - 1] = NEVER;
        this.table = new GroupTable(allocator, initial);
    }

    GroupTable table() {
        return table;
    }

    long time(long entry) {
        return Memory.getLong(entry + keys.end());
    }

    /** A row of a key came; its time may be before that of the last. */
    void see(long entry, long micros) {
        long last = time(entry);
        if (last == NEVER) {
            buckets.computeIfAbsent(bucket(micros), start -> new Bucket()).add(entry);
        }
        Memory.putLong(entry + keys.end(), Math.max(last, micros));
    }

    private long bucket(long micros) {
        return Math.floorDiv(micros, bucketMicros);
    }

    /** Gives each key whose last row is as long ago as keys are kept, and forgets it. */
    int takeUntil(long watermarkMicros, LongConsumer taken) {
        long last = watermarkMicros - ttlMicros; // of a key that is due
        int count = 0;
        while (!buckets.isEmpty() && buckets.firstKey() <= bucket(last)) {
            Map.Entry<Long, Bucket> first = buckets.pollFirstEntry();
            Bucket stays = new Bucket();
            for (int i = 0; i < first.getValue().count; i++) {
                long entry = first.getValue().entries[i];
                long bucket = bucket(time(entry));
                if (time(entry) <= last) {
                    taken.accept(entry);
                    keys.free(entry, table.memory());
                    table.remove(entry);
                    count++;
                } else if (bucket == first.getKey()) {
                    stays.add(entry);
                } else {
                    buckets.computeIfAbsent(bucket, start -> new Bucket()).add(entry);
                }
            }
            if (stays.count > 0) {
                buckets.put(first.getKey(), stays);
                break; // the time is in this bucket
            }
        }
        return count;
    }

    /** Bytes held. */
    long bytes() {
        long bytes = table.bytes();
        for (Bucket bucket : buckets.values()) {
            bytes += 8L * bucket.entries.length;
        }
        return bytes;
    }

    /** Writes the keys of a group and their times: how many, then each. */
    void write(long entry, DataOutput out) throws IOException {
        keys.write(entry, out);
        out.writeLong(time(entry));
    }

    void read(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long entry = keys.read(table, in);
            long micros = in.readLong();
            if (micros != NEVER) {
                see(entry, micros);
            }
        }
    }

    @Override
    public void close() {
        buckets.clear();
        table.close();
    }
}
