package org.apache.arrow.memory;

import java.lang.reflect.Field;
import org.apache.arrow.memory.rounding.RoundingPolicy;

/**
 * Opens the one door that Arrow keeps to its own package: a root allocator with an allocation manager of the caller's
 * choice. Nothing else of ours lives in this package.
 */
public final class RootAllocators {
    private RootAllocators() {}

    /** A root of at most {@code limitBytes}. */
    public static RootAllocator newRoot(long limitBytes, RoundingPolicy rounding, AllocationManager.Factory factory) {
        return newRoot(limitBytes, AllocationListener.NOOP, rounding, factory, () -> {});
    }

    /** The same, with one who is told what is asked for, and one who is told when the root was closed. */
    public static RootAllocator newRoot(
            long limitBytes,
            AllocationListener listener,
            RoundingPolicy rounding,
            AllocationManager.Factory factory,
            Runnable onClose) {
        BaseAllocator.Config config = BaseAllocator.configBuilder()
                .allocationManagerFactory(factory)
                .maxAllocation(limitBytes)
                .listener(listener)
                .roundingPolicy(rounding)
                .build();
        return new RootAllocator(config) {
            @Override
            public void close() {
                try {
                    super.close();
                } finally {
                    onClose.run();
                }
            }
        };
    }

    /**
     * Makes root allocators that are told nothing else take their memory from this factory: for tests that check accesses. Those
     * that there are already keep theirs.
     */
    public static void setDefault(AllocationManager.Factory factory) {
        try {
            Field field = DefaultAllocationManagerOption.class.getDeclaredField("DEFAULT_ALLOCATION_MANAGER_FACTORY");
            field.setAccessible(true);
            field.set(null, factory);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Arrow keeps its allocation manager elsewhere", e);
        }
    }
}
