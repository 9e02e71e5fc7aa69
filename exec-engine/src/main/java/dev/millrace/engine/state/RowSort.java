package dev.millrace.engine.state;

import dev.millrace.interrupt.Interrupt;
import java.util.Arrays;

/** A stable merge sort of rows by their addresses. Stateless. */
public final class RowSort {
    /** Runs of this many rows are sorted by insertion. */
    private static final int SHORT_RUN = 8;

    private RowSort() {}

    /** Compares the rows at two addresses. */
    public interface Comparison {
        int compare(long a, long b);
    }

    /** Sorts the first {@code count} addresses; rows that compare as equal keep their order. Takes a copy of them as scratch. */
    public static void sort(long[] rows, int count, Comparison order) {
        if (count > 1) {
            sort(Arrays.copyOf(rows, count), rows, 0, count, order, Interrupt.current());
        }
    }

    /** Sorts a range of {@code to}; {@code from} holds the same rows and is scratch. */
    private static void sort(long[] from, long[] to, int start, int end, Comparison order, Interrupt interrupt) {
        if (end - start <= SHORT_RUN) {
            for (int i = start + 1; i < end; i++) {
                long row = to[i];
                int at = i;
                for (; at > start && order.compare(to[at - 1], row) > 0; at--) {
                    to[at] = to[at - 1];
                }
                to[at] = row;
            }
            return;
        }
        int middle = (start + end) >>> 1;
        interrupt.check();
        sort(to, from, start, middle, order, interrupt);
        sort(to, from, middle, end, order, interrupt);
        int left = start;
        int right = middle;
        for (int i = start; i < end; i++) {
            boolean takeLeft = right == end || left < middle && order.compare(from[left], from[right]) <= 0;
            if ((i & 4095) == 0) {
                interrupt.check();
            }
            to[i] = takeLeft ? from[left++] : from[right++];
        }
    }
}
