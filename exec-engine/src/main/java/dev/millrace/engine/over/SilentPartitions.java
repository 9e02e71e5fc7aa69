package dev.millrace.engine.over;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.Frame.Bound;
import dev.millrace.plan.expression.OverCall;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/**
 * Partitions that nothing came for, by the time from which on no frame of a row to come reaches back to their last row.
 * Only of calls whose frames are ranges of time: others want their rows however late the next one is.
 */
final class SilentPartitions {
    private static final long BUCKET_MICROS = 1 << 20;

    private static final class Bucket {
        private long[] entries = new long[8];
        private int count;
    }

    private final int timeSlot;
    private final int[] startSlots; // of where frames begin
    private final TreeMap<Long, Bucket> buckets = new TreeMap<>();

    private SilentPartitions(int timeSlot, int[] startSlots) {
        this.timeSlot = timeSlot;
        this.startSlots = startSlots;
    }

    /** For calls over rows in the order of a time column, if their frames allow it. */
    static Optional<SilentPartitions> of(Iterable<OverCall> calls, int timeColumn, RowCodec codec) {
        int[] starts = new int[0];
        for (OverCall call : calls) {
            boolean framed = switch (call.function()) {
                case FIRST_VALUE, LAST_VALUE, NTH_VALUE, AGGREGATE -> true;
                default -> false;
            };
            if (!framed || call.frame().unit() != Frame.Unit.RANGE) {
                return Optional.empty();
            }
            Bound start = call.frame().start();
            switch (start.kind()) {
                case UNBOUNDED_PRECEDING -> {
                    return Optional.empty();
                }
                case PRECEDING -> {
                    starts = Arrays.copyOf(starts, starts.length + 1);
                    starts[starts.length - 1] = codec.slot((int) start.offset());
                }
                case CURRENT_ROW, FOLLOWING, UNBOUNDED_FOLLOWING -> {}
            }
        }
        return Optional.of(new SilentPartitions(codec.slot(timeColumn), starts));
    }

    /** From which watermark on nobody asks for a row any more; twice its frames' length, for months are not equally long. */
    long due(long row) {
        long time = Memory.getLong(row + timeSlot);
        long longest = 0;
        for (int slot : startSlots) {
            longest = Math.max(longest, time - Memory.getLong(row + slot));
        }
        return time + 2 * longest + 1;
    }

    void add(long entry, long dueMicros) {
        Bucket bucket = buckets.computeIfAbsent(Math.floorDiv(dueMicros, BUCKET_MICROS), start -> new Bucket());
        if (bucket.count == bucket.entries.length) {
            bucket.entries = Arrays.copyOf(bucket.entries, 2 * bucket.count);
        }
        bucket.entries[bucket.count++] = entry;
    }

    /** Gives and forgets the partitions that are due about now; they may be added again. */
    void take(long watermarkMicros, LongConsumer taken) {
        long until = Math.floorDiv(watermarkMicros, BUCKET_MICROS); // whole buckets before
        while (!buckets.isEmpty() && buckets.firstKey() < until) {
            Map.Entry<Long, Bucket> first = buckets.pollFirstEntry();
            for (int i = 0; i < first.getValue().count; i++) {
                taken.accept(first.getValue().entries[i]);
            }
        }
    }

    /** Bytes held. */
    long bytes() {
        long bytes = 0;
        for (Bucket bucket : buckets.values()) {
            bytes += 8L * bucket.entries.length;
        }
        return bytes;
    }
}
