package dev.millrace.connectors.directory;

import java.nio.file.Path;

/** How files are written. Any number of files at a time, by one thread. */
public interface PartFormat extends AutoCloseable {
    /** Of the files' names, without the dot. */
    String extension();

    /** Whether a file that was forced can be gone on with, after a crash too; else files are completed at each checkpoint. */
    boolean goesOn();

    /**
     * Makes a file, or goes on with one.
     *
     * @param length that it is cut to; 0 for one that begins
     */
    PartFile open(Path file, long length);

    @Override
    void close();
}
