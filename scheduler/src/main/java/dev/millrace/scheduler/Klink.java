package dev.millrace.scheduler;

/**
 * The least slack first (Klink, Alg. 1); while memory is short, first who does away with most queued rows in a cycle (section 3.4).
 *
 * <p>A rank is the time at which the slack is used up, which is the same whenever it is asked for as long as the estimate is. A query without
 * windows has its answer due when its rows come: its slack is used up since the oldest that waits came, less the work.
 */
final class Klink implements Ranking {
    /** From here on memory comes first (the paper's b). */
    static final double MEMORY_BOUND = .8;

    private static final int CLASSES = 64; // of released rows, by powers of two
    private static final int SHIFT = 55; // the slack is below the class
    private static final long MOST_SLACK = 1L << (SHIFT - 1); // 208 days

    @Override
    public long rank(long nowNanos, double memoryShare, TaskStatistics task) {
        double work = Path.workNanos(task);
        Progress progress = task.progress().filter(Progress::isKnown).orElse(null);
        double slack =
                progress == null ? task.readySinceNanos() - nowNanos - work : progress.slackNanos(nowNanos, work);
        long bounded = (long) Math.max(-MOST_SLACK, Math.min(MOST_SLACK - 1, slack));
        if (memoryShare < MEMORY_BOUND) {
            return nowNanos + bounded;
        }
        // those that release as much up to a factor of two are equal, and slack decides
        long released = Math.max(0, Math.getExponent(1 + Path.released(task, cycleNanos())));
        return Long.MIN_VALUE + ((CLASSES - 1 - Math.min(CLASSES - 1, released)) << SHIFT) + MOST_SLACK + bounded;
    }

    @Override
    public long cycleNanos() {
        return SweepingWatermarks.CYCLE_NANOS;
    }
}
