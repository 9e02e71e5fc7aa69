package dev.millrace.engine.view;

import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.OutOfMemoryException;

/** Memory that ends at the n-th allocation from {@link #failAt} on, once. */
final class FailingMemory implements AllocationListener {
    private long left = Long.MAX_VALUE;
    private boolean failed;

    void failAt(long n) {
        left = n;
        failed = false;
    }

    void failNoMore() {
        left = Long.MAX_VALUE;
    }

    boolean hasFailed() {
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
