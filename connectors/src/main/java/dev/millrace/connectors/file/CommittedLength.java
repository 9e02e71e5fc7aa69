package dev.millrace.connectors.file;

import dev.millrace.connectors.input.FileErrors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;

/**
 * How long a sink's file is that is committed: eight bytes in a directory of the sink's own, by which a sink that is opened again, after
 * a restart, goes on where it was and does not begin anew. Of one thread at a time.
 */
final class CommittedLength {
    private static final String NAME = "committed";

    private final Path file;

    /** @param directory the sink's, which is made */
    CommittedLength(Path directory) {
        this.file = directory.resolve(NAME);
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw FileErrors.writing(directory, e);
        }
    }

    /** What was kept last; empty for a sink that is new. */
    private OptionalLong known() {
        try {
            if (!Files.exists(file)) {
                return OptionalLong.empty();
            }
            byte[] bytes = Files.readAllBytes(file);
            return bytes.length == Long.BYTES
                    ? OptionalLong.of(ByteBuffer.wrap(bytes).getLong())
                    : OptionalLong.empty();
        } catch (IOException e) {
            throw FileErrors.reading(file, e);
        }
    }

    void keep(long bytes) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(Long.BYTES).putLong(0, bytes), 0);
        } catch (IOException e) {
            throw FileErrors.writing(file, e);
        }
    }

    /** Where a file of that size begins to be written: behind what is committed, or where a new sink does. */
    long begins(long size, long ofNew) {
        return Math.max(0, Math.min(size, known().orElse(ofNew)));
    }
}
