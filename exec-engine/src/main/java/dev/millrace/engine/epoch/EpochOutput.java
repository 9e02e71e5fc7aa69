package dev.millrace.engine.epoch;

import dev.millrace.engine.epoch.EpochDomain.Closed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the effects of epochs leave a domain. It publishes an epoch as soon as it is done with it, whatever other outputs
 * are at, unless a {@link Cut} holds it back.
 */
public final class EpochOutput {
    /**
     * What an output does with an epoch that it is done with: stamps what is already made, then shows it. Must not throw: what
     * may fail was done before {@link EpochOutput#done}. Called on any thread, one call at a time, for epochs that grow; an epoch
     * may be one that the output was not part of to its end.
     */
    public interface Publisher {
        /** Has everything up to the epoch take effect from a version on that nobody sees yet. */
        void stamp(long epoch, long version);

        /**
         * The version is current: tells others, and frees what nobody sees any more.
         *
         * @param sinceNanos when its first row came, by the engine's clock; none if none did
         */
        void publish(long epoch, OptionalLong sinceNanos);
    }

    final Epochs epochs;
    final Publisher publisher;
    final Runnable wake;
    EpochDomain domain; // guarded by the lock
    final ArrayDeque<Closed> pending =
            new ArrayDeque<>(); // closed and not published; guarded by the lock, as what follows
    final List<Cut> cuts = new ArrayList<>(0); // that hold it back
    long doneThrough = Epochs.NONE;
    long publishedThrough = Epochs.NONE; // or being published
    boolean publishing;
    boolean queued; // among those of its domain that are ready
    boolean left;
    private volatile EpochDomain seenDomain; // the same, for the quick paths of the owner
    private volatile long version; // written by who publishes, at an instant; read by who reads the output
    private final ReentrantLock calling = new ReentrantLock(); // held while the publisher is called

    EpochOutput(Epochs epochs, EpochDomain domain, Publisher publisher, Runnable wake) {
        this.epochs = epochs;
        this.publisher = publisher;
        this.wake = wake;
        moveTo(domain);
    }

    void moveTo(EpochDomain newDomain) {
        domain = newDomain;
        seenDomain = newDomain;
    }

    /** Whether there is an epoch that it may publish now. By who holds the lock. */
    boolean isReady() {
        Closed next = pending.peek();
        return next != null
                && !publishing
                && (left || next.durable)
                && (left || !next.fed || doneThrough >= next.epoch)
                && cuts.stream().allMatch(cut -> next.epoch <= cut.epochOf(this));
    }

    /** Whether what is under way has to come out, whatever stands in its way. */
    public boolean isHeld() {
        return seenDomain.isHeld();
    }

    /** The version that is current for who reads this output; grows with each epoch. */
    public long version() {
        return version;
    }

    /** Publishes an epoch as a version; by one thread at a time. */
    void publish(long epoch, OptionalLong sinceNanos, long newVersion) {
        exclusively(() -> {
            publisher.stamp(epoch, newVersion);
            epochs.atOneInstant(() -> {
                version = newVersion;
                return version;
            });
            publisher.publish(epoch, sinceNanos);
        });
    }

    /** Runs {@code action} while nothing is published here. */
    public void exclusively(Runnable action) {
        calling.lock();
        try {
            action.run();
        } finally {
            calling.unlock();
        }
    }

    /** All rows of the epoch are in. */
    public void done(long epoch) {
        epochs.done(this, epoch);
    }

    /** Leaves the domain, which waits for it no more. */
    public void leave() {
        epochs.leave(this);
    }
}
