package dev.millrace.connectors.system;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.type.Schema;
import java.util.List;

/**
 * A table at a period.
 *
 * @param schema the declared columns
 * @param places per declared column, its place in the table
 */
record SystemSource(SystemTable table, Schema schema, List<Integer> places, long periodMicros) implements Source {
    @Override
    public boolean bounded() {
        return false;
    }

    @Override
    public boolean replayable() {
        return false;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        List<Integer> wanted = request.columns().stream().map(places::get).toList();
        Probe probe = table.probe(new Machine());
        return List.of(new SystemReader(probe, schema.select(request.columns()), wanted, periodMicros, context));
    }
}
