package dev.millrace.server.simulation;

import dev.millrace.time.Clock;

/**
 * Goes on by a little at each look, so that who waits in a loop comes to an end, and by more when something takes long. Used by one
 * thread: another one that asks for the time would change what the first sees.
 */
final class SimulatedClock implements Clock {
    private static final long LOOK_NANOS = 20_000;
    private static final long BEGIN_NANOS = 1_700_000_000L * 1_000_000_000L;

    private final Thread owner = Thread.currentThread();
    private final Runnable late;
    private long nanos = BEGIN_NANOS;
    private long alarmNanos = Long.MAX_VALUE;

    /** @param late called, once, in a look at the clock at the time of the alarm */
    SimulatedClock(Runnable late) {
        this.late = late;
    }

    void advanceMillis(long millis) {
        nanos += millis * 1_000_000;
    }

    void alarmIn(long millis) {
        alarmNanos = nanos + millis * 1_000_000;
    }

    void noAlarm() {
        alarmNanos = Long.MAX_VALUE;
    }

    @Override
    public long epochMicros() {
        return nanoTime() / 1000;
    }

    @Override
    public long nanoTime() {
        if (Thread.currentThread() != owner) {
            throw new AssertionError(Thread.currentThread() + " looks at the simulation's clock");
        }
        nanos += LOOK_NANOS;
        if (nanos >= alarmNanos) {
            alarmNanos = Long.MAX_VALUE;
            late.run();
        }
        return nanos;
    }
}
