package dev.millrace.connectors.outbox;

import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What is wrong with the files of a sink that nobody has open. A file that was being written may end within a record, and is said to be damaged: then no checkpoint has it.
 *
 * @param problems one line each, that names the file
 * @param records that are whole
 */
public record SpoolVerification(List<String> problems, long records, long bytes) {
    public SpoolVerification {
        problems = List.copyOf(problems);
    }

    /** Looks at all files of records in a sink's directory; at none if there is no such directory. */
    public static SpoolVerification of(Path directory) {
        List<String> problems = new ArrayList<>();
        long[] records = new long[1];
        long bytes = 0;
        if (!Files.isDirectory(directory)) {
            return new SpoolVerification(List.of(), 0, 0);
        }
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            return new SpoolVerification(List.of(directory + " cannot be read: " + e.getMessage()), 0, 0);
        }
        for (Path file : files) {
            OptionalLong number = SpoolFormat.number(file);
            if (number.isEmpty()) {
                continue;
            }
            try {
                long size = Files.size(file);
                bytes += size;
                try (SpoolReader reader = new SpoolReader(file, number.getAsLong(), size)) {
                    reader.forEach(record -> records[0]++);
                }
            } catch (IOException e) {
                problems.add(file + " cannot be read: " + e.getMessage());
            } catch (MillraceException e) {
                problems.add(e.getMessage());
            }
        }
        return new SpoolVerification(problems, records[0], bytes);
    }
}
