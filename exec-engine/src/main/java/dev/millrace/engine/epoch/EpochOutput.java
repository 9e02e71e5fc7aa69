package dev.millrace.engine.epoch;

import dev.millrace.engine.epoch.EpochDomain.Closed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Where the effects of epochs leave a domain. It publishes an epoch as soon as it is done with it, whatever other outputs
 * are at, unless a {@link Cut} holds it back.
 */
public final class EpochOutput {
    /** What an output does with an epoch that all are done with. Must not throw. */
    @FunctionalInterface
    public interface Publisher {
        /**
         * Makes everything up to the epoch visible. Called with the commit lock held for writing, on any thread, one
         * call at a time, for epochs that grow; it may be one that the output was not part of to its end.
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
                && (left || !next.fed || doneThrough >= next.epoch)
                && cuts.stream().allMatch(cut -> next.epoch <= cut.epochOf(this));
    }

    /** Whether what is under way has to come out, whatever stands in its way. */
    public boolean isHeld() {
        return seenDomain.isHeld();
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
