package dev.millrace.connector;

import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** What the engine lends to readers. Safe on any thread. */
public interface SourceContext {
    /** For the batches; the engine closes it after the readers, and no byte may be left in it. */
    BufferAllocator allocator();

    Clock clock();

    /** Rows a batch should have when enough are at hand: some thousands. */
    int batchRows();

    /** Has the reader polled again, as rows came after an empty poll; for readers fed by I/O threads. */
    void wakeUp();

    /**
     * A record could not become a row. Under {@code on_error = 'fail'} this throws, unless the query can note it and go on; under skip it
     * is counted; under dead_letter it is counted and kept. The reader then goes on with the next record. While it is polled.
     */
    void reject(RejectedRecord record);

    /** Whether a record that is rejected fails the query, at once or when it is noted. */
    default boolean failsOfRejected() {
        return false;
    }

    /**
     * Something larger than a record is passed over, such as a file, or read again: counted and kept, whatever {@code on_error}
     * says, and logged. Position 0 stands for the whole.
     */
    default void report(RejectedRecord record) {
        reject(record);
    }
}
