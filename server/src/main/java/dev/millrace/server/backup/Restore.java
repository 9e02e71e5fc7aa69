package dev.millrace.server.backup;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.operation.BackupList;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes a data directory of a backup. For one thread. */
public final class Restore {
    private static final String LOCK = "lock";

    private Restore() {}

    /**
     * Copies a backup, and holds each byte to its list. The directory is whole, or has no definitions, with which no database opens it.
     *
     * @param directory there is nothing of this name, or an empty directory
     * @throws MillraceException F0000 if the one is no backup, or something is in the other; F0001 if somebody uses that; XX001 if the backup is
     *     damaged, which is named; 53100 or 58030. Then what was written is removed
     */
    public static BackupSummary run(Path backup, Path directory) {
        try {
            if (!Files.exists(backup.resolve(BackupList.NAME))) {
                throw MillraceException.user(
                                SqlState.CONFIG_FILE_ERROR,
                                backup + " is no backup: there is no " + BackupList.NAME + " in it")
                        .withHint("./millrace backup DIR TARGET makes one");
            }
            BackupList list = BackupList.read(RealDisk.readOnly(backup));
            requireEmpty(directory);
            boolean isNew = !Files.exists(directory);
            try (DataPlace.Taken taken = DataPlace.of(directory).take()) {
                requireEmpty(directory);
                try {
                    requireEqual(CopiedFiles.copy(files(backup, list), taken.disk()), list.entries());
                } catch (IOException | RuntimeException | Error e) {
                    remove(directory, isNew, e);
                    throw e;
                }
            }
            return new BackupSummary(directory, list.entries().size(), list.bytes(), list.asOfMicros());
        } catch (IOException e) {
            throw DiskErrors.failed("restore " + backup + " to " + directory, e);
        }
    }

    private static void requireEmpty(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return; // a file is refused by who takes it
        }
        try (Stream<Path> inside = Files.list(directory)) {
            List<String> names = inside.map(path -> String.valueOf(path.getFileName()))
                    .filter(name -> !name.equals(LOCK))
                    .sorted()
                    .toList();
            if (!names.isEmpty()) {
                throw MillraceException.user(
                                SqlState.CONFIG_FILE_ERROR,
                                directory + " is not empty: there is " + names.get(0) + " in it")
                        .withHint(
                                "give a directory that is empty, or not there; a restore that did not end can be removed");
            }
        }
    }

    /** The files of a backup, all of which must be there and of the length that they had. */
    static List<FileImage> files(Path backup, BackupList list) throws IOException {
        List<FileImage> files = new ArrayList<>();
        for (BackupList.Entry entry : list.entries()) {
            Path file = backup.resolve(entry.name());
            if (!Files.isRegularFile(file)) {
                throw DiskErrors.missing(file.toString(), "it is in the list of the backup");
            }
            long length = Files.size(file);
            DiskErrors.require(
                    length == entry.bytes(),
                    file.toString(),
                    Math.min(length, entry.bytes()),
                    "it has " + length + " bytes, and " + entry.bytes() + " were written");
            files.add(DirectoryBackup.image(backup, backup.relativize(file)));
        }
        return files;
    }

    /** Throws XX001 for the first file that is not what was expected. */
    static void requireEqual(List<BackupList.Entry> copied, List<BackupList.Entry> expected) {
        Map<String, BackupList.Entry> byName = new HashMap<>();
        expected.forEach(entry -> byName.put(entry.name(), entry));
        for (BackupList.Entry entry : copied) {
            if (!expected.isEmpty() && !entry.equals(byName.get(entry.name()))) {
                throw MillraceException.external(
                                SqlState.DATA_CORRUPTED,
                                "the backup's " + entry.name() + " is damaged: its SHA-256 is not what was written")
                        .withHint("take another backup");
            }
        }
    }

    private static void remove(Path directory, boolean isNew, Throwable failure) {
        try (Stream<Path> walk = Files.walk(directory)) {
            Set<Path> stay = Stream.of(directory, directory.resolve(LOCK)).collect(Collectors.toSet());
            for (Path path : walk.sorted(Comparator.reverseOrder()).toList()) {
                if (isNew || !stay.contains(path)) {
                    Files.delete(path);
                }
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }
}
