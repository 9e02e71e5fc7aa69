package dev.millrace.engine.heap;

import dev.millrace.error.MillraceException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.arrow.memory.AllocationReservation;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * What an operator holds on the Java heap, counted with the memory of its allocator: so the limits of its query and of the engine hold
 * for it, and the greediest query gives way to it as to any memory. It is told in steps; up to the first nothing is counted. One thread.
 */
public final class CountedHeap implements AutoCloseable {
    /** A step: a power of two, as reservations are. */
    static final int STEP_BYTES = 64 << 10;

    private final BufferAllocator allocator;
    private final Deque<AllocationReservation> steps = new ArrayDeque<>();

    public CountedHeap(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /**
     * Says how much is held now.
     *
     * @param bytes of objects, about
     * @throws MillraceException 53200 if there is no room for them; what is counted is less then
     */
    public void hold(long bytes) {
        long wanted = bytes / STEP_BYTES;
        while (steps.size() > wanted) {
            steps.pop().close();
        }
        while (steps.size() < wanted) {
            steps.push(reserve());
        }
    }

    private AllocationReservation reserve() {
        AllocationReservation step = allocator.newReservation();
        if (step.add(STEP_BYTES)) {
            return step;
        }
        step.close();
        allocator.buffer(STEP_BYTES).close(); // who is to give way does, or this fails: reserving alone tells nobody
        AllocationReservation again = allocator.newReservation();
        if (again.add(STEP_BYTES)) {
            return again;
        }
        again.close();
        throw new OutOfMemoryException("no room for objects on the Java heap: " + allocator.getName() + " holds "
                + allocator.getAllocatedMemory() + " bytes");
    }

    @Override
    public void close() {
        hold(0);
    }
}
