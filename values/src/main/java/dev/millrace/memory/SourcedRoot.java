package dev.millrace.memory;

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.memory.rounding.RoundingPolicy;

/** A root allocator that knows who says where its large chunks come from. Safe on any thread. */
final class SourcedRoot extends RootAllocator {
    private final ChunkSource source;
    private final Runnable atEnd;

    /** @param atEnd what is to be done when it is closed, also if that finds a leak */
    SourcedRoot(
            long limitBytes,
            AllocationListener listener,
            AllocationManager.Factory factory,
            RoundingPolicy rounding,
            ChunkSource source,
            Runnable atEnd) {
        super(RootAllocator.configBuilder()
                .allocationManagerFactory(factory)
                .maxAllocation(limitBytes)
                .listener(listener)
                .roundingPolicy(rounding)
                .build());
        this.source = source;
        this.atEnd = atEnd;
    }

    ChunkSource source() {
        return source;
    }

    @Override
    public void close() {
        try {
            super.close();
        } finally {
            atEnd.run();
        }
    }
}
