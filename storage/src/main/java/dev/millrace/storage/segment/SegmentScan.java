package dev.millrace.storage.segment;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.column.ColumnDecoder;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Reads a segment, or a part of it, block by block. For one thread; holds nothing between calls. Errors are those of {@link ColumnSegment}. */
public final class SegmentScan implements RowScan {
    private final ColumnSegment segment;
    private final List<Integer> columns;
    private final List<ColumnRange> ranges;
    private final BufferAllocator allocator;
    private final Schema schema;
    private final int end; // the block behind the last
    private int block;
    private int blocksRead;
    private int blocksSkipped;
    private long bytesRead;

    SegmentScan(
            ColumnSegment segment,
            List<Integer> columns,
            List<ColumnRange> ranges,
            int first,
            int end,
            BufferAllocator allocator) {
        this.block = first;
        this.end = end;
        this.segment = segment;
        this.columns = List.copyOf(columns);
        this.ranges = List.copyOf(ranges);
        this.allocator = allocator;
        this.schema = segment.schema().select(columns);
    }

    @Override
    public Optional<Batch> next() {
        while (block < end) {
            Interrupt.checkCurrent();
            SegmentBlock at = segment.blocks().get(block);
            if (mayHaveRows(at)) {
                Batch batch = read(at);
                blocksRead++;
                block++;
                return Optional.of(batch);
            }
            blocksSkipped++;
            block++;
        }
        return Optional.empty();
    }

    private boolean mayHaveRows(SegmentBlock at) {
        for (ColumnRange range : ranges) {
            var statistics = at.columns().get(range.column()).statistics();
            if (statistics.nulls() == at.rows() || !statistics.mayHave(range.low(), range.high())) {
                return false;
            }
        }
        return true;
    }

    private Batch read(SegmentBlock at) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int i = 0; i < columns.size(); i++) {
                vectors.add(read(at.rows(), at.columns().get(columns.get(i)), i));
            }
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), at.rows());
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private FieldVector read(int rows, SegmentBlock.Stored stored, int index) {
        bytesRead += stored.bytes();
        return segment.decode(
                block,
                columns.get(index),
                allocator,
                in -> ColumnDecoder.read(in, schema.field(index), rows, allocator));
    }

    @Override
    public int blocksRead() {
        return blocksRead;
    }

    @Override
    public int blocksSkipped() {
        return blocksSkipped;
    }

    @Override
    public long bytesRead() {
        return bytesRead;
    }

    @Override
    public void close() {}
}
