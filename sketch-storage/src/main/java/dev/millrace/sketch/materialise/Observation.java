package dev.millrace.sketch.materialise;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;

/**
 * One row of a sketch. Immutable.
 *
 * @param sketch where it is
 * @param row which, from 0
 */
public record Observation(Sketch sketch, int row) {
    /** In ticks. */
    public long time() {
        return sketch.times().at(row);
    }

    private int rank(int feature) {
        return sketch.column(feature).sequence().ranks()[row];
    }

    public boolean isNull(int feature) {
        return rank(feature) == sketch.column(feature).symbols().size();
    }

    /** A number of any kind; NaN for NULL. */
    public double number(int feature) {
        return isNull(feature) ? Double.NaN : sketch.column(feature).numbers().value(rank(feature));
    }

    /** A whole number, date or timestamp; 0 for NULL. */
    public long whole(int feature) {
        return isNull(feature) ? 0 : sketch.column(feature).numbers().whole(rank(feature));
    }

    /** A truth value; false for NULL. */
    public boolean bool(int feature) {
        return whole(feature) != 0;
    }

    /** A text; empty for NULL. */
    public String text(int feature) {
        Column column = sketch.column(feature);
        return isNull(feature) ? "" : ((TextSymbols) column.symbols()).text(rank(feature));
    }
}
