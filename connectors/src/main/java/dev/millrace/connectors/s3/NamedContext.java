package dev.millrace.connectors.s3;

import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceContext;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** What the reader of a copy is lent: bad records are of the object, and not of the copy. */
record NamedContext(SourceContext given, ObjectName name) implements SourceContext {
    @Override
    public BufferAllocator allocator() {
        return given.allocator();
    }

    @Override
    public Clock clock() {
        return given.clock();
    }

    @Override
    public int batchRows() {
        return given.batchRows();
    }

    @Override
    public void wakeUp() {
        given.wakeUp();
    }

    @Override
    public void reject(RejectedRecord record) {
        given.reject(named(record));
    }

    @Override
    public boolean failsOfRejected() {
        return given.failsOfRejected();
    }

    @Override
    public void report(RejectedRecord record) {
        given.report(named(record));
    }

    private RejectedRecord named(RejectedRecord record) {
        return new RejectedRecord(
                name.toString(), record.position(), record.column(), record.reason(), record.sqlState(), record.text());
    }
}
