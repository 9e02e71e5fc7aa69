package dev.millrace.scheduler;

/**
 * By slack (Klink, Alg. 1); while memory is short, first who does away with most queued rows in a cycle (section 3.4).
 *
 * <p>A rank is the time at which the slack is used up, which is the same whenever it is asked for as long as the estimate is. A query without
 * windows has its answer due when its rows come: its slack is used up since the oldest that waits came, less the work.
 */
enum Klink implements RankingPolicy {
    /** The least slack first, as in the paper. */
    LEAST_SLACK {
        @Override
        long key(long nowNanos, double slackNanos, double workNanos) {
            return nowNanos + (long) slackNanos;
        }
    },

    /**
     * The same while there is slack. Of those that have none left the one with the least work: all of them are late, and so fewest wait
     * longest. The least slack would be that of who is most behind, which under overload makes all others late as well.
     */
    SHORTEST_DUE {
        @Override
        long key(long nowNanos, double slackNanos, double workNanos) {
            return slackNanos > 0 ? nowNanos + (long) slackNanos : DUE + (long) Math.min(MOST_SLACK, workNanos);
        }
    };

    /** From here on memory comes first (the paper's b). */
    static final double MEMORY_BOUND = .8;

    private static final long DUE = Long.MIN_VALUE / 2;
    private static final int CLASSES = 64; // of released rows, by powers of two
    private static final int SHIFT = 55; // the slack is below the class
    private static final long MOST_SLACK = 1L << (SHIFT - 1); // 208 days

    abstract long key(long nowNanos, double slackNanos, double workNanos);

    @Override
    public long rank(long nowNanos, double memoryShare, TaskStatistics task) {
        double work = Path.workNanos(task);
        WindowProgress progress =
                task.progress().filter(WindowProgress::isKnown).orElse(null);
        double slack =
                progress == null ? task.readySinceNanos() - nowNanos - work : progress.slackNanos(nowNanos, work);
        double bounded = Math.max(-MOST_SLACK, Math.min(MOST_SLACK - 1, slack));
        if (memoryShare < MEMORY_BOUND) {
            return key(nowNanos, bounded, work);
        }
        // those that release as much up to a factor of two are equal, and slack decides
        long released = Math.max(0, Math.getExponent(1 + Path.released(task, cycleNanos())));
        return Long.MIN_VALUE
                + ((CLASSES - 1 - Math.min(CLASSES - 1, released)) << SHIFT)
                + MOST_SLACK
                + (long) bounded;
    }

    @Override
    public long cycleNanos() {
        return SweepingWatermarks.CYCLE_NANOS;
    }
}
