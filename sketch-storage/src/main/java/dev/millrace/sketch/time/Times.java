package dev.millrace.sketch.time;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The time of each row, in ticks, in the order of the rows. */
public sealed interface Times {
    int rows();

    /** The time of a row. */
    long at(int row);

    /** The times of rows {@code from} to {@code from + out.length}. */
    void copy(int from, long[] out);

    /** Whether no row is earlier than the one before it. */
    boolean ordered();

    /** The times of some rows, given by rising pairs of a first row and the row behind the last. */
    default Times select(int[] ranges, int count) {
        long[] selected = new long[count];
        int used = 0;
        for (int r = 0; used < count; r += 2) {
            int length = ranges[r + 1] - ranges[r];
            long[] part = new long[length];
            copy(ranges[r], part);
            System.arraycopy(part, 0, selected, used, length);
            used += length;
        }
        return new Listed(selected);
    }

    /** The first row that is not before a time, of ordered rows. */
    default int firstFrom(long ticks) {
        int low = 0;
        int high = rows();
        while (low < high) {
            int middle = low + high >>> 1;
            if (at(middle) < ticks) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /**
     * Times one period apart.
     *
     * @param start the first
     * @param period whole ticks
     * @param fraction of a tick that the period has besides, in 1/2^20
     * @param phase of the first time, in 1/2^20 of a tick, rounded off it
     */
    record Regular(int rows, long start, long period, int fraction, int phase) implements Times {
        static final int FRACTION_BITS = 20;

        @Override
        public long at(int row) {
            return start + row * period + ((long) row * fraction + phase >> FRACTION_BITS);
        }

        @Override
        public void copy(int from, long[] out) {
            if (fraction == 0) {
                long time = start + from * period;
                for (int i = 0; i < out.length; i++) {
                    out[i] = time;
                    time += period;
                }
            } else {
                for (int i = 0; i < out.length; i++) {
                    out[i] = at(from + i);
                }
            }
        }

        /** The formula wraps around at the ends of longs, and decodes what wraps; such times are in no order. */
        @Override
        public boolean ordered() {
            if (rows < 2 || period == 0 && fraction == 0) {
                return true;
            }
            long most = period + 1;
            return period >= 0
                    && most > 0
                    && Math.multiplyHigh(rows, most) == 0
                    && rows * most >= 0
                    && start <= Long.MAX_VALUE - rows * most;
        }

        @Override
        public Times select(int[] ranges, int count) {
            if (fraction == 0 && count > 0 && ranges[1] - ranges[0] == count) {
                return new Regular(count, at(ranges[0]), period, 0, 0);
            }
            return Times.super.select(ranges, count);
        }
    }

    /** Times one by one. */
    final class Listed implements Times {
        private final int rows;
        private final Supplier<long[]> decoder;
        private volatile long @Nullable [] ticks; // null until decoded; equal whoever writes it

        /** Takes ownership. */
        public Listed(long[] ticks) {
            this.rows = ticks.length;
            this.ticks = ticks;
            this.decoder = () -> ticks;
        }

        Listed(int rows, Supplier<long[]> decoder) {
            this.rows = rows;
            this.decoder = decoder;
        }

        private long[] ticks() {
            long[] all = ticks;
            if (all == null) {
                all = decoder.get();
                ticks = all;
            }
            return all;
        }

        @Override
        public int rows() {
            return rows;
        }

        @Override
        public long at(int row) {
            return ticks()[row];
        }

        @Override
        public void copy(int from, long[] out) {
            System.arraycopy(ticks(), from, out, 0, out.length);
        }

        @Override
        public boolean ordered() {
            long[] all = ticks();
            for (int i = 1; i < all.length; i++) {
                if (all[i] < all[i - 1]) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public int firstFrom(long time) {
            long[] all = ticks();
            int low = 0;
            int high = all.length;
            while (low < high) {
                int middle = low + high >>> 1;
                if (all[middle] < time) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }
}
