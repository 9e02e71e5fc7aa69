package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.storage.column.ColumnBounds;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.storage.segment.RowScan;
import dev.millrace.storage.segment.SegmentScan;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/** Reads the rows of a sketched segment, or of some of its stretches, block by block. For one thread; holds one stretch between calls. */
final class SketchedRowScan implements RowScan {
    private final SketchedForm form;
    private final ColumnSegment file;
    private final List<Integer> stored = new ArrayList<>(); // of the file: #series, #sketch, those asked for
    private final List<Integer> columns;
    private final List<ColumnRange> ranges;
    private final Optional<Materialisation> chosen;
    private final Schema schema;
    private final BufferAllocator allocator;
    private final List<Integer> starts; // of stretches, and the block behind the last
    private final boolean needsNoSketch;
    private final int end;
    private int stretch;
    private int block;
    private int stretchEnd; // the block behind the last of it that may have rows
    private @Nullable StretchReader reader;
    private int blocksRead;
    private int blocksSkipped;
    private long bytesRead;

    SketchedRowScan(
            SketchedForm form,
            ColumnSegment file,
            List<Integer> columns,
            List<ColumnRange> ranges,
            Optional<Materialisation> chosen,
            int from,
            int to,
            int parts,
            BufferAllocator allocator) {
        this.form = form;
        this.file = file;
        this.columns = List.copyOf(columns);
        this.ranges = List.copyOf(ranges);
        this.chosen = chosen;
        this.allocator = allocator;
        this.starts = Stretches.starts(file, form.stream().size() + 2);
        this.needsNoSketch =
                columns.stream().allMatch(column -> column >= form.stream().size() && !form.isComputed(column));
        stored.add(form.stream().size() + 2);
        stored.add(form.stream().size() + 3);
        columns.stream().filter(column -> !form.isComputed(column)).forEach(stored::add);
        this.schema = form.schema(file.schema(), columns);
        long all = starts.size() - 1;
        this.stretch = (int) (all * from / parts);
        this.end = (int) (all * to / parts);
        this.block = starts.get(stretch);
        this.stretchEnd = block;
    }

    @Override
    public Optional<Batch> next() {
        while (true) {
            if (block >= stretchEnd && !beginStretch()) {
                return Optional.empty();
            }
            int at = block++;
            boolean isRead = mayHaveRows(at);
            if (needsNoSketch) {
                if (isRead) {
                    blocksRead++;
                    return Optional.of(read(at, columns));
                }
                blocksSkipped++;
                continue;
            }
            try (Batch rows = read(at, isRead ? stored : stored.subList(0, StretchReader.FIRST_ASKED))) {
                StretchReader of = reader == null ? begin() : reader;
                if (isRead) {
                    blocksRead++;
                    return Optional.of(of.read(at, rows));
                }
                of.skip(at, rows);
                blocksSkipped++;
            }
        }
    }

    /** Goes to the next stretch that may have rows; false at the end. */
    private boolean beginStretch() {
        close();
        while (stretch < end) {
            int first = starts.get(stretch);
            int behind = starts.get(++stretch);
            blocksSkipped += Math.max(0, first - block);
            int last = behind;
            while (last > first && !mayHaveRows(last - 1)) {
                last--;
            }
            blocksSkipped += behind - last;
            block = first;
            stretchEnd = last;
            if (last > first) {
                return true;
            }
            block = behind;
        }
        return false;
    }

    private StretchReader begin() {
        StretchReader begun = new StretchReader(form, file, columns, schema, chosen, allocator);
        reader = begun;
        return begun;
    }

    /** By columns that the file has as they are; where a block has nothing but NULL of one it may be in sketches. */
    private boolean mayHaveRows(int of) {
        for (ColumnRange range : ranges) {
            ColumnBounds bounds = file.statistics(of, range.column());
            if (!form.keys().contains(range.column())
                    && bounds.nulls() < file.blockRows(of)
                    && !bounds.mayHave(range.low(), range.high())) {
                return false;
            }
        }
        return true;
    }

    private Batch read(int at, List<Integer> of) {
        SegmentScan scan = file.scan(of, List.of(), at, at + 1, file.blockCount(), allocator);
        Batch batch = scan.next().orElseThrow();
        bytesRead += scan.bytesRead();
        return batch;
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
    public void close() {
        if (reader != null) {
            reader.close();
            reader = null;
        }
    }
}
