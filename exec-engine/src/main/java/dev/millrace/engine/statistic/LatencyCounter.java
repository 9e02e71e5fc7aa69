package dev.millrace.engine.statistic;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts how long epochs took. Written by one thread at a time, read by any. */
public final class LatencyCounter {
    private final AtomicLongArray counts = new AtomicLongArray(LatencyHistogram.BOUNDS_NANOS.size() + 1);
    private final AtomicLong sumNanos = new AtomicLong();

    public void observe(long nanos) {
        int place = 0;
        while (place < LatencyHistogram.BOUNDS_NANOS.size() && nanos > LatencyHistogram.BOUNDS_NANOS.get(place)) {
            place++;
        }
        counts.incrementAndGet(place);
        sumNanos.addAndGet(nanos);
    }

    public LatencyHistogram histogram() {
        List<Long> now = new ArrayList<>();
        for (int place = 0; place < counts.length(); place++) {
            now.add(counts.get(place));
        }
        return new LatencyHistogram(now, sumNanos.get());
    }
}
