package dev.millrace.sketch.bins;

import java.util.List;

/** What a bin's number stands for. Immutable; rising with the number but for {@link Table}. */
public sealed interface Scale {
    /** The value at the middle of a bin. */
    double value(long bin);

    /** Bins of equal width, numbered from the one around 0. */
    record Grid(double step) implements Scale {
        @Override
        public double value(long bin) {
            return bin * step;
        }
    }

    /** Exact decimal numbers: {@code bin / 10^digits}. */
    record Decimal(int digits) implements Scale {
        /** The most digits for which 10^digits is exact. */
        public static final int MOST_DIGITS = 22;

        private static final double[] POWERS = {
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
            1e19, 1e20, 1e21, 1e22
        };

        static double power(int digits) {
            return POWERS[digits];
        }

        @Override
        public double value(long bin) {
            return bin / POWERS[digits];
        }
    }

    /** Whole numbers in bins of an odd or even width, around multiples of it. */
    record Whole(long step) implements Scale {
        /** The whole number in the middle. */
        public long whole(long bin) {
            return bin * step;
        }

        @Override
        public double value(long bin) {
            return bin * step;
        }
    }

    /** Values by number, as {@link ProbabilityBins} have them; not rising, for injected bins come last. */
    record Table(List<Double> centres) implements Scale {
        public Table {
            centres = List.copyOf(centres);
        }

        @Override
        public double value(long bin) {
            return centres.get((int) bin);
        }
    }

    /** Values row by row, each within a column's error; for what follows no other scale. Takes ownership. */
    record Values(double[] values) implements Scale {
        @Override
        public double value(long bin) {
            return values[(int) bin];
        }
    }
}
