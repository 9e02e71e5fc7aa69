package dev.millrace.plan.node;

import dev.millrace.text.CalendarUnits;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeZones;
import java.time.ZoneOffset;

/**
 * How rows fall into windows of event time. All durations in microseconds; windows are aligned to the epoch
 * (1970-01-01 00:00, of UTC for TIMESTAMPTZ) and moved by their offset, start inclusive, end exclusive. The offset is at
 * least 0 and less than the distance of two windows, so that equal windows have equal offsets.
 */
public sealed interface WindowSpec {
    /** What kind of windows these are: of those that a calendar counts, the kind that is counted. */
    default WindowSpec shape() {
        return this;
    }

    /** The least window: a row is beyond it as soon as it is older than the watermark. */
    WindowSpec INSTANT = new Tumble(1);

    /** Back to back windows of {@code sizeMicros}. */
    record Tumble(long sizeMicros, long offsetMicros) implements WindowSpec {
        public Tumble {
            requirePositive(sizeMicros);
            requireWithin(offsetMicros, sizeMicros);
        }

        public Tumble(long sizeMicros) {
            this(sizeMicros, 0);
        }
    }

    /** A window of {@code sizeMicros} starting every {@code slideMicros}; slices are their greatest common divisor. */
    record Hop(long slideMicros, long sizeMicros, long offsetMicros) implements WindowSpec {
        public Hop {
            requirePositive(slideMicros);
            requirePositive(sizeMicros);
            requireWithin(offsetMicros, slideMicros);
        }

        public Hop(long slideMicros, long sizeMicros) {
            this(slideMicros, sizeMicros, 0);
        }
    }

    /** Windows that share a start every {@code sizeMicros} and end after each further {@code stepMicros}; step divides size. */
    record Cumulate(long stepMicros, long sizeMicros, long offsetMicros) implements WindowSpec {
        public Cumulate {
            requirePositive(stepMicros);
            requirePositive(sizeMicros);
            if (sizeMicros % stepMicros != 0) {
                throw new IllegalArgumentException("the step must divide the size");
            }
            requireWithin(offsetMicros, sizeMicros);
        }

        public Cumulate(long stepMicros, long sizeMicros) {
            this(stepMicros, sizeMicros, 0);
        }
    }

    /**
     * Windows whose sizes are so many days or months of a calendar, whatever these last: all numbers of {@code counted} are of such units, days from a Monday on,
     * months from January of the year 0 on.
     *
     * @param laterMicros how much later each unit begins by what clocks show; of days less than a day, of months less than 28 days
     * @param zone whose clocks are meant, as {@link dev.millrace.text.TimeZones} knows it
     */
    record Calendar(WindowSpec counted, CalendarUnits.Unit unit, long laterMicros, String zone) implements WindowSpec {
        public Calendar {
            if (!(counted instanceof Tumble || counted instanceof Hop || counted instanceof Cumulate)) {
                throw new IllegalArgumentException("a calendar does not count " + counted);
            }
            requireWithin(laterMicros, (unit == CalendarUnits.Unit.DAY ? 1 : 28) * CivilDays.MICROS_PER_DAY);
        }

        @Override
        public WindowSpec shape() {
            return counted;
        }

        /** The units themselves; the caller's own. */
        public CalendarUnits units() {
            return new CalendarUnits(unit, laterMicros, TimeZones.find(zone).orElse(ZoneOffset.UTC));
        }
    }

    /**
     * Per key, rows less than {@code gapMicros} apart; ends the gap after its last row. A row up to a gap behind the
     * watermark is not late and may join it, so it is emitted when the watermark is another gap past its end.
     */
    record Session(long gapMicros) implements WindowSpec {
        public Session {
            requirePositive(gapMicros);
        }
    }

    /**
     * Rows that already carry their window, from an upstream that emits on window close: the window ends at the value
     * of the node's time column.
     */
    record Attached(int startColumn, int endColumn) implements WindowSpec {}

    private static void requireWithin(long offsetMicros, long distanceMicros) {
        if (offsetMicros < 0 || offsetMicros >= distanceMicros) {
            throw new IllegalArgumentException("an offset must be from 0 to less than " + distanceMicros + " us");
        }
    }

    private static void requirePositive(long micros) {
        if (micros <= 0) {
            throw new IllegalArgumentException("a window's size must be positive, not " + micros + " us");
        }
    }
}
