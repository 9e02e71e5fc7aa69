package dev.millrace.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file, read and written at positions in bytes from 0. Any thread; writes to the same place exclude each other. */
public interface DiskFile extends AutoCloseable {
    /**
     * Reads into a buffer until it is full or the file ends.
     *
     * @return bytes read, less than the buffer has room for only at the end
     */
    int read(ByteBuffer into, long position) throws IOException;

    /** Writes all that remains of a buffer; after an error any part of it may be there. A file grows as far as is written. */
    void write(ByteBuffer from, long position) throws IOException;

    /** Makes the bytes that were written before last, and the length as far as it is needed to read them. */
    void force() throws IOException;

    /** Cuts off what is behind a length in bytes. */
    void truncate(long bytes) throws IOException;

    /** Length in bytes. */
    long size() throws IOException;

    /** Forces nothing. More than once is allowed. */
    @Override
    void close() throws IOException;
}
