package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connectors.directory.PartFile;
import dev.millrace.connectors.directory.PartFormat;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** Files of text, which can be gone on with behind any row. */
final class TextParts implements PartFormat {
    private static final int PART_BYTES = 64 << 10;

    private final String extension;
    private final RowText text;
    private final BufferAllocator allocator = new RootAllocator();
    private final TextBuffer buffer = new TextBuffer(allocator, PART_BYTES * 2); // empty between two calls
    private final byte[] chunk = new byte[PART_BYTES];

    TextParts(String extension, RowText text) {
        this.extension = extension;
        this.text = text;
    }

    @Override
    public String extension() {
        return extension;
    }

    @Override
    public boolean goesOn() {
        return true;
    }

    @Override
    public PartFile open(Path file, long length) {
        return new TextPart(file, length);
    }

    @Override
    public void close() {
        buffer.close();
        allocator.close();
    }

    private final class TextPart implements PartFile {
        private final Path file;
        private final FileChannel channel;
        private long bytes;

        TextPart(Path file, long length) {
            this.file = file;
            try {
                channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            } catch (IOException e) {
                throw FileErrors.opening(file, "for writing", e);
            }
            try {
                channel.truncate(length);
                channel.position(length);
                bytes = length;
            } catch (IOException e) {
                close();
                throw FileErrors.writing(file, e);
            }
            if (length == 0) {
                text.begin(buffer);
                drain();
            }
        }

        @Override
        public void write(Batch batch, int[] rows, int count) {
            for (int i = 0; i < count; i++) {
                text.row(buffer, batch, rows[i], false);
                if (buffer.length() >= PART_BYTES) {
                    drain();
                }
            }
            drain();
        }

        private void drain() {
            try {
                for (long done = 0; done < buffer.length(); ) {
                    int part = (int) Math.min(chunk.length, buffer.length() - done);
                    Memory.copyOut(buffer.address() + done, chunk, 0, part);
                    ByteBuffer from = ByteBuffer.wrap(chunk, 0, part);
                    while (from.hasRemaining()) {
                        channel.write(from);
                    }
                    done += part;
                }
                bytes += buffer.length();
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            } finally {
                buffer.clear();
            }
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public long heldBytes() {
            return 0;
        }

        @Override
        public long force() {
            try {
                channel.force(true);
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            }
            return bytes;
        }

        @Override
        public long finish() {
            return force();
        }

        @Override
        public void close() {
            try {
                channel.close();
            } catch (IOException e) {
                throw FileErrors.writing(file, e);
            }
        }
    }
}
