package dev.millrace.server.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;

/**
 * The file {@code catalog.end}: the number of the last record of {@code catalog.log} that a statement was answered for, so that
 * a log that lost its end is told from one that ends where it should. It is written behind the record and is not forced to
 * disk: it may be behind, never ahead.
 */
final class CatalogEnd {
    static final String NAME = "catalog.end";
    private static final int MOST_BYTES = 64;

    private CatalogEnd() {}

    /** The number; empty where there is no such file, or none that can be read. */
    static OptionalLong read(Path directory) throws IOException {
        Path file = directory.resolve(NAME);
        if (!Files.exists(file) || Files.size(file) > MOST_BYTES) {
            return OptionalLong.empty();
        }
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        return text.endsWith("\n")
                ? NumberedLine.read(text.substring(0, text.length() - 1))
                        .map(line -> OptionalLong.of(line.number()))
                        .orElse(OptionalLong.empty())
                : OptionalLong.empty();
    }

    static void write(Path directory, long number) throws IOException {
        Path file = directory.resolve(NAME);
        byte[] line = NumberedLine.write(number, "");
        boolean isNew = !Files.exists(file);
        try (FileChannel out =
                isNew ? DataDirectory.createPrivate(file) : FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(line);
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
            out.truncate(line.length);
        }
    }
}
