package dev.millrace.engine.task;

import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** The allocators of one owner: one for itself and one for each of its operators. Safe on any thread. */
public final class MemoryScope {
    private final BufferAllocator own;
    private final List<BufferAllocator> children = new ArrayList<>(); // guarded by this

    MemoryScope(BufferAllocator own) {
        this.own = own;
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

    /** Bytes of batches and state. */
    public long bytes() {
        return own.getAllocatedMemory();
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
