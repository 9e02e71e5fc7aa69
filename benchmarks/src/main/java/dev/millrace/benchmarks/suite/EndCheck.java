package dev.millrace.benchmarks.suite;

import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares a suite's queries, as views over its bounded streams read to their end, with DuckDB over the same rows. Used by
 * one thread.
 */
final class EndCheck implements AutoCloseable {
    private final Suite suite;
    private final SuiteDatabase database;
    private final Oracle oracle = Oracle.open();
    private final Questions questions;

    EndCheck(Suite suite, List<String> queries, Inputs inputs, int workers) {
        this.suite = suite;
        this.database = new SuiteDatabase(DatabaseOptions.defaults().withWorkers(workers), suite.setup(inputs));
        for (Suite.Stream stream : suite.streams()) {
            oracle.create(stream.name(), database.select("SELECT * FROM " + stream.name() + " LIMIT 0", batch -> {}));
            if (queries.stream().anyMatch(query -> suite.streamsOf(query).contains(stream))) {
                database.select("SELECT * FROM " + stream.name(), batch -> oracle.insert(stream.name(), batch));
            }
        }
        this.questions = new Questions(suite, inputs, oracle);
    }

    /** How our answer differs from the oracle's; empty when it does not. */
    String differences(String query) {
        database.execute("CREATE MATERIALIZED VIEW checked AS " + suite.sql(query));
        try {
            database.flush();
            List<Row> rows = new ArrayList<>();
            Schema schema = database.select("SELECT * FROM checked", batch -> rows.addAll(TestBatches.rows(batch)));
            if (rows.isEmpty()) {
                return "an empty answer shows nothing\n";
            }
            String differences = questions.differences(query, "infinity", Long.MAX_VALUE, schema, rows);
            return differences.isEmpty() ? lateRows() : differences;
        } finally {
            database.execute("DROP MATERIALIZED VIEW checked");
        }
    }

    /** The oracle gets every row, so none may be late. */
    private String lateRows() {
        long late = database.engine().query("checked").statistics().lateRows();
        return late == 0 ? "" : late + " rows came late\n";
    }

    /** The oracle's answer as its file has it. */
    String kept(String query) {
        Schema schema = database.select("SELECT * FROM (" + suite.sql(query) + ") AS answer LIMIT 0", batch -> {});
        return questions.kept(query, schema);
    }

    @Override
    public void close() {
        oracle.close();
        database.close();
    }
}
