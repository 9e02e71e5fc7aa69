package dev.millrace.testing.memory;

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.OutOfMemoryException;

/** Memory that ends at the n-th allocation from {@link #failAt} on, once. */
public final class FailingMemory implements AllocationListener {
    private long left = Long.MAX_VALUE;
    private boolean failed;

    public void failAt(long n) {
        left = n;
        failed = false;
    }

    public void failNoMore() {
        left = Long.MAX_VALUE;
    }

    public boolean hasFailed() {
        return failed;
    }

    @Override
    public void onPreAllocation(long size) {
        if (--left == 0) {
            failed = true;
            throw new OutOfMemoryException("memory ends here");
        }
    }
}
