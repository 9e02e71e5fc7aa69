package dev.millrace.engine.join;

import dev.millrace.batch.Memory;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/**
 * Rows by the time from which on they are no longer needed: in buckets, so that a watermark looks only at those that are
 * due, and at the bucket that it is in. Rows have their time in a slot; they must not go before they are due.
 */
final class TimedRows {
    private static final class Bucket {
        private long[] rows = new long[8];
        private int count;
    }

    private static final long LEAST_BUCKET_MICROS = 10_000;

    private final int slot;
    private final long bucketMicros;
    private final NavigableMap<Long, Bucket> buckets = new TreeMap<>();

    /**
     * @param slot where in a row its time is
     * @param keptMicros about how long rows stay
     */
    TimedRows(int slot, long keptMicros) {
        this.slot = slot;
        this.bucketMicros = Math.max(LEAST_BUCKET_MICROS, keptMicros / 64);
    }

    void add(long row) {
        long bucket = Math.floorDiv(time(row), bucketMicros);
        Bucket rows = buckets.computeIfAbsent(bucket, key -> new Bucket());
        if (rows.count == rows.rows.length) {
            rows.rows = Arrays.copyOf(rows.rows, 2 * rows.count);
        }
        rows.rows[rows.count++] = row;
    }

    long time(long row) {
        return Memory.getLong(row + slot);
    }

    /** Gives and forgets the rows whose time is before this one, in the order of buckets. */
    void takeBefore(long micros, LongConsumer taken) {
        while (!buckets.isEmpty()) {
            Map.Entry<Long, Bucket> first = buckets.firstEntry();
            long start = Math.multiplyExact(first.getKey(), bucketMicros);
            if (start >= micros) {
                return;
            }
            Bucket bucket = first.getValue();
            int kept = 0;
            for (int i = 0; i < bucket.count; i++) {
                long row = bucket.rows[i];
                if (time(row) < micros) {
                    taken.accept(row);
                } else {
                    bucket.rows[kept++] = row;
                }
            }
            bucket.count = kept;
            if (kept > 0) {
                return; // the watermark is in this bucket
            }
            buckets.pollFirstEntry();
        }
    }

    /** Bytes held. */
    long bytes() {
        long bytes = 0;
        for (Bucket bucket : buckets.values()) {
            bytes += 8L * bucket.rows.length;
        }
        return bytes;
    }
}
