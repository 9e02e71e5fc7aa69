package dev.millrace.engine.runtime;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.Consumer;

/**
 * The sizes of an engine.
 *
 * @param workers threads that run tasks, at least 1; also how many instances a partitioned pipeline has
 * @param batchRows rows of a full batch
 * @param epochMillis an epoch is closed at the latest so long after its first row, if sources do not fall idle before
 * @param memoryLimitBytes of all batches and state in memory together; where state cannot be on disk who asks for more fails with 53200
 * @param spillLimitBytes of state on disk, where state goes beyond the memory, if the engine was given a place
 * @param schedulingPolicy one of {@code SchedulingPolicies.names()}
 * @param channelHighBytes a producer pauses when a channel between two tasks holds more; small enough that what is
 *     queued stays in the cache
 * @param channelLowBytes and goes on when it holds less; below {@code channelHighBytes}
 */
public record EngineOptions(
        int workers,
        int batchRows,
        int epochMillis,
        long memoryLimitBytes,
        long spillLimitBytes,
        String schedulingPolicy,
        long channelHighBytes,
        long channelLowBytes) {

    /** As much as disks have: they leave room for other things. */
    private static final long MOST_SPILLED_BYTES = 1L << 50;

    public EngineOptions {
        require(workers >= 1, "workers", workers);
        require(batchRows >= 1, "batchRows", batchRows);
        require(epochMillis >= 1, "epochMillis", epochMillis);
        require(memoryLimitBytes >= 1 << 20, "memoryLimitBytes", memoryLimitBytes);
        require(spillLimitBytes >= 0, "spillLimitBytes", spillLimitBytes);
        require(channelLowBytes >= 0, "channelLowBytes", channelLowBytes);
        require(channelHighBytes > channelLowBytes, "channelHighBytes", channelHighBytes);
    }

    /**
     * A worker per core, batches of 4096 rows, epochs of at most 100 ms; memory, which is outside of the heap, up to a
     * third of the machine's.
     */
    public static EngineOptions defaults() {
        Runtime machine = Runtime.getRuntime();
        return new EngineOptions(
                machine.availableProcessors(),
                4096,
                100,
                Math.max(256L << 20, machineBytes() / 3),
                MOST_SPILLED_BYTES,
                "fcfs",
                1L << 20,
                256L << 10);
    }

    /** The memory of the machine, or of the container; if it does not say, what the heap may have. */
    private static long machineBytes() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Runtime.getRuntime().maxMemory();
    }

    public EngineOptions withWorkers(int newWorkers) {
        return with(sizes -> sizes.workers = newWorkers);
    }

    public EngineOptions withBatchRows(int newBatchRows) {
        return with(sizes -> sizes.batchRows = newBatchRows);
    }

    public EngineOptions withEpochMillis(int newEpochMillis) {
        return with(sizes -> sizes.epochMillis = newEpochMillis);
    }

    public EngineOptions withMemoryLimitBytes(long newMemoryLimitBytes) {
        return with(sizes -> sizes.memoryLimitBytes = newMemoryLimitBytes);
    }

    public EngineOptions withSpillLimitBytes(long newSpillLimitBytes) {
        return with(sizes -> sizes.spillLimitBytes = newSpillLimitBytes);
    }

    public EngineOptions withSchedulingPolicy(String newSchedulingPolicy) {
        return with(sizes -> sizes.schedulingPolicy = newSchedulingPolicy);
    }

    public EngineOptions withChannelBytes(long newHighBytes, long newLowBytes) {
        return with(sizes -> {
            sizes.channelHighBytes = newHighBytes;
            sizes.channelLowBytes = newLowBytes;
        });
    }

    private EngineOptions with(Consumer<Sizes> change) {
        Sizes sizes = new Sizes(this);
        change.accept(sizes);
        return new EngineOptions(
                sizes.workers,
                sizes.batchRows,
                sizes.epochMillis,
                sizes.memoryLimitBytes,
                sizes.spillLimitBytes,
                sizes.schedulingPolicy,
                sizes.channelHighBytes,
                sizes.channelLowBytes);
    }

    /** What one of is changed. */
    private static final class Sizes {
        int workers;
        int batchRows;
        int epochMillis;
        long memoryLimitBytes;
        long spillLimitBytes;
        String schedulingPolicy;
        long channelHighBytes;
        long channelLowBytes;

        Sizes(EngineOptions of) {
            workers = of.workers;
            batchRows = of.batchRows;
            epochMillis = of.epochMillis;
            memoryLimitBytes = of.memoryLimitBytes;
            spillLimitBytes = of.spillLimitBytes;
            schedulingPolicy = of.schedulingPolicy;
            channelHighBytes = of.channelHighBytes;
            channelLowBytes = of.channelLowBytes;
        }
    }

    private static void require(boolean holds, String name, long value) {
        if (!holds) {
            throw new IllegalArgumentException(name + " is out of range: " + value);
        }
    }
}
