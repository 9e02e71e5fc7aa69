package dev.millrace.engine.statistic;

/**
 * <pre>
 *   RUNNING &lt;-&gt; PAUSED
 *   RUNNING -&gt; FINISHED    all its inputs ended; its answer stays readable
 *   RUNNING -&gt; FAILED      its answer stays at the last whole epoch
 *   any     -&gt; DROPPED
 * </pre>
 */
public enum QueryState {
    RUNNING,
    PAUSED,
    FINISHED,
    FAILED,
    DROPPED;

    /** Whether more may come. */
    public boolean isAlive() {
        return this == RUNNING || this == PAUSED;
    }
}
