package dev.millrace.storage.segment;

import dev.millrace.batch.Batch;
import java.util.Optional;

/** Reads rows of a segment in their order. For one thread. Errors are those of {@link ColumnSegment}. */
public interface RowScan extends AutoCloseable {
    /** The next rows, the caller's; empty at the end. */
    Optional<Batch> next();

    /** Blocks whose rows were given so far. */
    int blocksRead();

    /** Blocks that were passed by because of the ranges. */
    int blocksSkipped();

    /** Bytes that were read from the file. */
    long bytesRead();

    /** Lets go of what is held between calls. */
    @Override
    void close();
}
