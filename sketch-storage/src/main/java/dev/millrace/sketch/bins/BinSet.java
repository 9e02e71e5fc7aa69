package dev.millrace.sketch.bins;

import java.util.List;

/**
 * The bins of one feature in one version of a stream's configuration. Immutable.
 *
 * @param bound the absolute bound; 0 when values are exact
 * @param step the distance between the middles of bins of equal width; 0 when there are none. For whole numbers a whole
 *     number, 1 when exact
 * @param centres the values of the equally likely bins and, behind them, of injected ones; empty without such bins
 */
public record BinSet(double bound, double step, List<Double> centres) {
    private static final BinSet EXACT = new BinSet(0, 0, List.of());

    public BinSet {
        centres = List.copyOf(centres);
    }

    public static BinSet exact() {
        return EXACT;
    }
}
