package dev.millrace.sketch.bins;

/** Puts values into bins of equal width, on a grid through 0. Stateless. */
public final class GridBins {
    private static final double LARGEST_BIN = 1L << 52;
    private static final double SHRINK = 1 - 0x1p-24; // leaves room for the rounding of bin * step
    /** Overlapping bins stand this many to the width of one. */
    public static final int OVERLAP = 2;

    private GridBins() {}

    /** The distance between the middles of bins that keep a bound, or 0 if doubles are too coarse for it. */
    public static double step(double bound) {
        double step = 2 * bound * SHRINK;
        return step >= Double.MIN_NORMAL && step < Double.MAX_VALUE / 4 ? step : 0;
    }

    /** Whether a value read back is within the bound, as real numbers and not only as rounded ones. */
    public static boolean within(double value, double back, double bound) {
        double difference = Math.abs(back - value);
        if (difference != bound) {
            return difference < bound;
        }
        // The difference may have been rounded down to the bound: get the part that was lost (Knuth's two-sum).
        double high = Math.max(back, value);
        double low = Math.min(back, value);
        double lost = -low - (difference - high) + (high - (difference - (difference - high)));
        return lost <= 0;
    }

    /**
     * Whether a value read back is within the bound, also when it is rounded to a REAL, where the feature is one.
     *
     * @param real whether it is
     */
    static boolean fits(double value, double back, double bound, boolean real) {
        return within(value, back, bound) && (!real || within(value, (float) back, bound));
    }

    /**
     * The distance between the middles of bins whose middles keep a bound when they are rounded to REAL.
     *
     * @param largest how far from 0 values are
     * @return 0 if REALs are too coarse for it
     */
    public static double realStep(double bound, double largest) {
        double rounding = Math.ulp((float) Math.min(largest + bound, Float.MAX_VALUE)) / 2.0;
        return bound > 2 * rounding ? step(bound - rounding) : 0;
    }

    /** The nearest bin for each value; equal values share a bin. */
    public static Binned nearest(double[] values, int count, double bound, double step, boolean real) {
        long[] bins = new long[count];
        boolean[] exact = {};
        double inverse = 1 / step;
        for (int i = 0; i < count; i++) {
            double value = values[i];
            double scaled = value * inverse;
            long bin = nearest(scaled);
            bins[i] = bin;
            if (!(Math.abs(scaled) < LARGEST_BIN) || !fits(value, bin * step, bound, real)) {
                exact = keep(exact, count, i, bins);
            }
        }
        return new Binned(new Scale.Grid(step), bound, bins, exact);
    }

    private static long nearest(double scaled) {
        return (long) Math.rint(scaled);
    }

    /**
     * Bins on a grid {@link #OVERLAP} times as fine, each still of the full width, so that they overlap: a value stays in
     * the bin of the one before it while it is within the bound, and else goes to the bin that it will stay in longest if
     * it keeps its direction.
     */
    public static Binned overlapping(double[] values, int count, double bound, double step, boolean real) {
        long[] bins = new long[count];
        boolean[] exact = {};
        double fine = step / OVERLAP;
        double inverse = 1 / fine;
        long bin = 0;
        boolean any = false;
        for (int i = 0; i < count; i++) {
            double value = values[i];
            if (!any || !fits(value, bin * fine, bound, real)) {
                double scaled = value * inverse;
                if (!(Math.abs(scaled) < LARGEST_BIN)) {
                    bins[i] = bin;
                    exact = keep(exact, count, i, bins);
                    continue;
                }
                long nearest = nearest(scaled);
                long ahead = !any ? nearest : bin * fine < value ? nearest + 1 : nearest - 1;
                boolean staysLonger = any && fits(value, ahead * fine, bound, real);
                bin = staysLonger ? ahead : nearest;
                any = true;
                if (!fits(value, bin * fine, bound, real)) {
                    bins[i] = bin;
                    exact = keep(exact, count, i, bins);
                    continue;
                }
            }
            bins[i] = bin;
        }
        return new Binned(new Scale.Grid(fine), bound, bins, exact);
    }

    private static boolean[] keep(boolean[] exact, int count, int index, long[] bins) {
        boolean[] mine = exact.length == 0 ? new boolean[count] : exact;
        mine[index] = true;
        bins[index] = index == 0 ? 0 : bins[index - 1];
        return mine;
    }

    /** Whole numbers within a bound of at least 1 (or exactly, with step 1). */
    public static Binned nearest(long[] values, int count, long step) {
        long[] bins = new long[count];
        if (step == 1) {
            System.arraycopy(values, 0, bins, 0, count);
        } else {
            for (int i = 0; i < count; i++) {
                bins[i] = Math.floorDiv(values[i], step);
                long rest = values[i] - bins[i] * step;
                if (rest > step / 2) {
                    bins[i]++;
                }
            }
        }
        return Binned.fitting(new Scale.Whole(step), step / 2, bins);
    }

    /**
     * The width of bins of whole numbers that keep a bound: odd, so that the middle is one, and 1 when exact. Bounds beyond
     * 2^52 are not made use of, so that a double holds them.
     */
    public static long wholeStep(double bound) {
        return wholeStep(bound, 1L << 52);
    }

    /** The same with another limit; the first format had 2^60. */
    public static long wholeStep(double bound, long most) {
        return bound < 1 ? 1 : 2 * (long) Math.min(Math.floor(bound), most) + 1;
    }

    /** Overlapping bins of whole numbers, on a grid about {@link #OVERLAP} times as fine. */
    public static Binned overlapping(long[] values, int count, long step) {
        long[] bins = new long[count];
        long half = step / 2;
        long fine = Math.max(1, step / OVERLAP);
        long bin = 0;
        for (int i = 0; i < count; i++) {
            long value = values[i];
            if (i == 0 || !withinWhole(value, bin, fine, half)) {
                long nearest = Math.floorDiv(value, fine);
                if (value - nearest * fine > fine / 2) {
                    nearest++;
                }
                long ahead = i == 0 ? nearest : bin * fine < value ? nearest + 1 : nearest - 1;
                bin = withinWhole(value, ahead, fine, half) ? ahead : nearest;
            }
            bins[i] = bin;
        }
        return Binned.fitting(new Scale.Whole(fine), half, bins);
    }

    private static boolean withinWhole(long value, long bin, long fine, long half) {
        long difference = value - bin * fine;
        return difference <= half && difference >= -half;
    }

    /** Values as decimal numbers of so many digits, exactly; those that are none, and -0, are kept as they are. */
    public static Binned decimal(double[] values, int count, int digits) {
        long[] bins = new long[count];
        boolean[] exact = {};
        double power = Scale.Decimal.power(digits);
        for (int i = 0; i < count; i++) {
            double value = values[i];
            double scaled = value * power;
            bins[i] = nearest(scaled);
            boolean fits = Math.abs(scaled) < LARGEST_BIN
                    && Double.doubleToRawLongBits(bins[i] / power) == Double.doubleToRawLongBits(value);
            if (!fits) {
                exact = keep(exact, count, i, bins);
            }
        }
        return new Binned(new Scale.Decimal(digits), 0, bins, exact);
    }

    /** The digits with which a sample of the values are decimal numbers, or -1 if they are not. */
    public static int decimals(double[] values, int count) {
        int digits = 0;
        int failures = 0;
        int stride = Math.max(1, count / 128);
        for (int i = 0; i < count; i += stride) {
            double value = values[i];
            if (Double.isNaN(value) || Double.isInfinite(value) || value == 0) {
                continue;
            }
            int needed = digits;
            while (needed <= 15 && !isDecimal(value, needed)) {
                needed++;
            }
            if (needed > 15) {
                failures++;
            } else {
                digits = needed;
            }
        }
        return failures * stride > count / 16 ? -1 : digits;
    }

    private static boolean isDecimal(double value, int digits) {
        double scaled = value * Scale.Decimal.power(digits);
        return Math.abs(scaled) < LARGEST_BIN && nearest(scaled) / Scale.Decimal.power(digits) == value;
    }
}
