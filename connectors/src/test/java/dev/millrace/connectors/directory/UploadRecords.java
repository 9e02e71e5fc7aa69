package dev.millrace.connectors.directory;

import java.nio.file.Path;
import java.util.List;

/** What a process that was killed keeps of an upload that has all of its parts. */
public final class UploadRecords {
    private UploadRecords() {}

    /** Keeps one beside a file. */
    public static void keep(Path file, String upload, long sinceMillis) {
        new UploadRecord(upload, List.of("tag"), sinceMillis).write(file);
    }
}
