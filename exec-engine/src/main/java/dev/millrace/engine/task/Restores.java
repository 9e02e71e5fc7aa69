package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.management.ThreadMXBean;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What is read of a checkpoint: rows of tables, answers of queries, the state of each operator's instances. None of these parts touches
 * another, so several threads read them side by side, in the order in which they were added, while whoever adds them goes on; what
 * somebody waits for comes first. Safe on any thread.
 *
 * <pre>
 *   waiting -> under way -> done, or failed
 *   waiting -> cancelled
 * </pre>
 */
public final class Restores {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long LOOK_MILLIS = 100;

    private final int mostHelpers;
    private final Executor others;
    private final Optional<Interrupt> caller; // for what all is read; else each part is for itself

    @GuardedBy("this") private final Deque<Part> waiting = new ArrayDeque<>();

    @GuardedBy("this") private final List<Part> all = new ArrayList<>(); // that may be of interest to who finishes

    @GuardedBy("this") private int helpers;

    @GuardedBy("this") private boolean failed; // one of them

    private final AtomicLong allocatedElsewhere = new AtomicLong();

    private Restores(int helpers, Executor others, Optional<Interrupt> caller) {
        this.mostHelpers = helpers;
        this.others = others;
        this.caller = caller;
    }

    /**
     * What is read for what the caller works for now.
     *
     * @param threads that may be at it, one of them the caller's when it {@link #finish finishes}
     * @param others runs what may take seconds
     */
    public static Restores ofCaller(int threads, Executor others) {
        return new Restores(threads - 1, others, Optional.of(Interrupt.current()));
    }

    /**
     * What is read whatever becomes of who adds it, until it is cancelled.
     *
     * @param helpers that may be at it beside the caller
     */
    public static Restores ofNobody(int helpers, Executor others) {
        return new Restores(helpers, others, Optional.empty());
    }

    /** One thing that is to be read. */
    public final class Part {
        private final Interrupt interrupt = caller.orElseGet(Interrupt::new);
        private @Nullable Runnable work; // null once it was begun; guarded by the whole, as what follows
        private boolean done;
        private boolean cancelled;
        private @Nullable Throwable failure;

        private Part(Runnable work) {
            this.work = work;
        }

        /** Whether the caller is to do it. */
        private @Nullable Runnable begin() {
            synchronized (Restores.this) {
                Runnable begun = work;
                work = null;
                return begun;
            }
        }

        private void run(Runnable begun) {
            Throwable why = null;
            try (Interrupt.Binding binding = interrupt.bind()) {
                begun.run();
            } catch (RuntimeException | Error e) {
                why = e;
            }
            synchronized (Restores.this) {
                failure = why;
                failed |= why != null && !cancelled;
                done = true;
                Restores.this.notifyAll();
            }
        }

        /**
         * Has it read now, by a thread of its own if nobody is at it: the caller can be stopped, and what is read for all cannot.
         *
         * @throws RuntimeException what it failed with, or why the caller is stopped; or an error
         */
        public void await() {
            Runnable first = begin();
            if (first != null) {
                try {
                    others.execute(() -> run(first));
                } catch (RuntimeException | Error e) { // no memory for a thread, for one
                    run(first);
                }
            }
            waitFor(true);
            rethrow(failure());
        }

        private void awaitUnlessCancelled() {
            waitFor(true);
            synchronized (Restores.this) {
                if (cancelled) {
                    return;
                }
            }
            rethrow(failure());
        }

        private static void rethrow(@Nullable Throwable why) {
            if (why instanceof Error error) {
                throw error;
            } else if (why instanceof RuntimeException exception) {
                throw exception;
            }
        }

        private @Nullable Throwable failure() {
            synchronized (Restores.this) {
                return failure;
            }
        }

        /** Nobody is at it any more when this returns, nor will be. */
        public void cancel() {
            MillraceException why =
                    MillraceException.user(SqlState.QUERY_CANCELED, "what was being read is not needed");
            synchronized (Restores.this) {
                cancelled = true;
            }
            if (begin() == null) {
                if (caller.isEmpty()) {
                    interrupt.stop(why);
                }
                waitFor(false);
                return;
            }
            synchronized (Restores.this) {
                failure = why;
                done = true;
                waiting.remove(this);
                Restores.this.notifyAll();
            }
        }

        private void waitFor(boolean isStoppable) {
            boolean interrupted = false;
            try {
                synchronized (Restores.this) {
                    while (!done) {
                        try {
                            Restores.this.wait(LOOK_MILLIS);
                        } catch (InterruptedException e) {
                            interrupted = true; // what stops the caller is its interrupt
                        }
                        if (isStoppable) {
                            Interrupt.checkCurrent();
                        }
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** One more, that touches nothing that another does; it may begin at once. */
    public Part add(Runnable restore) {
        Part part = new Part(restore);
        boolean help;
        synchronized (this) {
            waiting.add(part);
            all.add(part);
            help = helpers < mostHelpers;
            helpers += help ? 1 : 0;
        }
        if (help) {
            try {
                others.execute(this::help);
            } catch (RuntimeException | Error e) { // no memory for a thread, for one: who finishes does it
                synchronized (this) {
                    helpers--;
                }
            }
        }
        return part;
    }

    private void help() {
        for (Part next = nextToHelp(); next != null; next = nextToHelp()) {
            Runnable begun = next.begin();
            if (begun != null) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                next.run(() -> {
                    try {
                        begun.run();
                    } finally {
                        allocatedElsewhere.addAndGet(THREADS.getCurrentThreadAllocatedBytes() - before);
                    }
                });
            }
        }
    }

    private synchronized @Nullable Part nextToHelp() {
        Part next = waiting.poll();
        if (next == null) {
            helpers--;
        }
        return next;
    }

    /** One that nobody is at, unless one failed. */
    private synchronized @Nullable Part next() {
        return failed ? null : waiting.poll();
    }

    private synchronized List<Part> parts() {
        return List.copyOf(all);
    }

    /**
     * Has all be read that is not cancelled, with the caller's help. When this returns or throws no other thread is at it; if one fails, the rest is not begun.
     *
     * @return bytes of the Java heap that other threads allocated
     * @throws RuntimeException what one of them failed with; or an error
     */
    public long finish() {
        try {
            for (Part next = next(); next != null; next = next()) {
                Runnable begun = next.begin();
                if (begun != null) {
                    next.run(begun);
                }
            }
            parts().forEach(Part::awaitUnlessCancelled);
        } catch (RuntimeException | Error e) {
            cancel();
            throw e;
        }
        return allocatedElsewhere.get();
    }

    /** Nobody is at any of it any more when this returns, nor will be. */
    public void cancel() {
        parts().forEach(Part::cancel);
    }
}
