package dev.millrace.storage.segment;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.column.ByteInput;
import dev.millrace.storage.column.ColumnDecoder;
import dev.millrace.storage.column.EncodingException;
import dev.millrace.storage.column.PackedColumn;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Reads a segment, or a part of it, block by block. For one thread; holds nothing between calls. Errors are those of {@link ColumnSegment}. */
public final class SegmentScan implements RowScan {
    private static final int MOST_RATIO = 1 << 17; // a block that zstd made of one byte, repeated

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
        String name = segment.nameOf(block, columns.get(index));
        if (stored.rawBytes() / MOST_RATIO > stored.bytes()) {
            throw segment.damaged(stored, name + " cannot have " + stored.rawBytes() + " bytes");
        }
        try (ArrowBuf bytes = allocator.buffer((long) stored.bytes() + ByteInput.SLACK)) {
            ByteBuffer in = bytes.nioBuffer(0, stored.bytes());
            segment.read(stored, name, in);
            bytesRead += stored.bytes();
            if (stored.compression() == PackedColumn.PLAIN) {
                return decode(bytes, rows, stored, index);
            }
            try (ArrowBuf raw = allocator.buffer((long) stored.rawBytes() + ByteInput.SLACK)) {
                PackedColumn.unpack(stored.compression(), in, raw.nioBuffer(0, stored.rawBytes()));
                return decode(raw, rows, stored, index);
            }
        } catch (EncodingException e) {
            throw segment.damaged(stored, name + ": " + e.getMessage());
        }
    }

    private FieldVector decode(ArrowBuf raw, int rows, SegmentBlock.Stored stored, int index) {
        ByteInput in = new ByteInput(raw.memoryAddress(), stored.rawBytes());
        return ColumnDecoder.read(in, schema.field(index), rows, allocator);
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
