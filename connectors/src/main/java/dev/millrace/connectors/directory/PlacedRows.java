package dev.millrace.connectors.directory;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Gives each row to the file of its directory, as often as its weight says. Owned by one thread. */
final class PlacedRows implements AutoCloseable {
    private static final int FIRST_BYTES = 1 << 10;
    private static final int FIRST_ROWS = 64;

    private static final class Rows {
        int[] numbers = new int[FIRST_ROWS];
        int count;

        void add(int row) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, count * 2);
            }
            numbers[count++] = row;
        }
    }

    private final PartitionColumns partitions;
    private final TextBuffer scratch;

    PlacedRows(PartitionColumns partitions, BufferAllocator allocator) {
        this.partitions = partitions;
        this.scratch = new TextBuffer(allocator, FIRST_BYTES);
    }

    void write(Batch batch, DirectoryFiles to) {
        Map<String, Rows> byPlace = new HashMap<>();
        long weights = batch.weightsAddress();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            Rows rows = byPlace.computeIfAbsent(partitions.place(batch, row, scratch), fresh -> new Rows());
            for (long times = weight; times > 0; times--) {
                rows.add(row);
            }
        }
        try (Batch written = written(batch)) {
            byPlace.forEach((place, rows) -> {
                if (rows.count > 0) {
                    to.write(place, written, rows.numbers, rows.count);
                }
            });
        }
    }

    private Batch written(Batch batch) {
        FieldVector[] vectors = partitions.others().stream().map(batch::column).toArray(FieldVector[]::new);
        return Batch.view(partitions.written(), vectors, batch.rowCount(), Optional.empty(), List.of(batch.retain()));
    }

    @Override
    public void close() {
        scratch.close();
    }
}
