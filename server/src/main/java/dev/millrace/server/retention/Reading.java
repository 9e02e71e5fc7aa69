package dev.millrace.server.retention;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Deque;

/** How far one reader is in what a stream keeps. Moved by the reader, read by all. */
final class Reading {
    private static final int SAMPLES = 10;
    private static final long SAMPLE_NANOS = 1_000_000_000;

    /**
     * Where it is.
     *
     * @param entry rows of entries before were given
     * @param given and so many of its own
     * @param rows of the past that were given in all
     * @param arrivedMicros when the last of them arrived; least of all numbers where that is not known
     */
    record Place(long entry, long given, long rows, long arrivedMicros) {}

    private record Sample(long nanos, long rows) {}

    private volatile Place place;
    private volatile boolean isOver; // it has come once to where nothing was to come, or next to nothing

    @GuardedBy("this") private final Deque<Sample> samples = new ArrayDeque<>();

    Reading(Place begin, long nowNanos) {
        place = begin;
        samples.add(new Sample(nowNanos, begin.rows()));
    }

    /** Rows were given and passed on, up to some of an entry. */
    void passed(long entry, long given, long more, long arrivedMicros, long nowNanos) {
        Place before = place;
        if (isOver || more == 0) {
            place = new Place(entry, given, before.rows(), before.arrivedMicros()); // what comes now is no past
            return;
        }
        place = new Place(entry, given, before.rows() + more, arrivedMicros);
        synchronized (this) {
            if (nowNanos - samples.getLast().nanos() >= SAMPLE_NANOS) {
                samples.add(new Sample(nowNanos, place.rows()));
            }
            if (samples.size() > SAMPLES) {
                samples.remove();
            }
        }
    }

    /** There is nothing, or next to nothing, to come for now: what comes from here on is what is new. */
    void hasAll() {
        isOver = true;
    }

    boolean isOver() {
        return isOver;
    }

    Place place() {
        return place;
    }

    /** Of the last seconds. */
    double rowsPerSecond(long nowNanos) {
        synchronized (this) {
            Sample first = samples.getFirst();
            return (place.rows() - first.rows()) * 1e9 / Math.max(1, nowNanos - first.nanos());
        }
    }
}
