package dev.millrace.engine.view;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/** The versions of one view that somebody reads. Safe on any thread; held for some nanoseconds at a time. */
final class Pins {
    /**
     * A version that stays readable until it is released, or given up for the memory that it costs.
     *
     * <pre>
     *   RESTING <-> READING        RESTING -> EXPIRED
     * </pre>
     */
    static final class Pin {
        private enum State {
            RESTING,
            READING,
            EXPIRED
        }

        final long version;
        private final AtomicReference<State> state = new AtomicReference<>(State.RESTING);

        private Pin(long version) {
            this.version = version;
        }

        /** Before rows are looked at: they stay until {@link #rest}. False if they are gone. */
        boolean read() {
            return state.compareAndSet(State.RESTING, State.READING);
        }

        void rest() {
            state.set(State.RESTING);
        }

        private boolean expire() {
            return state.compareAndSet(State.RESTING, State.EXPIRED);
        }
    }

    @GuardedBy("this") private final List<Pin> pins = new ArrayList<>();

    @GuardedBy("this") private final TreeMap<Long, Integer> followed = new TreeMap<>(); // versions, by how many

    /** Pins what is current: between reading that and pinning it nothing is reclaimed. */
    synchronized Pin add(LongSupplier current) {
        Pin pin = new Pin(current.getAsLong());
        pins.add(pin);
        return pin;
    }

    synchronized void remove(Pin pin) {
        pins.remove(pin);
    }

    synchronized boolean isEmpty() {
        return pins.isEmpty() && followed.isEmpty();
    }

    /** Holds what is current, until it is moved or let go: never given up, for who goes on from it by what changes. */
    synchronized long follow(LongSupplier current) {
        long version = current.getAsLong();
        followed.merge(version, 1, Integer::sum);
        return version;
    }

    /** Holds a later version instead; returns whether rows may be reclaimed now that might not before. */
    synchronized boolean move(long from, long to) {
        followed.merge(to, 1, Integer::sum);
        return unfollow(from);
    }

    /** Lets a version go; returns whether rows may be reclaimed now that might not before. */
    synchronized boolean unfollow(long version) {
        boolean isOldest = followed.firstKey() == version;
        return followed.merge(version, -1, (a, b) -> a + b == 0 ? null : a + b) == null && isOldest;
    }

    /** The oldest version that somebody goes on from; the given one if nobody does. */
    synchronized long oldestFollowed(long orElse) {
        return followed.isEmpty() ? orElse : followed.firstKey();
    }

    /** Rows that died at this version or before are seen by nobody, now or later. */
    synchronized long horizon(LongSupplier current) {
        long horizon = Math.min(current.getAsLong(), followed.isEmpty() ? Long.MAX_VALUE : followed.firstKey());
        for (Pin pin : pins) {
            horizon = Math.min(horizon, pin.version);
        }
        return horizon;
    }

    /** Gives up those that hold a version which is not current, unless they are being read just now. */
    synchronized void expire(LongSupplier current) {
        long now = current.getAsLong();
        pins.removeIf(pin -> pin.version < now && pin.expire());
    }
}
