package dev.millrace.server.journal;

import dev.millrace.batch.Batch;
import dev.millrace.storage.batch.BatchBytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Rows of a batch that are written together: few enough that their bytes, which lie on the Java heap, are a megabyte or so. */
record RowPiece(Batch batch, int from, int rows) {
    private static final long BYTES = 1 << 20;
    private static final int EIGHT = 8; // from a multiple of which on bits are copied as bytes

    /** All rows of some batches, which stay the caller's. */
    static List<RowPiece> of(List<Batch> batches) {
        List<RowPiece> pieces = new ArrayList<>();
        for (Batch batch : batches) {
            long each = Math.max(EIGHT, batch.rowCount() * BYTES / Math.max(1, batch.sizeInBytes()) & -EIGHT);
            for (long from = 0; from < batch.rowCount(); from += each) {
                pieces.add(new RowPiece(batch, (int) from, (int) Math.min(each, batch.rowCount() - from)));
            }
        }
        return pieces;
    }

    ByteBuffer bytes() {
        return BatchBytes.write(batch, from, rows);
    }
}
