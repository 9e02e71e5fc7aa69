package dev.millrace.connectors.s3;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Some bytes of a file, which a request reads, and reads again where it is tried again. Owned by one thread. */
final class FileStretch extends InputStream {
    private final FileChannel channel;
    private final InputStream in;
    private long left;

    FileStretch(Path file, long from, long bytes) throws IOException {
        this.channel = FileChannel.open(file, StandardOpenOption.READ);
        channel.position(from);
        this.in = Channels.newInputStream(channel);
        this.left = bytes;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int from, int count) throws IOException {
        if (left == 0) {
            return -1;
        }
        int read = in.read(to, from, (int) Math.min(count, left));
        left -= Math.max(0, read);
        return read;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
