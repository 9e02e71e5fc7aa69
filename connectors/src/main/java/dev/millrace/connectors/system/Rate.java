package dev.millrace.connectors.system;

import java.util.ArrayDeque;

/**
 * What counters grew by per second, over the time since the last reading, but over no less than a tenth of a second:
 * operating systems count processor time in hundredths, so that shorter times would show nothing but steps.
 */
final class Rate {
    private static final long LEAST_NANOS = 100_000_000;

    private record Reading(long nanoTime, long[] counters) {}

    private final ArrayDeque<Reading> readings = new ArrayDeque<>();
    private double[] last = {};

    /**
     * Adds a reading; returns the growth per second of each counter, 0 for the first and for one that fell back. The time
     * of the last reading again gives what that gave.
     */
    double[] perSecond(long nanoTime, long... counters) {
        if (!readings.isEmpty() && readings.getLast().nanoTime == nanoTime) {
            return last;
        }
        while (readings.size() > 1) {
            Reading oldest = readings.removeFirst();
            if (nanoTime - readings.getFirst().nanoTime < LEAST_NANOS) {
                readings.addFirst(oldest);
                break;
            }
        }
        double[] rates = new double[counters.length];
        if (!readings.isEmpty() && readings.getFirst().counters.length == counters.length) {
            Reading before = readings.getFirst();
            double seconds = Math.max(1, nanoTime - before.nanoTime) / 1e9;
            for (int i = 0; i < rates.length; i++) {
                rates[i] = Math.max(0, counters[i] - before.counters[i]) / seconds;
            }
        } else {
            readings.clear();
        }
        readings.addLast(new Reading(nanoTime, counters));
        last = rates;
        return rates;
    }
}
