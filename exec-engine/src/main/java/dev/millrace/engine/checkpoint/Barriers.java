package dev.millrace.engine.checkpoint;

import java.util.Optional;

/** The checkpoint under way in an engine, if there is one; at most one at a time. Safe on any thread. */
public final class Barriers {
    private volatile Optional<Barrier> current = Optional.empty(); // written by who makes a checkpoint, read by tasks

    public void begin(Barrier barrier) {
        current = Optional.of(barrier);
    }

    public void end() {
        current = Optional.empty();
    }

    public Optional<Barrier> current() {
        return current;
    }

    /** The one that is as of the end of an epoch. Costs one read when there is none. */
    public Optional<Barrier> at(long epoch) {
        Optional<Barrier> now = current;
        return now.isPresent() && now.get().isAt(epoch) ? now : Optional.empty();
    }
}
