package dev.millrace.sketch.file;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Writes a file of sketches segment by segment, a new one or behind what is there. {@link #close} ends it with an index and has
 * it on the disk; a file whose writer did not get there is found to be cut, and {@link SketchFiles#recover} keeps what is whole.
 * Not thread-safe.
 */
public final class SketchFileWriter implements AutoCloseable {
    static final int BLOCK_SEGMENTS = 256;

    private record Known(long incarnation, int number) {}

    private final Path path;
    private final FileOutputStream file;
    private final OutputStream out;
    private final Versions versions;
    private final Set<Known> announced = new HashSet<>(); // in this block
    private final List<FileIndex.Block> blocks = new ArrayList<>();
    private final long indexBefore;
    private long at;
    private int chain;
    private long segments;
    private Optional<FileIndex.Block> open = Optional.empty();
    private boolean closed;

    private SketchFileWriter(Path path, FileOutputStream file, Versions versions, long at, long indexBefore) {
        this.path = path;
        this.file = file;
        this.out = new BufferedOutputStream(file, 1 << 16);
        this.versions = versions;
        this.at = at;
        this.indexBefore = indexBefore;
    }

    /**
     * Begins a file, in place of what was there.
     *
     * @param timestamps whether times are to be written as timestamps
     */
    public static SketchFileWriter create(Path path, boolean timestamps) {
        try {
            SketchFileWriter writer =
                    new SketchFileWriter(path, new FileOutputStream(path.toFile()), new Versions(), 0, 0);
            byte[] header = ByteBuffer.allocate(Records.HEADER_BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(Records.MAGIC)
                    .put((byte) Records.FORMAT)
                    .put((byte) (timestamps ? 1 : 0))
                    .putShort((short) 0)
                    .putLong(new SecureRandom().nextLong()) // segments of another file do not fit
                    .array();
            writer.write(header);
            writer.chain = Records.checksum(header, header.length);
            return writer;
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /**
     * Goes on behind the end of a file that is whole; what is there is read once.
     *
     * @throws MillraceException if it is not whole, or of format 1
     */
    public static SketchFileWriter append(Path path) {
        try (SketchFileReader reader = SketchFileReader.open(path)) {
            Versions versions = new Versions();
            Records records = reader.verify(versions);
            SketchFileWriter writer = new SketchFileWriter(
                    path, new FileOutputStream(path.toFile(), true), versions, records.at(), reader.lastIndexAt());
            writer.chain = records.chain();
            writer.segments = records.segments();
            return writer;
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** Goes on behind a prefix that is whole. */
    static SketchFileWriter behind(
            Path path, Versions versions, Records records, long indexBefore, List<FileIndex.Block> found)
            throws IOException {
        SketchFileWriter writer = new SketchFileWriter(
                path, new FileOutputStream(path.toFile(), true), versions, records.at(), indexBefore);
        writer.chain = records.chain();
        writer.segments = records.segments();
        writer.blocks.addAll(found);
        return writer;
    }

    private static MillraceException failed(Path path, IOException e) {
        return MillraceException.external(SqlState.IO_ERROR, "cannot write " + path + ": " + e.getMessage(), e);
    }

    /**
     * Adds a segment, or an announcement, which is kept for the segments that need it.
     *
     * @throws MillraceException if it cannot be read, so that what is in the file always can; or if writing fails (58030)
     */
    public void add(byte[] bytes) {
        SketchHeader header = SketchHeader.of(bytes);
        if (header.announcement() == Announcement.ALONE) {
            versions.add(VersionCodec.decode(bytes));
            return;
        }
        SegmentCodec.Identified read = SegmentCodec.identify(bytes, header, versions);
        try {
            if (open.isEmpty()) {
                open = Optional.of(new FileIndex.Block(at, at, chain, 0, 0, Long.MAX_VALUE, Long.MIN_VALUE));
                announced.clear();
            }
            announce(header, read.version());
            record(Records.Kind.SEGMENT, bytes);
            segments++;
            open = Optional.of(with(open.get(), read.sketch(), at));
            if (open.get().segments() == BLOCK_SEGMENTS) {
                blocks.add(open.get());
                open = Optional.empty();
            }
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** Each block can be read alone: what its segments refer to is announced in it. */
    private void announce(SketchHeader header, StreamVersion version) throws IOException {
        boolean change = header.announcement() == Announcement.CHANGE;
        if (header.announcement() != Announcement.COMPLETE) {
            int number = change ? version.number() - 1 : version.number();
            if (!announced.contains(new Known(version.incarnation(), number))) {
                StreamVersion needed =
                        change ? versions.find(version.incarnation(), number).orElseThrow() : version;
                record(Records.Kind.ANNOUNCEMENT, VersionCodec.encode(needed));
                announced.add(new Known(version.incarnation(), number));
            }
        }
        if (version.incarnation() != 0 || header.format() == 1) {
            announced.add(new Known(version.incarnation(), version.number()));
        }
    }

    static FileIndex.Block with(FileIndex.Block block, Sketch sketch, long end) {
        SketchFiles.Stretch stretch = SketchFiles.Stretch.of(sketch);
        return new FileIndex.Block(
                block.at(),
                end,
                block.chain(),
                block.segments() + 1,
                block.rows() + sketch.rows(),
                Math.min(block.lowTicks(), stretch.lowTicks()),
                Math.max(block.highTicks(), stretch.highTicks()));
    }

    private void record(Records.Kind kind, byte[] bytes) throws IOException {
        int tagged = Records.tagged(kind, bytes.length);
        chain = Records.chained(chain, tagged, bytes);
        write(ByteBuffer.allocate(Records.HEAD_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(tagged)
                .putInt(chain)
                .array());
        write(bytes);
    }

    private void write(byte[] bytes) throws IOException {
        out.write(bytes);
        at += bytes.length;
    }

    /** Ends the file and waits until it is on the disk. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (FileOutputStream underlying = file) {
            open.ifPresent(blocks::add);
            long indexAt = at;
            record(Records.Kind.INDEX, new FileIndex(indexBefore, segments, blocks).encode());
            write(Records.footer(indexAt));
            out.flush();
            underlying.getFD().sync();
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** Takes from a segment that is left out what others may need of it. */
    void learn(byte[] bytes) {
        SegmentCodec.read(bytes, versions);
    }
}
