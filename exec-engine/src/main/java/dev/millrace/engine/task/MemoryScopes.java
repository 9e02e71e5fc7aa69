package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.heap.HeapRelief;
import dev.millrace.memory.PooledAllocation;
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
    private final BufferAllocator root;
    private final MemoryPressure pressure;

    @GuardedBy("this") private final List<MemoryScope> lingering = new ArrayList<>();

    /** @param yielding ends queries that give way; on other threads than those that ask for memory, if there are any */
    public MemoryScopes(long limitBytes, Executor yielding) {
        MemoryPressure whole = new MemoryPressure(limitBytes, yielding);
        pressure = whole;
        root = PooledAllocation.newRoot(limitBytes, new AllocationListener() {
            @Override
            public boolean onFailedAllocation(long bytes, AllocationOutcome outcome) {
                return whole.makeRoom(Optional.empty(), bytes);
            }
        });
        pressure.over(root);
    }

    /** For rows that belong to no query or relation. */
    public BufferAllocator root() {
        return root;
    }

    /** A scope for one owner, who gives it back by {@link #release}. */
    public MemoryScope newScope(String owner) {
        return newScope(owner, Long.MAX_VALUE);
    }

    /** A scope for one owner, who is to hold no more than this and gives it back by {@link #release}. */
    public MemoryScope newScope(String owner, long mostBytes) {
        releaseLingering();
        MemoryScope scope = new MemoryScope(owner, mostBytes, root, pressure);
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
        root.close();
    }
}
