package dev.millrace.server.checkpoint;

import dev.millrace.server.instance.CatalogStore;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.storage.DataDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Removes what sinks kept of their own that are gone for good: no crash brings back what a checkpoint and the definitions do not have. */
final class DroppedSinks {
    private static final EventLog LOG = EventLog.named("storage");

    private final DataDirectory directory;
    private final Set<Long> known;
    private final long last; // later ones are nobody's to remove

    /** As of now. With the lock of definitions held. */
    DroppedSinks(DataDirectory directory, CatalogStore catalog) {
        this.directory = directory;
        this.known = new HashSet<>(directory.catalog().numbers());
        this.known.addAll(catalog.numbers());
        this.last = catalog.lastNumber();
    }

    void remove() {
        directory.sinkDirectories().forEach((number, path) -> {
            if (number <= last && !known.contains(number)) {
                remove(path);
            }
        });
    }

    private static void remove(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path each : deepestFirst) {
                Files.deleteIfExists(each);
            }
        } catch (IOException | UncheckedIOException e) {
            LOG.warning("the directory of a sink that was dropped is left", "reason", String.valueOf(e.getMessage()));
        }
    }
}
