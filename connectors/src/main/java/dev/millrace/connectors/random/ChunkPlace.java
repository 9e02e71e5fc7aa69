package dev.millrace.connectors.random;

import dev.millrace.connector.SourcePosition;

/**
 * Where a reader is that makes every {@code stride}-th chunk of numbered rows. Immutable.
 *
 * @param chunkRows rows of a chunk
 * @param stride how many readers share the rows
 * @param chunk the one under way
 * @param row the next
 */
public record ChunkPlace(int chunkRows, int stride, long chunk, long row) {
    private static final int VERSION = 1;
    private static final int MOST = 1 << 24;

    public ChunkPlace {
        boolean possible = chunkRows > 0
                && chunkRows <= MOST
                && stride > 0
                && stride <= MOST
                && chunk >= 0
                && chunk < Long.MAX_VALUE / chunkRows - stride
                && row >= chunk * chunkRows
                && row <= (chunk + 1) * chunkRows;
        if (!possible) {
            throw new IllegalArgumentException(
                    "no row " + row + " in chunk " + chunk + " of " + chunkRows + " rows, every " + stride);
        }
    }

    /** The first row of one of {@code stride} readers. */
    public static ChunkPlace first(int chunkRows, int stride, int reader) {
        return new ChunkPlace(chunkRows, stride, reader, (long) reader * chunkRows);
    }

    /** @param form of which source it is */
    public SourcePosition position(String form) {
        return SourcePosition.of(form, VERSION, out -> {
            out.writeInt(chunkRows);
            out.writeInt(stride);
            out.writeLong(chunk);
            out.writeLong(row);
        });
    }

    public static ChunkPlace of(String form, SourcePosition position) {
        return position.read(
                form, VERSION, in -> new ChunkPlace(in.readInt(), in.readInt(), in.readLong(), in.readLong()));
    }
}
