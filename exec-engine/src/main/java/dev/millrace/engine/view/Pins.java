package dev.millrace.engine.view;

import java.util.ArrayList;
import java.util.List;
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

    private final List<Pin> pins = new ArrayList<>(); // guarded by this

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
        return pins.isEmpty();
    }

    /** Rows that died at this version or before are seen by nobody, now or later. */
    synchronized long horizon(LongSupplier current) {
        long horizon = current.getAsLong();
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
