package dev.millrace.connectors.outbox;

import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What is in a file of records that nobody has open. The newest one may end within a record: it was being written, and no checkpoint has it.
 *
 * @param records that are whole
 * @param damage one line that names the file
 * @param endsWithin a record: of the newest file that is no damage, or not known to be
 */
public record SpoolVerification(Path file, long bytes, long records, Optional<String> damage, boolean endsWithin) {
    /** Looks at all files of records in a sink's directory; at none if there is no such directory. */
    public static List<SpoolVerification> of(Path directory) throws IOException {
        List<SpoolVerification> found = new ArrayList<>();
        if (!Files.isDirectory(directory)) {
            return found;
        }
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.filter(file -> SpoolFormat.number(file).isPresent())
                    .sorted()
                    .toList();
        }
        for (Path file : files) {
            boolean isNewest = file.equals(files.get(files.size() - 1));
            found.add(of(file, SpoolFormat.number(file), isNewest));
        }
        return found;
    }

    private static SpoolVerification of(Path file, OptionalLong number, boolean isNewest) throws IOException {
        long size = Files.size(file);
        long[] records = new long[1];
        Optional<String> damage = Optional.empty();
        boolean endsWithin = false;
        if (isNewest && size < SpoolFormat.HEADER_BYTES) {
            return new SpoolVerification(file, size, 0, damage, true);
        }
        try (SpoolReader reader = new SpoolReader(file, number.orElseThrow(), size)) {
            try {
                reader.forEach(record -> records[0]++);
            } catch (MillraceException e) {
                endsWithin = isNewest && reader.endsWithin();
                damage = endsWithin ? Optional.empty() : Optional.of(e.getMessage());
            }
        } catch (MillraceException e) {
            damage = Optional.of(e.getMessage());
        }
        return new SpoolVerification(file, size, records[0], damage, endsWithin);
    }
}
