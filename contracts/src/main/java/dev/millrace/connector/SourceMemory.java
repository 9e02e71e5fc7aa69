package dev.millrace.connector;

import java.util.Map;

/**
 * What a pushed source keeps beside its rows, where these are on disk as well: bytes by name, by which it knows a record that comes again.
 * The source bounds how much that is, some megabytes. Safe on any thread, as long as each name is one thread's at a time.
 */
public interface SourceMemory {
    /** All of it, as of now. */
    Map<String, byte[]> entries();

    /**
     * Changes it by itself, without rows. Returns when that is on disk, where there is one.
     *
     * @throws dev.millrace.error.MillraceException 53100 or 58030 while the disk takes nothing; 57014 or 57P01 if the stream is closed: it may be changed
     *     all the same
     */
    void change(MemoryChange change);
}
