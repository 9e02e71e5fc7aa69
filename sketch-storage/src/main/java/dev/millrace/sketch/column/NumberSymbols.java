package dev.millrace.sketch.column;

import dev.millrace.sketch.bins.Scale;

/**
 * Numbers: bins first, by rising number, then values kept as they are. In a column without a dictionary every row has a
 * symbol of its own, so that values may repeat.
 */
public final class NumberSymbols implements Symbols {
    private final Scale scale;
    private final double error;
    private final long[] bins;
    private final double[] exact;
    private volatile double[] values = {}; // written by whoever asks first, read by all; equal whoever writes

    /**
     * Takes ownership of the arrays.
     *
     * @param error how far a value may be from its bin's middle; 0 when bins are exact
     * @param exact what is kept as it is, after the bins
     */
    public NumberSymbols(Scale scale, double error, long[] bins, double[] exact) {
        this.scale = scale;
        this.error = error;
        this.bins = bins;
        this.exact = exact;
    }

    @Override
    public int size() {
        return bins.length + exact.length;
    }

    public Scale scale() {
        return scale;
    }

    /** How many symbols are bins; those behind are exact. */
    public int binCount() {
        return bins.length;
    }

    public long bin(int rank) {
        return bins[rank];
    }

    public double value(int rank) {
        return rank < bins.length ? scale.value(bins[rank]) : exact[rank - bins.length];
    }

    /** How far the values of a symbol may be from it. */
    public double error(int rank) {
        return rank < bins.length || scale instanceof Scale.Values ? error : 0;
    }

    /** The largest error of any symbol. */
    public double error() {
        return bins.length > 0 || scale instanceof Scale.Values ? error : 0;
    }

    /** The symbol as a whole number, where the scale is of whole numbers. */
    public long whole(int rank) {
        return scale instanceof Scale.Whole wholes ? wholes.whole(bins[rank]) : (long) value(rank);
    }

    /** All values by rank; not to be changed. */
    public double[] values() {
        double[] all = values;
        if (all.length != size()) {
            all = new double[size()];
            if (scale instanceof Scale.Grid grid) {
                double step = grid.step();
                for (int i = 0; i < bins.length; i++) {
                    all[i] = bins[i] * step;
                }
            } else {
                for (int i = 0; i < bins.length; i++) {
                    all[i] = scale.value(bins[i]);
                }
            }
            System.arraycopy(exact, 0, all, bins.length, exact.length);
            values = all;
        }
        return all;
    }
}
