package dev.millrace.engine.task;

/**
 * What a query may hold, in bytes.
 *
 * @param mostBytes of batches and state, wherever they are: it fails (53200) before it has more
 * @param memoryBytes of these in memory; state beyond that is in files, if there are some
 * @param spillBytes of these in files: it fails (53400) before it has more
 */
public record MemoryLimits(long mostBytes, long memoryBytes, long spillBytes) {
    /** As much as there is of everything. */
    public static final MemoryLimits NONE = new MemoryLimits(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

    public MemoryLimits {
        if (mostBytes < 0 || memoryBytes < 0 || spillBytes < 0) {
            throw new IllegalArgumentException("less than nothing");
        }
    }

    public MemoryLimits withMostBytes(long bytes) {
        return new MemoryLimits(bytes, memoryBytes, spillBytes);
    }

    public MemoryLimits withMemoryBytes(long bytes) {
        return new MemoryLimits(mostBytes, bytes, spillBytes);
    }

    public MemoryLimits withSpillBytes(long bytes) {
        return new MemoryLimits(mostBytes, memoryBytes, bytes);
    }
}
