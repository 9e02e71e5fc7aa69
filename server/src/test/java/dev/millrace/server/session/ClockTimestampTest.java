package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

/** clock_timestamp() goes on within a statement, and its calls come in the order in which they are written. */
class ClockTimestampTest {
    private static final String TIME = "extract(epoch FROM clock_timestamp())";
    private static final BigDecimal PAUSE = new BigDecimal("0.02");

    private static BigDecimal at(String row, int column) {
        return new BigDecimal(row.split("\\|", -1)[column]);
    }

    @Test
    void theClockIsReadWhereItIsWritten() {
        try (TestDatabase db = new TestDatabase()) {
            String row = db.rows("SELECT " + TIME + " AS a, pg_sleep(0.02), " + TIME + " AS b, pg_sleep(0.02), " + TIME
                            + " + 0 AS c, extract(epoch FROM now()) AS n")
                    .get(0);
            assertTrue(at(row, 0).add(PAUSE).compareTo(at(row, 2)) <= 0, row);
            assertTrue(at(row, 2).add(PAUSE).compareTo(at(row, 4)) <= 0, row);
            assertTrue(at(row, 5).compareTo(at(row, 0)) <= 0, row);
        }
    }

    @Test
    void rowsAreComputedOneAfterTheOther() {
        try (TestDatabase db = new TestDatabase()) {
            List<String> rows = db.rows("SELECT i, " + TIME + " AS a, length(pg_sleep(0.002)::text), upper('x' || i), "
                    + TIME + " AS b FROM generate_series(1, 10) g(i)");
            BigDecimal last = BigDecimal.ZERO;
            assertEquals(10, rows.size());
            for (String row :
                    rows.stream().sorted((a, b) -> at(a, 0).compareTo(at(b, 0))).toList()) {
                assertTrue(last.compareTo(at(row, 1)) <= 0, rows.toString());
                assertTrue(at(row, 1).compareTo(at(row, 4)) < 0, rows.toString());
                last = at(row, 4);
            }
        }
    }

    @Test
    void aValueThatWasReadStaysWhatItIs() {
        try (TestDatabase db = new TestDatabase(2)) {
            assertEquals(
                    List.of("t|t|t"),
                    db.rows("SELECT bool_and(a = a), bool_and(a >= now()), count(DISTINCT n) = 1 FROM (SELECT"
                            + " clock_timestamp() AS a, now() AS n FROM generate_series(1, 5000)) AS w"));
            db.run("CREATE TABLE t (id INT, at TIMESTAMPTZ DEFAULT clock_timestamp(), said TEXT DEFAULT timeofday())");
            db.run("INSERT INTO t (id) SELECT i FROM generate_series(1, 3) g(i)");
            assertEquals(List.of("t|t"), db.rows("SELECT bool_and(at <= now()), bool_and(said LIKE '% UTC') FROM t"));
            db.run("CREATE TABLE m (id INT)");
            db.run("INSERT INTO m VALUES (1), (2)");
            assertEquals(
                    List.of("3"),
                    db.rows("SELECT id FROM (SELECT id, clock_timestamp() AS c FROM t WHERE NOT EXISTS (SELECT 1 FROM m"
                            + " WHERE m.id = t.id)) AS w WHERE c >= now()"));
        }
    }
}
