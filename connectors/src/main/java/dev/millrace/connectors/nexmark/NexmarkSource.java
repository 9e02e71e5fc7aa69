package dev.millrace.connectors.nexmark;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.random.NumberedRows;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.OptionalDouble;

/**
 * One table of the stream.
 *
 * @param events of all kinds together
 * @param pace a multiple of event time, or empty for as fast as possible
 */
record NexmarkSource(
        Kind kind, List<GeneratedColumn> columns, Timeline timeline, long events, boolean bounded, OptionalDouble pace)
        implements Source {
    static final String FORM = "nexmark";

    @Override
    public Schema schema() {
        return new Schema(columns.stream().map(GeneratedColumn::field).toList());
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
        return new NumberedRows(
                FORM,
                columns,
                kind.countOf(events),
                bounded,
                pace.isEmpty() ? NumberedRows.Pace.NONE : byEventTime(pace.getAsDouble()));
    }

    /** As event time goes by, so many times as fast. */
    private NumberedRows.Pace byEventTime(double times) {
        return new NumberedRows.Pace() {
            @Override
            public long rowsAfter(long nanos) {
                return kind.countOf((long) (nanos * 1e-9 * times * timeline.rate()));
            }

            @Override
            public double dueNanos(long row) {
                return (timeline.micros(kind.event(row)) - Timeline.START_MICROS) * 1e3 / times;
            }
        };
    }
}
