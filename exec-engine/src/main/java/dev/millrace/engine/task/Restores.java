package dev.millrace.engine.task;

import com.sun.management.ThreadMXBean;
import dev.millrace.interrupt.Interrupt;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What a query that goes on reads of a checkpoint before any task of it runs: its answer, and the state of each operator's instances.
 * None of these touches another, so several threads read them, as many as there are workers. Gathered and run by one thread, once.
 */
public final class Restores {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final List<Runnable> all = new ArrayList<>();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure =
            new AtomicReference<>(null); // the first; others are with it
    private final AtomicLong allocatedElsewhere = new AtomicLong();

    /** One more, that touches nothing that another does. */
    public void add(Runnable restore) {
        all.add(restore);
    }

    /**
     * Does all, on the caller's thread and others, for what the caller works for. When this returns or throws no other thread is at it.
     * What fails first is thrown; then some of the rest is not done.
     *
     * @return bytes of the Java heap that other threads allocated
     */
    public long run(int threads, Executor others) {
        Interrupt interrupt = Interrupt.current();
        List<CompletableFuture<Void>> helpers = new ArrayList<>();
        try {
            for (int i = 1; i < Math.min(threads, all.size()); i++) {
                helpers.add(CompletableFuture.runAsync(() -> help(interrupt), others));
            }
        } finally { // also if there is no thread to be had
            work();
            helpers.forEach(CompletableFuture::join);
        }
        Throwable first = failure.get();
        if (first instanceof Error error) {
            throw error;
        } else if (first instanceof RuntimeException exception) {
            throw exception;
        }
        return allocatedElsewhere.get();
    }

    private void help(Interrupt interrupt) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try (Interrupt.Binding binding = interrupt.bind()) {
            work();
        }
        allocatedElsewhere.addAndGet(THREADS.getCurrentThreadAllocatedBytes() - before);
    }

    private void work() {
        for (int i = next.getAndIncrement(); i < all.size() && failure.get() == null; i = next.getAndIncrement()) {
            try {
                all.get(i).run();
            } catch (RuntimeException | Error e) {
                Throwable first = failure.compareAndExchange(null, e);
                if (first != null && first != e) { // an error that the JVM keeps may be thrown twice
                    first.addSuppressed(e);
                }
            }
        }
    }
}
