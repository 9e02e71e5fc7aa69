package dev.millrace.server.storage;

import dev.millrace.engine.checkpoint.StateVerification;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.manifest.Checkpoint;
import dev.millrace.storage.manifest.Manifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads every byte of the checkpoints of a directory that a database may have open, and changes nothing; and holds the newest to the
 * definitions and the log that go on from it. For one thread.
 */
public final class CheckpointVerification {
    private static final int MOST_TRIES = 20;

    private CheckpointVerification() {}

    /** What goes on from a checkpoint. */
    @FunctionalInterface
    public interface Continuation {
        /** What is missing between the checkpoint of this number of the log and what is behind it, if anything is. */
        Optional<String> gap(long logNumber);
    }

    /**
     * What was found, file by file.
     *
     * @param log what the log of rows has, read before this
     * @throws MillraceException 58030 where something cannot be read
     */
    public static List<FileReport> run(Path directory, Continuation log) {
        Path checkpoints = directory.resolve(DataDirectory.CHECKPOINTS);
        try {
            boolean isThere = Files.isDirectory(checkpoints) && Manifest.exists(RealDisk.readOnly(checkpoints));
            if (!isThere) {
                int version = CatalogLog.version(RealDisk.readOnly(directory));
                return version < DataDirectory.WITH_CHECKPOINTS
                        ? List.of()
                        : List.of(FileReport.damaged(
                                DataDirectory.CHECKPOINTS,
                                0,
                                "what all queries and tables have become",
                                checkpoints + " is missing"));
            }
            RealDisk disk = RealDisk.readOnly(checkpoints);
            for (int i = 1; ; i++) {
                Optional<Checkpoint> newest = Manifest.read(disk);
                List<FileReport> files = new ArrayList<>();
                Manifest.verify(disk).forEach(file -> files.add(file.in(DataDirectory.CHECKPOINTS)));
                if (files.stream().allMatch(FileReport::isWhole) && newest.isPresent()) {
                    files.addAll(apart(directory, disk, newest.get(), log));
                }
                boolean isWhole = files.stream().allMatch(FileReport::isWhole);
                if (isWhole || i == MOST_TRIES || newest.equals(Manifest.read(disk))) {
                    return files;
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + checkpoints, e);
        }
    }

    /**
     * What the newest checkpoint says of streams that keep their rows ({@link CheckpointCatalog#streams}); nothing if it cannot be read, which
     * is told of its files.
     */
    public static Map<Long, Long> streams(Path directory) throws IOException {
        Path checkpoints = directory.resolve(DataDirectory.CHECKPOINTS);
        if (!Files.isDirectory(checkpoints)) {
            return Map.of();
        }
        RealDisk disk = RealDisk.readOnly(checkpoints);
        try {
            Optional<Checkpoint> newest = Manifest.exists(disk) ? Manifest.read(disk) : Optional.empty();
            if (newest.isEmpty() || newest.get().number() == 0) {
                return Map.of();
            }
            try (SavedCheckpoint saved = SavedCheckpoint.open(disk, newest.get())) {
                return saved.catalog().streams();
            }
        } catch (MillraceException | NoSuchFileException e) {
            return Map.of();
        }
    }

    /** A checkpoint whose files are whole; none, and what it says is found, if that is not in them. */
    private static Optional<SavedCheckpoint> open(RealDisk disk, Checkpoint newest, List<FileReport> found) {
        try {
            return Optional.of(SavedCheckpoint.open(disk, newest));
        } catch (MillraceException e) {
            if (e.sqlState() == SqlState.DATA_CORRUPTED) {
                found.add(damaged(e.getMessage()));
            }
            return Optional.empty();
        }
    }

    private static FileReport damaged(String how) {
        return FileReport.damaged(DataDirectory.CHECKPOINTS, 0, "what all queries and tables have become", how);
    }

    /** What is whole by itself and does not belong together. */
    private static List<FileReport> apart(Path directory, RealDisk disk, Checkpoint newest, Continuation log)
            throws IOException {
        List<FileReport> found = new ArrayList<>();
        log.gap(newest.logNumber())
                .ifPresent(gap -> found.add(FileReport.damaged(
                        DataDirectory.ROWS, 0, "rows that were accepted since the checkpoint", gap)));
        if (newest.number() == 0) {
            return found;
        }
        Optional<SavedCheckpoint> opened = open(disk, newest, found);
        if (opened.isEmpty()) {
            return found;
        }
        try (SavedCheckpoint saved = opened.get()) {
            StateVerification.gaps(saved).forEach(gap -> found.add(damaged(gap)));
            OptionalLong rows = WriteAheadLog.identity(RealDisk.readOnly(directory.resolve(DataDirectory.ROWS)));
            if (rows.isPresent()
                    && saved.catalog().log().isPresent()
                    && !rows.equals(saved.catalog().log())) {
                found.add(damaged(
                        disk.path("") + " is of another database than " + directory.resolve(DataDirectory.ROWS)));
            }
            long last = CatalogLog.read(RealDisk.readOnly(directory)).last();
            long needed = saved.catalog().record() - (saved.catalog().ahead().isPresent() ? 1 : 0);
            if (last < needed) {
                found.add(FileReport.damaged(
                        CatalogLog.NAME,
                        0,
                        "definitions that were made since the checkpoint",
                        directory.resolve(CatalogLog.NAME) + " is damaged: it ends with record " + last
                                + ", and the checkpoint is of record "
                                + saved.catalog().record()));
            }
        } catch (MillraceException | NoSuchFileException e) {
            return found; // each file says by itself what is wrong with it
        }
        return found;
    }
}
