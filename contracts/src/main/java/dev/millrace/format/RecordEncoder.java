package dev.millrace.format;

import dev.millrace.batch.Batch;
import dev.millrace.text.TextBuffer;

/** Makes records of rows, for sinks. Called by one thread at a time, which may wait for the outside and gives up when interrupted. */
public interface RecordEncoder extends AutoCloseable {
    /**
     * Appends the bytes of one record, made of a row. Weights and keys are the sink's matter.
     *
     * @throws dev.millrace.error.MillraceException if the row cannot be expressed
     */
    void encode(Batch batch, int row, TextBuffer into);

    @Override
    void close();
}
