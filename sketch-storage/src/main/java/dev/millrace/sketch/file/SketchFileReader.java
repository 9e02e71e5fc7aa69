package dev.millrace.sketch.file;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file of sketches block by block, from its index, without having all of it in memory. Whether the file is whole is known
 * when it is open; each block is held to its checksums when it is read, {@link #verify} does it for all. Not thread-safe.
 */
public final class SketchFileReader implements AutoCloseable {
    private final Path path;
    private final FileChannel channel;
    private final long size;
    private final boolean timestamps;
    private final long lastIndexAt;
    private final List<FileIndex.Block> blocks;

    private SketchFileReader(
            Path path, FileChannel channel, boolean timestamps, long lastIndexAt, List<FileIndex.Block> blocks)
            throws IOException {
        this.path = path;
        this.channel = channel;
        this.size = channel.size();
        this.timestamps = timestamps;
        this.lastIndexAt = lastIndexAt;
        this.blocks = blocks;
    }

    /**
     * Opens a file of format 2.
     *
     * @throws MillraceException if there is none (58P01), it is something else, was cut, or its index is damaged
     */
    public static SketchFileReader open(Path path) {
        @Nullable FileChannel channel = null; // until the reader owns it
        try {
            channel = FileChannel.open(path);
            boolean timestamps = header(path, channel);
            List<FileIndex.Block> blocks = new ArrayList<>();
            long lastIndexAt = lastIndexAt(path, channel);
            long at = lastIndexAt;
            while (at != 0) {
                FileIndex index = FileIndex.decode(body(channel, at));
                List<FileIndex.Block> earlier = new ArrayList<>(index.blocks());
                Collections.reverse(earlier);
                blocks.addAll(earlier);
                Records.check(index.before() >= 0 && index.before() < at, "an index of the file stands before itself");
                at = index.before();
            }
            Collections.reverse(blocks);
            SketchFileReader reader = new SketchFileReader(path, channel, timestamps, lastIndexAt, blocks);
            channel = null;
            return reader;
        } catch (NoSuchFileException e) {
            throw MillraceException.user(SqlState.UNDEFINED_FILE, "there is no file " + path);
        } catch (IOException e) {
            throw failed(path, e);
        } finally {
            close(channel);
        }
    }

    private static void close(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot close a file: " + e.getMessage(), e);
        }
    }

    private static MillraceException failed(Path path, IOException e) {
        return MillraceException.external(SqlState.IO_ERROR, "cannot read " + path + ": " + e.getMessage(), e);
    }

    /** Whether times are to be written as timestamps. */
    private static boolean header(Path path, FileChannel channel) throws IOException {
        byte[] header = read(channel, 0, Records.HEADER_BYTES);
        if (header.length < Records.HEADER_BYTES
                || !Arrays.equals(Arrays.copyOf(header, Records.MAGIC.length), Records.MAGIC)) {
            throw MillraceException.user(SqlState.BAD_COPY_FILE_FORMAT, path + " is no file of sketches")
                    .withHint("./millrace sketch encode FILE.csv makes one.");
        }
        if (header[4] != Records.FORMAT) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            path + " has format " + header[4] + ", and what was asked for needs " + Records.FORMAT)
                    .withHint("./millrace sketch recover writes a file of format 1 anew.");
        }
        return header[5] == 1;
    }

    private static byte[] read(FileChannel channel, long at, int count) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(count);
        while (buffer.hasRemaining() && channel.read(buffer, at + buffer.position()) > 0) {
            // until it is full or the file ends
        }
        return Arrays.copyOf(buffer.array(), buffer.position());
    }

    private static long lastIndexAt(Path path, FileChannel channel) throws IOException {
        long size = channel.size();
        byte[] footer = read(channel, Math.max(0, size - Records.FOOTER_BYTES), Records.FOOTER_BYTES);
        long at = footer.length < Records.FOOTER_BYTES
                ? 0
                : ByteBuffer.wrap(footer).order(ByteOrder.LITTLE_ENDIAN).getLong();
        boolean whole = at >= Records.HEADER_BYTES
                && at < size - Records.FOOTER_BYTES
                && Arrays.equals(footer, Records.footer(at))
                && at + Records.HEAD_BYTES + length(channel, at) + Records.FOOTER_BYTES == size;
        if (!whole) {
            throw MillraceException.user(
                            SqlState.DATA_CORRUPTED,
                            path + " was cut: it does not end as a whole file of sketches does")
                    .withHint("./millrace sketch recover keeps the segments that are whole.");
        }
        return at;
    }

    private static int length(FileChannel channel, long at) throws IOException {
        byte[] head = read(channel, at, 4);
        int tagged = head.length < 4
                ? 0
                : ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt();
        int length = tagged & (1 << 30) - 1;
        return tagged == Records.tagged(Records.Kind.INDEX, length) ? length : 0;
    }

    private static byte[] body(FileChannel channel, long at) throws IOException {
        int length = length(channel, at);
        Records.check(length > 0 && length < channel.size(), "there is no index where the file says");
        return read(channel, at + Records.HEAD_BYTES, length);
    }

    /** Whether times are to be written as timestamps. */
    public boolean timestamps() {
        return timestamps;
    }

    /** How many segments there are. */
    public long segments() {
        return blocks.stream().mapToLong(FileIndex.Block::segments).sum();
    }

    /** How many rows there are. */
    public long rows() {
        return blocks.stream().mapToLong(FileIndex.Block::rows).sum();
    }

    long lastIndexAt() {
        return lastIndexAt;
    }

    /** Reads everything from the beginning, and holds it to all its checksums; learns all versions. */
    Records verify(Versions versions) throws IOException {
        byte[] header = read(channel, 0, Records.HEADER_BYTES);
        Records records = new Records(
                path,
                from(Records.HEADER_BYTES),
                size,
                Records.HEADER_BYTES,
                Records.checksum(header, header.length),
                0);
        Optional<Records.Entry> next = records.next();
        while (next.isPresent()) {
            if (next.get().kind() != Records.Kind.INDEX) {
                learn(next.get(), versions);
            }
            next = records.next();
        }
        return records;
    }

    private InputStream from(long at) throws IOException {
        channel.position(at);
        return new BufferedInputStream(Channels.newInputStream(channel), 1 << 16);
    }

    static Optional<Sketch> learn(Records.Entry entry, Versions versions) {
        return learn(entry, versions, SegmentFilter.ANY);
    }

    private static Optional<Sketch> learn(Records.Entry entry, Versions versions, SegmentFilter filter) {
        if (entry.kind() == Records.Kind.ANNOUNCEMENT) {
            versions.add(VersionCodec.decode(entry.bytes()));
            return Optional.empty();
        }
        return SegmentCodec.read(entry.bytes(), versions, filter);
    }

    /** Hands on all segments in their order, each with its bytes. */
    public void forEach(BiConsumer<byte[], Sketch> to) {
        during(Long.MIN_VALUE, Long.MAX_VALUE, to);
    }

    /**
     * Hands on the segments that may have rows of a stretch of time, both ends included, in their order. Blocks that have none
     * are not read.
     */
    public void during(long lowTicks, long highTicks, BiConsumer<byte[], Sketch> to) {
        records(lowTicks, highTicks, (bytes, sketch) -> {
            if (sketch.isPresent() && SketchFiles.Stretch.of(sketch.get()).meets(lowTicks, highTicks)) {
                to.accept(bytes, sketch.get());
            }
        });
    }

    /** Hands on all records of the blocks that meet a stretch of time; without a sketch those that announce versions. */
    void records(long lowTicks, long highTicks, BiConsumer<byte[], Optional<Sketch>> to) {
        for (int block = 0; block < blocks.size(); block++) {
            if (mayMeet(block, lowTicks, highTicks)) {
                records(block, SegmentFilter.ANY, to);
            }
        }
    }

    private void records(int number, SegmentFilter filter, BiConsumer<byte[], Optional<Sketch>> to) {
        FileIndex.Block block = blocks.get(number);
        long segments = blocks.subList(0, number).stream()
                .mapToLong(FileIndex.Block::segments)
                .sum();
        try {
            Records.check(
                    block.at() >= Records.HEADER_BYTES && block.at() <= block.end() && block.end() <= size,
                    "a block lies outside of the file");
            Versions versions = new Versions();
            Records records = new Records(path, from(block.at()), size, block.at(), block.chain(), segments);
            while (records.at() < block.end()) {
                Records.Entry entry = records.next().orElseThrow();
                to.accept(entry.bytes(), learn(entry, versions, filter));
            }
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** How many blocks there are: each some hundred segments. */
    public int blocks() {
        return blocks.size();
    }

    /** Whether a block may have rows of a stretch of time, both ends included. */
    public boolean mayMeet(int block, long lowTicks, long highTicks) {
        return blocks.get(block).lowTicks() <= highTicks && blocks.get(block).highTicks() >= lowTicks;
    }

    /** How many segments a block has. */
    public int segments(int block) {
        return blocks.get(block).segments();
    }

    /** Hands on the segments of one block that are wanted, in their order. */
    public void forEachOf(int block, SegmentFilter filter, Consumer<Sketch> to) {
        records(block, filter, (bytes, sketch) -> sketch.ifPresent(to));
    }

    @Override
    public void close() {
        close(channel);
    }
}
