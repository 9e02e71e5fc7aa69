package dev.millrace.engine.state.memory;

import dev.millrace.batch.Closing;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Blocks of memory for state, cut from pages that never move, so that an address may be kept. Freed blocks are reused
 * for the same size class (multiples of eight up to 1 KB, then four classes per power of two). All blocks are aligned to
 * eight bytes; their contents are undefined. Where assertions are on each block is between {@link RedZones}.
 */
public final class StateMemory implements AutoCloseable {
    private static final boolean CHECKED = StateMemory.class.desiredAssertionStatus();
    private static final int FIRST_PAGE_BYTES = 4 << 10;
    private static final int LARGEST_PAGE_BYTES = 1 << 20;
    private static final int EXACT_BYTES = 1 << 10;
    private static final int EXACT_CLASSES = EXACT_BYTES / 8 + 1;
    private static final int CLASSES = EXACT_CLASSES + 4 * 22;

    private final BufferAllocator allocator;
    private final List<ArrowBuf> pages = new ArrayList<>();
    private final List<Long> pageEnds = new ArrayList<>(0); // where blocks are checked: of earlier pages, begin and end
    private long[] free = new long[0]; // first free block of each class; each block begins with the next
    private int pagesUsed;
    private long begin; // of the page from which blocks are cut
    private long next;
    private long limit;
    private long bytes;

    public StateMemory(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /** A block of at least {@code size} bytes. */
    public long allocate(int size) {
        int sizeClass = sizeClass(size);
        long block = sizeClass < free.length ? free[sizeClass] : 0;
        if (block != 0) {
            Memory.permit(block, classBytes(sizeClass));
            free[sizeClass] = Memory.getLong(block);
        } else {
            block = cut(classBytes(sizeClass));
        }
        if (CHECKED) {
            RedZones.open(block, size, classBytes(sizeClass));
        }
        return block;
    }

    private long cut(long bytesOfBlock) {
        long needed = CHECKED ? RedZones.FRONT_BYTES + bytesOfBlock + RedZones.BACK_BYTES : bytesOfBlock;
        if (next + needed > limit) {
            nextPage(needed);
        }
        long block = CHECKED ? next + RedZones.FRONT_BYTES : next;
        next += needed;
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
        if (CHECKED) {
            RedZones.close(block, size, classBytes(sizeClass));
        }
        if (sizeClass >= free.length) { // few are ever needed
            free = Arrays.copyOf(free, Math.min(CLASSES, sizeClass + sizeClass / 2 + 1));
        }
        Memory.putLong(block, free[sizeClass]);
        free[sizeClass] = block;
        Memory.forbid(block, classBytes(sizeClass));
    }

    /** Gives all blocks back at once and keeps the pages for reuse. */
    public void reset() {
        checkAll();
        pageEnds.clear();
        permitAll();
        Arrays.fill(free, 0);
        begin = 0;
        pagesUsed = 0;
        next = 0;
        limit = 0;
    }

    /** Bytes of all pages. */
    public long bytes() {
        return bytes;
    }

    /** What was not to be touched of the pages may be: they are cut anew, or given back. */
    private void permitAll() {
        pages.forEach(page -> Memory.permit(page.memoryAddress(), page.capacity()));
    }

    /** Looks at what is around each block that was cut, where they are checked. */
    private void checkAll() {
        if (CHECKED && limit != 0) {
            pageEnds.add(begin);
            pageEnds.add(next);
            for (int page = 0; page < pageEnds.size(); page += 2) {
                long at = pageEnds.get(page);
                while (at < pageEnds.get(page + 1)) {
                    long block = at + RedZones.FRONT_BYTES;
                    long ofBlock = classBytes(sizeClass(RedZones.size(block)));
                    RedZones.check(block, ofBlock);
                    at = block + ofBlock + RedZones.BACK_BYTES;
                }
            }
        }
    }

    private void nextPage(long needed) {
        if (CHECKED && limit != 0) {
            pageEnds.add(begin);
            pageEnds.add(next);
        }
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
        begin = page.memoryAddress();
        next = begin;
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
        List<ArrowBuf> all = List.copyOf(pages);
        try {
            reset();
        } finally {
            permitAll(); // also if the reset found damage
            pages.clear();
            bytes = 0;
            Closing.all(all);
        }
    }
}
