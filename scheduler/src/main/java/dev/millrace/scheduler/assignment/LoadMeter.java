package dev.millrace.scheduler.assignment;

/**
 * The load of one queue as that of an M/M/1 queue (Pluto, section 3.3.2): mean rate of arrival by mean rate of processing, so that more than is processed
 * shows as more than 1. Both are weighted means over periods, the last of which weighs half.
 *
 * <p>Of one thread at a time.
 */
public final class LoadMeter {
    private static final double NEW = .5;

    private long arrived;
    private long processed;
    private long busyNanos;
    private double perNano; // arrivals
    private double serviceNanos;
    private boolean known;

    /** Begins with what is known of another: a half of its arrivals, and its time of one. */
    LoadMeter half() {
        LoadMeter half = new LoadMeter();
        half.perNano = perNano / 2;
        half.serviceNanos = serviceNanos;
        half.known = known;
        return half;
    }

    /** Both together. */
    LoadMeter plus(LoadMeter other) {
        LoadMeter both = new LoadMeter();
        both.arrived = arrived + other.arrived;
        both.processed = processed + other.processed;
        both.busyNanos = busyNanos + other.busyNanos;
        both.perNano = perNano + other.perNano;
        both.serviceNanos =
                both.perNano > 0 ? (load() + other.load()) / both.perNano : Math.max(serviceNanos, other.serviceNanos);
        both.known = known || other.known;
        return both;
    }

    /** Of what is new: what it is expected to be. */
    public void expect(double perSecond, double nanosOfOne) {
        perNano = perSecond / 1e9;
        serviceNanos = nanosOfOne;
        known = true;
    }

    public void arrived(long count) {
        arrived += count;
    }

    public void processed(long count, long nanos) {
        processed += count;
        busyNanos += nanos;
    }

    /** A period is over. One without arrivals counts, one in which nothing was processed says nothing of how long that takes. */
    public void endPeriod(long periodNanos) {
        double rate = (double) arrived / Math.max(1, periodNanos);
        perNano = known ? NEW * rate + (1 - NEW) * perNano : rate;
        if (processed > 0) {
            double nanos = (double) busyNanos / processed;
            serviceNanos = serviceNanos > 0 ? NEW * nanos + (1 - NEW) * serviceNanos : nanos;
        }
        known = true;
        arrived = 0;
        processed = 0;
        busyNanos = 0;
    }

    /** The share of a worker that it needs; 0 before anything is known. */
    public double load() {
        return perNano * serviceNanos;
    }
}
