package dev.millrace.server.sketched;

import java.util.Arrays;

/** Which series follows which: tells series from {@code #series} and the other way round, as the package describes. For one stretch and thread. */
final class SeriesOrder {
    static final int EXACT = -2;
    static final int BEGIN = -1;
    static final int EXPECTED = 0;

    private int[] next = new int[16]; // by series, which one followed
    private int series; // how many there are
    private int last; // of the row before

    /** How many series there were. */
    int series() {
        return series;
    }

    /** The code of the next row. @param of its series: one that was there, or the next new one */
    int code(int of) {
        if (series == 0) {
            begin();
            return BEGIN;
        }
        int expected = next[last];
        follow(of);
        return expected == of ? EXPECTED : of + 1;
    }

    /** The series of the next row; -1 if it cannot have that code. */
    int series(int code) {
        if (series == 0) {
            if (code != BEGIN) {
                return -1;
            }
            begin();
            return 0;
        }
        int of = code == EXPECTED ? next[last] : code - 1;
        if (of < 0 || of > series) {
            return -1;
        }
        follow(of);
        return of;
    }

    private void begin() {
        next[0] = 1;
        series = 1;
        last = 0;
    }

    private void follow(int of) {
        if (of == series) {
            if (series == next.length) {
                next = Arrays.copyOf(next, 2 * series);
            }
            next[series] = series + 1;
            series++;
        }
        next[last] = of;
        last = of;
    }
}
