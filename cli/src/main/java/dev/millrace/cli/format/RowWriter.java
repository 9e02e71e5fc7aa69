package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import java.io.IOException;

/** Writes the rows of one result: any number of batches, then the end. Does not take batches over. */
public interface RowWriter {
    void write(Batch batch) throws IOException;

    /** Writes what was held back to align it with what comes. */
    default void flush() throws IOException {}

    /** Writes what was held back and the footer, if the format has one. */
    void end() throws IOException;
}
