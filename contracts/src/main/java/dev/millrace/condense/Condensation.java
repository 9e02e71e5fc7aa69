package dev.millrace.condense;

import java.util.List;
import java.util.OptionalInt;

/**
 * That who asks wants to know which rows there are and how many of each, and not in which order: rows that are alike in all columns asked
 * for may come as one, whose weight is their number. A reader may ignore it.
 *
 * @param time a column of the relation whose values need not be those of the rows: rows may be alike whose times lie in one slice and
 *     between the same cuts, and come with any of the times from there
 * @param sliceMicros how long slices are; 0 if only the cuts divide time
 * @param offsetMicros where a slice begins, from the epoch (1970-01-01 00:00) on; at least 0 and less than a slice
 * @param cutsMicros ascending; a time at a cut lies behind it
 */
public record Condensation(OptionalInt time, long sliceMicros, long offsetMicros, List<Long> cutsMicros) {
    /** Of rows alike in all columns. */
    public static final Condensation EXACT = new Condensation(OptionalInt.empty(), 0, 0, List.of());

    public Condensation {
        cutsMicros = List.copyOf(cutsMicros);
        if (sliceMicros < 0 || offsetMicros < 0 || offsetMicros > Math.max(0, sliceMicros - 1)) {
            throw new IllegalArgumentException("slices of " + sliceMicros + " us from " + offsetMicros + " us on");
        }
    }

    /** The first time behind all that lie in one slice, and between the same cuts, with a time; the last that there is if none is behind. */
    public long end(long micros) {
        long end = Long.MAX_VALUE;
        if (sliceMicros > 0) {
            long into = Math.floorMod(micros - offsetMicros, sliceMicros);
            long room = sliceMicros - into;
            // Near the lowest time what is to be subtracted wraps around; there each time is a slice of its own.
            boolean wraps = micros < Long.MIN_VALUE + offsetMicros;
            end = wraps ? micros + 1 : micros > Long.MAX_VALUE - room ? Long.MAX_VALUE : micros + room;
        }
        for (long cut : cutsMicros) {
            if (cut > micros) {
                return Math.min(end, cut);
            }
        }
        return end;
    }
}
