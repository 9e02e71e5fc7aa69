package dev.millrace.cli;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.millrace.engine.heap.HeapCollectors;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Has a server whose queries keep little on the Java heap take little memory. A collector that works beside the program would
 * otherwise begin only when the heap is nearly as large as it may become; this sets its goal ({@code SoftMaxHeapSize}, which it
 * may exceed) to a multiple of what the last collection left. Other collectors, which have no such goal, go by their own.
 *
 * <p>One thread.
 */
final class HeapGoal {
    /** Enough for the garbage of some large statements between two collections. */
    static final long LEAST_BYTES = 768L << 20;

    private static final int TIMES = 3; // what is kept: or a collection would begin soon after the last
    private static final double NOTICEABLE = 0.2;

    private final Optional<MemoryPoolMXBean> old;
    private final long mostBytes;
    private final LongConsumer goal;
    private long setBytes;

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

    /** That of this process. */
    static HeapGoal ofProcess() {
        HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        return new HeapGoal(
                HeapCollectors.old(),
                Runtime.getRuntime().maxMemory(),
                bytes -> options.setVMOption("SoftMaxHeapSize", Long.toString(bytes)));
    }

    /** Sets the goal anew where what is kept has changed by more than a little. */
    void look() {
        MemoryUsage kept = old.map(MemoryPoolMXBean::getCollectionUsage).orElse(null);
        long wanted = Math.min(mostBytes, Math.max(LEAST_BYTES, kept == null ? 0 : TIMES * kept.getUsed()));
        if (Math.abs(wanted - setBytes) > NOTICEABLE * setBytes) {
            goal.accept(wanted);
            setBytes = wanted;
        }
    }
}
