package org.apache.arrow.memory;

import org.apache.arrow.memory.rounding.RoundingPolicy;

/**
 * Opens the one door that Arrow keeps to its own package: a root allocator with an allocation manager of the caller's
 * choice. Nothing else of ours lives in this package.
 */
public final class RootAllocators {
    private RootAllocators() {}

    /** A root of at most {@code limitBytes}. */
    public static RootAllocator newRoot(long limitBytes, RoundingPolicy rounding, AllocationManager.Factory factory) {
        return new RootAllocator(BaseAllocator.configBuilder()
                .allocationManagerFactory(factory)
                .maxAllocation(limitBytes)
                .roundingPolicy(rounding)
                .build());
    }
}
