package dev.millrace.engine.join;

import dev.millrace.memory.Memory;
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

    /** Before all times but -infinity, and so much later that buckets have a beginning. */
    private static final long FIRST_MICROS = Long.MIN_VALUE / 2;

    private final int slot;
    private final long bucketMicros;
    private final NavigableMap<Long, Bucket> buckets = new TreeMap<>();
    private long latest = Long.MIN_VALUE; // the bucket that the last row went to: mostly the next one does, too
    private Bucket latestRows = new Bucket();
    private long bytes;

    /**
     * @param slot where in a row its time is
     * @param keptMicros about how long rows stay
     */
    TimedRows(int slot, long keptMicros) {
        this.slot = slot;
        this.bucketMicros = Math.max(LEAST_BUCKET_MICROS, keptMicros / 64);
    }

    void add(long row) {
        long bucket = Math.floorDiv(Math.max(time(row), FIRST_MICROS), bucketMicros);
        if (bucket != latest) {
            latest = bucket;
            latestRows = buckets.computeIfAbsent(bucket, key -> newBucket());
        }
        Bucket rows = latestRows;
        if (rows.count == rows.rows.length) {
            bytes += 8L * rows.count;
            rows.rows = Arrays.copyOf(rows.rows, 2 * rows.count);
        }
        rows.rows[rows.count++] = row;
    }

    private Bucket newBucket() {
        Bucket bucket = new Bucket();
        bytes += 8L * bucket.rows.length;
        return bucket;
    }

    private long time(long row) {
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
            if (micros - start >= bucketMicros) { // no need to look at the rows, which lie scattered in memory
                remove(first);
                for (int i = 0; i < bucket.count; i++) {
                    taken.accept(bucket.rows[i]);
                }
                continue;
            }
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
            remove(first);
        }
    }

    void clear() {
        buckets.clear();
        latest = Long.MIN_VALUE;
        bytes = 0;
    }

    private void remove(Map.Entry<Long, Bucket> first) {
        bytes -= 8L * first.getValue().rows.length;
        buckets.remove(first.getKey());
        if (first.getKey() == latest) {
            latest = Long.MIN_VALUE;
        }
    }

    /** Bytes held. */
    long bytes() {
        return bytes;
    }
}
