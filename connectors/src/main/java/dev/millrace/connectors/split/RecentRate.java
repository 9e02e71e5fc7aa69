package dev.millrace.connectors.split;

/**
 * How many records a second there were in the last five to ten seconds, or since the beginning if that was later. Owned by one thread, or
 * guarded by its owner's lock.
 *
 * <pre>
 *   | window before, whole | this window, in part |  now
 * </pre>
 */
public final class RecentRate {
    private static final long WINDOW_NANOS = 5_000_000_000L;
    private static final double NANOS_PER_SECOND = 1e9;

    private long startNanos; // of this window
    private long before; // records of the window before
    private long beforeNanos; // how long that was; 0 if there was none
    private long now; // records of this window

    public RecentRate(long nowNanos) {
        this.startNanos = nowNanos;
    }

    /** Records came. */
    public void add(long records, long nowNanos) {
        advance(nowNanos);
        now += records;
    }

    private void advance(long nowNanos) {
        long past = nowNanos - startNanos;
        if (past >= WINDOW_NANOS) {
            boolean isNext = past < 2 * WINDOW_NANOS;
            before = isNext ? now : 0;
            beforeNanos = WINDOW_NANOS;
            now = 0;
            startNanos = isNext ? startNanos + WINDOW_NANOS : nowNanos;
        }
    }

    public double perSecond(long nowNanos) {
        advance(nowNanos);
        long nanos = beforeNanos + nowNanos - startNanos;
        return nanos <= 0 ? 0 : (before + now) * NANOS_PER_SECOND / nanos;
    }
}
