package dev.millrace.server.heap;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/** A part of the Java heap that is for one kind of thing. What is taken are estimates, in bytes. Safe on any thread. */
public final class HeapShare {
    private static final long LOOK_MILLIS = 20; // after as long, who waits looks whether it is stopped

    private final String what;
    private final long mostBytes;

    @GuardedBy("this") private final Deque<Object> waiting = new ArrayDeque<>(); // who came first is served first

    @GuardedBy("this") private long takenBytes;

    /**
     * @param what it is for, as messages say it: {@code prepared statements}
     * @param mostBytes that may be taken at a time
     */
    public HeapShare(String what, long mostBytes) {
        this.what = what;
        this.mostBytes = mostBytes;
    }

    /** What somebody took, until it is closed. */
    public final class Held implements AutoCloseable {
        private final long bytes;

        @GuardedBy("HeapShare.this") private boolean closed;

        private Held(long bytes) {
            this.bytes = bytes;
        }

        /** Gives it back; once, however often it is called. */
        @Override
        public void close() {
            synchronized (HeapShare.this) {
                if (!closed) {
                    closed = true;
                    give(bytes);
                }
            }
        }
    }

    public long mostBytes() {
        return mostBytes;
    }

    /** What is taken now. */
    public synchronized long takenBytes() {
        return takenBytes;
    }

    /** How many wait for room. */
    public synchronized int waiting() {
        return waiting.size();
    }

    /** Takes so much, if there is room and nobody waits for it. */
    public synchronized Optional<Held> tryTake(long bytes) {
        if (!waiting.isEmpty() || bytes > mostBytes - takenBytes) {
            return Optional.empty();
        }
        takenBytes += bytes;
        return Optional.of(new Held(bytes));
    }

    /**
     * Waits until there is room, in turn. Who asks for more than there can be takes all.
     *
     * @param most how long
     * @throws MillraceException 53200 if too little was given back meanwhile, or why the statement under way was stopped
     */
    public Held await(long wanted, Duration most) {
        long bytes = Math.min(wanted, mostBytes);
        Interrupt interrupt = Interrupt.current();
        Object mine = new Object();
        long end = System.nanoTime() + most.toNanos();
        boolean interrupted = false;
        try {
            synchronized (this) {
                waiting.addLast(mine);
                try {
                    while (!interrupt.isStopped()) {
                        if (waiting.peekFirst() == mine && bytes <= mostBytes - takenBytes) {
                            takenBytes += bytes;
                            return new Held(bytes);
                        }
                        if (System.nanoTime() - end >= 0) {
                            throw noRoom(wanted);
                        }
                        try {
                            wait(LOOK_MILLIS);
                        } catch (InterruptedException e) {
                            interrupted = true;
                        }
                    }
                } finally {
                    waiting.remove(mine);
                    notifyAll(); // who was behind may find room
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        interrupt.check();
        throw new AssertionError("it is stopped");
    }

    /** What is said where there is no room for so much. */
    public synchronized MillraceException noRoom(long bytes) {
        return withCure(MillraceException.resources(
                SqlState.OUT_OF_MEMORY,
                "no room on the Java heap: " + what + " may take " + megabytes(mostBytes) + ", of which "
                        + megabytes(takenBytes) + " are taken, and this one would take about " + megabytes(bytes)));
    }

    private static MillraceException withCure(MillraceException why) {
        return why.withHint(
                "send less at a time, or start with a larger heap: MILLRACE_JVM_OPTIONS=-Xmx8g ./millrace server");
    }

    private static String megabytes(long bytes) {
        return bytes < 10 << 20 ? (bytes + 1023 >> 10) + " kB" : (bytes >> 20) + " MB";
    }

    /** Gives back what was taken. */
    synchronized void give(long bytes) {
        takenBytes -= bytes;
        notifyAll();
    }
}
