package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.AllocationOutcome;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;

/** The allocators of one owner: one for itself and one for each of its operators. Safe on any thread. */
public final class MemoryScope {
    private volatile String owner; // written by who renames it, read by who tells of it
    private final BufferAllocator own;
    private final AllocationListener spare;
    private final MemoryLimits limits;
    private final AtomicLong spilledBytes = new AtomicLong();

    @GuardedBy("this") private final List<BufferAllocator> children = new ArrayList<>();

    private volatile Optional<Consumer<MillraceException>> yielding = Optional.empty(); // set once, by the owner
    private volatile Optional<MillraceException> told = Optional.empty(); // to give way, and why; by who chose it
    private volatile boolean gaveWay; // written once, by who made the owner do so

    /**
     * @param owner as messages name it
     * @param limits what the owner may hold, and where
     */
    MemoryScope(String owner, MemoryLimits limits, BufferAllocator root, MemoryPressure pressure) {
        this.owner = owner;
        this.limits = limits;
        AllocationListener listener = new AllocationListener() {
            @Override
            public void onPreAllocation(long bytes) {
                pressure.before(Optional.of(MemoryScope.this), bytes);
            }

            @Override
            public boolean onFailedAllocation(long bytes, AllocationOutcome outcome) {
                return pressure.makeRoom(Optional.of(MemoryScope.this), bytes);
            }
        };
        this.spare = new AllocationListener() {
            @Override
            public void onPreAllocation(long bytes) {
                if (pressure.headroom() < bytes) {
                    throw new OutOfMemoryException("nothing is left to spare");
                }
            }
        };
        this.own = root.newChildAllocator(owner, listener, 0, limits.mostBytes());
    }

    /** The owner has another name. */
    public void rename(String newOwner) {
        owner = newOwner;
    }

    String owner() {
        return owner;
    }

    public BufferAllocator own() {
        return own;
    }

    /** An allocator for one operator; nobody need close it. */
    public synchronized BufferAllocator newChild(String name) {
        BufferAllocator child = own.newChildAllocator(name, 0, Long.MAX_VALUE);
        children.add(child);
        return child;
    }

    /** The same for what can be done without: when memory ends, Arrow's exception says so at once, and nobody gives way. */
    public synchronized BufferAllocator newChildForSpare(String name) {
        BufferAllocator child = own.newChildAllocator(name, spare, 0, Long.MAX_VALUE);
        children.add(child);
        return child;
    }

    /**
     * Says how the owner ends when it holds most and others need memory. It is called once, on a thread of its own, and frees
     * all that the owner holds before it returns. Before the owner runs.
     */
    public void mayGiveWay(Consumer<MillraceException> how) {
        yielding = Optional.of(how);
    }

    /** Whether this scope's query could give way now. */
    boolean isCandidate() {
        return yielding.isPresent() && told.isEmpty();
    }

    /** Why the query is to give way, once it is. */
    Optional<MillraceException> told() {
        return told;
    }

    /** By who chose it among the candidates, once. */
    void tell(MillraceException why) {
        told = Optional.of(why);
    }

    /** The query was not made to give way after all. */
    void untell() {
        told = Optional.empty();
    }

    void giveWay() {
        try {
            yielding.orElseThrow().accept(told.orElseThrow());
        } finally {
            gaveWay = true;
        }
    }

    boolean isGivingWay() {
        return told.isPresent() && !gaveWay;
    }

    /** Bytes of batches and state that are in memory. */
    public long bytes() {
        return own.getAllocatedMemory() - spilledBytes.get();
    }

    /** Bytes of state that are in files. */
    public long spilledBytes() {
        return spilledBytes.get();
    }

    /** Returns the sum. */
    long addSpilled(long more) {
        return spilledBytes.addAndGet(more);
    }

    /** In memory there is to be no more of what can be in files. */
    long memoryLimitBytes() {
        return limits.memoryBytes();
    }

    long spillLimitBytes() {
        return limits.spillBytes();
    }

    /** What its parts hold. */
    synchronized List<MemoryUser> parts() {
        List<MemoryUser> parts = new ArrayList<>();
        long rest = own.getAllocatedMemory();
        for (BufferAllocator child : children) {
            parts.add(new MemoryUser(child.getName(), child.getAllocatedMemory()));
            rest -= child.getAllocatedMemory();
        }
        parts.add(new MemoryUser("rows under way", rest));
        return parts;
    }

    /** Closes what is empty; returns whether all was. */
    synchronized boolean tryClose() {
        children.removeIf(child -> {
            if (child.getAllocatedMemory() == 0) {
                child.close();
                return true;
            }
            return false;
        });
        if (!children.isEmpty() || own.getAllocatedMemory() != 0) {
            return false;
        }
        own.close();
        return true;
    }
}
