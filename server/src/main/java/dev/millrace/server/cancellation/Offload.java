package dev.millrace.server.cancellation;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.heap.HeapShare;
import dev.millrace.server.heap.StatementSize;
import dev.millrace.type.PlainNumeric;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Has the parts of a session's statement that cannot be stopped at every moment done by another thread, if the statement is
 * long or the code of it all is cold: its parsing, its planning, and the making of its tasks with their code. The session's thread waits, and so hears at
 * once when the statement is stopped. What is not done shortly after is left to end by itself, at its next look at the
 * {@link Interrupt}, and its result is discarded: a statement ends when its time is over, however far its planner is between
 * two looks, and however small its share of the processors.
 *
 * <p>A statement of many parts also needs room on the heap, from its first step to {@link #ends}, and waits for that in turn.
 *
 * <p>What is done here may read what belongs to the session, which waits, but not change it; and it must not need locks that
 * the session's thread holds. What was left may see the session go on, which makes its result worthless, and nothing else.
 *
 * <p>Belongs to the session's thread, but for {@link #worker}.
 */
public final class Offload {
    static final int LONG_CHARACTERS = 400; // planning takes at least a millisecond then: many times what this costs

    private static final long GRACE_MILLIS = 10;
    private static final System.Logger LOG = System.getLogger(Offload.class.getPackageName());

    private static final Duration MOST_WAIT = Duration.ofSeconds(60);

    private final OffloadThreads threads;
    private String text = "";
    private boolean isLong;
    private Optional<HeapShare.Held> room = Optional.empty(); // for what is planned now, if that is much
    private volatile Optional<Task<?>> task = Optional.empty(); // that is waited for; read by any thread

    public Offload(OffloadThreads threads) {
        this.threads = threads;
    }

    /** What follows is done for a statement of this text. */
    public void begins(String newText) {
        text = newText;
        isLong = isLong(text);
    }

    /** Whether what is done for a statement of this text is done here. */
    public static boolean isLong(String text) {
        return text.length() >= LONG_CHARACTERS;
    }

    /** The statement is planned, or is not going to be: its room is others'. */
    public void ends() {
        text = "";
        room.ifPresent(HeapShare.Held::close);
        room = Optional.empty();
    }

    private void takeRoom() {
        long bytes = room.isPresent() ? 0 : StatementSize.planned(text);
        if (bytes > 0) {
            room = Optional.of(threads.room().await(bytes, MOST_WAIT));
        }
    }

    /** Does work whose result needs no closing. */
    public <T> T run(Supplier<T> work) {
        return run(work, result -> {});
    }

    /**
     * Does work: in place for a short statement once the code is warm, else on another thread.
     *
     * @param discard is given the result if it comes too late; on the other thread
     * @throws RuntimeException what the work throws, or why it is stopped
     */
    public <T> T run(Supplier<T> work, Consumer<T> discard) {
        return run(false, work, discard);
    }

    /**
     * Does work as {@link #run(Supplier, Consumer)} does.
     *
     * @param large whether the work is, however short the statement
     */
    public <T> T run(boolean large, Supplier<T> work, Consumer<T> discard) {
        if (!isLong && !large && !threads.areCold()) {
            return work.get();
        }
        takeRoom();
        Task<T> begun = new Task<>(threads, work, discard, room);
        if (!threads.start(begun)) {
            return work.get();
        }
        task = Optional.of(begun);
        try {
            return begun.await();
        } finally {
            task = Optional.empty();
            if (begun.isLeft()) {
                room = Optional.empty(); // it is given back when the work ends
            }
        }
    }

    /** The thread that works for the one that waits. On any thread. */
    public Optional<Thread> worker() {
        return task.flatMap(Task::worker);
    }

    private static final class Task<T> implements Runnable {
        private final OffloadThreads threads;
        private final Interrupt interrupt = Interrupt.current();
        private final PlainNumeric numeric = PlainNumeric.current(); // of the statement
        private final CountDownLatch done = new CountDownLatch(1);
        private final Supplier<T> work;
        private final Consumer<T> discard;
        private final Optional<HeapShare.Held> room;

        @GuardedBy("this") private Optional<Thread> worker = Optional.empty(); // while it works

        @GuardedBy("this") private boolean left;

        @GuardedBy("this") private boolean ended;

        @GuardedBy("this") private @Nullable T result; // null until it is there

        @GuardedBy("this") private Optional<Throwable> failure = Optional.empty();

        Task(OffloadThreads threads, Supplier<T> work, Consumer<T> discard, Optional<HeapShare.Held> room) {
            this.threads = threads;
            this.work = work;
            this.discard = discard;
            this.room = room;
        }

        // ---- the other thread

        @Override
        public void run() {
            synchronized (this) {
                worker = Optional.of(Thread.currentThread());
            }
            @Nullable T made = null;
            Optional<Throwable> failed = Optional.empty();
            try (Interrupt.Binding binding = interrupt.bind(threads.turns());
                    PlainNumeric.Binding meaning = numeric.bind()) {
                interrupt.check();
                made = work.get();
            } catch (Throwable e) { // thrown again by who waits
                failed = Optional.of(e);
            }
            if (end(made, failed)) {
                failed.filter(why -> !(why instanceof MillraceException)) // else it is why it was stopped
                        .ifPresent(why -> LOG.log(System.Logger.Level.WARNING, "planning that was left failed", why));
                try {
                    if (made != null) {
                        discard.accept(made);
                    }
                } finally {
                    room.ifPresent(HeapShare.Held::close);
                    threads.ended();
                }
            }
        }

        synchronized Optional<Thread> worker() {
            return worker;
        }

        /** Whether nobody waits any more. */
        private synchronized boolean end(@Nullable T made, Optional<Throwable> failed) {
            worker = Optional.empty();
            Thread.interrupted(); // it was meant for the work that just ended
            result = made;
            failure = failed;
            ended = true;
            done.countDown();
            return left;
        }

        // ---- the session's thread

        T await() {
            boolean interrupted = false;
            try {
                while (true) {
                    try {
                        done.await();
                        return outcome();
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                    if (interrupt.isStopped() && !endsSoon() && leave()) {
                        interrupt.check();
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt(); // the session's step forgets it, if it was meant for it
                }
            }
        }

        private boolean endsSoon() {
            synchronized (this) {
                worker.ifPresent(Thread::interrupt); // it may wait, too
            }
            try {
                return done.await(GRACE_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                return false;
            }
        }

        /** Whether the work may be left to itself, and has not ended. */
        private synchronized boolean leave() {
            if (ended || !threads.leave()) {
                return false;
            }
            left = true;
            return true;
        }

        synchronized boolean isLeft() {
            return left;
        }

        private synchronized T outcome() {
            if (failure.isPresent()) {
                if (failure.get() instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) failure.get(); // a Supplier throws no others
            }
            return Objects.requireNonNull(result);
        }
    }
}
