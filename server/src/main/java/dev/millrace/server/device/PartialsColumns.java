package dev.millrace.server.device;

import dev.millrace.batch.Batch;
import dev.millrace.edge.program.Partials;
import dev.millrace.edge.program.WindowGroups;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.stream.EdgeWindows;
import dev.millrace.edge.stream.StreamRow;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The rows of a stream that takes the partial aggregates of a query's windows: where the window begins, the keys, how many rows, the aggregates, and the device. Rows
 * that devices send one by one become partials here, unless they say that they count already. The last row of each batch has the latest time, and no rows that
 * count: with it time goes on.
 */
record PartialsColumns(Schema schema, WindowProgram program) {
    /** @throws MillraceException 42P16 if the columns are not those of the program's partials */
    PartialsColumns {
        int expected = program.keys().size() + program.aggregates().size() + 3;
        if (schema.size() != expected) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION,
                    "a stream of partial aggregates has " + expected + " columns, and not " + schema.size());
        }
    }

    /**
     * Of what a device made.
     *
     * @throws MillraceException XX001 if it is damaged
     */
    Batch ofPartials(byte[] bytes, String device, BufferAllocator allocator) {
        return batch(List.of(Partials.read(bytes, program)), Optional.empty(), device, allocator);
    }

    /**
     * Of rows that a device sent as they are.
     *
     * @throws MillraceException 42804 if it has a column of another kind than the query
     */
    Batch ofRows(Sketch sketch, String device, BufferAllocator allocator) {
        try (Batch rows = Materialisation.all().batch(sketch, allocator)) {
            StreamRow values = StreamRow.of(rows);
            WindowGroups groups = new WindowGroups(program, rows.schema());
            int mark = rows.schema().indexOf(EdgeWindows.MARK);
            int time = groups.timeColumn(rows.schema());
            long latest = Long.MIN_VALUE;
            for (int row = 0; row < rows.rowCount(); row++) {
                if (time < 0 || values.isNull(time, row)) {
                    continue; // in no window; the stream itself counts it as late
                }
                long at = values.whole(time, row);
                latest = Math.max(latest, at);
                boolean counts = mark >= 0 && !values.isNull(mark, row) && isIn(values.text(mark, row));
                if (!counts) {
                    groups.add(values, row, at);
                }
            }
            List<Partials> all = new ArrayList<>();
            groups.takeAll().ifPresent(bytes -> all.add(Partials.read(bytes, program)));
            return batch(all, latest == Long.MIN_VALUE ? Optional.empty() : Optional.of(latest), device, allocator);
        }
    }

    private boolean isIn(String mark) {
        return mark.equals(program.id()) || List.of(mark.split(" ")).contains(program.id());
    }

    private Batch batch(List<Partials> all, Optional<Long> latest, String device, BufferAllocator allocator) {
        Optional<Long> end = latest;
        if (all.isEmpty() && end.isEmpty()) {
            return nothing(allocator);
        }
        try (RowBuilder rows = new RowBuilder(schema, allocator)) {
            for (Partials partials : all) {
                partials.groups()
                        .forEach(group -> rows.row(
                                values(group.windowMicros(), group.keys(), group.rows(), group.values(), device)));
                end = end.or(() -> Optional.of(partials.latestMicros()));
            }
            end.ifPresent(micros -> rows.row(values(
                    micros,
                    none(program.keys().size()),
                    0,
                    none(program.aggregates().size()),
                    device)));
            return rows.build();
        }
    }

    private static Object[] values(
            long micros, List<Optional<Object>> keys, long rows, List<Optional<Object>> aggregates, String device) {
        List<Object> values = new ArrayList<>();
        values.add(micros);
        values.addAll(keys);
        values.add(rows);
        values.addAll(aggregates);
        values.add(device);
        return values.toArray();
    }

    private static List<Optional<Object>> none(int count) {
        return java.util.Collections.nCopies(count, Optional.empty());
    }

    /** A batch of no rows; the caller's. */
    Batch nothing(BufferAllocator allocator) {
        return EdgeColumns.nothing(schema, allocator);
    }
}
