package dev.millrace.connectors.input;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * How a file that only grows is known again: its first bytes, and those before the end that it had when somebody looked. What is
 * written over in the middle alone is not noticed.
 *
 * @param bytes length of the file then
 */
public record FilePrint(long bytes, long head, long tail) {
    private static final int LOOKED_AT = 1024;

    /** Of a file as it is now, as if it had this length, which it has at least. */
    public static FilePrint of(Path file, long bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int length = (int) Math.min(LOOKED_AT, bytes);
            return new FilePrint(bytes, sum(channel, 0, length), sum(channel, bytes - length, length));
        }
    }

    /** Whether the file begins with what it was. */
    public boolean isBeginningOf(Path file) throws IOException {
        return equals(of(file, bytes));
    }

    private static long sum(FileChannel channel, long from, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, from + buffer.position()) < 0) {
                return -1; // shorter by now
            }
        }
        CRC32C sum = new CRC32C();
        sum.update(buffer.flip());
        return sum.getValue();
    }
}
