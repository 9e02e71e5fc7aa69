package dev.millrace.engine.window;

import dev.millrace.plan.node.WindowSpec;
import dev.millrace.text.CalendarUnits;

/**
 * How windows consist of slices: the longest stretches of time that lie in or out of each window as a whole. A slice is
 * known by its end; all times in microseconds.
 */
sealed interface Slicing {
    /** No such window. */
    long NONE = Long.MIN_VALUE;

    /** The end of the slice a time falls into. */
    long sliceEnd(long time);

    /** The start of the slice that ends then. */
    long sliceStart(long sliceEnd);

    /** Whether the end is all there is to know of a slice. */
    default boolean areGiven() {
        return false;
    }

    /** The first window that holds a slice and ends after {@code after}, or {@link #NONE}. */
    long firstWindowEnd(long sliceEnd, long after);

    /** The last window that holds a slice, or {@link #NONE} if none does. */
    long lastWindowEnd(long sliceEnd);

    /** The start of the window that ends at {@code windowEnd}. */
    long windowStart(long windowEnd);

    /** Whether a later window begins with all that this one holds, so that its slices may be merged for good. */
    default boolean grows(long windowEnd) {
        return false;
    }

    static Slicing of(WindowSpec window) {
        if (window instanceof WindowSpec.Tumble tumble) {
            return moved(new Tumbling(tumble.sizeMicros()), tumble.offsetMicros());
        }
        if (window instanceof WindowSpec.Hop hop) {
            return moved(new Hopping(hop.slideMicros(), hop.sizeMicros()), hop.offsetMicros());
        }
        if (window instanceof WindowSpec.Cumulate cumulate) {
            return moved(new Cumulating(cumulate.stepMicros(), cumulate.sizeMicros()), cumulate.offsetMicros());
        }
        if (window instanceof WindowSpec.Calendar calendar) {
            return new Counted(of(calendar.counted()), calendar.units());
        }
        if (window instanceof WindowSpec.Attached) {
            return new Given();
        }
        throw new IllegalArgumentException("sessions have no slices");
    }

    private static Slicing moved(Slicing slicing, long micros) {
        return micros == 0 ? slicing : new Moved(slicing, micros);
    }

    /** Slices of windows that are not aligned to the epoch but later: those of times that are as much earlier. */
    record Moved(Slicing slicing, long offsetMicros) implements Slicing {
        @Override
        public long sliceEnd(long time) {
            return slicing.sliceEnd(time - offsetMicros) + offsetMicros;
        }

        @Override
        public long sliceStart(long sliceEnd) {
            return slicing.sliceStart(sliceEnd - offsetMicros) + offsetMicros;
        }

        @Override
        public long firstWindowEnd(long sliceEnd, long after) {
            // before the first window there is nothing to move
            long moved = after < Long.MIN_VALUE + offsetMicros ? after : after - offsetMicros;
            return later(slicing.firstWindowEnd(sliceEnd - offsetMicros, moved));
        }

        @Override
        public long lastWindowEnd(long sliceEnd) {
            return later(slicing.lastWindowEnd(sliceEnd - offsetMicros));
        }

        private long later(long end) {
            return end == NONE ? NONE : end + offsetMicros;
        }

        @Override
        public long windowStart(long windowEnd) {
            return slicing.windowStart(windowEnd - offsetMicros) + offsetMicros;
        }

        @Override
        public boolean grows(long windowEnd) {
            return slicing.grows(windowEnd - offsetMicros);
        }
    }

    /** Back to back windows. */
    record Tumbling(long sliceMicros) implements Slicing {
        @Override
        public long sliceStart(long sliceEnd) {
            return sliceEnd - sliceMicros;
        }

        @Override
        public long sliceEnd(long time) {
            return Math.floorDiv(time, sliceMicros) * sliceMicros + sliceMicros;
        }

        @Override
        public long firstWindowEnd(long sliceEnd, long after) {
            return sliceEnd > after ? sliceEnd : NONE;
        }

        @Override
        public long lastWindowEnd(long sliceEnd) {
            return sliceEnd;
        }

        @Override
        public long windowStart(long windowEnd) {
            return windowEnd - sliceMicros;
        }
    }

    /** Windows that begin every slide; a row may be in several, or with a slide beyond the size in none. */
    record Hopping(long slideMicros, long sizeMicros) implements Slicing {
        @Override
        public long sliceStart(long sliceEnd) {
            return sliceEnd - sliceMicros();
        }

        private long sliceMicros() {
            long a = slideMicros;
            long b = sizeMicros;
            while (b != 0) {
                long rest = a % b;
                a = b;
                b = rest;
            }
            return a;
        }

        @Override
        public long sliceEnd(long time) {
            long slice = sliceMicros();
            return Math.floorDiv(time, slice) * slice + slice;
        }

        @Override
        public long firstWindowEnd(long sliceEnd, long after) {
            long least = Math.max(sliceEnd, after + 1);
            long start = -Math.floorDiv(sizeMicros - least, slideMicros) * slideMicros; // the ceiling
            return start <= sliceEnd - sliceMicros() ? start + sizeMicros : NONE;
        }

        @Override
        public long lastWindowEnd(long sliceEnd) {
            long end = Math.floorDiv(sliceEnd - sliceMicros(), slideMicros) * slideMicros + sizeMicros;
            return end >= sliceEnd ? end : NONE;
        }

        @Override
        public long windowStart(long windowEnd) {
            return windowEnd - sizeMicros;
        }
    }

    /** Windows that share a start and end step by step. */
    record Cumulating(long stepMicros, long sizeMicros) implements Slicing {
        @Override
        public long sliceStart(long sliceEnd) {
            return sliceEnd - stepMicros;
        }

        @Override
        public long sliceEnd(long time) {
            return Math.floorDiv(time, stepMicros) * stepMicros + stepMicros;
        }

        @Override
        public long firstWindowEnd(long sliceEnd, long after) {
            long least = Math.max(sliceEnd, after + 1);
            long end = -Math.floorDiv(-least, stepMicros) * stepMicros;
            return end <= lastWindowEnd(sliceEnd) ? end : NONE;
        }

        @Override
        public long lastWindowEnd(long sliceEnd) {
            return windowStart(sliceEnd) + sizeMicros;
        }

        @Override
        public long windowStart(long windowEnd) {
            return Math.floorDiv(windowEnd - 1, sizeMicros) * sizeMicros;
        }

        @Override
        public boolean grows(long windowEnd) {
            return windowEnd < windowStart(windowEnd) + sizeMicros;
        }
    }

    /**
     * Windows of a calendar's units: slices of their numbers. Where clocks leave a unit out, it begins and ends with the next; so an end is that of the unit just before
     * it. Belongs to one operator.
     */
    record Counted(Slicing ofNumbers, CalendarUnits units) implements Slicing {
        private long endNumber(long end) {
            return units.at(end - 1) + 1;
        }

        private long start(long number) {
            return number == NONE ? NONE : units.start(number);
        }

        @Override
        public long sliceEnd(long time) {
            return units.start(ofNumbers.sliceEnd(units.at(time)));
        }

        @Override
        public long sliceStart(long sliceEnd) {
            return units.start(ofNumbers.sliceStart(endNumber(sliceEnd)));
        }

        @Override
        public long firstWindowEnd(long sliceEnd, long after) {
            return start(ofNumbers.firstWindowEnd(endNumber(sliceEnd), units.at(after)));
        }

        @Override
        public long lastWindowEnd(long sliceEnd) {
            return start(ofNumbers.lastWindowEnd(endNumber(sliceEnd)));
        }

        @Override
        public long windowStart(long windowEnd) {
            return units.start(ofNumbers.windowStart(endNumber(windowEnd)));
        }

        @Override
        public boolean grows(long windowEnd) {
            return ofNumbers.grows(endNumber(windowEnd));
        }
    }

    /** Rows that carry their window: what they are keyed by is its end. */
    record Given() implements Slicing {
        @Override
        public long sliceEnd(long time) {
            return time;
        }

        @Override
        public long sliceStart(long sliceEnd) {
            throw new UnsupportedOperationException("a slice is its end");
        }

        @Override
        public boolean areGiven() {
            return true;
        }

        @Override
        public long firstWindowEnd(long sliceEnd, long after) {
            return sliceEnd > after ? sliceEnd : NONE;
        }

        @Override
        public long lastWindowEnd(long sliceEnd) {
            return sliceEnd;
        }

        @Override
        public long windowStart(long windowEnd) {
            throw new UnsupportedOperationException("the start is a column");
        }
    }
}
