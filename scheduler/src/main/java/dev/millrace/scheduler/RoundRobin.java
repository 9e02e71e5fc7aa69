package dev.millrace.scheduler;

import java.util.List;

/** The task whose last run is longest ago, so that each has its turn however often it is woken. */
final class RoundRobin implements SchedulingPolicy {
    @Override
    public int choose(long nowNanos, List<? extends TaskStatistics> runnable) {
        int next = 0;
        for (int i = 1; i < runnable.size(); i++) {
            if (runnable.get(i).lastRunNanos() < runnable.get(next).lastRunNanos()) {
                next = i;
            }
        }
        return next;
    }
}
