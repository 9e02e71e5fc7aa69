package dev.millrace.storage.segment;

import dev.millrace.storage.column.ColumnBounds;
import dev.millrace.storage.column.PackedColumn;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Reads the footer of a segment; trusts none of its lengths. */
final class SegmentFooter {
    private static final int COLUMN = 18; // bytes without bounds

    private final String path;
    private final long offset;
    private final ByteBuffer in;
    private final Schema schema;
    private long position = SegmentLayout.HEADER;

    /** Of a file, at an offset, little endian. */
    SegmentFooter(String path, long offset, ByteBuffer in, Schema schema) {
        this.path = path;
        this.offset = offset;
        this.in = in;
        this.schema = schema;
    }

    List<SegmentBlock> read() {
        require(8);
        int columns = in.getInt();
        hold(columns == schema.size(), "it has " + columns + " columns");
        int count = in.getInt();
        hold(count >= 0 && count <= in.remaining() / 4, "it cannot have " + count + " blocks");
        List<SegmentBlock> blocks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            require(4);
            int rows = in.getInt();
            hold(rows > 0 && rows <= SegmentLayout.BLOCK_ROWS, "block " + i + " has " + rows + " rows");
            List<SegmentBlock.Stored> stored = new ArrayList<>(columns);
            for (int column = 0; column < columns; column++) {
                stored.add(readColumn(rows));
            }
            blocks.add(new SegmentBlock(rows, stored));
        }
        hold(position == offset && !in.hasRemaining(), "its columns do not fill it");
        return blocks;
    }

    private SegmentBlock.Stored readColumn(int rows) {
        require(COLUMN);
        int bytes = in.getInt();
        int rawBytes = in.getInt();
        int compression = in.get();
        int checksum = in.getInt();
        int nulls = in.getInt();
        int bounded = in.get();
        hold(
                bytes > 0
                        && rawBytes > 0
                        && bytes <= offset - position
                        && nulls >= 0
                        && nulls <= rows
                        && (compression == PackedColumn.PLAIN && rawBytes == bytes
                                || compression == PackedColumn.LZ4
                                || compression == PackedColumn.ZSTD)
                        && (bounded == 0 || bounded == 1),
                "a column of it cannot be");
        ColumnBounds statistics =
                bounded == 0 ? ColumnBounds.unbounded(nulls) : ColumnBounds.of(nulls, readKey(), readKey());
        SegmentBlock.Stored stored =
                new SegmentBlock.Stored(position, bytes, rawBytes, compression, checksum, statistics);
        position += bytes;
        return stored;
    }

    private byte[] readKey() {
        require(1);
        int length = in.get();
        hold(length >= 0 && length <= ColumnBounds.MOST_BYTES, "a bound has " + length + " bytes");
        require(length);
        byte[] key = new byte[length];
        in.get(key);
        return key;
    }

    private void require(int bytes) {
        hold(in.remaining() >= bytes, "it ends early");
    }

    private void hold(boolean holds, String what) {
        if (!holds) {
            throw DiskErrors.damaged(path, offset + in.position(), "its footer does not hold: " + what);
        }
    }
}
