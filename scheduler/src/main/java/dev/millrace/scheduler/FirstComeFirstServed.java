package dev.millrace.scheduler;

import java.util.List;

/** The task that has been runnable longest. */
final class FirstComeFirstServed implements SchedulingPolicy {
    @Override
    public int choose(long nowNanos, List<? extends TaskStatistics> runnable) {
        int first = 0;
        for (int i = 1; i < runnable.size(); i++) {
            if (runnable.get(i).readySinceNanos() < runnable.get(first).readySinceNanos()) {
                first = i;
            }
        }
        return first;
    }
}
