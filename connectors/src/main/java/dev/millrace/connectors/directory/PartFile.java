package dev.millrace.connectors.directory;

import dev.millrace.batch.Batch;

/** A file that is being written. Owned by one thread; what fails throws, and then it is only closed. */
public interface PartFile extends AutoCloseable {
    /**
     * Writes some rows of a batch, which stays the caller's.
     *
     * @param rows their numbers, the first {@code count}; one may be there several times
     */
    void write(Batch batch, int[] rows, int count);

    /** About how long the file would be if it was complete now. */
    long bytes();

    /** Memory that it takes, about. */
    long heldBytes();

    /** Has the disk keep what was written so far; returns how many bytes those are. Of formats that go on. */
    long force();

    /** Completes it, on disk when this returns; returns how many bytes it has. */
    long finish();

    /** Lets go of it, complete or not. */
    @Override
    void close();
}
