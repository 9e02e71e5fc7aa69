package dev.millrace.connectors.s3;

import dev.millrace.connectors.input.FileErrors;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/** A copy of the first object that a source has, or of its beginning, to guess columns of and to check them by. Owned by one thread. */
public final class ObjectSample implements AutoCloseable {
    private static final long MOST_BYTES = 8 << 20; // of those of which a beginning says enough

    private final Path directory;
    private final Path file;

    /**
     * Fetches it.
     *
     * @param isWhole whether a beginning that ends with a line will not do
     * @throws dev.millrace.error.MillraceException if there is none, or the store cannot be reached
     */
    public ObjectSample(StoreOptions options, ObjectPaths paths, boolean isWhole) {
        try (ObjectStore store = new ObjectStore(options)) {
            StoredObject first = paths.list(store).get(0);
            String key = first.name().key();
            boolean isPacked = key.endsWith(".gz");
            directory = Files.createTempDirectory("millrace-s3");
            file = directory.resolve("sample" + (isPacked ? ".gz" : ""));
            boolean isCut = !isWhole && !isPacked && first.bytes() > MOST_BYTES;
            try {
                store.fetch(first, isCut ? MOST_BYTES : first.bytes(), file);
                if (isCut) {
                    cutBehindLastLine();
                }
            } catch (IOException | RuntimeException e) {
                LocalCopies.remove(directory);
                throw e;
            }
        } catch (IOException e) {
            throw FileErrors.writing(Path.of(System.getProperty("java.io.tmpdir")), e);
        }
    }

    private void cutBehindLastLine() throws IOException {
        try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
            long end = cut.length();
            do {
                cut.seek(--end);
            } while (end > 0 && cut.read() != '\n');
            cut.setLength(end == 0 ? cut.length() : end + 1);
        }
    }

    public Path file() {
        return file;
    }

    @Override
    public void close() {
        LocalCopies.remove(directory);
    }
}
