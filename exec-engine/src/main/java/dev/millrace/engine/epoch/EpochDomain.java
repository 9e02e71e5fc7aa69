package dev.millrace.engine.epoch;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/** The state of one domain; {@link Epochs} has the logic and the lock that guards all of this. */
public final class EpochDomain {
    /** An epoch that was closed and is not committed yet. */
    static final class Closed {
        final long epoch;
        final long micros; // when it was closed, since 1970
        final OptionalLong sinceNanos; // when it became dirty, if it did
        final Set<Object> waitingFor; // inputs that have not ended it and outputs that are not done
        final List<EpochOutput> outputs;

        Closed(long epoch, long micros, OptionalLong sinceNanos, Set<Object> waitingFor, List<EpochOutput> outputs) {
            this.epoch = epoch;
            this.micros = micros;
            this.sinceNanos = sinceNanos;
            this.waitingFor = waitingFor;
            this.outputs = outputs;
        }
    }

    final Set<EpochInput> inputs = new LinkedHashSet<>();
    final Set<EpochOutput> outputs = new LinkedHashSet<>();
    final ArrayDeque<Closed> closed = new ArrayDeque<>();
    long open; // the number of the open epoch
    long lastClosed = Epochs.NONE; // of those that all inputs end
    long dirtySinceNanos;
    int busyInputs;
    boolean committing;
    boolean timerSet;
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
        return !dirty && closed.isEmpty() && !committing;
    }
}
