package dev.millrace.testing.memory;

import dev.millrace.memory.CheckedMemory;
import dev.millrace.memory.Memory;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.memory.rounding.DefaultRoundingPolicy;
import org.apache.arrow.memory.rounding.RoundingPolicy;

/**
 * Arrow's memory as a sceptic hands it out: new memory is full of {@code 0xA5}, freed memory of {@code 0xDB}, so code
 * that reads what it never wrote, or what it gave back, computes something visibly wrong instead of zeros.
 */
public final class PoisonedAllocation {
    private static final byte FRESH = (byte) 0xA5;
    private static final byte FREED = (byte) 0xDB;

    private static final ArrowBuf EMPTY = new ArrowBuf(ReferenceManager.NO_OP, null, 0, Memory.allocate(1));

    /** Exactly what is asked for where accesses are checked. */
    private static final RoundingPolicy ROUNDING =
            CheckedMemory.isOn() ? requested -> Math.max(1, requested) : DefaultRoundingPolicy.DEFAULT_ROUNDING_POLICY;

    private PoisonedAllocation() {}

    /** A root allocator of at most {@code limitBytes}. */
    public static RootAllocator newRoot(long limitBytes) {
        AllocationManager.Factory factory = new AllocationManager.Factory() {
            @Override
            public AllocationManager create(BufferAllocator accountingAllocator, long size) {
                return new Chunk(accountingAllocator, size);
            }

            @Override
            public ArrowBuf empty() {
                return EMPTY;
            }
        };
        return new RootAllocator(RootAllocator.configBuilder()
                .allocationManagerFactory(factory)
                .maxAllocation(limitBytes)
                .roundingPolicy(ROUNDING)
                .build());
    }

    private static final class Chunk extends AllocationManager {
        private final long address;
        private final long size;

        Chunk(BufferAllocator accountingAllocator, long size) {
            super(accountingAllocator);
            this.size = size;
            this.address = Memory.allocate(size);
            Memory.fill(address, size, FRESH);
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
            Memory.fill(address, size, FREED);
            Memory.free(address);
        }
    }
}
