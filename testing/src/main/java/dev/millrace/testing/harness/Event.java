package dev.millrace.testing.harness;

import dev.millrace.testing.rows.Row;

/** One step of a script. */
sealed interface Event {
    /** A row on an input, with its weight. */
    record Input(int port, Row row, long weight) implements Event {}

    /** The combined watermark of all inputs. */
    record Watermark(long micros) implements Event {}

    /** The end of the epoch under way, on all inputs. */
    record EpochEnd() implements Event {}
}
