package dev.millrace.engine.checkpoint;

import dev.millrace.batch.Closing;
import dev.millrace.operator.StateFormat;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;

/** What a task has still to write for a checkpoint, while it goes on. Its thread's. */
public final class GradualSave implements AutoCloseable {
    private final Barrier barrier;
    private final Deque<GradualSections> left = new ArrayDeque<>();

    public GradualSave(Barrier barrier) {
        this.barrier = barrier;
    }

    public Barrier barrier() {
        return barrier;
    }

    public void add(GradualSections sections) {
        left.add(sections);
    }

    public boolean isEmpty() {
        return left.isEmpty();
    }

    /**
     * Writes some more; nothing if there is no room for it, unless that is no matter.
     *
     * @param formats gets those of the states that were written to their end
     * @return whether all is written
     */
    public boolean writeMore(Set<StateFormat> formats, boolean evenWithoutRoom) throws IOException {
        GradualSections first = left.getFirst();
        if (!first.hasRoom() && !evenWithoutRoom) {
            return false;
        }
        if (first.writeMore()) {
            formats.addAll(first.formats());
            left.removeFirst().close();
        }
        return left.isEmpty();
    }

    /** Waits a little for room, if there is none. */
    public void awaitRoom() {
        left.getFirst().awaitRoom();
    }

    @Override
    public void close() {
        List<GradualSections> all = List.copyOf(left);
        left.clear();
        Closing.all(all);
    }
}
