package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.heap.HeapRelief;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.memory.SpillSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.AllocationOutcome;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The engine's memory, a scope per query or relation. A batch may outlive the query that made it, in the state of another
 * or in a subscriber's hands; then the scope lingers until the batch is closed. When memory ends, {@link MemoryPressure} says
 * who gives way. Safe on any thread.
 */
public final class MemoryScopes implements AutoCloseable, HeapRelief.Queries {
    /** Smaller ones are rows that flow through, and the first of a state's pages. */
    private static final long LEAST_SPILLED_BYTES = Long.getLong("millrace.spill.least", 256 << 10);

    private final BufferAllocator root;
    private final MemoryPressure pressure;
    private final SpillSpace space;
    private final Spilling spilling;

    @GuardedBy("this") private final List<MemoryScope> lingering = new ArrayList<>();

    /** All in memory. */
    public MemoryScopes(long limitBytes, Executor yielding) {
        this(limitBytes, yielding, SpillSpace.NONE, 0);
    }

    /**
     * @param limitBytes of what is in memory
     * @param yielding ends queries that give way; on other threads than those that ask for memory, if there are any
     * @param space for state beyond the limit; is closed with this
     * @param spillLimitBytes of what is there
     */
    public MemoryScopes(long limitBytes, Executor yielding, SpillSpace space, long spillLimitBytes) {
        MemoryPressure whole = new MemoryPressure(limitBytes, yielding);
        this.space = space;
        this.pressure = whole;
        this.spilling = new Spilling(space, spillLimitBytes, LEAST_SPILLED_BYTES, whole);
        this.root = PooledAllocation.newRoot(
                most(limitBytes, spillLimitBytes),
                new AllocationListener() {
                    @Override
                    public void onPreAllocation(long bytes) {
                        whole.before(Optional.empty(), bytes);
                    }

                    @Override
                    public boolean onFailedAllocation(long bytes, AllocationOutcome outcome) {
                        return whole.makeRoom(Optional.empty(), bytes);
                    }
                },
                spilling);
        pressure.over(root, spilling);
    }

    /** What the allocator itself is held to: where there are files, nothing, as who decides what is there holds both to their limits. */
    private long most(long limitBytes, long spillLimitBytes) {
        return space.isNone() || spillLimitBytes == 0 ? limitBytes : Long.MAX_VALUE;
    }

    /** Sets other limits, from now on: what is there stays where it is. */
    public void limit(long limitBytes, long spillLimitBytes) {
        pressure.limit(limitBytes);
        spilling.limit(spillLimitBytes);
        root.setLimit(most(limitBytes, spillLimitBytes));
    }

    /** Bytes in memory. */
    public long bytes() {
        return pressure.memoryBytes();
    }

    /** Bytes in files. */
    public long spilledBytes() {
        return spilling.bytes();
    }

    /** For rows that belong to no query or relation. */
    public BufferAllocator root() {
        return root;
    }

    /** A scope for one owner, who gives it back by {@link #release}. */
    public MemoryScope newScope(String owner) {
        return newScope(owner, MemoryLimits.NONE);
    }

    /** A scope for one owner, who is to hold no more than this and gives it back by {@link #release}. */
    public MemoryScope newScope(String owner, MemoryLimits limits) {
        releaseLingering();
        MemoryScope scope = new MemoryScope(owner, limits, root, pressure);
        spilling.add(scope);
        pressure.add(scope);
        return scope;
    }

    /** Ends a scope now, or once the last byte in it is freed. */
    public synchronized void release(MemoryScope scope) {
        lingering.add(scope);
        releaseLingering();
    }

    private synchronized void releaseLingering() {
        lingering.removeIf(scope -> {
            boolean isClosed = scope.tryClose();
            if (isClosed) {
                pressure.remove(scope);
                spilling.remove(scope);
            }
            return isClosed;
        });
    }

    /**
     * The greediest queries give way, until they are this part of what all of them hold, because something other than this memory
     * is used up. Returns at once.
     *
     * @param why of who gives way, by its name
     */
    public void giveWay(double part, UnaryOperator<String> why) {
        pressure.giveWay(part, why);
    }

    @Override
    public void giveWay(double part) {
        giveWay(
                part,
                owner -> "out of memory: the Java heap of "
                        + (Runtime.getRuntime().maxMemory() >> 20)
                        + " MB is nearly full, and " + owner
                        + " gives way because it is one of those that hold most");
    }

    /** Whether some are giving way now. */
    @Override
    public boolean areGivingWay() {
        return pressure.isUnderWay();
    }

    /** Fails if anything was left allocated. */
    @Override
    public void close() {
        pressure.awaitGiven();
        releaseLingering();
        try {
            root.close();
        } finally {
            space.close();
        }
    }
}
