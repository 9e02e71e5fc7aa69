package dev.millrace.sketch.form;

import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import java.util.Arrays;

/** Which rows are NULL, as runs: pairs of a first row and the row behind the last. */
record NullRuns(int[] bounds) {
    private static final NullRuns NONE = new NullRuns(new int[0]);

    static NullRuns of(boolean[] nulls, int rows) {
        int[] bounds = new int[16];
        int used = 0;
        for (int i = 0; i < rows; i++) {
            if (nulls[i] != (i > 0 && nulls[i - 1])) {
                if (used + 2 > bounds.length) {
                    bounds = Arrays.copyOf(bounds, 2 * bounds.length);
                }
                bounds[used++] = i;
            }
        }
        if (used % 2 == 1) {
            bounds[used++] = rows;
        }
        return used == 0 ? NONE : new NullRuns(Arrays.copyOf(bounds, used));
    }

    boolean isEmpty() {
        return bounds.length == 0;
    }

    int rows() {
        int rows = 0;
        for (int i = 0; i < bounds.length; i += 2) {
            rows += bounds[i + 1] - bounds[i];
        }
        return rows;
    }

    void write(BitWriter out) {
        out.flag(!isEmpty());
        if (isEmpty()) {
            return;
        }
        int runs = bounds.length / 2;
        int lengthOrder = BitWriter.orderFor(rows() / (double) runs - 1);
        int gapOrder = BitWriter.orderFor(bounds[bounds.length - 2] / (double) runs);
        out.golomb(runs - 1, 2);
        out.write(gapOrder, 5);
        out.write(lengthOrder, 5);
        int from = 0;
        for (int i = 0; i < bounds.length; i += 2) {
            out.golomb(bounds[i] - from, gapOrder);
            out.golomb(bounds[i + 1] - bounds[i] - 1, lengthOrder);
            from = bounds[i + 1];
        }
    }

    static NullRuns read(BitReader in, int rows) {
        if (!in.flag()) {
            return NONE;
        }
        int runs = in.count(2, rows - 1, "the number of runs of NULL") + 1;
        int gapOrder = in.readInt(5);
        int lengthOrder = in.readInt(5);
        int[] bounds = new int[2 * runs];
        int from = 0;
        for (int i = 0; i < bounds.length; i += 2) {
            bounds[i] = from + in.count(gapOrder, rows - from, "the place of a NULL");
            from = bounds[i] + 1 + in.count(lengthOrder, rows, "a run of NULLs");
            Damage.check(from <= rows, "a run of NULLs ends behind the last row");
            bounds[i + 1] = from;
        }
        return new NullRuns(bounds);
    }
}
