package dev.millrace.sketch.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/**
 * Windows of {@code size} ticks that begin at each multiple of {@code slide}. Where one would begin or end beyond what a long
 * holds, that is an error.
 *
 * @param size in ticks
 * @param slide in ticks
 */
record Windows(long size, long slide) {
    private static final long MOST_OVERLAPPING = 1 << 16;

    Windows {
        if (size < 1 || slide < 1) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "a window and its slide are at least 1 tick");
        }
        if (size / slide > MOST_OVERLAPPING) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "each row would be in " + size / slide + " windows, more than " + MOST_OVERLAPPING);
        }
    }

    /** The start of the first window that may hold a time that may be off. */
    long first(long time, long error) {
        try {
            // Windows that end at the time or before are over; the next one begins a slide later.
            long over = Math.subtractExact(Math.subtractExact(time, error), size);
            return Math.multiplyExact(Math.floorDiv(over, slide) + 1, slide);
        } catch (ArithmeticException e) {
            throw beyond(time);
        }
    }

    /** Whether there is no later window that a long could name. */
    boolean isLast(long start) {
        return start > Long.MAX_VALUE - slide;
    }

    /** The stretch of time of a window. */
    Condition.Time stretch(long start) {
        return new Condition.Time(start, end(start) - 1);
    }

    long end(long start) {
        try {
            return Math.addExact(start, size);
        } catch (ArithmeticException e) {
            throw beyond(start);
        }
    }

    private static MillraceException beyond(long time) {
        return MillraceException.user(
                SqlState.DATETIME_FIELD_OVERFLOW,
                "a window around " + time + " begins or ends beyond what a time can be");
    }
}
