package dev.millrace.engine.group;

import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.error.MillraceException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Room on the Java heap for what members have for themselves, their operators or their views, which is asked for by the dozen: what is in use of a heap is not soon known. For one
 * thread at a time.
 */
final class MemberRoom implements AutoCloseable {
    private static final int AT_ONCE = 64;

    private final HeapBudget heap;
    private final long bytes;
    private final Deque<HeapBudget.Taken> taken = new ArrayDeque<>();
    private int free;

    /** @param bytes that a member takes */
    MemberRoom(HeapBudget heap, long bytes) {
        this.heap = heap;
        this.bytes = bytes;
    }

    /** @throws MillraceException 53200 if there is no room for one more */
    void take(String member) {
        if (free == 0) {
            taken.push(heap.take(member, AT_ONCE * bytes));
            free = AT_ONCE;
        }
        free--;
    }

    /** What one had is closed. */
    void give() {
        free++;
        if (free > 2 * AT_ONCE) {
            heap.give(taken.pop());
            free -= AT_ONCE;
        }
    }

    @Override
    public void close() {
        taken.forEach(heap::give);
        taken.clear();
        free = 0;
    }
}
