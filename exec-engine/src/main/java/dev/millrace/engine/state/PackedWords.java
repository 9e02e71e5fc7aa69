package dev.millrace.engine.state;

import dev.millrace.memory.Memory;
import java.util.Arrays;

/**
 * The BIGINTs and times of packed rows, each column in as many bytes as the values of late need: what a value is above a
 * base. When values come that do not fit, the rows from then on have another layout, whose number is each row's first byte.
 * A column's bytes only grow, so that there are few layouts; all eight bytes are kept in layout 0.
 *
 * <pre>
 *   row   number of the layout | what {@link PackedLayout} says | words
 * </pre>
 *
 * A word is read and written as eight bytes, of which those that are not its own are another's or nobody's.
 */
final class PackedWords {
    private static final int MOST_LAYOUTS = 1 << 6;

    private final int begin; // of the first word in each row
    private final int columns;
    private final int[][] slots; // per column and layout
    private final long[][] bases;
    private final long[][] masks;
    private final int[] ends; // per layout, of the words
    private final int[] leasts; // of a row's bytes
    private final long[] lows; // per column, of values that a layout was chosen for
    private final long[] highs;
    private int layouts;
    private int layout; // of rows to come

    /**
     * @param begin where they begin in each row
     * @param columns how many there are; of none, no row has a layout's number
     */
    PackedWords(int begin, int columns) {
        this.begin = begin;
        this.columns = columns;
        int most = columns == 0 ? 1 : MOST_LAYOUTS;
        this.slots = new int[columns][most];
        this.bases = new long[columns][most];
        this.masks = new long[columns][most];
        this.ends = new int[most];
        this.leasts = new int[most];
        this.lows = new long[columns];
        this.highs = new long[columns];
        Arrays.fill(lows, Long.MAX_VALUE);
        Arrays.fill(highs, Long.MIN_VALUE);
        for (long[] mask : masks) {
            mask[0] = -1;
        }
        place(0);
        layouts = 1;
    }

    private void place(int number) {
        int at = begin;
        for (int column = 0; column < columns; column++) {
            slots[column][number] = at;
            leasts[number] = at + Long.BYTES;
            at += bytes(masks[column][number]);
        }
        ends[number] = at;
    }

    private static int bytes(long range) {
        return Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(range) + 7 >>> 3);
    }

    // ---- rows to come

    /**
     * Chooses the layout of rows of a batch.
     *
     * @param data per column the address of the batch's values
     * @param validity and of their validity, or 0
     */
    void choose(long[] data, long[] validity, int[] rows, int count) {
        if (columns == 0 || layouts == MOST_LAYOUTS && layout == 0) {
            return;
        }
        for (int column = 0; column < columns; column++) {
            if (!fits(column, data[column], validity[column], rows, count)) {
                renew(data, validity, rows, count);
                return;
            }
        }
    }

    private boolean fits(int column, long data, long validity, int[] rows, int count) {
        if (layout == 0) {
            return false;
        }
        long base = bases[column][layout];
        long bits = 0;
        if (validity == 0) {
            for (int i = 0; i < count; i++) {
                bits |= Memory.getLong(data + 8L * rows[i]) - base;
            }
        } else {
            for (int i = 0; i < count; i++) {
                bits |= Memory.getBit(validity, rows[i]) ? Memory.getLong(data + 8L * rows[i]) - base : 0;
            }
        }
        return (bits & ~masks[column][layout]) == 0;
    }

    private void renew(long[] data, long[] validity, int[] rows, int count) {
        if (count == 0) {
            return;
        }
        if (layouts == MOST_LAYOUTS) {
            layout = 0;
            return;
        }
        int before = layout;
        for (int column = 0; column < columns; column++) {
            if (before != 0 && fits(column, data[column], validity[column], rows, count)) {
                bases[column][layouts] = bases[column][before];
                masks[column][layouts] = masks[column][before];
            } else {
                widen(column, data[column], validity[column], rows, count);
            }
        }
        place(layouts);
        layout = layouts++;
    }

    private void widen(int column, long data, long validity, int[] rows, int count) {
        for (int i = 0; i < count; i++) {
            if (validity == 0 || Memory.getBit(validity, rows[i])) {
                long value = Memory.getLong(data + 8L * rows[i]);
                lows[column] = Math.min(lows[column], value);
                highs[column] = Math.max(highs[column], value);
            }
        }
        long low = lows[column];
        long range = Math.max(0, highs[column] - low); // less than 0: there are only NULLs
        boolean isWide = highs[column] > low && highs[column] - low < 0;
        int bytes = Math.max(bytes(range), layout == 0 ? 1 : bytes(masks[column][layout]) + 1);
        if (isWide || bytes >= Long.BYTES) {
            masks[column][layouts] = -1;
            bases[column][layouts] = 0;
        } else {
            long mask = (1L << 8 * bytes) - 1;
            masks[column][layouts] = mask;
            // Ids and times ascend: most of the room is above. A base that wraps round does no harm, as differences do
            // too.
            bases[column][layouts] = low - (mask - range) / 4;
        }
    }

    /** Writes the words of a row to come, and beyond them into what is written later. */
    void write(long[] data, long[] validity, int row, long to) {
        if (columns > 0) {
            Memory.putByte(to, (byte) layout);
        }
        for (int column = 0; column < columns; column++) {
            boolean isNull = validity[column] != 0 && !Memory.getBit(validity[column], row);
            long value = isNull ? 0 : Memory.getLong(data[column] + 8L * row) - bases[column][layout];
            Memory.putLong(to + slots[column][layout], value);
        }
    }

    /** Where the words of rows to come end. */
    int end() {
        return ends[layout];
    }

    /** How many bytes rows to come have at least. */
    int least() {
        return leasts[layout];
    }

    // ---- rows

    private int layout(long row) {
        return columns == 0 ? 0 : Memory.getByte(row) & 0xFF;
    }

    /** Where the words of a row end. */
    int end(long row) {
        return ends[layout(row)];
    }

    /** How many bytes a row has at least. */
    int least(long row) {
        return leasts[layout(row)];
    }

    /** A row's value. */
    long value(long row, int column) {
        int number = layout(row);
        return (Memory.getLong(row + slots[column][number]) & masks[column][number]) + bases[column][number];
    }

    /** Copies the values of rows. */
    void copy(int column, long[] rows, int count, long to) {
        int[] slot = slots[column];
        long[] base = bases[column];
        long[] mask = masks[column];
        for (int i = 0; i < count; i++) {
            int number = Memory.getByte(rows[i]) & 0xFF;
            Memory.putLong(to + 8L * i, (Memory.getLong(rows[i] + slot[number]) & mask[number]) + base[number]);
        }
    }

    /** Writes a row's words with all their bytes. */
    void widen(long row, long to) {
        if (columns > 0) {
            Memory.putByte(to, (byte) 0);
        }
        for (int column = 0; column < columns; column++) {
            Memory.putLong(to + slots[column][0], value(row, column));
        }
    }

    /** Where the words of each row begin. */
    int begin() {
        return begin;
    }

    /** Where words with all their bytes end. */
    int wideEnd() {
        return ends[0];
    }
}
