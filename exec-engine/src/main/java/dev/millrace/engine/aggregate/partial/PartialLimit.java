package dev.millrace.engine.aggregate.partial;

/**
 * How many groups a first phase collects before it passes them on. Few, so that they and the groups they go to stay in the
 * cache: keys that come together in time are done with by then. More while so few would bring rows together too rarely.
 */
public final class PartialLimit {
    private static final int LEAST_GROUPS = 4096;
    private static final int MOST_GROUPS = 1 << 18;

    /** Rows per group that make a first phase worth its while. */
    private static final int WANTED_ROWS = 4;

    private final int mostGroups;
    private int groups;
    private long rows; // since the last time

    public PartialLimit() {
        this(LEAST_GROUPS, MOST_GROUPS);
    }

    /** A limit that begins with and grows to so many groups. */
    public PartialLimit(int leastGroups, int mostGroups) {
        this.mostGroups = mostGroups;
        this.groups = leastGroups;
    }

    /** Notes rows that were added; returns whether so many groups should be passed on now. */
    public boolean isReached(int newRows, int size) {
        rows += newRows;
        return size >= groups;
    }

    /** All were passed on because the limit was reached. */
    public void passedOn(int size) {
        boolean tooSoon = rows < (long) WANTED_ROWS * size;
        groups = tooSoon ? Math.min(mostGroups, 2 * groups) : groups;
        rows = 0;
    }

    /** All were passed on for another reason. */
    public void restart() {
        rows = 0;
    }
}
