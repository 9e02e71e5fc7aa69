package dev.millrace.server.backup;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.operation.BackupList;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Copies a data directory that nobody has open, or a backup. For one thread. */
public final class DirectoryBackup {
    private DirectoryBackup() {}

    /**
     * Makes a backup of all that a database keeps there; files that are nobody's stay behind.
     *
     * @param target there is nothing of this name, or an empty directory
     * @throws MillraceException F0001 if a database has the directory open; 58P01 if there is none; F0000 if the target cannot be used;
     *     XX001 if something is damaged; 53100 or 58030. Then there is no target
     */
    public static BackupSummary run(Path directory, Path target, Clock clock) {
        if (!DataDirectory.holdsDefinitions(directory)) {
            throw MillraceException.user(SqlState.UNDEFINED_FILE, directory + " is no data directory");
        }
        try (DataPlace.Taken taken = DataPlace.of(directory).take();
                BackupTarget to = BackupTarget.begin(target, directory)) {
            if (taken.disk().has(BackupList.NAME)) {
                BackupList list = BackupList.read(taken.disk());
                return to.finish(Restore.files(directory, list), list.asOfMicros(), list.entries());
            }
            return to.finish(files(directory), clock.epochMicros());
        } catch (IOException e) {
            throw DiskErrors.failed("read " + directory, e);
        }
    }

    private static List<FileImage> files(Path directory) throws IOException {
        List<FileImage> files = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(directory)) {
            for (Path path : walk.filter(Files::isRegularFile).sorted().toList()) {
                Path name = directory.relativize(path);
                if (DataDirectory.isKept(name)) {
                    files.add(image(directory, name));
                }
            }
        }
        return files;
    }

    /** All of a file of a directory, under the same name. */
    static FileImage image(Path directory, Path name) throws IOException {
        Path parent = directory.resolve(name).getParent();
        FileImage image = FileImage.of(RealDisk.readOnly(parent == null ? directory : parent), "" + name.getFileName());
        for (Path within = name.getParent(); within != null; within = within.getParent()) {
            image = image.in(String.valueOf(within.getFileName()));
        }
        return image;
    }
}
