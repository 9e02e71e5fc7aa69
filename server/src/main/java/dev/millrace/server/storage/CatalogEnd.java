package dev.millrace.server.storage;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The file {@code catalog.end}: the number of the last record of {@code catalog.log} that a statement was answered for, so that
 * a log that lost its end is told from one that ends where it should. It is written behind the record and is not forced to
 * disk: it may be behind, never ahead.
 */
final class CatalogEnd implements AutoCloseable {
    static final String NAME = "catalog.end";
    private static final int MOST_BYTES = 64;

    private final Disk disk;
    private Optional<DiskFile> file = Optional.empty(); // from the first number on
    private int length = -1; // of the file in bytes; less than zero where that is not known

    /** The file of a directory, for numbers to be written one after the other; made if there is none. */
    CatalogEnd(Disk disk) {
        this.disk = disk;
    }

    /** The number; empty where there is no such file, or none that can be read. */
    static OptionalLong read(Disk disk) throws IOException {
        if (!disk.has(NAME)) {
            return OptionalLong.empty();
        }
        ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES + 1);
        try (DiskFile file = disk.open(NAME)) {
            file.read(bytes, 0);
        }
        String text = StandardCharsets.ISO_8859_1.decode(bytes.flip()).toString();
        return text.endsWith("\n") && text.length() <= MOST_BYTES
                ? NumberedLine.read(text.substring(0, text.length() - 1))
                        .map(line -> OptionalLong.of(line.number()))
                        .orElse(OptionalLong.empty())
                : OptionalLong.empty();
    }

    /** Writes one number. */
    static void write(Disk disk, long number) throws IOException {
        try (CatalogEnd end = new CatalogEnd(disk)) {
            end.write(number);
        }
    }

    /** Puts a number in the place of the one before. After a failure the file is opened anew. */
    void write(long number) throws IOException {
        byte[] line = NumberedLine.write(number, "");
        try {
            if (file.isEmpty()) {
                file = Optional.of(disk.has(NAME) ? disk.open(NAME) : disk.create(NAME));
            }
            file.get().write(ByteBuffer.wrap(line), 0);
            if (length != line.length) {
                file.get().truncate(line.length);
                length = line.length;
            }
        } catch (IOException e) {
            try {
                close();
            } catch (IOException unclosed) {
                e.addSuppressed(unclosed);
            }
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        Optional<DiskFile> open = file;
        file = Optional.empty();
        length = -1;
        if (open.isPresent()) {
            open.get().close();
        }
    }
}
