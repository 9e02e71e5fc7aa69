package dev.millrace.server.backup;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.operation.BackupList;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.FileImage;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes files into an empty directory, and counts their checksums as they are read. The definitions come last, and get their name when
 * all else lasts: without them no database opens the directory. For one thread, which may be interrupted.
 */
final class CopiedFiles {
    private static final String DEFINITIONS = DataDirectory.DEFINITIONS;
    private static final String NEW = ".new";

    private final Disk root;
    private final Map<String, Disk> directories = new TreeMap<>(); // by their names from the root on

    private CopiedFiles(Disk root) {
        this.root = root;
    }

    /**
     * Copies them; when this returns, they last.
     *
     * @throws dev.millrace.error.MillraceException what reading them throws, why the thread was interrupted
     * @throws IOException where the directory takes nothing
     */
    static List<BackupList.Entry> copy(List<FileImage> files, Disk to) throws IOException {
        return new CopiedFiles(to).copy(files);
    }

    private List<BackupList.Entry> copy(List<FileImage> files) throws IOException {
        List<FileImage> ordered = new ArrayList<>(files);
        ordered.sort(Comparator.comparing(file -> file.name().equals(DEFINITIONS))); // stable
        List<BackupList.Entry> entries = new ArrayList<>();
        directories.put("", root);
        for (FileImage file : ordered) {
            boolean isLast = file.name().equals(DEFINITIONS);
            if (isLast) {
                forceNames();
            }
            int slash = file.name().lastIndexOf('/');
            Disk directory = directory(slash < 0 ? "" : file.name().substring(0, slash));
            String name = file.name().substring(slash + 1);
            entries.add(copy(file, directory, isLast ? name + NEW : name));
            if (isLast) {
                directory.rename(name + NEW, name);
            }
        }
        forceNames();
        return entries;
    }

    private Disk directory(String name) throws IOException {
        Disk known = directories.get(name);
        if (known != null) {
            return known;
        }
        int slash = name.lastIndexOf('/');
        Disk made = directory(slash < 0 ? "" : name.substring(0, slash)).directory(name.substring(slash + 1));
        directories.put(name, made);
        return made;
    }

    private void forceNames() throws IOException {
        for (Disk directory : directories.values()) {
            directory.forceNames();
        }
    }

    private static BackupList.Entry copy(FileImage from, Disk directory, String name) throws IOException {
        MessageDigest digest = BackupList.digest();
        long[] bytes = {0};
        try (DiskFile file = directory.create(name)) {
            from.read(piece -> {
                Interrupt.checkCurrent();
                digest.update(piece.duplicate());
                int length = piece.remaining();
                file.write(piece, bytes[0]);
                bytes[0] += length;
            });
            file.force();
        }
        return new BackupList.Entry(BackupList.text(digest), bytes[0], from.name());
    }
}
