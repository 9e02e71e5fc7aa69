package dev.millrace.engine.task;

import dev.millrace.batch.PooledAllocation;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The engine's memory, a scope per query or relation. A batch may outlive the query that made it, in the state of another
 * or in a subscriber's hands; then the scope lingers until the batch is closed. Safe on any thread.
 */
public final class MemoryScopes implements AutoCloseable {
    private final BufferAllocator root;
    private final List<MemoryScope> lingering = new ArrayList<>(); // guarded by this

    public MemoryScopes(long limitBytes) {
        root = PooledAllocation.newRoot(limitBytes);
    }

    public BufferAllocator root() {
        return root;
    }

    /** A scope for one owner, who gives it back by {@link #release}. */
    public MemoryScope newScope(String name) {
        releaseLingering();
        return new MemoryScope(root.newChildAllocator(name, 0, Long.MAX_VALUE));
    }

    /** Ends a scope now, or once the last byte in it is freed. */
    public synchronized void release(MemoryScope scope) {
        lingering.add(scope);
        releaseLingering();
    }

    private synchronized void releaseLingering() {
        lingering.removeIf(MemoryScope::tryClose);
    }

    /** Fails if anything was left allocated. */
    @Override
    public void close() {
        releaseLingering();
        root.close();
    }
}
