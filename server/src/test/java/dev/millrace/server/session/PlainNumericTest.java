package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.operation.DirectoryDump;
import dev.millrace.server.script.DefinitionScript.Step;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A definition goes on to mean by NUMERIC what it meant when it was made, over restarts and dumps, and beside others. Those of directories from
 * before numbers of any size are as those of sessions that say so ({@code DirectoryFixtureTest} has such directories).
 */
class PlainNumericTest {
    private static final String NUMERIC_COLUMNS = "SELECT table_name, column_name, numeric_precision, numeric_scale"
            + " FROM information_schema.columns WHERE data_type = 'numeric' AND table_schema = 'public'";

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private static void createLimited(TestDatabase db) {
        db.run("SET plain_numeric = 'limited'");
        db.run("CREATE TABLE old (k INT PRIMARY KEY, n NUMERIC, third NUMERIC GENERATED ALWAYS AS (n / 3) STORED)");
        db.run("CREATE VIEW old_view AS SELECT k, n / 3 AS q, n * n AS p, 2::numeric AS two FROM old");
        db.run(
                "CREATE MATERIALIZED VIEW old_sums AS SELECT k % 2 AS g, avg(n) AS a, sum(n / 7) AS s FROM old GROUP BY k % 2");
        db.run("CREATE MATERIALIZED VIEW over_view AS SELECT g, max(a) AS a FROM old_sums GROUP BY g");
        db.run("CREATE FUNCTION old_third(x NUMERIC) RETURNS NUMERIC LANGUAGE SQL AS 'x / 3'");
        db.run("RESET plain_numeric");
        db.run("INSERT INTO old (k, n) VALUES (1, 10), (2, 2.5)");
    }

    private static final List<String> OLD_ROWS =
            List.of("1|10.0000000000000000|3.3333333333333333", "2|2.5000000000000000|0.8333333333333333");

    private static void requireLimited(TestDatabase db) {
        assertEquals(OLD_ROWS, db.rows("SELECT * FROM old"));
        assertEquals(
                List.of("1|3.3333333333333333|100.0000000000000000|2", "2|0.8333333333333333|6.2500000000000000|2"),
                db.rows("SELECT k, q, round(p, 16), two FROM old_view"));
        assertEquals(
                List.of("0|2.5000000000000000|0.3571428571428571", "1|10.0000000000000000|1.4285714285714286"),
                db.flushedRows("SELECT * FROM old_sums"));
        assertEquals(List.of("0|2.5000000000000000", "1|10.0000000000000000"), db.rows("SELECT * FROM over_view"));
        assertEquals(List.of("3.3333333333333333"), db.rows("SELECT old_third(10)"));
        assertEquals(List.of("old|n|38|16", "old|third|38|16"), db.rows(NUMERIC_COLUMNS + " AND table_name = 'old'"));
        assertTrue(db.error("INSERT INTO old (k, n) VALUES (3, '12345678901234567890123')")
                .startsWith("22003 "));
    }

    @Test
    void definitionsOfBeforeStayAsTheyWereOverRestarts() {
        try (TestDatabase db = open()) {
            createLimited(db);
            requireLimited(db);
            db.run("CHECKPOINT");
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase db = open()) {
                requireLimited(db);
                assertEquals(List.of(), db.rows("SELECT name FROM millrace.not_restored"));
            }
        }
    }

    @Test
    void newDefinitionsStandBesideThem() {
        try (TestDatabase db = open()) {
            createLimited(db);
            db.run("CREATE TABLE new (k INT PRIMARY KEY, n NUMERIC)");
            db.run("INSERT INTO new VALUES (1, '1e-20'), (2, '12345678901234567890123')");
            db.run(
                    "CREATE MATERIALIZED VIEW new_sums AS SELECT avg(v.q) AS a, sum(new.n) AS s FROM old_view v JOIN new USING (k)");
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase db = open()) {
                requireLimited(db);
                assertEquals(
                        List.of("1|0.00000000000000000001", "2|12345678901234567890123"), db.rows("SELECT * FROM new"));
                assertEquals(
                        List.of("2.0833333333333333|12345678901234567890123.00000000000000000001"),
                        db.flushedRows("SELECT * FROM new_sums"));
                assertEquals(
                        List.of(
                                "10.0000000000000000|10.00000000000000000001",
                                "2.5000000000000000|12345678901234567890125.5" + "000000000000000"),
                        db.rows("SELECT old.n, old.n + new.n FROM old JOIN new USING (k)"));
            }
        }
    }

    @Test
    void whatIsAlteredKeepsItsColumnsAndTakesNewOnes() {
        try (TestDatabase db = open()) {
            createLimited(db);
            db.run("CREATE OR REPLACE VIEW old_view AS SELECT k, n / 3 AS q, n * n AS p, 2::numeric AS two FROM old");
            assertEquals(List.of("0.83333333333333333333", "3.3333333333333333"), db.rows("SELECT q FROM old_view"));
            db.run("ALTER TABLE old ADD COLUMN more NUMERIC");
            db.run("UPDATE old SET more = '1e-30'");
            db.run("ALTER MATERIALIZED VIEW old_sums SET (schedule = 'every 500 ms')");
            db.run("ALTER MATERIALIZED VIEW old_sums RESET (schedule)");
        }
        try (TestDatabase db = open()) {
            assertEquals(
                    List.of("old|more||", "old|n|38|16", "old|third|38|16"),
                    db.rows(NUMERIC_COLUMNS + " AND table_name = 'old'"));
            assertEquals(List.of("0.000000000000000000000000000001"), db.rows("SELECT DISTINCT more FROM old"));
            assertEquals(
                    List.of("0|2.5000000000000000|0.3571428571428571", "1|10.0000000000000000|1.4285714285714286"),
                    db.flushedRows("SELECT * FROM old_sums"));
            db.run("DROP MATERIALIZED VIEW over_view");
            db.run("ALTER MATERIALIZED VIEW old_sums AS SELECT k % 2 AS g, avg(n) AS a FROM old GROUP BY k % 2");
            assertEquals(List.of("old_sums|a||"), db.rows(NUMERIC_COLUMNS + " AND table_name = 'old_sums'"));
        }
        try (TestDatabase db = open()) {
            assertEquals(List.of("old_sums|a||"), db.rows(NUMERIC_COLUMNS + " AND table_name = 'old_sums'"));
        }
    }

    @Test
    void aDumpSaysWhatItMeant() {
        String text;
        try (TestDatabase db = open()) {
            createLimited(db);
            text = db.rows("SELECT statement FROM millrace.definitions WHERE kind = 'table'")
                    .get(0);
        }
        assertTrue(text.startsWith("SET plain_numeric = 'limited';\nCREATE TABLE"), text);
        List<Step> steps = DirectoryDump.script(folder.resolve("data"));
        try (TestDatabase db = new TestDatabase(folder.resolve("again"))) {
            steps.forEach(step -> db.run(step.statement()));
            db.run("INSERT INTO old (k, n) VALUES (1, 10), (2, 2.5)");
            requireLimited(db);
            assertEquals(List.of("unlimited"), db.rows("SELECT current_setting('plain_numeric')"));
        }
        try (TestDatabase db = new TestDatabase(folder.resolve("again"))) {
            requireLimited(db);
        }
    }
}
