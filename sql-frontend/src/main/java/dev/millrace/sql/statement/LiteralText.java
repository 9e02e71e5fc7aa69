package dev.millrace.sql.statement;

import java.util.Arrays;

/**
 * Rows of VALUES that are made of nothing but literals, as places in their text: what {@link LiteralRows} has, without an object for
 * each value.
 */
public final class LiteralText implements RowSource {
    /** The length of a NULL. */
    public static final int NULL = -1;

    private final int width;
    private final byte[] text;
    private final int[] places; // of each value where it begins, and its length

    /**
     * @param width values of a row
     * @param text in UTF-8, in which each value is one piece; not copied
     * @param places row by row of each value where in the text it begins, and how many bytes it has, or {@link #NULL}
     */
    public LiteralText(int width, byte[] text, int[] places) {
        if (width < 1 || places.length % (2 * width) != 0) {
            throw new IllegalArgumentException(Arrays.toString(places) + " in rows of " + width);
        }
        this.width = width;
        this.text = text;
        this.places = places;
    }

    public int rows() {
        return places.length / 2 / width;
    }

    /** The text that holds all values, in UTF-8; not to be changed. */
    public byte[] text() {
        return text;
    }

    /** Where in the text a value begins. */
    public int start(int row, int column) {
        return places[2 * (row * width + column)];
    }

    /** How many bytes a value has, without quotes; {@link #NULL} if it is none. */
    public int length(int row, int column) {
        return places[2 * (row * width + column) + 1];
    }
}
