package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.server.copy.CopyOptions;
import dev.millrace.server.copy.CopyOutput;
import dev.millrace.server.result.StatementResult;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** Files of the server that COPY reads and writes, in the thread of the session, which an interrupt stops between two pieces. Stateless. */
final class ServerFiles {
    private static final int PIECE_BYTES = 64 << 10;

    private ServerFiles() {}

    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_FILE, "there is no file \"" + name + "\": " + e.getReason());
        }
    }

    /**
     * Gives a file's bytes to a copy, {@code .gz} unpacked; closes it.
     *
     * @return how many rows they were
     */
    static long read(String name, StatementResult.CopyIn copy, BufferAllocator allocator) {
        try (copy;
                ByteWindow window = new ByteWindow(allocator, PIECE_BYTES);
                FileInput file = FileInput.open(path(name), Encoding.UTF_8)) {
            while (!window.isDry()) {
                Interrupt.checkCurrent();
                window.fill(file, PIECE_BYTES);
                copy.write(window.address() + window.start(), window.length());
                window.consumeTo(window.end());
            }
            return copy.finish();
        }
    }

    /**
     * Writes rows to a file, which is there with all of them or as it was before; closes them.
     *
     * @return how many
     */
    static long write(
            String name, StatementResult.Rows rows, CopyOptions options, TimeStyle style, BufferAllocator allocator) {
        try (rows) {
            Path file = path(name);
            if (Files.isDirectory(file)) {
                throw MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "\"" + file + "\" is a directory");
            }
            Path part = file.resolveSibling(file.getFileName() + ".part");
            try {
                long written = writePart(part, rows, new CopyOutput(options), style, allocator);
                Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
                return written;
            } catch (IOException e) {
                throw FileErrors.opening(file, "for writing", e);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw FileErrors.writing(path(name), e);
        }
    }

    private static long writePart(
            Path part, StatementResult.Rows rows, CopyOutput output, TimeStyle style, BufferAllocator allocator)
            throws IOException {
        long written = 0;
        byte[] piece = new byte[PIECE_BYTES];
        try (OutputStream file = Files.newOutputStream(part);
                TextBuffer text = new TextBuffer(allocator, PIECE_BYTES)) {
            text.inStyle(style);
            output.begin(text, rows.schema());
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        output.row(text, batch, row);
                        if (text.length() >= PIECE_BYTES) {
                            flush(text, piece, file, part);
                        }
                    }
                    written += batch.rowCount();
                }
            }
            output.end(text);
            flush(text, piece, file, part);
        }
        return written;
    }

    private static void flush(TextBuffer text, byte[] piece, OutputStream file, Path part) {
        try {
            for (long done = 0; done < text.length(); ) {
                int bytes = (int) Math.min(piece.length, text.length() - done);
                Memory.copyOut(text.address() + done, piece, 0, bytes);
                file.write(piece, 0, bytes);
                done += bytes;
            }
            text.clear();
        } catch (IOException e) {
            throw FileErrors.writing(part, e);
        }
    }
}
