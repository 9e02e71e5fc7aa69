package dev.millrace.storage.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.storage.column.ByteInput;
import dev.millrace.storage.column.ColumnBounds;
import dev.millrace.storage.column.EncodingException;
import dev.millrace.storage.column.PackedColumn;
import dev.millrace.storage.column.PresentTexts;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A segment that is whole. Any thread; scans are each for one.
 *
 * <p>All methods throw XX001 where the file is damaged, naming file, offset, column and block, and 58030 where it cannot be read; what was
 * read before is true.
 */
public final class ColumnSegment implements AutoCloseable {
    private static final int MOST_RATIO = 1 << 17; // a block that zstd made of one byte, repeated

    private final String path;
    private final DiskFile file;
    private final long length;
    private final Schema schema;
    private List<SegmentBlock> blocks = List.of();
    private long rows;
    private int checksum;

    private ColumnSegment(String path, DiskFile file, long length, Schema schema) {
        this.path = path;
        this.file = file;
        this.length = length;
        this.schema = schema;
    }

    /**
     * Opens a file that a manifest names, and holds it to what that says. Reads what it says of itself; its columns are checked as they
     * are read.
     *
     * @param schema with the types that it was written with; the names may be others
     * @throws MillraceException also F0000 if it is of a later version
     */
    public static ColumnSegment open(Disk disk, SegmentFile expected, Schema schema) {
        String path = disk.path(expected.name());
        try {
            DiskFile file = disk.open(expected.name());
            ColumnSegment segment = new ColumnSegment(path, file, file.size(), schema);
            try {
                segment.readHeader();
                segment.readTrailer();
                segment.hold(
                        segment.length == expected.bytes()
                                && segment.checksum == expected.checksum()
                                && segment.rows == expected.rows(),
                        segment.length - SegmentLayout.TRAILER,
                        "it is not the segment of this name that was written");
                return segment;
            } catch (IOException | RuntimeException e) {
                file.close();
                throw e;
            }
        } catch (NoSuchFileException e) {
            throw DiskErrors.missing(path, "it is a segment that is needed");
        } catch (IOException e) {
            throw DiskErrors.failed("read " + path, e);
        }
    }

    private void readHeader() throws IOException {
        ByteBuffer header = read(0, SegmentLayout.HEADER);
        hold(header.getLong(0) == SegmentLayout.FILE_MAGIC, 0, "it is no segment of columns");
        int version = header.getInt(8);
        if (version > SegmentLayout.VERSION && version <= SegmentLayout.VERSION + 1000) {
            throw DiskErrors.tooNew(path, version, SegmentLayout.VERSION);
        }
        hold(version == SegmentLayout.VERSION, 8, "there is no format version " + version);
        hold(
                header.getInt(12) == SegmentLayout.crc(header.duplicate().position(16)),
                12,
                "the checksum of its header does not fit");
        hold(header.getInt(16) == BatchBytes.hash(schema), 16, "its columns are of other types than (" + schema + ")");
    }

    private void readTrailer() throws IOException {
        long at = length - SegmentLayout.TRAILER;
        hold(at >= SegmentLayout.HEADER, length, "it ends there");
        ByteBuffer trailer = read(at, SegmentLayout.TRAILER);
        hold(trailer.getLong(40) == SegmentLayout.END_MAGIC, at, "its end is missing");
        checksum = trailer.getInt(SegmentLayout.CHECKED_TRAILER);
        hold(
                checksum == SegmentLayout.crc(trailer.duplicate().limit(SegmentLayout.CHECKED_TRAILER)),
                at,
                "the checksum of its trailer does not fit");
        long footerAt = trailer.getLong(0);
        hold(
                trailer.getLong(8) == length,
                at,
                "it has " + length + " bytes, and " + trailer.getLong(8) + " were written");
        rows = trailer.getLong(16);
        hold(
                footerAt >= SegmentLayout.HEADER && footerAt <= at && at - footerAt <= SegmentLayout.MOST_FOOTER,
                at,
                "its footer is not where it can be");
        ByteBuffer footer = read(footerAt, (int) (at - footerAt));
        hold(trailer.getInt(24) == SegmentLayout.crc(footer), footerAt, "the checksum of its footer does not fit");
        blocks = new SegmentFooter(path, footerAt, footer, schema).read();
        long counted = 0;
        for (SegmentBlock block : blocks) {
            counted += block.rows();
        }
        hold(counted == rows, footerAt, "its blocks have " + counted + " rows, not " + rows);
    }

    private ByteBuffer read(long at, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(bytes, Math.max(0, length - at)))
                .order(ByteOrder.LITTLE_ENDIAN);
        file.read(buffer, at);
        hold(buffer.position() == bytes, at + buffer.position(), "it ends there");
        return buffer.flip();
    }

    private void hold(boolean holds, long at, String what) {
        if (!holds) {
            throw DiskErrors.damaged(path, at, what);
        }
    }

    /** How many there are. */
    public long rows() {
        return rows;
    }

    /** How many blocks the rows are in. */
    public int blockCount() {
        return blocks.size();
    }

    /** Rows of a block. */
    public int blockRows(int block) {
        return blocks.get(block).rows();
    }

    /** What is known of a column in a block without reading it. */
    public ColumnBounds statistics(int block, int column) {
        return blocks.get(block).columns().get(column).statistics();
    }

    /** Bytes that a column of a block has in the file. */
    public int bytes(int block, int column) {
        return blocks.get(block).columns().get(column).bytes();
    }

    /** Damage of a block that its bytes do not show, but their meaning does. */
    public MillraceException damaged(int block, int column, String what) {
        return damaged(blocks.get(block).columns().get(column), nameOf(block, column) + ": " + what);
    }

    List<SegmentBlock> blocks() {
        return blocks;
    }

    /** Of its columns. */
    public Schema schema() {
        return schema;
    }

    /** How errors name a column of a block. */
    String nameOf(int block, int column) {
        return "column " + schema.field(column).name() + " of block " + block;
    }

    MillraceException damaged(SegmentBlock.Stored stored, String what) {
        return DiskErrors.damaged(path, stored.offset(), what);
    }

    /**
     * Reads rows in the order in which they were written.
     *
     * @param columns of the schema, in the order in which batches have them; may be none, where rows are only counted
     * @param ranges blocks that have no rows in all of them are skipped; of others all rows are given
     * @param allocator of the batches; also of what is read at a time, one column of one block
     */
    public SegmentScan scan(List<Integer> columns, List<ColumnRange> ranges, BufferAllocator allocator) {
        return scan(columns, ranges, 0, 1, 1, allocator);
    }

    /**
     * Reads some of the parts, of about as many blocks each, that together have every block once, in their order.
     *
     * @param from the first part, from 0 on
     * @param to the part behind the last
     * @param parts at least 1; where there are fewer blocks some parts are empty
     */
    public SegmentScan scan(
            List<Integer> columns, List<ColumnRange> ranges, int from, int to, int parts, BufferAllocator allocator) {
        long all = blocks.size();
        return new SegmentScan(this, columns, ranges, (int) (all * from / parts), (int) (all * to / parts), allocator);
    }

    /** Fills a buffer with what is stored of a column, checked. */
    void read(SegmentBlock.Stored stored, String what, ByteBuffer into) {
        into.clear().limit(stored.bytes());
        try {
            file.read(into, stored.offset());
        } catch (IOException e) {
            throw DiskErrors.failed("read " + path, e);
        }
        boolean isWhole = !into.hasRemaining();
        into.flip();
        if (!isWhole || SegmentLayout.checksum(into, stored.offset()) != stored.checksum()) {
            throw damaged(stored, what + " is not what was written");
        }
    }

    /**
     * What is made of a column of a block.
     *
     * @param decoder is given its bytes, checked and not compressed, which are there during the call
     */
    <T> T decode(int block, int column, BufferAllocator allocator, Function<ByteInput, T> decoder) {
        SegmentBlock.Stored stored = blocks.get(block).columns().get(column);
        String name = nameOf(block, column);
        if (stored.rawBytes() / MOST_RATIO > stored.bytes()) {
            throw damaged(stored, name + " cannot have " + stored.rawBytes() + " bytes");
        }
        try (ArrowBuf bytes = allocator.buffer((long) stored.bytes() + ByteInput.SLACK)) {
            ByteBuffer in = bytes.nioBuffer(0, stored.bytes());
            read(stored, name, in);
            if (stored.compression() == PackedColumn.PLAIN) {
                return decoder.apply(new ByteInput(bytes.memoryAddress(), stored.rawBytes()));
            }
            try (ArrowBuf raw = allocator.buffer((long) stored.rawBytes() + ByteInput.SLACK)) {
                PackedColumn.unpack(stored.compression(), in, raw.nioBuffer(0, stored.rawBytes()));
                return decoder.apply(new ByteInput(raw.memoryAddress(), stored.rawBytes()));
            }
        } catch (EncodingException e) {
            throw damaged(stored, name + ": " + e.getMessage());
        }
    }

    /**
     * Hands on the values of a column of strings of a block that are not NULL, without a vector: for columns where nearly all are.
     *
     * @param allocator of what is read, for as long as that takes
     * @return false, without having handed on anything, if the column is of another form; {@link #scan} reads it then
     */
    public boolean forEachPresent(int block, int column, BufferAllocator allocator, PresentTexts.Sink to) {
        return decode(block, column, allocator, in -> PresentTexts.read(in, blockRows(block), to));
    }

    /** Reads every byte that was not read when it was opened; one line for each column of a block that is damaged. */
    public List<String> verify() {
        List<String> damage = new ArrayList<>();
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        for (int block = 0; block < blocks.size(); block++) {
            Interrupt.checkCurrent();
            for (int column = 0; column < schema.size(); column++) {
                SegmentBlock.Stored stored = blocks.get(block).columns().get(column);
                try {
                    if (buffer.capacity() < stored.bytes()) {
                        buffer = ByteBuffer.allocate(stored.bytes());
                    }
                    read(stored, nameOf(block, column), buffer);
                } catch (MillraceException e) {
                    damage.add(e.getMessage());
                }
            }
        }
        return damage;
    }

    /** Nobody scans any more. */
    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            return; // it was only read from
        }
    }
}
