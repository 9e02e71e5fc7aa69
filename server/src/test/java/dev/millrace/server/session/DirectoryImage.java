package dev.millrace.server.session;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What a process leaves that is killed: its files as they are. */
public final class DirectoryImage {
    private static final int TRIES = 20;

    private DirectoryImage() {}

    /**
     * Copies a directory of a database that is open. Files that come, go or change meanwhile, as those of segments that are merged, would
     * make it one of no moment: it is copied once more then. Where they never rest the last copy is as good as any.
     */
    public static Path copy(Path from, Path to) {
        try {
            for (int tries = 1; ; tries++) {
                Map<Path, String> before = files(from);
                try {
                    copyOnce(from, to);
                    if (tries == TRIES || files(from).equals(before)) {
                        return to;
                    }
                } catch (NoSuchFileException e) {
                    if (tries == TRIES) {
                        throw e;
                    }
                }
                delete(to);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copyOnce(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path copy = to.resolve(
                        from.relativize(file).toString()); // file systems of tests are others than the disk's
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(file, copy);
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static Map<Path, String> files(Path of) throws IOException {
        Map<Path, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(of)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                found.put(file, Files.size(file) + " " + Files.getLastModifiedTime(file));
            }
        } catch (UncheckedIOException | NoSuchFileException e) {
            found.put(of, "changes"); // unlike any other time
        }
        return found;
    }

    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> fromLeaves = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : fromLeaves) {
                Files.delete(file);
            }
        }
    }
}
