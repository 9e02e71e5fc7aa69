package dev.millrace.memory;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.memory.util.MemoryUtil;

/**
 * Arrow's memory, kept for reuse instead of freed: on these machines first touch of fresh memory costs more than the
 * work done on it (Neptune, dissertation ch. 4: object reuse). Sizes are rounded up to powers of two; each size from 64
 * bytes to 4 MB has a small lock-free rack of free chunks, what does not fit there goes back to the system, and all
 * when the root is closed. Safe on any thread.
 */
public final class PooledAllocation {
    private static final int SMALLEST_SHIFT = 6;
    private static final int LARGEST_SHIFT = 22;
    private static final long MOST_POOLED_BYTES = 128L << 20;

    private static final Logger ARROW_LOG =
            Logger.getLogger("org.apache.arrow"); // held, or its level would be forgotten

    static {
        if (ARROW_LOG.getLevel() == null) {
            ARROW_LOG.setLevel(Level.WARNING); // it tells every program that embeds us which allocator it has chosen
        }
    }

    private static final ArrowBuf EMPTY = new ArrowBuf(ReferenceManager.NO_OP, null, 0, MemoryUtil.allocateMemory(0));

    private static final LongAdder SYSTEM_BYTES = new LongAdder();

    private final Rack[] racks = new Rack[LARGEST_SHIFT - SMALLEST_SHIFT + 1];
    private final AtomicLong pooledBytes = new AtomicLong();
    private volatile boolean closed; // written once, when the root is closed

    private PooledAllocation() {
        for (int shift = SMALLEST_SHIFT; shift <= LARGEST_SHIFT; shift++) {
            racks[shift - SMALLEST_SHIFT] = new Rack(Math.max(8, Math.min(512, (16 << 20) >>> shift)));
        }
    }

    /**
     * A root allocator of at most {@code limitBytes} over a pool of its own; without one where accesses are checked, as memory that
     * is used again at once hides who uses it still.
     */
    public static RootAllocator newRoot(long limitBytes) {
        return newRoot(limitBytes, AllocationListener.NOOP);
    }

    /** The same, with one who is asked what to do when more is asked for than there is. */
    public static RootAllocator newRoot(long limitBytes, AllocationListener listener) {
        return newRoot(limitBytes, listener, ChunkSource.SYSTEM);
    }

    /**
     * The same, with one who says where large chunks come from. Where accesses are checked all come from the system, and {@link #source}
     * is the same.
     */
    public static RootAllocator newRoot(long limitBytes, AllocationListener listener, ChunkSource source) {
        return CheckedMemory.isOn()
                ? CheckedMemory.newRoot(limitBytes, listener, source)
                : newPool(limitBytes, listener, source);
    }

    static RootAllocator newPool(long limitBytes) {
        return newPool(limitBytes, AllocationListener.NOOP, ChunkSource.SYSTEM);
    }

    private static RootAllocator newPool(long limitBytes, AllocationListener listener, ChunkSource source) {
        PooledAllocation pool = new PooledAllocation();
        AllocationManager.Factory factory = new AllocationManager.Factory() {
            @Override
            public AllocationManager create(BufferAllocator accountingAllocator, long size) {
                Optional<ChunkSource.Chunk> elsewhere =
                        size < source.leastBytes() ? Optional.empty() : source.take(accountingAllocator, size);
                return elsewhere.isPresent()
                        ? new ElsewhereChunk(accountingAllocator, size, elsewhere.get())
                        : pool.new Chunk(accountingAllocator, size);
            }

            @Override
            public ArrowBuf empty() {
                return EMPTY;
            }
        };
        return new SourcedRoot(
                limitBytes,
                listener,
                factory,
                requested -> Math.max(1L << SMALLEST_SHIFT, roundUp(requested)),
                source,
                pool::close);
    }

    /** Who says where large chunks of an allocator come from. */
    public static ChunkSource source(BufferAllocator allocator) {
        BufferAllocator at = allocator;
        for (BufferAllocator parent = at.getParentAllocator(); parent != null; parent = at.getParentAllocator()) {
            at = parent;
        }
        return at instanceof SourcedRoot root ? root.source() : ChunkSource.SYSTEM;
    }

    /** Nothing is kept any more. */
    private void close() {
        closed = true;
        for (int rack = 0; rack < racks.length; rack++) {
            long size = 1L << rack + SMALLEST_SHIFT;
            racks[rack].empty(address -> {
                pooledBytes.addAndGet(-size);
                free(size, address);
            });
        }
    }

    /** What all pools of this JVM have of the system, bytes: in use and kept. */
    static long systemBytes() {
        return SYSTEM_BYTES.sum();
    }

    private static long allocate(long size) {
        SYSTEM_BYTES.add(size);
        return MemoryUtil.allocateMemory(size);
    }

    private static void free(long size, long address) {
        SYSTEM_BYTES.add(-size);
        MemoryUtil.freeMemory(address);
    }

    private static long roundUp(long bytes) {
        return bytes <= 1 ? 1 : Long.highestOneBit(bytes - 1) << 1;
    }

    private final class Chunk extends AllocationManager {
        private final long address;
        private final long size;

        Chunk(BufferAllocator accountingAllocator, long size) {
            super(accountingAllocator);
            this.size = size;
            long pooled = take(size);
            this.address = pooled != 0 ? pooled : allocate(size);
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
            if (!give(size, address)) {
                free(size, address);
            }
        }
    }

    /** What is not of this pool. */
    private static final class ElsewhereChunk extends AllocationManager {
        private final long size;
        private final ChunkSource.Chunk chunk;

        ElsewhereChunk(BufferAllocator accountingAllocator, long size, ChunkSource.Chunk chunk) {
            super(accountingAllocator);
            this.size = size;
            this.chunk = chunk;
        }

        @Override
        protected long memoryAddress() {
            return chunk.address();
        }

        @Override
        public long getSize() {
            return size;
        }

        @Override
        protected void release0() {
            chunk.giveBack();
        }
    }

    private Rack rackOf(long size) {
        int shift = 63 - Long.numberOfLeadingZeros(size);
        boolean pooled = Long.bitCount(size) == 1 && shift >= SMALLEST_SHIFT && shift <= LARGEST_SHIFT;
        return pooled ? racks[shift - SMALLEST_SHIFT] : Rack.NONE;
    }

    private long take(long size) {
        long address = rackOf(size).take();
        if (address != 0) {
            pooledBytes.addAndGet(-size);
        }
        return address;
    }

    private boolean give(long size, long address) {
        if (closed
                || pooledBytes.get() + size > MOST_POOLED_BYTES
                || !rackOf(size).give(address)) {
            return false;
        }
        pooledBytes.addAndGet(size);
        if (closed) {
            close(); // it may have passed this slot by then
        }
        return true;
    }

    /** Slots that each hold the address of a free chunk, or 0; the racks fill from slot 0 up. */
    private static final class Rack {
        static final Rack NONE = new Rack(0);

        private static final int TRIES = 8;

        private final AtomicLongArray slots;
        private final AtomicLong held = new AtomicLong(); // about how many; a hint where to look

        Rack(int size) {
            slots = new AtomicLongArray(size);
        }

        long take() {
            int from = (int) Math.min(held.get(), slots.length()) - 1;
            for (int slot = from; slot >= 0 && slot > from - TRIES; slot--) {
                long address = slots.get(slot);
                if (address != 0 && slots.compareAndSet(slot, address, 0)) {
                    held.decrementAndGet();
                    return address;
                }
            }
            return 0;
        }

        /** Takes all there is. */
        void empty(LongConsumer each) {
            for (int slot = 0; slot < slots.length(); slot++) {
                long address = slots.getAndSet(slot, 0);
                if (address != 0) {
                    held.decrementAndGet();
                    each.accept(address);
                }
            }
        }

        boolean give(long address) {
            int from = (int) Math.max(0, Math.min(held.get(), slots.length() - 1L));
            for (int slot = from; slot < slots.length() && slot < from + TRIES; slot++) {
                if (slots.compareAndSet(slot, 0, address)) {
                    held.incrementAndGet();
                    return true;
                }
            }
            return false;
        }
    }
}
