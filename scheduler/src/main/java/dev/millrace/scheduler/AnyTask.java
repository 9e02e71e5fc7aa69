package dev.millrace.scheduler;

import java.util.List;

/**
 * Any runnable task, by the bits of the moment: what waits in a channel waits for a random time, which is what tests of
 * consistency want, and the floor to measure other policies against.
 */
final class AnyTask implements SchedulingPolicy {
    private static final long GOLDEN_SECTION = 0x9E3779B97F4A7C15L;

    @Override
    public int choose(long nowNanos, List<? extends TaskStatistics> runnable) {
        long mixed = nowNanos * GOLDEN_SECTION;
        return (int) Long.remainderUnsigned(mixed ^ mixed >>> 32, runnable.size());
    }
}
