package dev.millrace.engine.state;

import dev.millrace.batch.Closing;
import dev.millrace.memory.Memory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows one behind the other in the order in which they came, in chains from each row to an earlier one. The oldest pages go
 * as a whole when all that is in them is over, without a look at any row: memory that was written long ago is not in the
 * cache. Rows have positions, which ascend for ever from 1; one below {@link #begin} is gone, and with it what its chain
 * led to.
 *
 * <pre>
 *   row       how far back the position of the next one in its chain is, 5 bytes, 0: none | the owner's bytes
 *   position  number of the page | where in it the row begins, 20 bits
 * </pre>
 */
public final class RowLog implements AutoCloseable {
    /** Where in a row the owner's bytes begin. */
    public static final int HEADER = 5;

    private static final long DISTANCE = (1L << 8 * HEADER) - 1;
    private static final int PAGE_BITS = 20;
    private static final long IN_PAGE = (1L << PAGE_BITS) - 1;
    private static final int FIRST_PAGE_BYTES = 4 << 10;
    private static final int PAGE_BYTES = 1 << PAGE_BITS;
    private static final int SLACK = Long.BYTES; // words are read and written that reach beyond the last row
    private static final int MOST_SPARE = 8;

    private final BufferAllocator allocator;
    private final Deque<Page> pages = new ArrayDeque<>(); // oldest first
    private final Deque<ArrowBuf> spare = new ArrayDeque<>(); // of PAGE_BYTES
    private long[] bases = new long[16]; // addresses of pages, by the last bits of their numbers
    private long first = 1; // number of the oldest page, if there is one
    private long base; // of the newest page
    private long next; // where the next row goes
    private long limit;
    private long bytes;
    private long size;
    private long added;

    /** Memory, how many rows are in it, and until when the last of them is needed. */
    private static final class Page {
        private final ArrowBuf memory;
        private long rows;
        private long until = Long.MIN_VALUE;

        Page(ArrowBuf memory) {
            this.memory = memory;
        }
    }

    public RowLog(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /**
     * Room for a row of at most so many bytes of the owner's; returns its address. {@link #add} follows, before the next.
     */
    public long room(int most) {
        if (next + HEADER + most + SLACK > limit || next - base > IN_PAGE) {
            newPage(HEADER + most + SLACK);
        }
        return next;
    }

    /**
     * Adds the row that was written to the last {@link #room}.
     *
     * @param length of the owner's bytes
     * @param before the position of the next one in its chain, 0 or gone if there is none
     * @param until when it is needed, for {@link #forget}
     * @return its position
     */
    public long add(int length, long before, long until) {
        long row = next;
        Page page = pages.getLast();
        long position = first + pages.size() - 1 << PAGE_BITS | row - base;
        long distance = before < begin() ? 0 : position - before;
        if (distance > DISTANCE) {
            throw new IllegalStateException("a chain of rows leaps over " + distance + " bytes");
        }
        Memory.putInt(row, (int) distance);
        Memory.putByte(row + 4, (byte) (distance >>> 32));
        next = row + HEADER + length;
        page.rows++;
        page.until = Math.max(page.until, until);
        size++;
        added++;
        return position;
    }

    /** The position of the oldest row there may be. */
    public long begin() {
        return first << PAGE_BITS;
    }

    /** A position that rows of now are before, and later ones are not. */
    public long end() {
        return pages.isEmpty()
                ? begin()
                : (first + pages.size() - 1 << PAGE_BITS) + Math.min(next - base, 1L << PAGE_BITS);
    }

    /** The address of a row that is there. */
    public long address(long position) {
        return bases[(int) (position >>> PAGE_BITS) & bases.length - 1] + (position & IN_PAGE);
    }

    /** The position of the next row of a row's chain, gone or 0 if it was the last; {@code position} is that row's. */
    public long before(long position, long address) {
        long distance = Memory.getLong(address) & DISTANCE;
        return distance == 0 ? 0 : position - distance;
    }

    /** Forgets the oldest rows as far as they are needed only until before a time; many may stay with others that are not. */
    public void forget(long before) {
        while (!pages.isEmpty() && pages.getFirst().until < before) {
            Page page = pages.pollFirst();
            first++;
            size -= page.rows;
            if (page.memory.capacity() == PAGE_BYTES && spare.size() < MOST_SPARE) {
                spare.push(page.memory);
            } else {
                bytes -= page.memory.capacity();
                page.memory.close();
            }
        }
        if (pages.isEmpty()) {
            limit = 0;
        }
    }

    /** How many rows ever came. */
    public long added() {
        return added;
    }

    /** How many rows there are. */
    public long size() {
        return size;
    }

    /** Bytes of all pages. */
    public long bytes() {
        return bytes;
    }

    private void newPage(long needed) {
        ArrowBuf memory;
        if (needed <= PAGE_BYTES && !spare.isEmpty()) {
            memory = spare.pop();
        } else {
            memory = allocator.buffer(Math.max(needed, Math.min(PAGE_BYTES, Math.max(FIRST_PAGE_BYTES, bytes))));
            bytes += memory.capacity();
        }
        pages.addLast(new Page(memory));
        if (pages.size() > bases.length) {
            bases = new long[2 * bases.length];
            long number = first;
            for (Page page : pages) {
                bases[(int) number++ & bases.length - 1] = page.memory.memoryAddress();
            }
        }
        base = memory.memoryAddress();
        next = base;
        limit = base + memory.capacity();
        bases[(int) (first + pages.size() - 1) & bases.length - 1] = base;
    }

    @Override
    public void close() {
        List<ArrowBuf> all = new ArrayList<>(spare);
        pages.forEach(page -> all.add(page.memory));
        spare.clear();
        first += pages.size();
        pages.clear();
        limit = 0;
        bytes = 0;
        size = 0;
        Closing.all(all);
    }
}
