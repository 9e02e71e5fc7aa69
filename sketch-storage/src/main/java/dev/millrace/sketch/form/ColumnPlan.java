package dev.millrace.sketch.form;

import dev.millrace.sketch.bits.BitWriter;

/** One feature's rows, ready to be written. */
public interface ColumnPlan {
    /** About how many bits {@link #write} takes. */
    long bits();

    /** Writes it; {@code last} when nothing follows in the segment. */
    void write(BitWriter out, boolean last);
}
