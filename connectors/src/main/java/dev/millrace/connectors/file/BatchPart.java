package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.util.TransferPair;

/** Some rows of a batch that lie together, as a batch of their own. */
final class BatchPart {
    private BatchPart() {}

    /**
     * The rows from {@code from} to before {@code to}. The batch stays the caller's.
     *
     * @param columns how many of its columns, from the first, are kept
     */
    static Batch of(Batch batch, int from, int to, int columns, BufferAllocator allocator) {
        FieldVector[] vectors = new FieldVector[columns];
        int made = 0;
        try {
            for (; made < columns; made++) {
                TransferPair pair = batch.column(made).getTransferPair(allocator);
                pair.splitAndTransfer(from, to - from);
                vectors[made] = (FieldVector) pair.getTo();
            }
        } catch (RuntimeException | Error e) {
            for (int i = 0; i < made; i++) {
                vectors[i].close();
            }
            throw e;
        }
        List<Integer> kept = IntStream.range(0, columns).boxed().toList();
        return Batch.of(batch.schema().select(kept), vectors, to - from);
    }
}
