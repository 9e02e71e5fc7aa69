package dev.millrace.storage.retention;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.storage.segment.RowScan;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a stream had when this was made, in the order of entries. For one thread; pins the files that it has not read yet.
 *
 * <p>{@link #next} throws XX001 where a file is damaged, 58030 where it cannot be read, 53200 where memory ends.
 */
public final class StoreScan implements AutoCloseable {
    private final SegmentStore store;
    private final Deque<Piece> pieces;
    private final List<RetainedRows> rows;
    private int rowsGiven; // of those
    private final List<Integer> columns;
    private final List<ColumnRange> ranges;
    private final long lastEntry;
    private final long lastDropped;
    private final BufferAllocator allocator;
    private @Nullable ColumnSegment file; // of the first of the pieces, if it is open
    private @Nullable RowScan scan;
    private final long segmentsSkipped;
    private long segmentsRead;
    private long blocksRead;
    private long blocksSkipped;
    private long bytesRead;

    /** Some of the parts of a segment, of about as many blocks each, from one to before another. */
    record Piece(KeptSegment segment, int from, int to, int parts) {}

    StoreScan(
            SegmentStore store,
            List<Piece> pieces,
            List<RetainedRows> rows,
            List<Integer> columns,
            List<ColumnRange> ranges,
            long lastEntry,
            long lastDropped,
            long segmentsSkipped,
            BufferAllocator allocator) {
        this.store = store;
        this.pieces = new ArrayDeque<>(pieces);
        this.rows = rows;
        this.columns = List.copyOf(columns);
        this.ranges = List.copyOf(ranges);
        this.lastEntry = lastEntry;
        this.lastDropped = lastDropped;
        this.segmentsSkipped = segmentsSkipped;
        this.allocator = allocator;
    }

    /** The next rows, the caller's; empty at the end. */
    public Optional<Batch> next() {
        while (!pieces.isEmpty()) {
            RowScan from = scan == null ? openNext() : scan;
            Optional<Batch> batch = from.next();
            if (batch.isPresent()) {
                return batch;
            }
            closeFile();
            store.unpin(pieces.removeFirst().segment());
        }
        if (rowsGiven == rows.size()) {
            return Optional.empty();
        }
        int end = RetainedRows.endTogether(rows, rowsGiven);
        List<RetainedRows> next = rows.subList(rowsGiven, end);
        rowsGiven = end;
        try {
            return Optional.of(RetainedRows.select(next, columns, store.schema(), allocator));
        } finally {
            Closing.all(next);
        }
    }

    /**
     * A file of another form than the exact one, for who reads the form.
     *
     * @param segment not the caller's
     * @param ranges by which its rows may be passed by
     */
    public record Formed(ColumnSegment segment, List<ColumnRange> ranges) {}

    /**
     * The file whose rows come next, if it is of another form, and none of its rows were given; then {@link #endFormed} goes on behind it. Of scans
     * that are made for one thread alone, which read whole files.
     */
    public Optional<Formed> nextFormed() {
        Piece next = pieces.peekFirst();
        if (scan != null || next == null || !next.segment().isSketched()) {
            return Optional.empty();
        }
        if (next.from() != 0 || next.to() != next.parts()) {
            throw new IllegalStateException("a part of a file");
        }
        ColumnSegment opened = file == null ? store.open(next.segment()) : file;
        file = opened;
        return Optional.of(new Formed(opened, ranges));
    }

    /** Goes on behind the file of {@link #nextFormed}. */
    public void endFormed() {
        segmentsRead++;
        closeFile();
        store.unpin(pieces.removeFirst().segment());
    }

    private RowScan openNext() {
        Piece piece = pieces.getFirst();
        ColumnSegment opened = store.open(piece.segment());
        file = opened;
        RowScan begun = piece.segment().isSketched()
                ? store.form().scan(opened, columns, ranges, piece.from(), piece.to(), piece.parts(), allocator)
                : opened.scan(columns, ranges, piece.from(), piece.to(), piece.parts(), allocator);
        scan = begun;
        return begun;
    }

    private void closeFile() {
        if (scan != null) {
            segmentsRead += pieces.getFirst().from() == 0 ? 1 : 0;
            blocksRead += scan.blocksRead();
            blocksSkipped += scan.blocksSkipped();
            bytesRead += scan.bytesRead();
            scan.close();
            scan = null;
        }
        if (file != null) {
            file.close();
            file = null;
        }
    }

    /** Number of the last entry that was appended before the scan was made: who follows the stream goes on behind it. */
    public long lastEntry() {
        return lastEntry;
    }

    /** Number of the last entry of which rows were dropped before the scan was made; 0 if none are known to be. */
    public long lastDropped() {
        return lastDropped;
    }

    /** Segments that were opened, and are closed; of scans of one moment one counts each. */
    public long segmentsRead() {
        return segmentsRead;
    }

    /** Segments that were passed by because of the ranges, or have only later entries; of scans of one moment one counts them. */
    public long segmentsSkipped() {
        return segmentsSkipped;
    }

    /** Blocks of segments that were read to their end whose rows were given. */
    public long blocksRead() {
        return blocksRead;
    }

    /** Blocks of these that were passed by. */
    public long blocksSkipped() {
        return blocksSkipped;
    }

    /** Bytes that were read of their columns. */
    public long bytesRead() {
        return bytesRead;
    }

    @Override
    public void close() {
        closeFile();
        for (Piece piece = pieces.pollFirst(); piece != null; piece = pieces.pollFirst()) {
            store.unpin(piece.segment());
        }
        Closing.all(rows.subList(rowsGiven, rows.size()));
        rowsGiven = rows.size();
    }
}
