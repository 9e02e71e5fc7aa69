package dev.millrace.engine.runtime;

import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.GradualSections;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** What a task has still to write for a checkpoint, while it goes on. Its thread's. */
final class GradualSave implements AutoCloseable {
    private final Barrier barrier;
    private final Deque<GradualSections> left = new ArrayDeque<>();

    GradualSave(Barrier barrier) {
        this.barrier = barrier;
    }

    Barrier barrier() {
        return barrier;
    }

    void add(GradualSections sections) {
        left.add(sections);
    }

    boolean isEmpty() {
        return left.isEmpty();
    }

    /**
     * Writes some more; nothing if there is no room for it, unless that is no matter.
     *
     * @param query of whose states it is
     * @return whether all is written
     */
    boolean writeMore(QueryTasks query, boolean evenWithoutRoom) throws IOException {
        GradualSections first = left.getFirst();
        if (!first.hasRoom() && !evenWithoutRoom) {
            return false;
        }
        if (first.writeMore()) {
            query.formats.addAll(first.formats());
            left.removeFirst().close();
        }
        return left.isEmpty();
    }

    /** Waits a little for room, if there is none. */
    void awaitRoom() {
        left.getFirst().awaitRoom();
    }

    @Override
    public void close() {
        List<GradualSections> all = List.copyOf(left);
        left.clear();
        Closing.all(all);
    }
}
