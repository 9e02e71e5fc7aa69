package dev.millrace.engine.epoch;

import java.util.OptionalLong;

/** Where the effects of epochs leave a domain. */
public final class EpochOutput {
    /** What an output does with an epoch that all are done with. Must not throw. */
    @FunctionalInterface
    public interface Publisher {
        /**
         * Makes everything up to the epoch visible. Called with the commit lock held for writing, on any thread, one
         * call at a time, for epochs that grow.
         *
         * @param sinceNanos when its first row came, by the engine's clock; none if none did
         */
        void publish(long epoch, OptionalLong sinceNanos);
    }

    final Epochs epochs;
    final Publisher publisher;
    final Runnable wake;
    EpochDomain domain; // guarded by the lock
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
