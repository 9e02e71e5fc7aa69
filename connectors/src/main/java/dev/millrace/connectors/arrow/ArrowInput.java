package dev.millrace.connectors.arrow;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Field;

/** One Arrow IPC file, of the file or the stream form. */
final class ArrowInput implements AutoCloseable {
    private final Path file;
    private final ArrowStream stream;

    private ArrowInput(Path file, ArrowStream stream) {
        this.file = file;
        this.stream = stream;
    }

    static ArrowInput open(Path file, BufferAllocator allocator) {
        if (Files.isDirectory(file)) {
            throw FileErrors.isDirectory(file);
        }
        InputStream bytes;
        try {
            bytes = Files.newInputStream(file);
        } catch (IOException e) {
            throw FileErrors.opening(file, "for reading", e);
        }
        try {
            InputStream in = FileInput.isPacked(file) ? new GZIPInputStream(bytes) : new BufferedInputStream(bytes);
            return new ArrowInput(file, new ArrowStream(in, allocator));
        } catch (IOException e) {
            closeAfter(e, bytes);
            throw damaged(file, e);
        } catch (RuntimeException | Error e) {
            closeAfter(e, bytes);
            throw e;
        }
    }

    private static void closeAfter(Throwable e, AutoCloseable resource) {
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
        return stream.fields();
    }

    /** The vectors, which the next {@link #next()} fills again. */
    VectorSchemaRoot root() {
        return stream.root();
    }

    /** Reads the next record batch; false at the end. */
    boolean next() {
        try {
            return stream.next();
        } catch (IOException e) {
            throw damaged(file, e);
        }
    }

    long bytesRead() {
        return stream.bytesRead();
    }

    @Override
    public void close() {
        stream.close();
    }
}
