package dev.millrace.expressions.user;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.management.ThreadMXBean;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Watches calls of users' code: one that takes too long, allocates too much, or works for what was stopped is ended. A thread
 * of its own looks at all calls under way some hundred times a second; calls that are in order cost a few stores. What is to
 * end is told so where it waits, by an interrupt of its thread, and where it loops, by {@link UserGuard}.
 */
final class UserWatch {
    /** How long one call may take. */
    static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int IDLE_LOOKS = 400; // without a call, before the watch rests
    private static final long MOST_BYTES =
            Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 4);
    private static final Optional<ThreadMXBean> MEMORY =
            ManagementFactory.getThreadMXBean() instanceof ThreadMXBean counting
                            && counting.isThreadAllocatedMemorySupported()
                    ? Optional.of(counting)
                    : Optional.empty();

    private static final Set<Call> CALLS = ConcurrentHashMap.newKeySet();
    private static final ThreadLocal<Call> CURRENT = ThreadLocal.withInitial(Call::new);
    private static volatile boolean resting = true; // written by the watch, read by those who call

    @GuardedBy("UserWatch.class") private static @Nullable Thread watch;

    private UserWatch() {}

    /** The calls of one thread, one at a time. */
    static final class Call {
        private final Thread thread = Thread.currentThread();
        private String key = "";
        private Interrupt interrupt = Interrupt.current();
        private volatile long number; // odd while a call is under way; written by the thread, read by the watch
        private volatile @Nullable MillraceException
                stopped; // written by the watch, read by the thread; null while in order
        private final AtomicReference<@Nullable Runnable> end =
                new AtomicReference<>(); // taken by who is first: the thread, or the watch
        private volatile long seen; // written by the watch, read by all
        private volatile long seenNanos; // written by the watch before seen, read by all
        // the watch's
        private long seenBytes;

        private Call() {
            CALLS.add(this);
        }

        /** Ends the call. */
        void leave() {
            number++;
            if (stopped != null) {
                forget();
            }
        }

        /** How else the call under way is ended than by an interrupt, until {@link #endsByItself}. Called by its thread. */
        void endBy(Runnable how) {
            end.set(how);
        }

        /** Whether the call was not ended as {@link #endBy} says; nor will it be. */
        boolean endsByItself() {
            return end.getAndSet(null) != null;
        }

        /** Why the call under way is to end, on its thread; null while it is in order. */
        @Nullable MillraceException why() {
            MillraceException why = stopped;
            return why == null && interrupt.isStopped() ? interrupt.cause().orElse(null) : why;
        }

        private void forget() {
            synchronized (this) { // not while the watch is about to interrupt the thread
                stopped = null;
            }
            Thread.interrupted();
        }

        /** On the watch; returns whether a call is under way that is to end. */
        private boolean look(long now) {
            long current = number;
            if ((current & 1) == 0) {
                return false;
            }
            if (current != seen) {
                seenNanos = now;
                seenBytes = allocated();
                seen = current;
            }
            Optional<MillraceException> why = reason(now);
            if (why.isEmpty()) {
                return false;
            }
            synchronized (this) {
                if (number == current) {
                    stopped = why.get();
                    Runnable how = end.getAndSet(null);
                    if (how != null) {
                        how.run();
                    }
                    thread.interrupt();
                    return true;
                }
            }
            return false;
        }

        /** Whether a call for this has been under way for long. */
        private boolean isStuck(Interrupt of, long now) {
            long current = number;
            return (current & 1) != 0 && current == seen && interrupt == of && now - seenNanos > STUCK_NANOS;
        }

        private Optional<MillraceException> reason(long now) {
            if (interrupt.isStopped()) {
                return interrupt.cause();
            }
            if (now - seenNanos > MOST_NANOS) {
                return Optional.of(MillraceException.user(
                        SqlState.QUERY_CANCELED,
                        "function " + UserCode.name(key) + " took longer than "
                                + TimeUnit.NANOSECONDS.toSeconds(MOST_NANOS) + " s for one call"));
            }
            if (allocated() - seenBytes > MOST_BYTES) {
                return Optional.of(MillraceException.resources(
                        SqlState.OUT_OF_MEMORY,
                        "function " + UserCode.name(key) + " allocated more than " + (MOST_BYTES >> 20)
                                + " MB in one call"));
            }
            return Optional.empty();
        }

        private long allocated() {
            return MEMORY.map(counting -> counting.getThreadAllocatedBytes(thread.getId()))
                    .orElse(0L);
        }
    }

    /** The function that has been at one call for a second or more, of what is stopped by this; on any thread. */
    static Optional<String> stuckIn(Interrupt interrupt) {
        long now = System.nanoTime();
        return CALLS.stream()
                .filter(call -> call.isStuck(interrupt, now))
                .map(call -> UserCode.name(call.key))
                .findFirst();
    }

    /** Begins a call; {@link Call#leave} ends it, on the same thread. */
    static Call enter(String key) {
        Call call = CURRENT.get();
        call.key = key;
        call.interrupt = Interrupt.current();
        call.number++;
        if (resting) {
            wake();
        }
        return call;
    }

    /** Ends the code that the calling thread is in, if it is to end. */
    static void check() {
        MillraceException why = CURRENT.get().stopped;
        if (why != null) {
            throw new UserStopped(why);
        }
    }

    private static synchronized void wake() {
        if (watch == null) {
            watch = new Thread(UserWatch::watch, "millrace-user-watch");
            watch.setDaemon(true);
            watch.start();
        }
        resting = false;
        LockSupport.unpark(watch);
    }

    private static void watch() {
        int idle = 0;
        while (true) {
            long now = System.nanoTime();
            boolean any = false;
            boolean late = false;
            for (Call call : CALLS) {
                any |= (call.number & 1) != 0;
                late |= call.look(now);
                if (!call.thread.isAlive()) {
                    CALLS.remove(call);
                }
            }
            UserGuard.late = late;
            idle = any ? 0 : idle + 1;
            if (idle > IDLE_LOOKS) {
                resting = true;
                if (CALLS.stream().noneMatch(call -> (call.number & 1) != 0)) { // one that began before it was seen
                    LockSupport.park();
                }
                resting = false;
                idle = 0;
            } else {
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
    }
}
