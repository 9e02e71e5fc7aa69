package dev.millrace.engine.statistic;

import java.util.Collections;
import java.util.List;

/**
 * How long epochs took, from the first row that came in one to when its effects could be seen.
 *
 * @param counts epochs by {@link #BOUNDS_NANOS}: those up to the first, those from there up to the second, and so on; in the
 *     last place, one more than there are bounds, those beyond the last
 * @param sumNanos of all of them together
 */
public record LatencyHistogram(List<Long> counts, long sumNanos) {
    /** From a tenth of a millisecond to ten seconds. */
    public static final List<Long> BOUNDS_NANOS = List.of(
            100_000L,
            250_000L,
            500_000L,
            1_000_000L,
            2_500_000L,
            5_000_000L,
            10_000_000L,
            25_000_000L,
            50_000_000L,
            100_000_000L,
            250_000_000L,
            500_000_000L,
            1_000_000_000L,
            2_500_000_000L,
            5_000_000_000L,
            10_000_000_000L);

    /** Of nothing yet. */
    public static final LatencyHistogram EMPTY =
            new LatencyHistogram(Collections.nCopies(BOUNDS_NANOS.size() + 1, 0L), 0);

    public LatencyHistogram {
        counts = List.copyOf(counts);
    }
}
