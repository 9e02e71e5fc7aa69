package dev.millrace.server.pgwire;

import dev.millrace.server.session.Session;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Answers that wait on an event loop for the disk: rows were accepted there, and their clients hear of it when these are written. The log
 * tells once for all that it wrote together. Belongs to one event loop.
 *
 * <p>No answer waits here for long: when the disk is slow or fails, waiting is left to a thread that can be interrupted.
 */
final class HeldAnswers {
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final EventExecutor loop;
    private final Deque<Held> all =
            new ArrayDeque<>(); // in the order of their entries, as all were accepted on this loop
    private boolean isTold; // a call back is under way for the first of those that were here then
    private boolean isWatched;

    /** Who is to be answered. */
    interface Client {
        /** The rows are on disk. */
        void answer();

        /** It takes too long: somebody else has to wait. */
        void leave();
    }

    private record Held(Session session, long entry, long sinceNanos, Client client) {}

    HeldAnswers(EventExecutor loop) {
        this.loop = loop;
    }

    /** Has a client called once, on the loop; whether there is no other. */
    boolean add(Session session, long entry, Client client) {
        boolean isAlone = all.isEmpty();
        all.add(new Held(session, entry, System.nanoTime(), client));
        tell();
        watch();
        return isAlone;
    }

    private void tell() {
        Held first = all.peek();
        if (!isTold && first != null) {
            isTold = true;
            first.session().tellDurable(first.entry(), () -> execute(this::durable));
        }
    }

    private void execute(Runnable work) {
        try {
            loop.execute(work);
        } catch (RejectedExecutionException e) {
            // the server is closed, and its clients are gone
        }
    }

    /** The next group is being written while the clients of this one are answered. */
    private void durable() {
        isTold = false;
        List<Held> written = new ArrayList<>();
        for (Held next = all.peek(); next != null && next.session().isDurable(next.entry()); next = all.peek()) {
            written.add(all.remove());
        }
        tell();
        written.forEach(held -> held.client().answer());
    }

    private void watch() {
        if (!isWatched) {
            isWatched = true;
            loop.schedule(this::look, PATIENCE_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    private void look() {
        isWatched = false;
        long now = System.nanoTime();
        for (Held next = all.peek(); next != null && now - next.sinceNanos() >= PATIENCE_NANOS; next = all.peek()) {
            all.remove().client().leave();
        }
        if (!all.isEmpty()) {
            watch();
        }
    }
}
