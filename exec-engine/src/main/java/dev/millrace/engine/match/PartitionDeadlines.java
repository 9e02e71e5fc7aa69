package dev.millrace.engine.match;

import java.util.Arrays;

/** Partitions by the event time at which they are to be looked at again: a binary heap. */
final class PartitionDeadlines {
    private long[] times = new long[64];
    private long[] entries = new long[64];
    private int size;

    void add(long timeMicros, long entry) {
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            entries = Arrays.copyOf(entries, 2 * size);
        }
        int at = size++;
        while (at > 0 && times[at - 1 >>> 1] > timeMicros) {
            times[at] = times[at - 1 >>> 1];
            entries[at] = entries[at - 1 >>> 1];
            at = at - 1 >>> 1;
        }
        times[at] = timeMicros;
        entries[at] = entry;
    }

    boolean isDue(long watermarkMicros) {
        return size > 0 && times[0] <= watermarkMicros;
    }

    /** The partition whose time is next; removed. */
    long poll() {
        long first = entries[0];
        long time = times[--size];
        long entry = entries[size];
        int at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && times[child + 1] < times[child]) {
                child++;
            }
            if (times[child] >= time) {
                break;
            }
            times[at] = times[child];
            entries[at] = entries[child];
            at = child;
        }
        times[at] = time;
        entries[at] = entry;
        return first;
    }

    void clear() {
        size = 0;
    }
}
