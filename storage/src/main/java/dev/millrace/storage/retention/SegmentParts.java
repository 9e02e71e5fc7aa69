package dev.millrace.storage.retention;

import dev.millrace.batch.Batch;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.storage.segment.RowScan;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/** The rows of files one behind the other, as they are stored, block by block. For one thread. */
final class SegmentParts implements Supplier<Optional<Batch>>, AutoCloseable {
    private final Deque<KeptSegment> parts;
    private final Function<KeptSegment, ColumnSegment> opener;
    private final BufferAllocator allocator;
    private final List<Integer> columns;
    private @Nullable ColumnSegment file;
    private @Nullable RowScan scan;

    SegmentParts(
            List<KeptSegment> parts,
            Function<KeptSegment, ColumnSegment> opener,
            int columns,
            BufferAllocator allocator) {
        this.parts = new ArrayDeque<>(parts);
        this.opener = opener;
        this.columns = IntStream.range(0, columns).boxed().toList();
        this.allocator = allocator;
    }

    /** The next rows, the caller's; empty at the end. */
    @Override
    public Optional<Batch> get() {
        while (true) {
            if (scan != null) {
                Optional<Batch> next = scan.next();
                if (next.isPresent()) {
                    return next;
                }
                close();
            }
            KeptSegment part = parts.poll();
            if (part == null) {
                return Optional.empty();
            }
            ColumnSegment opened = opener.apply(part);
            file = opened;
            scan = opened.scan(columns, List.of(), allocator);
        }
    }

    @Override
    public void close() {
        scan = null;
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
