package dev.millrace.engine.channel;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * How long what goes through a queue waits in it, summed up over all: T_queue of EdgeWise (section 5.2), of batches. Safe on any thread.
 *
 * <p>Times of those that came are taken off, of those that went put on; what is left when those that are there are taken to go now is the sum. Sums of times of
 * the clock overflow, differences do not for three centuries of waiting.
 */
public final class WaitTime {
    @GuardedBy("this") private long sumNanos;

    @GuardedBy("this") private long waiting;

    public synchronized void came(long nowNanos) {
        sumNanos -= nowNanos;
        waiting++;
    }

    public synchronized void went(long nowNanos) {
        sumNanos += nowNanos;
        waiting--;
    }

    /** All have gone. */
    synchronized void allWent(long nowNanos) {
        sumNanos += waiting * nowNanos;
        waiting = 0;
    }

    /** The time that all waited so far. */
    public synchronized long nanos(long nowNanos) {
        return sumNanos + waiting * nowNanos;
    }
}
