package dev.millrace.benchmarks.suite;

import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The rows of a suite's streams in their order, read once, for being appended in chunks. Immutable once made. */
final class Feed {
    /**
     * The rows of one stream.
     *
     * @param timeColumn the place of its event time, -1 if it has none
     */
    record StreamRows(Suite.Stream stream, Schema schema, int timeColumn, List<Row> rows) {}

    private final Map<String, StreamRows> streams = new LinkedHashMap<>();

    /** As many rows of each stream as the suite's properties say, or all. */
    Feed(Suite suite, Inputs inputs) {
        try (SuiteDatabase database =
                new SuiteDatabase(DatabaseOptions.defaults().withWorkers(1), suite.setup(inputs))) {
            for (Suite.Stream stream : suite.streams()) {
                List<Row> rows = new ArrayList<>();
                Schema schema = database.select(
                        "SELECT * FROM " + stream.name() + " LIMIT " + suite.epochRows(stream),
                        batch -> rows.addAll(TestBatches.rows(batch)));
                List<String> names =
                        schema.fields().stream().map(field -> field.name()).toList();
                int time = stream.timeColumn().map(names::indexOf).orElse(-1);
                streams.put(stream.name(), new StreamRows(stream, schema, time, List.copyOf(rows)));
            }
        }
    }

    StreamRows rows(Suite.Stream stream) {
        return Objects.requireNonNull(streams.get(stream.name()));
    }
}
