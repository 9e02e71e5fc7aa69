package dev.millrace.connectors.random;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows that are made by their number, the same ones each time, and read by several readers side by side.
 *
 * @param form of the readers' positions
 * @param total how many there are
 * @param bounded whether that is to be called an end
 * @param pace when they may be out
 */
public record NumberedRows(String form, List<? extends Column> columns, long total, boolean bounded, Pace pace) {
    /** How to make the values of a column. */
    public interface Column {
        Field field();

        /** The values of rows {@code first} to {@code first + rows - 1}; the caller owns the vector. */
        FieldVector generate(long first, int rows, BufferAllocator allocator);
    }

    /** When rows may be out. */
    public interface Pace {
        /** All at once. */
        Pace NONE = new Pace() {
            @Override
            public long rowsAfter(long nanos) {
                return Long.MAX_VALUE;
            }

            @Override
            public double dueNanos(long row) {
                return 0;
            }
        };

        /** How many rows may be out so long after the start. */
        long rowsAfter(long nanos);

        /** How long after the start a row, counted from 0, may be out. */
        double dueNanos(long row);
    }

    /** Reader i of p makes every p-th batch from the i-th on, so that all advance together in event time. */
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        int readers = Math.max(1, request.parallelism());
        List<SourceReader> all = new ArrayList<>();
        for (int reader = 0; reader < readers; reader++) {
            ChunkPlace place = ChunkPlace.first(context.batchRows(), readers, reader);
            all.add(new ChunkReader(this, wanted(request), context, place, 0));
        }
        return all;
    }

    /** Readers that go on from where others were. */
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        return positions.stream()
                .map(position -> ChunkPlace.of(form, position))
                .<SourceReader>map(place -> new ChunkReader(this, wanted(request), context, place, place.row()))
                .toList();
    }

    private List<Column> wanted(ScanRequest request) {
        return request.columns().stream().<Column>map(columns::get).toList();
    }
}
