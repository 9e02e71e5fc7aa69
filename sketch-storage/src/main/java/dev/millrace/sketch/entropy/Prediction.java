package dev.millrace.sketch.entropy;

/** What the next number is expected to be, given the two before it: one of eight rules, named by three bits. */
enum Prediction {
    CENTRE(0, 0),
    QUARTER_BACK(1, 0),
    HALF_BACK(2, 0),
    NEARLY_LAST(3, 0),
    LAST(4, 0),
    HALF_ON(4, 2),
    ON(4, 4),
    SMOOTHED(4, -1);

    static final int BITS = 3;
    private static final Prediction[] ALL = values();

    private final int weight; // of the last number's distance from the centre, in quarters
    private final int slope; // of the last step, in quarters

    Prediction(int weight, int slope) {
        this.weight = weight;
        this.slope = slope;
    }

    static Prediction of(int code) {
        return ALL[code];
    }

    long next(long centre, long last, long beforeLast) {
        if (this == LAST) {
            return last;
        }
        return centre + ((last - centre) * weight + (last - beforeLast) * slope + 2 >> 2);
    }

    /** The rule with the smallest misses. */
    static Prediction best(long[] values, int count, long centre) {
        double[] misses = new double[ALL.length];
        int stride = Math.max(1, count / 2048);
        for (int i = 2; i < count; i += stride) {
            long value = values[i];
            for (int p = 0; p < ALL.length; p++) {
                misses[p] += Math.abs((double) (value - ALL[p].next(centre, values[i - 1], values[i - 2])));
            }
        }
        misses[LAST.ordinal()] *= .98; // steps from the last one have the most regular signs
        int best = LAST.ordinal();
        for (int p = 0; p < ALL.length; p++) {
            best = misses[p] < misses[best] ? p : best;
        }
        return ALL[best];
    }
}
