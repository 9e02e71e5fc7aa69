package dev.millrace.engine.epoch;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.OptionalLong;
import java.util.Set;

/** The state of one domain; {@link Epochs} has the logic and the lock that guards all of this. */
public final class EpochDomain {
    /** An epoch that was closed and is not committed yet: some input has not ended it, or some output not published it. */
    static final class Closed {
        final long epoch;
        final long micros; // when it was closed, since 1970
        final OptionalLong sinceNanos; // when it became dirty, if it did
        final Set<EpochInput> waitingFor; // that have not ended it
        final boolean fed; // whether there is an input, so that outputs have to be done with it
        int unpublished; // outputs that have not published it
        boolean durable; // what was accepted in it is on disk

        Closed(long epoch, long micros, OptionalLong sinceNanos, Set<EpochInput> inputs, boolean fed) {
            this.epoch = epoch;
            this.micros = micros;
            this.sinceNanos = sinceNanos;
            this.waitingFor = new LinkedHashSet<>(inputs);
            this.fed = fed;
        }

        boolean isCommitted() {
            return unpublished == 0 && waitingFor.isEmpty();
        }
    }

    final Set<EpochInput> inputs = new LinkedHashSet<>();
    final Set<EpochOutput> outputs = new LinkedHashSet<>();
    final Set<Closed> closed = new LinkedHashSet<>();
    final ArrayDeque<EpochOutput> ready = new ArrayDeque<>(); // to publish what they are done with
    int behind; // outputs with something to be published
    long open; // the number of the open epoch
    long lastClosed = Epochs.NONE; // of those that all inputs end
    long lastEntry; // of the journal, of what was accepted in the open epoch; 0 if there is none
    long dirtySinceNanos;
    int busyInputs;
    boolean timerSet;
    boolean still; // while held: nothing is under way, and nothing is to begin
    boolean touched; // while still: the open epoch is to end once rows flow again
    private volatile boolean dirty; // written under the lock, read by inputs
    private volatile boolean held; // likewise

    EpochDomain(long open) {
        this.open = open;
    }

    boolean isDirty() {
        return dirty;
    }

    void setDirty(boolean newDirty) {
        dirty = newDirty;
    }

    boolean isHeld() {
        return held;
    }

    void setHeld(boolean newHeld) {
        held = newHeld;
    }

    /** Whether nothing is under way. */
    boolean isQuiet() {
        return !dirty && closed.isEmpty();
    }
}
