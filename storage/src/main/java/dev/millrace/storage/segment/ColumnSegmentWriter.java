package dev.millrace.storage.segment;

import dev.millrace.batch.Batch;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.storage.column.ByteOutput;
import dev.millrace.storage.column.ColumnBounds;
import dev.millrace.storage.column.ColumnBuffer;
import dev.millrace.storage.column.PackedColumn;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes a segment from its beginning to its end. For one thread.
 *
 * <pre>{@code
 * try (ColumnSegmentWriter out = ColumnSegmentWriter.create(disk, name, schema)) {
 *     out.append(batch);                     // as often as it takes
 *     SegmentFile file = out.finish();
 * }                                          // removed if it was not finished
 * }</pre>
 *
 * <p>One block is held in memory: 32,768 rows or 8 MB, whichever is less, or one row that is more. All methods throw 53100 where the disk is
 * full, 58030 where it fails otherwise, 54000 for a value that no file can have; and what {@link Interrupt} says, at each block.
 */
public final class ColumnSegmentWriter implements AutoCloseable {
    private static final long BLOCK_BYTES = 8 << 20;
    private static final int PIECE_ROWS = 1024;

    private final Disk disk;
    private final String name;
    private final Schema schema;
    private final DiskFile file;
    private final List<ColumnBuffer> columns = new ArrayList<>();
    private final List<SegmentBlock> blocks = new ArrayList<>();
    private final ByteOutput raw = new ByteOutput();
    private final PackedColumn packed = new PackedColumn();
    private final ByteOutput plain = new ByteOutput(); // the same column without dictionaries
    private final PackedColumn packedPlain = new PackedColumn();
    private int blockRows;
    private long rows;
    private long position;
    private boolean finished;

    private ColumnSegmentWriter(Disk disk, String name, Schema schema, DiskFile file) {
        this.disk = disk;
        this.name = name;
        this.schema = schema;
        this.file = file;
        schema.types().forEach(type -> columns.add(new ColumnBuffer(type)));
    }

    /** Begins a file of a new name. */
    public static ColumnSegmentWriter create(Disk disk, String name, Schema schema) {
        ColumnSegmentWriter writer;
        try {
            writer = new ColumnSegmentWriter(disk, name, schema, disk.create(name));
        } catch (IOException e) {
            throw DiskErrors.failed("create " + disk.path(name), e);
        }
        try {
            writer.putHeader();
            return writer;
        } catch (RuntimeException e) {
            try {
                writer.close();
            } catch (RuntimeException alsoFailed) {
                e.addSuppressed(alsoFailed);
            }
            throw e;
        }
    }

    private void putHeader() {
        ByteBuffer header = ByteBuffer.allocate(SegmentLayout.HEADER).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(SegmentLayout.FILE_MAGIC).putInt(SegmentLayout.VERSION);
        header.putInt(16, BatchBytes.hash(schema));
        header.putInt(12, SegmentLayout.crc(header.duplicate().position(16)));
        put(header.rewind());
    }

    private void put(ByteBuffer bytes) {
        int length = bytes.remaining();
        try {
            file.write(bytes, position);
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(name), e);
        }
        position += length;
    }

    /** Rows that were appended. */
    public long rows() {
        return rows;
    }

    /** Bytes in the file so far. */
    public long bytes() {
        return position;
    }

    /** Adds rows behind those before. The batch, of the schema and without weights, stays the caller's. */
    public void append(Batch batch) {
        if (batch.weights().isPresent()) {
            throw new IllegalArgumentException("rows of a segment have no weights");
        }
        append(batch, 0, batch.rowCount());
    }

    /** The same of some of its rows. */
    public void append(Batch batch, int from, int more) {
        int at = from;
        while (at < from + more) {
            int piece = Math.min(Math.min(PIECE_ROWS, from + more - at), SegmentLayout.BLOCK_ROWS - blockRows);
            while (piece > 1 && bytes(batch, at, piece) > BLOCK_BYTES) {
                piece /= 2;
            }
            if (blockRows > 0 && gathered() + bytes(batch, at, piece) > BLOCK_BYTES) {
                endBlock();
            }
            for (int column = 0; column < columns.size(); column++) {
                columns.get(column).append(batch.column(column), at, piece);
            }
            blockRows += piece;
            rows += piece;
            at += piece;
            if (blockRows == SegmentLayout.BLOCK_ROWS) {
                endBlock();
            }
        }
    }

    private long bytes(Batch batch, int from, int more) {
        long bytes = 0;
        for (int column = 0; column < columns.size(); column++) {
            bytes += ColumnBuffer.bytes(batch.column(column), schema.type(column), from, more);
        }
        return bytes;
    }

    private long gathered() {
        return columns.stream().mapToLong(ColumnBuffer::bytes).sum();
    }

    /** Has the rows that come next begin a block; nothing if they do anyway. */
    public void endBlock() {
        if (blockRows == 0) {
            return;
        }
        Interrupt.checkCurrent();
        List<SegmentBlock.Stored> stored = new ArrayList<>();
        for (ColumnBuffer column : columns) {
            stored.add(write(column));
            column.clear();
        }
        blocks.add(new SegmentBlock(blockRows, stored));
        blockRows = 0;
    }

    private SegmentBlock.Stored write(ColumnBuffer column) {
        raw.clear();
        boolean byDictionary = column.encode(raw, true);
        packed.pack(raw);
        int rawBytes = raw.size();
        PackedColumn shortest = packed;
        if (byDictionary && packed.length() > rawBytes / 4) {
            plain.clear();
            column.encode(plain, false);
            packedPlain.pack(plain);
            if (packedPlain.length() < packed.length() / 4 * 3) { // else slower to read for little
                shortest = packedPlain;
                rawBytes = plain.size();
            }
        }
        ByteBuffer bytes = ByteBuffer.wrap(shortest.array(), 0, shortest.length());
        int checksum = SegmentLayout.checksum(bytes, position);
        long offset = position;
        put(bytes);
        return new SegmentBlock.Stored(
                offset, shortest.length(), rawBytes, shortest.kind(), checksum, column.statistics());
    }

    /** Ends the file; when this returns, its contents last, and its name as soon as {@link Disk#forceNames} has been called. */
    public SegmentFile finish() {
        endBlock();
        ByteBuffer footer = footer();
        ByteBuffer trailer = ByteBuffer.allocate(SegmentLayout.TRAILER).order(ByteOrder.LITTLE_ENDIAN);
        trailer.putLong(position).putLong(position + footer.limit() + SegmentLayout.TRAILER);
        trailer.putLong(rows)
                .putInt(SegmentLayout.crc(footer))
                .putInt(BatchBytes.hash(schema))
                .putInt(0);
        int checksum = SegmentLayout.crc(trailer.duplicate().flip());
        trailer.putInt(checksum).putLong(SegmentLayout.END_MAGIC).flip();
        put(footer);
        put(trailer);
        try {
            file.force();
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(name), e);
        }
        finished = true;
        return new SegmentFile(name, position, checksum, rows);
    }

    private ByteBuffer footer() {
        ByteOutput out = new ByteOutput();
        out.putInt(schema.size());
        out.putInt(blocks.size());
        for (SegmentBlock block : blocks) {
            out.putInt(block.rows());
            for (SegmentBlock.Stored column : block.columns()) {
                out.putInt(column.bytes());
                out.putInt(column.rawBytes());
                out.putByte(column.compression());
                out.putInt(column.checksum());
                ColumnBounds statistics = column.statistics();
                out.putInt(statistics.nulls());
                out.putByte(statistics.bounded() ? 1 : 0);
                if (statistics.bounded()) {
                    putKey(statistics.least(), out);
                    putKey(statistics.greatest(), out);
                }
            }
        }
        return ByteBuffer.wrap(out.array(), 0, out.size()).slice();
    }

    private static void putKey(byte[] key, ByteOutput out) {
        out.putByte(key.length);
        out.putBytes(key, 0, key.length);
    }

    /** What is known of a column of all rows, once they are {@link #finish}ed. */
    public ColumnBounds statistics(int column) {
        return blocks.stream()
                .map(block -> block.columns().get(column).statistics())
                .reduce(ColumnBounds::with)
                .orElse(ColumnBounds.unbounded(0));
    }

    /** Lets go of the file, and removes it unless it was finished. */
    @Override
    public void close() {
        packed.close();
        packedPlain.close();
        try {
            file.close();
            if (!finished) {
                disk.delete(name);
            }
        } catch (IOException e) {
            if (finished) {
                return; // it is on disk
            }
            throw DiskErrors.failed("remove " + disk.path(name), e);
        }
    }
}
