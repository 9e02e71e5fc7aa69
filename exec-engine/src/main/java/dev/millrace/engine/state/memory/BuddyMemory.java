package dev.millrace.engine.state.memory;

import dev.millrace.batch.Closing;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Blocks of 2^k bytes for state that doubles: a freed block joins its free neighbour (Knowlton, A fast storage allocator,
 * CACM 1965), so that what many small blocks leave behind serves the larger ones that replace them. Addresses stay; the
 * contents of a new block are undefined.
 */
public final class BuddyMemory implements AutoCloseable {
    /** The smallest block is of 2^8 bytes. */
    public static final int SMALLEST_ORDER = 8;

    private static final boolean CHECKED = BuddyMemory.class.desiredAssertionStatus();
    private static final int FIRST_REGION_ORDER = 14;
    private static final int LARGEST_REGION_ORDER = 22; // but for single blocks that are larger
    private static final int NEXT = 0;
    private static final int PREVIOUS = 8;

    /**
     * Memory from the allocator that is halved into blocks.
     *
     * @param free per smallest block 1 + the order of a free one
     * @param live the same of those given out, where assertions are on
     */
    private record Region(ArrowBuf buffer, long base, int order, byte[] free, byte[] live) {
        /** Notes that a block is given out. */
        boolean open(long block, int blockOrder) {
            boolean isNew = live[unit(block)] == 0;
            live[unit(block)] = (byte) (blockOrder + 1);
            return isNew;
        }

        /** Notes that a block is given back; false if there is none of this order. */
        boolean close(long block, int blockOrder) {
            boolean isLive = live[unit(block)] == blockOrder + 1;
            live[unit(block)] = 0;
            return isLive;
        }

        int unit(long block) {
            return (int) (block - base >>> SMALLEST_ORDER);
        }
    }

    private final BufferAllocator allocator;
    private final TreeMap<Long, Region> regions = new TreeMap<>();
    private final long[] first = new long[Long.SIZE]; // per order the first free block; they are linked both ways
    private long bytes;

    public BuddyMemory(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    /** A block of 2^{@code order} bytes. */
    public long allocate(int order) {
        assert order >= SMALLEST_ORDER : order;
        int found = order;
        while (found < first.length && first[found] == 0) {
            found++;
        }
        if (found == first.length) {
            found = addRegion(order);
        }
        long block = first[found];
        Region region = regions.floorEntry(block).getValue();
        unlink(region, block, found);
        while (found > order) {
            found--;
            link(region, block + (1L << found), found);
        }
        assert region.open(block, order) : "a block is given out twice";
        return block;
    }

    /** Gives a block of 2^{@code order} bytes back. */
    public void free(long block, int order) {
        Region region = regions.floorEntry(block).getValue();
        assert region.close(block, order) : "no block of 2^" + order + " bytes is there to be given back";
        long joined = block;
        int joinedOrder = order;
        while (joinedOrder < region.order()) {
            long neighbour = region.base() + (joined - region.base() ^ 1L << joinedOrder);
            if (region.free()[region.unit(neighbour)] != joinedOrder + 1) {
                break;
            }
            unlink(region, neighbour, joinedOrder);
            joined = Math.min(joined, neighbour);
            joinedOrder++;
        }
        if (joinedOrder == region.order() && joinedOrder > LARGEST_REGION_ORDER) {
            regions.remove(region.base());
            bytes -= 1L << region.order();
            region.buffer().close();
        } else {
            link(region, joined, joinedOrder);
        }
    }

    /** Gives all blocks back at once; keeps the regions for reuse but for those of single large blocks. */
    public void reset() {
        Arrays.fill(first, 0);
        List<AutoCloseable> large = new ArrayList<>();
        regions.values().removeIf(region -> {
            boolean isLarge = region.order() > LARGEST_REGION_ORDER;
            if (isLarge) {
                bytes -= 1L << region.order();
                large.add(region.buffer());
            }
            return isLarge;
        });
        for (Region region : regions.values()) {
            Arrays.fill(region.free(), (byte) 0);
            Arrays.fill(region.live(), (byte) 0);
            link(region, region.base(), region.order());
        }
        Closing.all(large);
    }

    /** Bytes of all regions. */
    public long bytes() {
        return bytes;
    }

    private int addRegion(int needed) {
        int usual = Math.max(FIRST_REGION_ORDER, 63 - Long.numberOfLeadingZeros(Math.max(1, bytes)));
        int order = Math.max(needed, Math.min(LARGEST_REGION_ORDER, usual));
        ArrowBuf buffer = allocator.buffer(1L << order);
        Region region = new Region(
                buffer,
                buffer.memoryAddress(),
                order,
                new byte[1 << order - SMALLEST_ORDER],
                new byte[CHECKED ? 1 << order - SMALLEST_ORDER : 0]);
        regions.put(region.base(), region);
        bytes += 1L << order;
        link(region, region.base(), order);
        return order;
    }

    private void link(Region region, long block, int order) {
        long next = first[order];
        Memory.putLong(block + NEXT, next);
        Memory.putLong(block + PREVIOUS, 0);
        if (next != 0) {
            Memory.putLong(next + PREVIOUS, block);
        }
        first[order] = block;
        region.free()[region.unit(block)] = (byte) (order + 1);
    }

    private void unlink(Region region, long block, int order) {
        long next = Memory.getLong(block + NEXT);
        long previous = Memory.getLong(block + PREVIOUS);
        if (previous == 0) {
            first[order] = next;
        } else {
            Memory.putLong(previous + NEXT, next);
        }
        if (next != 0) {
            Memory.putLong(next + PREVIOUS, previous);
        }
        region.free()[region.unit(block)] = 0;
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        regions.values().forEach(region -> all.add(region.buffer()));
        regions.clear();
        Arrays.fill(first, 0);
        bytes = 0;
        Closing.all(all);
    }
}
