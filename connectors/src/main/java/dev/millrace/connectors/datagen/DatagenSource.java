package dev.millrace.connectors.datagen;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.random.NumberedRows;
import dev.millrace.type.Schema;
import java.util.List;

/**
 * A made-up relation.
 *
 * @param rows how many there are
 * @param rate rows per second of real time, 0 for as fast as possible
 */
record DatagenSource(List<GenerationRule> rules, long rows, boolean bounded, long rate) implements Source {
    static final String FORM = "datagen";

    @Override
    public Schema schema() {
        return new Schema(rules.stream().map(GenerationRule::field).toList());
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        return numbered().open(request, context);
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        return numbered().reopen(request, positions, context);
    }

    private NumberedRows numbered() {
        return new NumberedRows(FORM, rules, rows, bounded, rate == 0 ? NumberedRows.Pace.NONE : pace(rate));
    }

    private static NumberedRows.Pace pace(long rate) {
        return new NumberedRows.Pace() {
            @Override
            public long rowsAfter(long nanos) {
                return (long) (nanos * 1e-9 * rate);
            }

            @Override
            public double dueNanos(long row) {
                return (row + 1) * 1e9 / rate;
            }
        };
    }
}
