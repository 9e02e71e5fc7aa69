package dev.millrace.connectors.arrow;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.SeekableReadChannel;
import org.apache.arrow.vector.types.pojo.Field;

/** One Arrow IPC file, of the file or the stream form, told apart by its first bytes. */
final class ArrowInput implements AutoCloseable {
    private static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);

    private final Path file;
    private final ArrowReader reader;
    private final VectorSchemaRoot root;

    private ArrowInput(Path file, ArrowReader reader) throws IOException {
        this.file = file;
        this.reader = reader;
        this.root = reader.getVectorSchemaRoot();
    }

    static ArrowInput open(Path file, BufferAllocator allocator) {
        if (Files.isDirectory(file)) {
            throw FileErrors.isDirectory(file);
        }
        InputStream stream;
        try {
            stream = Files.newInputStream(file);
        } catch (IOException e) {
            throw FileErrors.opening(file, "for reading", e);
        }
        ArrowReader reader = null;
        try {
            if (FileInput.isPacked(file)) {
                reader = new ArrowStreamReader(new GZIPInputStream(stream), allocator);
            } else {
                BufferedInputStream buffered = new BufferedInputStream(stream);
                buffered.mark(MAGIC.length);
                byte[] first = buffered.readNBytes(MAGIC.length);
                buffered.reset();
                if (Arrays.equals(first, MAGIC)) {
                    stream.close();
                    reader = new ArrowFileReader(new SeekableReadChannel(Files.newByteChannel(file)), allocator);
                } else {
                    reader = new ArrowStreamReader(buffered, allocator);
                }
            }
            return new ArrowInput(file, reader);
        } catch (IOException | RuntimeException e) {
            closeAfter(e, reader == null ? stream : reader);
            throw damaged(file, e);
        }
    }

    private static void closeAfter(Exception e, AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception closing) {
            e.addSuppressed(closing);
        }
    }

    private static MillraceException damaged(Path file, Exception cause) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED,
                "file \"" + file + "\" is not a readable Arrow IPC file: "
                        + String.valueOf(cause.getMessage()).lines().findFirst().orElse(""),
                cause);
    }

    Path file() {
        return file;
    }

    List<Field> fields() {
        return root.getSchema().getFields();
    }

    /** The vectors, which the next {@link #next()} fills again. */
    VectorSchemaRoot root() {
        return root;
    }

    /** Reads the next record batch; false at the end. */
    boolean next() {
        try {
            return reader.loadNextBatch();
        } catch (IOException | RuntimeException e) {
            throw damaged(file, e);
        }
    }

    long bytesRead() {
        return reader.bytesRead();
    }

    @Override
    public void close() {
        try {
            reader.close();
        } catch (IOException e) {
            // reading is over; nothing can be lost
        }
    }
}
