package dev.millrace.connectors.directory;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.kept.FormedBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * An upload that has all of its parts and is to be completed, as it is kept beside its file: who completes it and does not hear that it was completes the same again. Immutable.
 *
 * @param upload as the store calls it
 * @param parts their tags, in order
 * @param sinceMillis when that was so first
 */
record UploadRecord(String upload, List<String> parts, long sinceMillis) {
    static final String EXTENSION = ".upload";
    private static final String FORM = "upload";
    private static final int VERSION = 1;
    private static final int MOST_BYTES = 1 << 20;

    UploadRecord {
        parts = List.copyOf(parts);
    }

    /** Where it is kept. */
    static Path of(Path file) {
        return file.resolveSibling(file.getFileName() + EXTENSION);
    }

    /**
     * What is kept beside a file.
     *
     * @throws dev.millrace.error.MillraceException XX001 if it is damaged
     */
    static Optional<UploadRecord> read(Path file) {
        Path kept = of(file);
        if (!Files.exists(kept)) {
            return Optional.empty();
        }
        try {
            if (Files.size(kept) > MOST_BYTES) {
                throw new IOException("is too long");
            }
            byte[] bytes = Files.readAllBytes(kept);
            return Optional.of(FormedBytes.read(bytes, "\"" + kept + "\"", FORM, VERSION, in -> {
                String upload = in.readUTF();
                long since = in.readLong();
                List<String> parts = new ArrayList<>();
                for (int left = FormedBytes.count(in, Short.BYTES); left > 0; left--) {
                    parts.add(in.readUTF());
                }
                return new UploadRecord(upload, parts, since);
            }));
        } catch (IOException e) {
            throw FileErrors.reading(kept, e);
        }
    }

    /** Keeps it, on disk when this returns. */
    void write(Path file) {
        byte[] bytes = FormedBytes.of(FORM, VERSION, out -> {
            out.writeUTF(upload);
            out.writeLong(sinceMillis);
            out.writeInt(parts.size());
            for (String part : parts) {
                out.writeUTF(part);
            }
        });
        Path kept = of(file);
        Path fresh = kept.resolveSibling(kept.getFileName() + ".new");
        try {
            try (FileChannel channel = FileChannel.open(
                    fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                ByteBuffer all = ByteBuffer.wrap(bytes);
                while (all.hasRemaining()) {
                    channel.write(all);
                }
                channel.force(true);
            }
            Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
            DirectoryFiles.force(Objects.requireNonNull(kept.toAbsolutePath().getParent()));
        } catch (IOException e) {
            throw FileErrors.writing(kept, e);
        }
    }
}
