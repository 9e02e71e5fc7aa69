package dev.millrace.plan.node;

/**
 * How rows fall into windows of event time. All durations in microseconds; windows are aligned to the epoch
 * (1970-01-01 00:00, of UTC for TIMESTAMPTZ) and moved by their offset, start inclusive, end exclusive. The offset is at
 * least 0 and less than the distance of two windows, so that equal windows have equal offsets.
 */
public sealed interface WindowSpec {
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
