package dev.millrace.server;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
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

    private final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    private final Optional<MemoryPoolMXBean> oldest;
    private final byte[] lastWords;
    private final Runnable halt;

    private HeapGuard(Runnable halt) {
        this.halt = halt;
        this.oldest = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP && pool.isCollectionUsageThresholdSupported())
                .filter(pool -> pool.getName().matches(".*(Old|Tenured).*"))
                .findFirst();
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
        HeapGuard guard = new HeapGuard(() -> Runtime.getRuntime().halt(EXIT_CODE));
        Thread thread = new Thread(guard::watch, "millrace-heap");
        thread.setDaemon(true);
        thread.setPriority(Thread.MAX_PRIORITY);
        thread.start();
    }

    private void watch() {
        int looks = 0;
        long lastNanos = System.nanoTime();
        long lastMillis = 0;
        while (true) {
            boolean isFull;
            try {
                Thread.sleep(LOOK_MILLIS);
                long nanos = System.nanoTime();
                long millis = collectingMillis();
                isFull = (millis - lastMillis) * 1e6 >= MOST_OF_THE_TIME * (nanos - lastNanos) && isNearlyFull();
                lastNanos = nanos;
                lastMillis = millis;
            } catch (InterruptedException e) {
                return;
            } catch (OutOfMemoryError e) {
                isFull = true;
            }
            looks = isFull ? looks + 1 : 0;
            if (looks == LOOKS) {
                end();
            }
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
        try (FileOutputStream err = new FileOutputStream(FileDescriptor.err)) {
            err.write(lastWords);
        } catch (IOException | OutOfMemoryError e) {
            // the exit code says it too
        }
        halt.run();
    }
}
