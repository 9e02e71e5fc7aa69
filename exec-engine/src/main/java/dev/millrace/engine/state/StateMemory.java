package dev.millrace.engine.state;

import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Blocks of memory for state, cut from pages that never move, so that an address may be kept. Freed blocks are reused
 * for the same size class (multiples of eight up to 1 KB, then four classes per power of two). All blocks are aligned to
 * eight bytes; their contents are undefined.
 */
public final class StateMemory implements AutoCloseable {
    private static final int FIRST_PAGE_BYTES = 4 << 10;
    private static final int LARGEST_PAGE_BYTES = 1 << 20;
    private static final int EXACT_BYTES = 1 << 10;
    private static final int EXACT_CLASSES = EXACT_BYTES / 8 + 1;
    private static final int CLASSES = EXACT_CLASSES + 4 * 22;

    private final BufferAllocator allocator;
    private final List<ArrowBuf> pages = new ArrayList<>();
    private final long[] free = new long[CLASSES]; // first free block of each class; each block begins with the next
    private int pagesUsed;
    private long next;
    private long limit;
    private long bytes;

    public StateMemory(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /** A block of at least {@code size} bytes. */
    public long allocate(int size) {
        int sizeClass = sizeClass(size);
        long block = free[sizeClass];
        if (block != 0) {
            free[sizeClass] = Memory.getLong(block);
            return block;
        }
        long rounded = classBytes(sizeClass);
        if (next + rounded > limit) {
            nextPage(rounded);
        }
        block = next;
        next += rounded;
        return block;
    }

    /** Takes over a buffer, of which later blocks are cut: what was written once costs less than memory never touched. */
    public void adopt(ArrowBuf page) {
        pages.add(page);
        bytes += page.capacity();
    }

    /** Gives a block back that was allocated with this size. */
    public void free(long block, int size) {
        int sizeClass = sizeClass(size);
        Memory.putLong(block, free[sizeClass]);
        free[sizeClass] = block;
    }

    /** Gives all blocks back at once and keeps the pages for reuse. */
    public void reset() {
        Arrays.fill(free, 0);
        pagesUsed = 0;
        next = 0;
        limit = 0;
    }

    /** Bytes of all pages. */
    public long bytes() {
        return bytes;
    }

    private void nextPage(long needed) {
        while (pagesUsed < pages.size()) {
            ArrowBuf page = pages.get(pagesUsed++);
            if (page.capacity() >= needed) {
                open(page);
                return;
            }
        }
        long size = Math.max(needed, Math.min(LARGEST_PAGE_BYTES, Math.max(FIRST_PAGE_BYTES, bytes)));
        ArrowBuf page = allocator.buffer(size);
        adopt(page);
        pagesUsed = pages.size();
        open(page);
    }

    private void open(ArrowBuf page) {
        next = page.memoryAddress();
        limit = next + page.capacity();
    }

    private static int sizeClass(int size) {
        if (size <= EXACT_BYTES) {
            return Math.max(1, (size + 7) >>> 3);
        }
        int power = 31 - Integer.numberOfLeadingZeros(size - 1); // 2^power < size <= 2^(power + 1)
        int quarter = ((size - 1) >>> (power - 2)) & 3;
        return EXACT_CLASSES + 4 * (power - 10) + quarter;
    }

    private static long classBytes(int sizeClass) {
        if (sizeClass < EXACT_CLASSES) {
            return 8L * sizeClass;
        }
        int power = 10 + (sizeClass - EXACT_CLASSES) / 4;
        int quarter = (sizeClass - EXACT_CLASSES) % 4;
        return (1L << power) + ((quarter + 1L) << (power - 2));
    }

    @Override
    public void close() {
        reset();
        bytes = 0;
        List<ArrowBuf> all = List.copyOf(pages);
        pages.clear();
        Closing.all(all);
    }
}
