package dev.millrace.server.backup;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.operation.BackupList;
import dev.millrace.server.operation.DirectoryReport;
import dev.millrace.server.operation.DirectoryVerification;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A backup that is being written, beside where it will be. Closing it removes what was written, unless it was {@link #finish finished}.
 * For one thread.
 */
final class BackupTarget implements AutoCloseable {
    static final String PARTIAL = ".partial";
    private static final String BEGUN = "backup.begun"; // what is in the directory is of a backup, and may be removed
    private static final String LOCK = "lock";

    private final Path target;
    private final Path partial;
    private final DataPlace.Taken taken; // no two write it at a time
    private boolean finished;

    private BackupTarget(Path target, Path partial, DataPlace.Taken taken) {
        this.target = target;
        this.partial = partial;
        this.taken = taken;
    }

    /**
     * Begins a backup; removes what is left of one that did not end.
     *
     * @param target there is nothing of this name, or an empty directory
     * @param source the directory that is backed up
     * @throws MillraceException F0000 if the target cannot be used, F0001 if somebody else writes it; 53100 or 58030
     */
    static BackupTarget begin(Path target, Path source) {
        return begin(target, source, DataPlace::of);
    }

    /** The same on other disks. */
    static BackupTarget begin(Path target, Path source, Function<Path, DataPlace> places) {
        Path absolute = target.toAbsolutePath().normalize();
        Path name = absolute.getFileName();
        if (name == null || isWithin(absolute, source)) {
            throw refused(target + " is within the data directory " + source);
        }
        try {
            requireEmpty(absolute);
            Path partial = absolute.resolveSibling(name + PARTIAL);
            if (Files.isDirectory(partial) && !hasNothing(partial) && !Files.exists(partial.resolve(BEGUN))) {
                throw refused(partial + " is there, and is no backup that did not end");
            }
            BackupTarget begun =
                    new BackupTarget(absolute, partial, places.apply(partial).take());
            try {
                WholeFile.write(begun.disk(), BEGUN, ByteBuffer.allocate(0));
                begun.remove(false);
                return begun;
            } catch (IOException | RuntimeException | Error e) {
                try (begun) {
                    throw e;
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("write to " + target, e);
        }
    }

    private static boolean isWithin(Path target, Path source) {
        try {
            Path existing = target;
            while (!Files.exists(existing)) {
                existing = Objects.requireNonNull(existing.getParent()); // the root is there
            }
            return existing.toRealPath().startsWith(source.toRealPath());
        } catch (IOException e) {
            throw DiskErrors.failed("read " + target, e);
        }
    }

    private static MillraceException refused(String why) {
        return MillraceException.user(SqlState.CONFIG_FILE_ERROR, why)
                .withHint("give a directory that is not there, elsewhere");
    }

    private static void requireEmpty(Path target) throws IOException {
        if (Files.exists(target) && !(Files.isDirectory(target) && isEmpty(target))) {
            throw refused(target + " is there already");
        }
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> inside = Files.list(directory)) {
            return inside.findAny().isEmpty();
        }
    }

    /** Whether nothing was written in a directory but what says that it is taken, after which a backup may have ended. */
    private static boolean hasNothing(Path directory) throws IOException {
        try (Stream<Path> inside = Files.list(directory)) {
            return inside.map(path -> String.valueOf(path.getFileName()))
                    .allMatch(name -> name.equals(LOCK) || name.startsWith(BEGUN));
        }
    }

    Disk disk() {
        return taken.disk();
    }

    /**
     * Copies the files, reads all of them again, and gives the backup its name; when this returns, it lasts.
     *
     * @throws MillraceException XX001 if what was copied is damaged; 53100 or 58030; why the thread was interrupted
     */
    BackupSummary finish(List<FileImage> files, long asOfMicros) {
        return finish(files, asOfMicros, List.of());
    }

    /** The same for files that are known. @param expected empty, or all of them */
    BackupSummary finish(List<FileImage> files, long asOfMicros, List<BackupList.Entry> expected) {
        try {
            List<BackupList.Entry> entries = CopiedFiles.copy(files, disk());
            Restore.requireEqual(entries, expected);
            BackupList list = new BackupList(asOfMicros, entries);
            WholeFile.write(disk(), BackupList.NAME, list.write());
            requireWhole();
            disk().delete(BEGUN);
            disk().delete(LOCK);
            disk().forceNames();
            requireEmpty(target);
            Disk parent = new RealDisk(Objects.requireNonNull(target.getParent()));
            parent.rename(String.valueOf(partial.getFileName()), String.valueOf(target.getFileName()));
            finished = true;
            parent.forceNames();
            return new BackupSummary(target, entries.size(), list.bytes(), asOfMicros);
        } catch (IOException e) {
            throw DiskErrors.failed("write " + partial, e);
        }
    }

    private void requireWhole() {
        DirectoryReport report = DirectoryVerification.run(partial);
        List<FileReport> damaged =
                report.files().stream().filter(file -> !file.isWhole()).toList();
        if (!damaged.isEmpty()) {
            throw MillraceException.external(
                            SqlState.DATA_CORRUPTED,
                            "there is no backup, as what was to be copied is damaged: "
                                    + damaged.get(0).damage().get(0))
                    .withHint("./millrace verify of the data directory names all that is");
        }
    }

    /** Removes what is in the directory, and the directory. */
    private void remove(boolean all) throws IOException {
        try (Stream<Path> inside = Files.walk(partial)) {
            List<Path> innermostFirst =
                    new ArrayList<>(inside.sorted(Comparator.reverseOrder()).toList());
            innermostFirst.remove(partial);
            innermostFirst.remove(partial.resolve(LOCK));
            innermostFirst.remove(partial.resolve(BEGUN)); // last, should this not end
            for (Path path : innermostFirst) {
                Files.delete(path);
            }
        }
        if (all) {
            Files.deleteIfExists(partial.resolve(LOCK));
            Files.deleteIfExists(partial.resolve(BEGUN));
            Files.delete(partial);
        }
    }

    @Override
    public void close() {
        try (taken) {
            if (!finished) {
                remove(true);
            }
        } catch (IOException e) {
            throw DiskErrors.failed("remove " + partial, e);
        }
    }
}
