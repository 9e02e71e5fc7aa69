package dev.millrace.connectors.nexmark;

import dev.millrace.memory.Memory;

/**
 * When events happen: {@code rate} of them per second of event time, evenly, from 2015-07-15 00:00.
 *
 * @param rate events of all kinds per second
 */
record Timeline(long rate) {
    /** Event time of the first event, in microseconds. */
    static final long START_MICROS = 1_436_918_400_000_000L;

    private static final long SECOND_MICROS = 1_000_000;

    long micros(long event) {
        return START_MICROS + event / rate * SECOND_MICROS + event % rate * SECOND_MICROS / rate;
    }

    /** Writes the times of consecutive events. */
    void write(long firstEvent, long to, int rows) {
        if (SECOND_MICROS % rate == 0) {
            long step = SECOND_MICROS / rate;
            long micros = START_MICROS + firstEvent * step;
            for (int row = 0; row < rows; row++, micros += step) {
                Memory.putLong(to + 8L * row, micros);
            }
        } else {
            for (int row = 0; row < rows; row++) {
                Memory.putLong(to + 8L * row, micros(firstEvent + row));
            }
        }
    }
}
