package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.SketchErrors;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCosts;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.type.DataType;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VarBinaryVector;

/**
 * What the columns of a stream's segments cost, and why: added up over files, of which sketches are read. For one thread. Errors are XX001 where a
 * file is damaged, and 58030.
 */
public final class ColumnCosts {
    private static final String AS_STREAM = "retention.form = 'exact'";
    private static final String NOT_YET = "kept as it came until there are rows enough for sketches";

    private final Optional<SketchedForm> form;
    private final BufferAllocator allocator;
    private final Map<List<String>, ColumnCost> costs = new LinkedHashMap<>(); // by column, form and reason

    /** @param form that old rows have; empty where all are exact */
    public ColumnCosts(Optional<SketchedForm> form, BufferAllocator allocator) {
        this.form = form;
        this.allocator = allocator;
    }

    /** In the order of the first file's columns. */
    public Collection<ColumnCost> all() {
        return List.copyOf(costs.values());
    }

    /** Adds a segment that is exact. */
    public void addExact(ColumnSegment file) {
        for (int column = 0; column < file.schema().size(); column++) {
            long bytes = bytes(file, column, 0, file.blockCount());
            String name = file.schema().field(column).name();
            add(new ColumnCost(
                    name,
                    ColumnCost.EXACT,
                    file.rows(),
                    bytes,
                    0,
                    beside(name).orElse(form.isPresent() ? NOT_YET : AS_STREAM)));
        }
    }

    /** Adds a segment that has the form. */
    public void addSketched(ColumnSegment file) {
        SketchedForm of = form.orElseThrow();
        int series = of.stream().size() + 2;
        List<Integer> starts = Stretches.starts(file, series);
        for (int stretch = 0; stretch < starts.size() - 1; stretch++) {
            addStretch(of, file, starts.get(stretch), starts.get(stretch + 1), series + 1);
        }
    }

    /** What the sketches of a stretch take, and how far they are off, by column; bits are of what is not compressed again. */
    private static final class Sketches {
        final long[] bits;
        final double[] errors;
        long all;
        Optional<SketchSchema> schema = Optional.empty();

        Sketches(int columns) {
            bits = new long[columns];
            errors = new double[columns];
        }

        void add(SketchedForm form, SegmentCosts costs) {
            Sketch sketch = costs.sketch();
            schema = Optional.of(sketch.schema());
            all += costs.all();
            for (int column = 0; column < bits.length; column++) {
                int place = form.placeIn(sketch.schema(), column);
                if (place >= SketchVectors.TIME) {
                    bits[column] += place == SketchVectors.TIME
                            ? costs.times()
                            : costs.features().get(place);
                    errors[column] = Math.max(errors[column], SketchErrors.of(sketch, place));
                }
            }
        }
    }

    private void addStretch(SketchedForm of, ColumnSegment file, int from, int to, int sketchColumn) {
        Sketches sketches = new Sketches(of.stream().size());
        long rows = 0;
        for (int block = from; block < to; block++) {
            Interrupt.checkCurrent();
            rows += file.blockRows(block);
            read(of, file, block, sketchColumn, sketches);
        }
        long stored = bytes(file, sketchColumn, from, to);
        long left = stored;
        for (int column = 0; column < file.schema().size(); column++) {
            String name = file.schema().field(column).name();
            long bytes = column == sketchColumn ? left : bytes(file, column, from, to);
            if (column >= of.stream().size()) {
                add(new ColumnCost(
                        name, ColumnCost.EXACT, rows, bytes, 0, beside(name).orElseThrow()));
                continue;
            }
            boolean isIn =
                    sketches.schema.isPresent() && of.placeIn(sketches.schema.get(), column) >= SketchVectors.TIME;
            boolean isKey = sketches.schema.isPresent() && of.keys().contains(column);
            long share = isIn ? (long) ((double) stored * sketches.bits[column] / sketches.all) : 0;
            left -= share;
            add(new ColumnCost(
                    name,
                    isIn ? ColumnCost.SKETCH : isKey ? ColumnCost.KEY : ColumnCost.EXACT,
                    rows,
                    bytes + share,
                    sketches.errors[column],
                    isIn
                            ? whySketched(of, column)
                            : isKey ? "sketch.key: once for each series" : whyExact(of, column)));
        }
    }

    private void read(SketchedForm of, ColumnSegment file, int block, int sketchColumn, Sketches sketches) {
        try (Batch batch = file.scan(List.of(sketchColumn), List.of(), block, block + 1, file.blockCount(), allocator)
                .next()
                .orElseThrow()) {
            VarBinaryVector stored = (VarBinaryVector) batch.column(0);
            for (int row = 0; row < batch.rowCount(); row++) {
                if (!stored.isNull(row)) {
                    try {
                        sketches.add(of, NumberedSketch.costs(stored.get(row)));
                    } catch (MillraceException e) {
                        throw file.damaged(block, sketchColumn, "row " + row + ": " + e.getMessage());
                    }
                }
            }
        }
    }

    private static long bytes(ColumnSegment file, int column, int from, int to) {
        long bytes = 0;
        for (int block = from; block < to; block++) {
            bytes += file.bytes(block, column);
        }
        return bytes;
    }

    private void add(ColumnCost cost) {
        costs.merge(List.of(cost.column(), cost.form(), cost.why()), cost, ColumnCost::plus);
    }

    private static Optional<String> beside(String column) {
        return switch (column) {
            case "#entry" -> Optional.of("which rows were accepted together");
            case "#arrival" -> Optional.of("when rows came");
            case "#series" -> Optional.of("which series each row is of");
            case "#sketch" -> Optional.of("what sketches have that is of no column");
            default -> Optional.empty();
        };
    }

    private static String whySketched(SketchedForm form, int column) {
        if (form.eventTime().equals(Optional.of(column))) {
            return form.timeErrorMicros() > 0 ? "sketch.time_error" : "the time of the sketches, which is exact";
        }
        DataType type = form.stream().type(column);
        if (SketchClause.isNumber(type)) {
            String name = form.stream().field(column).name();
            return form.clause().errors().containsKey(name) ? "sketch.error." + name : "sketch.error";
        }
        return type.kind() == DataType.Kind.BOOLEAN ? "two values" : "few texts, which repeat";
    }

    private static String whyExact(SketchedForm form, int column) {
        String name = form.stream().field(column).name();
        if (form.eventTime().equals(Optional.of(column))) {
            return "the event time, of rows that no sketch has, or NULL in some";
        }
        DataType type = form.stream().type(column);
        boolean isSaid = form.clause().errors().containsKey(name);
        return switch (type.kind()) {
            case REAL, DOUBLE -> (isSaid ? "sketch.error." + name : "sketch.error") + " = 0";
            case SMALLINT, INTEGER, BIGINT ->
                isSaid
                        ? "sketch.error." + name + " = 0"
                        : "it may be an identifier; sketch.error." + name + " says how far it may be off";
            case TEXT, VARCHAR -> "long texts, or such as hardly repeat";
            default -> "sketches have no " + type;
        };
    }
}
