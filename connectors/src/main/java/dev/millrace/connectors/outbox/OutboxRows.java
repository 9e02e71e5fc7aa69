package dev.millrace.connectors.outbox;

import dev.millrace.batch.Batch;

/** Makes records of rows. Called by the sink's thread alone. */
public interface OutboxRows extends AutoCloseable {
    /** Takes records; by the thread that makes them, within the call that it is given to. */
    interface Records {
        /** Adds a record. The array is the caller's again when this returns. */
        void add(byte[] bytes, int offset, int length);
    }

    /** Rows of the epoch under way; the batch stays the caller's. */
    void write(Batch batch, Records records);

    /** The epoch has no more rows. */
    void endEpoch(Records records);

    @Override
    void close();
}
