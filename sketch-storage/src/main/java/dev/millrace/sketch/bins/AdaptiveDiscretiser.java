package dev.millrace.sketch.bins;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The paper's adaptive discretisation (dissertation §6.2.1, Algorithm 1): a value goes into its equally likely bin if that
 * bin's middle is within the bound of it; else a bin is injected with the value in its middle, for it and for later ones.
 *
 * <p>Two faults of the algorithm as printed are mended. There an injected bin is made by splitting the one that was too
 * wide, at twice the value's distance from its edge: a value on the edge makes a bin of no width and is injected again for
 * ever, and the split moves the numbers of all bins behind it, which sketches already refer to. Here an injected bin lies
 * over the others, as wide as the bound allows, and takes the next free number. Not thread-safe.
 */
public final class AdaptiveDiscretiser {
    /** Bins that a feature has at most; values that would need another one are kept as they are. */
    public static final int MOST_CENTRES = 1 << 16;

    private final ProbabilityBins base;
    private final double bound;
    private final boolean real;
    private final List<Double> centres; // by number
    private double[] injected = new double[16]; // rising
    private long[] numbers = new long[16]; // of the injected, in the same order
    private int injectedCount;

    /**
     * Begins with fitted bins.
     *
     * @param real whether values are REAL, and bins must keep the bound as such
     */
    public AdaptiveDiscretiser(ProbabilityBins base, double bound, boolean real) {
        this.real = real;
        this.base = base;
        this.bound = bound;
        this.centres = new ArrayList<>(base.centres());
    }

    /** The values of all bins by number, injected ones last. */
    public List<Double> centres() {
        return centres;
    }

    /** How many bins were injected since the last fit. */
    public int injected() {
        return injectedCount;
    }

    public ProbabilityBins base() {
        return base;
    }

    /** Puts values into bins; injects where needed. */
    public Binned discretise(double[] values, int count) {
        long[] bins = new long[count];
        boolean[] exact = {};
        for (int i = 0; i < count; i++) {
            double value = values[i];
            long bin = Double.isFinite(value) ? bin(value) : -1;
            if (bin < 0) {
                if (exact.length == 0) {
                    exact = new boolean[count];
                }
                exact[i] = true;
                bins[i] = i == 0 ? 0 : bins[i - 1];
            } else {
                bins[i] = bin;
            }
        }
        return new Binned(new Scale.Table(centres), bound, bins, exact);
    }

    /** The number of a finite value's bin; -1 if there is none, and no room for another one. */
    public long bin(double value) {
        int bin = base.bin(value);
        if (GridBins.fits(value, centres.get(bin), bound, real)) {
            return bin;
        }
        int found = Arrays.binarySearch(injected, 0, injectedCount, value);
        if (found >= 0) {
            return numbers[found];
        }
        int above = -found - 1;
        if (above < injectedCount && GridBins.within(value, injected[above], bound)) {
            return numbers[above];
        }
        if (above > 0 && GridBins.within(value, injected[above - 1], bound)) {
            return numbers[above - 1];
        }
        return centres.size() < MOST_CENTRES ? inject(value, above) : -1;
    }

    private long inject(double value, int at) {
        if (injectedCount == injected.length) {
            injected = Arrays.copyOf(injected, 2 * injectedCount);
            numbers = Arrays.copyOf(numbers, 2 * injectedCount);
        }
        System.arraycopy(injected, at, injected, at + 1, injectedCount - at);
        System.arraycopy(numbers, at, numbers, at + 1, injectedCount - at);
        injected[at] = value;
        numbers[at] = centres.size();
        centres.add(value);
        injectedCount++;
        return numbers[at];
    }
}
