package dev.millrace.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.DefaultAllocationManagerOption;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.memory.util.MemoryUtil;

/**
 * Holds every access of {@link Memory} to what is allocated, with {@code -Dmillrace.memory.checked=true}: for tests and
 * fuzzers. A shadow byte per eight bytes says how many of them may be touched (Serebryany et al., AddressSanitizer, USENIX ATC
 * 2012). All of Arrow's memory and of {@link Memory#allocate} comes from here then, with red zones between blocks; a freed
 * block rests in quarantine before its memory is used again, so that an address kept too long is seen. Allocators that cut
 * blocks of larger ones mark what is between by {@link Memory#forbid} and {@link Memory#permit}.
 *
 * <p>What is found is an {@link InvalidAccess}, and stays among {@link #found()}, as many an error is answered and forgotten.
 * Safe on any thread.
 */
public final class CheckedMemory {
    private static final int PAGE_SHIFT = 20;
    private static final long PAGE_BYTES = 1L << PAGE_SHIFT;
    private static final int GRANULE_SHIFT = 3;
    private static final int GRANULE = 1 << GRANULE_SHIFT;
    private static final int PAGE_GRANULES = 1 << PAGE_SHIFT - GRANULE_SHIFT;
    private static final int TABLE = 1 << 17; // pages that may be known, 128 GB
    private static final int SLAB_PAGES = 16;
    private static final int RED_ZONE = 32;
    private static final long LARGE_BYTES = PAGE_BYTES / 2; // from here on blocks have pages of their own
    private static final long QUARANTINE_BYTES = 64L << 20;
    private static final int QUARANTINE_BLOCKS = 20_000;
    private static final int MOST_FOUND = 100;

    private static final long[] keys = new long[TABLE]; // page number + 1, 0 for none; written under the lock
    private static final byte[][] shadows = new byte[TABLE][]; // written before their keys
    private static final ConcurrentSkipListMap<Long, Block> live = new ConcurrentSkipListMap<>();

    @GuardedBy("CheckedMemory.class") private static final Map<Long, Deque<Long>> reusable = new HashMap<>(); // by size with red zone

    @GuardedBy("CheckedMemory.class") private static final Deque<Block> quarantine = new ArrayDeque<>();

    private static final Queue<InvalidAccess> found = new ConcurrentLinkedQueue<>();

    @GuardedBy("CheckedMemory.class") private static long quarantined; // bytes

    @GuardedBy("CheckedMemory.class") private static long slabNext;

    @GuardedBy("CheckedMemory.class") private static long slabEnd;

    /** An access to what is not allocated. */
    public static final class InvalidAccess extends AssertionError {
        private static final long serialVersionUID = 1;

        private InvalidAccess(String message) {
            super(message);
        }
    }

    /** @param base what the system gave, or 0 for a piece of a slab */
    private record Block(long address, long bytes, long room, long base) {}

    private CheckedMemory() {}

    /** Whether accesses are checked in this JVM. */
    public static boolean isOn() {
        return Memory.CHECKED;
    }

    /** What was found so far, up to some number. */
    public static List<InvalidAccess> found() {
        return new ArrayList<>(found);
    }

    /** Forgets what was found: for tests that make it happen. */
    public static void forget() {
        found.clear();
    }

    // ---- allocation ------------------------------------------------------------------------------------------------

    static synchronized long allocate(long bytes) {
        long room = roomFor(bytes);
        Block block;
        if (room >= LARGE_BYTES) {
            long whole = roundUp(room, PAGE_BYTES);
            long base = MemoryUtil.allocateMemory(whole + PAGE_BYTES);
            block = new Block(roundUp(base, PAGE_BYTES), bytes, whole, base);
            addPages(block.address(), whole);
        } else {
            Deque<Long> free = reusable.get(room);
            block = new Block(free == null || free.isEmpty() ? cut(room) : free.poll(), bytes, room, 0);
        }
        live.put(block.address(), block);
        mark(block.address(), bytes, true);
        return block.address();
    }

    static synchronized void free(long address) {
        Block block = live.remove(address);
        if (block == null) {
            throw report("free of " + describe(address));
        }
        mark(address, block.bytes(), false);
        quarantine.add(block);
        quarantined += block.room();
        while (quarantined > QUARANTINE_BYTES || quarantine.size() > QUARANTINE_BLOCKS) {
            Block oldest = quarantine.poll();
            quarantined -= oldest.room();
            if (oldest.base() != 0) {
                MemoryUtil.freeMemory(oldest.base());
            } else {
                reusable.computeIfAbsent(oldest.room(), size -> new ArrayDeque<>())
                        .add(oldest.address());
            }
        }
    }

    private static long roomFor(long bytes) {
        long room = roundUp(Math.max(1, bytes) + RED_ZONE, 64);
        return room <= 1024 ? room : roundUp(room, Math.max(64, Long.highestOneBit(room) >>> 3));
    }

    @GuardedBy("CheckedMemory.class") private static long cut(long room) {
        if (slabNext + room > slabEnd) {
            long base = MemoryUtil.allocateMemory((SLAB_PAGES + 1) * PAGE_BYTES); // never given back
            slabNext = roundUp(base, PAGE_BYTES);
            slabEnd = slabNext + SLAB_PAGES * PAGE_BYTES;
            addPages(slabNext, slabEnd - slabNext);
        }
        long address = slabNext;
        slabNext += room;
        return address;
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    // ---- shadow ----------------------------------------------------------------------------------------------------

    private static void addPages(long from, long bytes) {
        for (long page = from >>> PAGE_SHIFT; page < from + bytes >>> PAGE_SHIFT; page++) {
            int slot = slot(page);
            if (keys[slot] == 0) {
                shadows[slot] = new byte[PAGE_GRANULES];
                keys[slot] = page + 1;
            } else {
                Arrays.fill(shadows[slot], (byte) 0);
            }
        }
    }

    /** Where a page is in the table, or the free slot where it would be. */
    private static int slot(long page) {
        int slot = firstSlot(page);
        while (keys[slot] != 0 && keys[slot] != page + 1) {
            slot = slot + 1 & TABLE - 1;
        }
        return slot;
    }

    private static int firstSlot(long page) {
        return (int) (page * 0x9E3779B97F4A7C15L >>> 47) & TABLE - 1;
    }

    /** Marks {@code bytes}, of which the first begins a granule, as allowed or not. */
    static synchronized void mark(long address, long bytes, boolean allowed) {
        long at = address;
        long end = address + bytes;
        while (at < end) {
            byte[] shadow = shadows[slot(at >>> PAGE_SHIFT)];
            long pageEnd = Math.min(end, (at >>> PAGE_SHIFT) + 1 << PAGE_SHIFT);
            int first = (int) (at & PAGE_BYTES - 1) >>> GRANULE_SHIFT;
            int whole = (int) (pageEnd - at) >>> GRANULE_SHIFT;
            int rest = (int) (pageEnd - at) & GRANULE - 1;
            if (shadow != null) { // else memory that this class does not know
                Arrays.fill(shadow, first, first + whole, allowed ? (byte) GRANULE : 0);
                if (rest > 0) {
                    shadow[first + whole] = allowed ? (byte) rest : 0;
                }
            }
            at = pageEnd;
        }
    }

    /** Holds an access to its bounds. Without a lock, as it comes before every access; in doubt it looks again with it. */
    static void access(long address, long bytes) {
        long page = address >>> PAGE_SHIFT;
        int slot = firstSlot(page);
        if (bytes > 0 && bytes <= GRANULE && keys[slot] == page + 1) {
            byte[] shadow = shadows[slot];
            int granule = (int) (address & PAGE_BYTES - 1) >>> GRANULE_SHIFT;
            int needed = (int) (address & GRANULE - 1) + (int) bytes;
            if (shadow != null && needed <= GRANULE && shadow[granule] >= needed) {
                return;
            }
        }
        if (bytes != 0) {
            accessAny(address, bytes);
        }
    }

    private static synchronized void accessAny(long address, long bytes) {
        if (bytes < 0 || !isAllowed(address, bytes)) {
            throw report("access of " + bytes + " bytes at " + describe(address));
        }
    }

    private static boolean isAllowed(long address, long bytes) {
        long end = address + bytes;
        for (long at = address; at < end; ) {
            byte[] shadow = shadows[slot(at >>> PAGE_SHIFT)];
            if (shadow == null) {
                return false;
            }
            long pageEnd = Math.min(end, (at >>> PAGE_SHIFT) + 1 << PAGE_SHIFT);
            while (at < pageEnd) {
                long granuleEnd = (at & -GRANULE) + GRANULE;
                int needed = (int) (Math.min(end, granuleEnd) - (granuleEnd - GRANULE));
                if (shadow[(int) (at & PAGE_BYTES - 1) >>> GRANULE_SHIFT] < needed) {
                    return false;
                }
                at = granuleEnd;
            }
        }
        return end > address;
    }

    private static InvalidAccess report(String what) {
        InvalidAccess error = new InvalidAccess(what);
        if (found.size() < MOST_FOUND) {
            found.add(error);
        }
        return error;
    }

    private static String describe(long address) {
        String text = "0x" + Long.toHexString(address);
        Map.Entry<Long, Block> before = live.floorEntry(address);
        Map.Entry<Long, Block> after = live.higherEntry(address);
        synchronized (CheckedMemory.class) {
            for (Block block : quarantine) {
                if (address >= block.address() && address < block.address() + block.room()) {
                    return text + ", " + (address - block.address()) + " into a freed block of " + block.bytes();
                }
            }
        }
        if (before != null && address - before.getKey() <= before.getValue().bytes() + 4096) {
            return text + ", " + (address - before.getKey()) + " into a block of "
                    + before.getValue().bytes();
        }
        if (after != null && after.getKey() - address <= 4096) {
            return text + ", " + (after.getKey() - address) + " before a block of "
                    + after.getValue().bytes();
        }
        return text + ", which is in no block";
    }

    // ---- Arrow -----------------------------------------------------------------------------------------------------

    private static final class Chunks implements AllocationManager.Factory {
        private final ArrowBuf empty = new ArrowBuf(ReferenceManager.NO_OP, null, 0, allocate(GRANULE));

        @Override
        public AllocationManager create(BufferAllocator accountingAllocator, long size) {
            return new Chunk(accountingAllocator, size);
        }

        @Override
        public ArrowBuf empty() {
            return empty;
        }
    }

    /** Gives Arrow's memory from here: what root allocators use from now on that are told nothing else, whoever makes them. */
    static void install() {
        try {
            Field factory = DefaultAllocationManagerOption.class.getDeclaredField("DEFAULT_ALLOCATION_MANAGER_FACTORY");
            factory.setAccessible(true); // Arrow's own are all that can be named there
            factory.set(null, new Chunks());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Arrow keeps its allocation manager elsewhere", e);
        }
    }

    /** A root whose buffers are exactly as large as asked for: a reader behind the end of larger ones would find room there. */
    static RootAllocator newRoot(long limitBytes, AllocationListener listener, ChunkSource source) {
        return new SourcedRoot(
                limitBytes, listener, new Chunks(), requested -> Math.max(1, requested), source, () -> {});
    }

    private static final class Chunk extends AllocationManager {
        private final long address;
        private final long size;

        Chunk(BufferAllocator accountingAllocator, long size) {
            super(accountingAllocator);
            this.size = size;
            this.address = allocate(size);
        }

        @Override
        protected long memoryAddress() {
            return address;
        }

        @Override
        public long getSize() {
            return size;
        }

        @Override
        protected void release0() {
            free(address);
        }
    }
}
