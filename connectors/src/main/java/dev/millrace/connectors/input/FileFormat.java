package dev.millrace.connectors.input;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import java.nio.file.Path;
import java.util.List;

/** How files of one format and one set of columns are read. Immutable, safe on any thread. */
public interface FileFormat {
    /**
     * Looks whether a file can have the columns, before anything is read.
     *
     * @throws dev.millrace.error.MillraceException when it lacks one, or cannot be opened
     */
    void check(Path file);

    /** Readers that together give every row of the files once, at least one and at most as many as are asked for. */
    List<SourceReader> open(List<Path> files, ScanRequest request, SourceContext context);

    /** A reader of one file that goes on when the file grows. */
    SourceReader follow(Path file, ScanRequest request, SourceContext context);
}
