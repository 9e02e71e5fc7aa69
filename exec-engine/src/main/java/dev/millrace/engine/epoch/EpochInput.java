package dev.millrace.engine.epoch;

import java.util.ArrayDeque;
import java.util.OptionalLong;

/**
 * Where rows enter a domain. The owner calls {@link #arrived} before it passes rows on, {@link #ranDry} when it has no
 * more at hand, and ends epochs as {@link #takeClosing} says, in-band, behind the rows of the epoch.
 */
public final class EpochInput {
    final Epochs epochs;
    final Runnable wake;
    final ArrayDeque<Long> closing = new ArrayDeque<>(); // guarded by the lock
    EpochDomain domain; // guarded by the lock
    private volatile EpochDomain seenDomain; // the same, for the quick paths of the owner
    private volatile boolean busy; // written under the lock, read by the owner
    private volatile boolean hasClosing; // written under the lock, read by the owner

    EpochInput(Epochs epochs, EpochDomain domain, Runnable wake) {
        this.epochs = epochs;
        this.wake = wake;
        moveTo(domain);
    }

    void moveTo(EpochDomain newDomain) {
        domain = newDomain;
        seenDomain = newDomain;
    }

    boolean isBusy() {
        return busy;
    }

    void setBusy(boolean newBusy) {
        busy = newBusy;
    }

    void addClosing(long epoch) {
        closing.add(epoch);
        hasClosing = true;
    }

    /** Rows are about to be passed on, and more may be at hand. Costs two reads when that is known. */
    public void arrived() {
        if (!busy || !seenDomain.isDirty()) {
            epochs.arrived(this, true);
        }
    }

    /** Nothing is at hand now. */
    public void ranDry() {
        if (busy) {
            epochs.ranDry(this);
        }
    }

    /** Something changed without rows, such as the end of the input: have the epoch closed soon. */
    public void touch() {
        epochs.arrived(this, false);
        epochs.ranDry(this);
    }

    /** The next epoch this input has to end, if any; the caller does so before it passes on more rows. */
    public OptionalLong takeClosing() {
        return hasClosing ? OptionalLong.of(epochs.takeClosing(this)) : OptionalLong.empty();
    }

    void closingTaken() {
        hasClosing = !closing.isEmpty();
    }

    /** Whether rows have to wait: the domain is being changed. */
    public boolean isHeld() {
        return seenDomain.isHeld();
    }

    /** Leaves the domain, which waits for it no more. */
    public void leave() {
        epochs.leave(this);
    }
}
