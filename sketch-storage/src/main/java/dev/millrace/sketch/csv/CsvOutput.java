package dev.millrace.sketch.csv;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import java.io.IOException;
import java.math.BigDecimal;

/** Writes sketches as CSV, the time first. Not thread-safe. */
public final class CsvOutput {
    private final Appendable out;
    private final boolean timestamps;

    /** Writes times as timestamps or as numbers. */
    public CsvOutput(Appendable out, boolean timestamps) {
        this.out = out;
        this.timestamps = timestamps;
    }

    public void header(SketchSchema schema) throws IOException {
        out.append(quoted(schema.timeName()));
        for (Feature feature : schema.features()) {
            out.append(',').append(quoted(feature.name()));
        }
        out.append('\n');
    }

    public void rows(Sketch sketch) throws IOException {
        TimeText.Form form = timestamps ? TimeText.Form.TIMESTAMP : TimeText.Form.NUMBER;
        for (int row = 0; row < sketch.rows(); row++) {
            out.append(TimeText.format(sketch.times().at(row), sketch.schema().ticksPerSecond(), form));
            for (int f = 0; f < sketch.schema().size(); f++) {
                Column column = sketch.column(f);
                int rank = column.sequence().ranks()[row];
                out.append(',');
                if (rank < column.symbols().size()) {
                    out.append(text(sketch.schema().feature(f), column, rank));
                }
            }
            out.append('\n');
        }
    }

    private static String text(Feature feature, Column column, int rank) {
        return switch (feature.kind()) {
            case TEXT -> quoted(((TextSymbols) column.symbols()).text(rank));
            case BOOLEAN -> column.numbers().whole(rank) != 0 ? "true" : "false";
            case WHOLE -> Long.toString(column.numbers().whole(rank));
            case NUMBER -> number(column.numbers().value(rank));
        };
    }

    private static String number(double value) {
        if (!Double.isFinite(value)) {
            return Double.toString(value);
        }
        String shortest = Double.toString(value);
        return shortest.indexOf('E') < 0 || Math.abs(value) > 1e15
                ? shortest
                : new BigDecimal(shortest).toPlainString();
    }

    private static String quoted(String text) {
        boolean needed = text.isEmpty() || text.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return needed ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }
}
