package dev.millrace.connectors.s3;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Files of the process's own that objects are copied to, or from. Stateless. */
public final class LocalCopies {
    private LocalCopies() {}

    /** Removes a file, or a directory with all in it; what cannot be removed stays in the machine's directory for such files. */
    public static void remove(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) {
            // nobody misses the room before the machine is tidied up
        }
    }
}
