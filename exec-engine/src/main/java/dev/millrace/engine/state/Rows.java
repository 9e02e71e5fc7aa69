package dev.millrace.engine.state;

/** Positions of rows in a batch. */
public final class Rows {
    // Only ever replaced by a longer one with the same beginning, so readers on any thread may see either.
    private static volatile int[] all = counting(4096);

    private Rows() {}

    /** 0, 1, 2 ... at least up to {@code count - 1}; shared, not to be written to. */
    public static int[] all(int count) {
        int[] known = all;
        if (known.length < count) {
            known = counting(Math.max(count, 2 * known.length));
            all = known;
        }
        return known;
    }

    private static int[] counting(int count) {
        int[] rows = new int[count];
        for (int i = 0; i < count; i++) {
            rows[i] = i;
        }
        return rows;
    }
}
