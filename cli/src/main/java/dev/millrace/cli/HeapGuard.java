package dev.millrace.cli;

import dev.millrace.engine.heap.HeapCollectors;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Ends a server whose Java heap is used up. A single OutOfMemoryError is not that: it ends the query or the statement that asked
 * for too much. Used up it is when collecting takes nearly all the time, for ten seconds, and leaves nearly nothing free: then
 * nobody is answered any more, and what supervises the process starts it again over its data directory, which it could not while
 * the process is there.
 *
 * <p>It has a thread of its own, which makes as few objects as it can; one that it cannot make counts as a full heap.
 */
final class HeapGuard {
    /** How the process ends then. */
    static final int EXIT_CODE = 3;

    private static final long LOOK_MILLIS = 500;
    private static final double MOST_OF_THE_TIME = 0.8;
    private static final double NEARLY_FULL = 0.9;
    private static final int LOOKS = 20; // one after the other

    private final List<? extends GarbageCollectorMXBean> collectors;
    private final Optional<MemoryPoolMXBean> oldest;
    private final OutputStream err;
    private final byte[] lastWords;
    private final Runnable halt;
    private int looks; // one after the other at which it was full
    private long lastNanos;
    private long lastMillis;

    /**
     * @param oldest where old objects are; without it the time that collecting takes has to say all
     * @param err for the last words
     * @param halt ends the process
     */
    HeapGuard(
            List<? extends GarbageCollectorMXBean> collectors,
            Optional<MemoryPoolMXBean> oldest,
            OutputStream err,
            Runnable halt) {
        this.collectors = collectors;
        this.oldest = oldest;
        this.err = err;
        this.halt = halt;
        this.lastWords = ("millrace: out of memory: the Java heap of "
                        + (Runtime.getRuntime().maxMemory() >> 20)
                        + " MB is used up, and nothing else is done but collecting it: the process ends (exit code "
                        + EXIT_CODE
                        + "). Definitions in a data directory are kept. Start it with a larger heap"
                        + " (MILLRACE_JVM_OPTIONS=-Xmx8g) or with fewer queries.\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Guards this process. */
    static void begin() {
        HeapGuard guard = new HeapGuard(
                HeapCollectors.all(),
                HeapCollectors.old(),
                new FileOutputStream(FileDescriptor.err),
                () -> Runtime.getRuntime().halt(EXIT_CODE));
        Thread thread = new Thread(guard::watch, "millrace-heap");
        thread.setDaemon(true);
        thread.setPriority(Thread.MAX_PRIORITY);
        thread.start();
    }

    private void watch() {
        lastNanos = System.nanoTime();
        while (true) {
            try {
                Thread.sleep(LOOK_MILLIS);
            } catch (InterruptedException e) {
                return;
            } catch (OutOfMemoryError e) {
                // then the next look says so
            }
            look(System.nanoTime());
        }
    }

    /** Ends the process when at all of the last looks the heap was full. */
    void look(long nanos) {
        boolean isFull;
        try {
            long millis = collectingMillis();
            isFull = (millis - lastMillis) * 1e6 >= MOST_OF_THE_TIME * (nanos - lastNanos) && isNearlyFull();
            lastNanos = nanos;
            lastMillis = millis;
        } catch (OutOfMemoryError e) {
            isFull = true;
        }
        looks = isFull ? looks + 1 : 0;
        if (looks == LOOKS) {
            end();
        }
    }

    private long collectingMillis() {
        long millis = 0;
        for (int i = 0; i < collectors.size(); i++) {
            millis += Math.max(0, collectors.get(i).getCollectionTime());
        }
        return millis;
    }

    /** Whether the last collection left hardly anything. */
    private boolean isNearlyFull() {
        if (oldest.isEmpty()) {
            return true; // then time alone has to say
        }
        MemoryUsage after = oldest.get().getCollectionUsage();
        return after != null && after.getUsed() >= NEARLY_FULL * after.getMax();
    }

    private void end() {
        try {
            err.write(lastWords);
            err.flush();
        } catch (IOException | OutOfMemoryError e) {
            // the exit code says it too
        }
        halt.run();
    }
}
