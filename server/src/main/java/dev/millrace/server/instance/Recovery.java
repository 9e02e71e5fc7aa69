package dev.millrace.server.instance;

import dev.millrace.engine.runtime.Engine;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The epochs of the rows that came again when the database was opened: until answers have them they are those of an earlier moment, which
 * nobody is to see who may have seen a later one. Safe on any thread.
 */
public final class Recovery {
    private final Engine engine;
    private final Set<Long> epochs = ConcurrentHashMap.newKeySet();

    Recovery(Engine engine) {
        this.engine = engine;
    }

    /** Rows of this epoch came again. */
    public void accepted(long epoch) {
        epochs.add(epoch);
    }

    /** Whether all is known to have caught up. */
    public boolean isOver() {
        return epochs.isEmpty();
    }

    /** Waits until some relations have caught up. */
    public void await(Collection<String> relations) {
        if (!epochs.isEmpty() && !relations.isEmpty()) {
            epochs.removeIf(epoch -> engine.awaitEpoch(epoch, relations));
        }
    }
}
