package dev.millrace.testing.connector;

import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceContext;
import dev.millrace.time.Clock;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.memory.BufferAllocator;

/** What a source's readers are lent in a test, by the machine's clock; records that they reject are counted. */
record TestSourceContext(BufferAllocator allocator, int batchRows, AtomicInteger rejected) implements SourceContext {
    @Override
    public Clock clock() {
        return Clock.system();
    }

    @Override
    public void wakeUp() {}

    @Override
    public void reject(RejectedRecord record) {
        rejected.incrementAndGet();
    }
}
