package dev.millrace.connectors.csv;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A file, or whole lines out of the middle of a plain one.
 *
 * @param from first byte; the file's start is where its header is looked for
 * @param to behind the last byte; {@link Long#MAX_VALUE} for all there is
 * @param firstLine the line that {@code from} is in, from 1
 * @param layout what the header says, for segments that do not begin with it
 * @param bytes about how many there are in the file, for progress
 * @param inRecord whether {@code from} is within a record that was given up
 */
record CsvSegment(
        Path file, long from, long to, long firstLine, Optional<CsvLayout> layout, long bytes, boolean inRecord) {
    /** One that begins with a record. */
    CsvSegment(Path file, long from, long to, long firstLine, Optional<CsvLayout> layout, long bytes) {
        this(file, from, to, firstLine, layout, bytes, false);
    }

    static CsvSegment whole(Path file) {
        return new CsvSegment(file, 0, Long.MAX_VALUE, 1, Optional.empty(), size(file));
    }

    private static long size(Path file) {
        try {
            return java.nio.file.Files.size(file);
        } catch (java.io.IOException e) {
            return 0; // opening it will tell
        }
    }
}
