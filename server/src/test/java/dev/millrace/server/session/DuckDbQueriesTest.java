package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.server.differential.OracleCheck;
import dev.millrace.testing.oracle.Oracle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The queries of {@code duckdb.slt} are answered as DuckDB answers them, and so are views of them when tables change. */
class DuckDbQueriesTest {
    private static final Path QUERIES = Path.of("src/test/resources/slt/duckdb.slt");

    @Test
    void answersAndViewsAreDuckDbs() throws IOException {
        List<String> queries = new ArrayList<>();
        try (TestDatabase db = new TestDatabase();
                Oracle oracle = Oracle.open()) {
            for (String block : Files.readString(QUERIES).split("\n\n")) {
                String[] lines = block.split("\n");
                if (lines[0].equals("statement ok")) {
                    db.run(lines[1]);
                    oracle.execute(lines[1]);
                } else if (lines[0].startsWith("query")) {
                    queries.add(lines[1]);
                }
            }
            assertFalse(queries.isEmpty());
            for (int i = 0; i < queries.size(); i++) {
                OracleCheck.requireEqual(db.session(), queries.get(i), oracle, queries.get(i));
                db.run("CREATE MATERIALIZED VIEW view_" + i + " AS " + queries.get(i));
            }
            for (String change : StandingSurveyTest.CHANGES) {
                if (change.matches(".* (emp|dept|sales|nums) .*")) {
                    db.run(change);
                    oracle.execute(change);
                }
            }
            db.run("FLUSH");
            for (int i = 0; i < queries.size(); i++) {
                OracleCheck.requireEqual(db.session(), "SELECT * FROM view_" + i, oracle, queries.get(i));
            }
        }
    }
}
