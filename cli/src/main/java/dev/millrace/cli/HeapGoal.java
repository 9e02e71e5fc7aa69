package dev.millrace.cli;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.millrace.engine.heap.HeapCollectors;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Has a server whose queries keep little on the Java heap take little memory. A collector that works beside the program would
 * otherwise begin only when the heap is nearly as large as it may become; this sets its goal ({@code SoftMaxHeapSize}, which it
 * may exceed) to a multiple of what collections left of late. It rises at once and falls after minutes: what is given back to
 * the system then, nobody can allocate meanwhile. Other collectors, which have no such goal, go by their own.
 *
 * <p>One thread.
 */
final class HeapGoal {
    /** Enough for the garbage of some large statements between two collections. */
    static final long LEAST_BYTES = 1L << 30;

    private static final int TIMES = 3; // what is kept: or a collection would begin soon after the last
    private static final double NOTICEABLE = 0.2;
    static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5); // that less must do before the goal falls

    private final Optional<MemoryPoolMXBean> old;
    private final long mostBytes;
    private final LongConsumer goal;
    private long setBytes;
    private long wantedBytes; // at most, since less was wanted than is set
    private boolean isLess; // less has been wanted
    private long lessNanos; // since when

    /**
     * @param old where old objects are
     * @param mostBytes that the heap may have
     * @param goal takes what the heap shall have, in bytes
     */
    HeapGoal(Optional<MemoryPoolMXBean> old, long mostBytes, LongConsumer goal) {
        this.old = old;
        this.mostBytes = mostBytes;
        this.goal = goal;
        this.setBytes = mostBytes;
    }

    /** Begins small. */
    void begin() {
        set(Math.min(mostBytes, LEAST_BYTES));
    }

    /** That of this process. */
    static HeapGoal ofProcess() {
        HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        return new HeapGoal(
                HeapCollectors.old(),
                Runtime.getRuntime().maxMemory(),
                bytes -> options.setVMOption("SoftMaxHeapSize", Long.toString(bytes)));
    }

    /** Sets the goal anew where what is kept has changed by more than a little, and stays less for long. */
    void look(long nanos) {
        MemoryUsage kept = old.map(MemoryPoolMXBean::getCollectionUsage).orElse(null);
        long wanted = Math.min(mostBytes, Math.max(LEAST_BYTES, kept == null ? 0 : TIMES * kept.getUsed()));
        if (wanted > (1 + NOTICEABLE) * setBytes) {
            set(wanted);
        } else if (wanted >= (1 - NOTICEABLE) * setBytes) {
            isLess = false;
        } else if (!isLess) {
            isLess = true;
            lessNanos = nanos;
            wantedBytes = wanted;
        } else {
            wantedBytes = Math.max(wantedBytes, wanted);
            if (nanos - lessNanos > PATIENCE_NANOS) {
                set(wantedBytes);
            }
        }
    }

    private void set(long bytes) {
        isLess = false;
        setBytes = bytes;
        goal.accept(bytes);
    }
}
