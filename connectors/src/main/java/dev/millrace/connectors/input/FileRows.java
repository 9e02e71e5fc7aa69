package dev.millrace.connectors.input;

import dev.millrace.connector.SourceReader;
import java.nio.file.Path;

/** A reader of files, which says where its rows are from. No batch is of several files. */
public interface FileRows extends SourceReader {
    /** After a batch: which file it is of. */
    Path file();

    /**
     * After a batch, before the next poll: the line in which the record of a row begins, or which row of its file it is where there are no
     * lines; from 1.
     */
    long line(int row);
}
