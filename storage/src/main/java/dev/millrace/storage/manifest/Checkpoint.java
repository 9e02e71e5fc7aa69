package dev.millrace.storage.manifest;

import dev.millrace.storage.snapshot.SnapshotFile;
import java.util.List;

/**
 * What is there without the log, and where in the log it stands.
 *
 * @param number from 1
 * @param logNumber number of the last record of the log whose effect it contains; those behind it are to be replayed
 * @param files its snapshots, by whatever order they were given in
 */
public record Checkpoint(long number, long logNumber, List<SnapshotFile> files) {
    /** Nothing, before all records of the log. */
    public static final Checkpoint NONE = new Checkpoint(0, 0, List.of());

    public Checkpoint {
        files = List.copyOf(files);
    }
}
