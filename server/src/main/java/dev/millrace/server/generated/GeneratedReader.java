package dev.millrace.server.generated;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.connector.Part;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.engine.calc.DirectCalc;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.text.TextBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;

/** Adds computed columns to a reader's batches, and rejects the records for which they cannot be computed. */
final class GeneratedReader implements SourceReader {
    private static final int MOST_TEXT = 300;

    private final SourceReader given;
    private final int number; // of the reader, from 1: its rows are counted by themselves
    private final GeneratedRows rows;
    private final SourceContext context;
    private final DirectCalc.Kept calc;
    private long rowsBefore;

    GeneratedReader(SourceReader given, int number, GeneratedRows rows, SourceContext context) {
        this.given = given;
        this.number = number;
        this.rows = rows;
        this.context = context;
        this.calc = new DirectCalc.Kept(rows.calc(), context.allocator(), context.clock());
    }

    @Override
    public Optional<Batch> poll() {
        Optional<Batch> next = given.poll();
        if (next.isEmpty()) {
            return next;
        }
        try (Batch batch = next.get()) {
            Batch computed = batch.rowCount() == 0 ? none() : computed(batch);
            rowsBefore += batch.rowCount();
            return Optional.of(computed);
        }
    }

    private Batch none() {
        return new RowCopier(rows.askedSchema(), context.allocator()).build();
    }

    private Batch computed(Batch batch) {
        try (Batch all = calc.compute(batch)) {
            if (firstMissing(all) < 0) {
                return asked(all);
            }
        } catch (MillraceException e) {
            if (e.fault() != MillraceException.Fault.USER) {
                throw e;
            }
        }
        return rowByRow(batch);
    }

    /** The rows that can be computed, found one by one: a batch where none fails does not come here. */
    private Batch rowByRow(Batch batch) {
        int[] places = IntStream.range(0, batch.columnCount()).toArray();
        int[] asked = IntStream.range(0, rows.asked()).toArray();
        try (RowCopier sound = new RowCopier(rows.askedSchema(), context.allocator())) {
            for (int row = 0; row < batch.rowCount(); row++) {
                try (Batch one = one(batch, places, row);
                        Batch computed = calc.compute(one)) {
                    int missing = firstMissing(computed);
                    if (missing < 0) {
                        sound.copy(computed, asked, 0, 1);
                    } else {
                        reject(batch, row, rows.schema().field(missing).name(), nullThere(missing));
                    }
                } catch (MillraceException e) {
                    reject(batch, row, onlyGenerated(), e);
                }
            }
            return sound.build();
        }
    }

    private Batch one(Batch batch, int[] places, int row) {
        try (RowCopier copier = new RowCopier(batch.schema(), context.allocator())) {
            copier.copy(batch, places, row, 1);
            return copier.build();
        }
    }

    /** A column that has a NULL where there may be none, or -1. */
    private int firstMissing(Batch computed) {
        for (int column = 0; column < computed.columnCount(); column++) {
            if (rows.isGenerated(column) && !rows.schema().field(column).nullable() && computed.hasNulls(column)) {
                return column;
            }
        }
        return -1;
    }

    private MillraceException nullThere(int column) {
        return MillraceException.user(
                SqlState.NOT_NULL_VIOLATION,
                "null value in column \"" + rows.schema().field(column).name() + "\" of relation \"" + rows.stream()
                        + "\" violates not-null constraint");
    }

    /** The column that failed, where there is but one that could. */
    private String onlyGenerated() {
        int[] generated = IntStream.range(0, rows.columns().size())
                .filter(rows::isGenerated)
                .toArray();
        return generated.length == 1 ? rows.schema().field(generated[0]).name() : "";
    }

    private void reject(Batch batch, int row, String column, MillraceException why) {
        if (why.fault() != MillraceException.Fault.USER) {
            throw why;
        }
        MillraceException first = why; // without the place in a batch of one
        while (first.getCause() instanceof MillraceException cause) {
            first = cause;
        }
        context.reject(new RejectedRecord(
                "rows of " + rows.stream() + (number == 1 ? "" : ", reader " + number),
                rowsBefore + row + 1,
                column,
                first.getMessage(),
                first.sqlState(),
                text(batch, row)));
    }

    private String text(Batch batch, int row) {
        try (TextBuffer out = new TextBuffer(context.allocator(), MOST_TEXT)) {
            CsvRows.COMMAS.row(out, batch, row);
            String line = out.toString().strip();
            return line.length() <= MOST_TEXT ? line : line.substring(0, MOST_TEXT);
        }
    }

    private Batch asked(Batch all) {
        FieldVector[] columns =
                IntStream.range(0, rows.asked()).mapToObj(all::column).toArray(FieldVector[]::new);
        return Batch.view(rows.askedSchema(), columns, all.rowCount(), Optional.empty(), List.of(all.retain()));
    }

    @Override
    public boolean isFinished() {
        return given.isFinished();
    }

    @Override
    public long retryAfterMicros() {
        return given.retryAfterMicros();
    }

    @Override
    public Part part() {
        return given.part();
    }

    @Override
    public double progress() {
        return given.progress();
    }

    /** That of the given reader: numbers of rows in messages begin anew behind it. */
    @Override
    public Optional<SourcePosition> position() {
        return given.position();
    }

    @Override
    public Optional<ScanCounts> counts() {
        return given.counts();
    }

    @Override
    public List<SplitStatus> splits() {
        return given.splits();
    }

    @Override
    public void close() {
        try (SourceReader reader = given) {
            calc.close();
        }
    }
}
