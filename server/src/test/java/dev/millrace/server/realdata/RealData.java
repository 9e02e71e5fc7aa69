package dev.millrace.server.realdata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A database and an oracle that look at the same files. */
final class RealData implements AutoCloseable {
    private static final Schema ONE_NUMBER = Schema.of(new Field("n", DataType.BIGINT, true));

    private final Database database;
    private final Session session;
    private final Oracle oracle = Oracle.open();

    RealData(int workers) {
        database = Database.open(DatabaseOptions.defaults().withWorkers(workers));
        session = database.session();
    }

    /** Executes statements of ours. */
    void execute(String sql) {
        select(sql);
    }

    /** The rows of our SELECT. */
    ZSet select(String sql) {
        return ZSet.of(read(sql).rows());
    }

    private record Answer(Schema schema, List<Row> rows) {}

    private Answer read(String sql) {
        Answer answer = new Answer(new Schema(List.of()), List.of());
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows rows) {
                        answer = new Answer(rows.schema(), rows(rows));
                    }
                }
            }
        }
        return answer;
    }

    private static List<Row> rows(StatementResult.Rows result) {
        List<Row> rows = new ArrayList<>();
        for (Optional<Batch> next = result.next(); next.isPresent(); next = result.next()) {
            try (Batch batch = next.get()) {
                rows.addAll(TestBatches.rows(batch));
            }
        }
        return rows;
    }

    /**
     * Loads files into a table of the oracle: all columns as texts, by DuckDB's own reader, and {@code seq}, the number
     * of the row.
     */
    void oracleTable(String table, String path) {
        oracle.execute("CREATE TABLE " + table + " AS SELECT *, row_number() OVER () AS seq FROM read_csv('" + path
                + "', all_varchar = true, header = true, parallel = false)");
    }

    void oracleExecute(String sql) {
        oracle.execute(sql);
    }

    /** Our query, pulled, equals the oracle's. */
    void assertSelects(String ours, String duck) {
        Answer answer = read(ours);
        assertTrue(!answer.rows.isEmpty(), "an empty answer proves nothing: " + ours);
        assertEquals("", oracle.differences(duck, answer.schema, ZSet.of(answer.rows)), ours);
    }

    /** Our query as a standing one, fed to the end, equals the oracle's. Returns the query, for its statistics. */
    StandingQuery assertStands(String view, String ours, String duck) {
        execute("CREATE MATERIALIZED VIEW " + view + " AS " + ours);
        session.flush();
        StandingQuery query = database.engine().query(view);
        query.failure().ifPresent(failure -> {
            throw failure;
        });
        assertSelects("SELECT * FROM " + view, duck);
        return query;
    }

    /** A number that the oracle counts. */
    long oracleCount(String duck) {
        return (Long) oracle.query(duck, ONE_NUMBER).get(0).get(0);
    }

    /** A number that we count. */
    long count(String sql) {
        return (Long) read(sql).rows.get(0).get(0);
    }

    @Override
    public void close() {
        session.close();
        database.close();
        oracle.close();
    }
}
