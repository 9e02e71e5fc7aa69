package dev.millrace.server.intake;

import dev.millrace.connector.PushedContext;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceMemory;
import dev.millrace.engine.relation.FedRelation;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** What the database lends to the reader of one stream. */
final class IntakeContext implements PushedContext {
    private final FedRelation stream;
    private final SourceMemory memory;
    private final BufferAllocator allocator;
    private final Clock clock;
    private final int batchRows;
    private final String database;
    private final boolean durable;
    private volatile Runnable onWakeUp = () -> {}; // set before the reader is there

    IntakeContext(
            FedRelation stream,
            SourceMemory memory,
            BufferAllocator allocator,
            Clock clock,
            int batchRows,
            String database,
            boolean durable) {
        this.stream = stream;
        this.memory = memory;
        this.allocator = allocator;
        this.clock = clock;
        this.batchRows = batchRows;
        this.database = database;
        this.durable = durable;
    }

    void onWakeUp(Runnable then) {
        onWakeUp = then;
    }

    @Override
    public String stream() {
        return stream.rows().name();
    }

    @Override
    public String database() {
        return database;
    }

    @Override
    public boolean isDurable() {
        return durable;
    }

    @Override
    public SourceMemory memory() {
        return memory;
    }

    @Override
    public BufferAllocator allocator() {
        return allocator;
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public int batchRows() {
        return batchRows;
    }

    @Override
    public void wakeUp() {
        onWakeUp.run();
    }

    @Override
    public void reject(RejectedRecord record) {
        stream.reject(record);
    }

    @Override
    public void report(RejectedRecord record) {
        stream.report(record);
    }
}
