package dev.millrace.scheduler;

/**
 * The longest queue first (EdgeWise, section 4.2). Its length changes while it waits, so that it is looked at again from time to time.
 */
enum EdgeWise implements RankingPolicy {
    /** A turn takes all of it, within the quantum. */
    ALL {
        @Override
        public long mostRows(TaskStatistics task) {
            return Long.MAX_VALUE;
        }
    },

    /** A turn takes half of it. */
    HALF {
        @Override
        public long mostRows(TaskStatistics task) {
            return Math.max(1, task.queuedRows() / 2);
        }
    },

    /** A turn takes so many rows, or the rest of their batch. */
    AT_MOST_50 {
        @Override
        public long mostRows(TaskStatistics task) {
            return MOST_ROWS;
        }
    };

    private static final int MOST_ROWS = 50;
    private static final long CYCLE_NANOS = 1_000_000;

    @Override
    public long rank(long nowNanos, double memoryShare, TaskStatistics task) {
        return -task.queuedRows();
    }

    @Override
    public long cycleNanos() {
        return CYCLE_NANOS;
    }
}
