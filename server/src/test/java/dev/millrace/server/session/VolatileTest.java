package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions that do not give the same value each time: within a statement the row that is taken back is the row that was given. */
class VolatileTest {
    private static final String UNMATCHED =
            "FROM (VALUES (1), (2), (5)) d(id) WHERE NOT EXISTS (SELECT 1 FROM m1 m WHERE m.id = d.id)";

    private static TestDatabase database(int workers) {
        TestDatabase db = new TestDatabase(workers);
        db.run("CREATE TABLE m1 (id BIGINT PRIMARY KEY, at TIMESTAMPTZ DEFAULT now(), d DATE DEFAULT current_date)");
        db.run("INSERT INTO m1 (id) SELECT generate_series(1, 4)");
        return db;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void theTimeIsOneAboveAnAntiJoin(int workers) {
        try (TestDatabase db = database(workers)) {
            for (int i = 0; i < 20; i++) {
                assertEquals(
                        List.of("5|t"),
                        db.rows("SELECT d.id, now() IS NOT NULL AND statement_timestamp() = now() " + UNMATCHED));
                assertEquals(List.of("5"), db.rows("SELECT id FROM (SELECT d.id, now() AS n " + UNMATCHED + ") AS q"));
                assertEquals(1, db.rows("SELECT d.id, now() " + UNMATCHED).size());
                assertEquals(
                        List.of("5"),
                        db.rows(
                                "SELECT d.id FROM (VALUES (1), (2), (5)) d(id) LEFT JOIN (SELECT id, now() AS n FROM m1) m"
                                        + " ON m.id = d.id WHERE m.id IS NULL AND now() > '2000-01-01'"));
                assertEquals(
                        3,
                        db.rows(
                                        "SELECT d.id, m.at, now() FROM (VALUES (1), (2), (5)) d(id) LEFT JOIN m1 m ON m.id = d.id")
                                .size());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aStatementThatWritesReadsOneTime(int workers) {
        try (TestDatabase db = database(workers)) {
            assertEquals("INSERT 0 1", db.run("INSERT INTO m1 SELECT d.id, now() " + UNMATCHED));
            assertEquals(
                    "INSERT 0 1",
                    db.run("INSERT INTO m1 (id) SELECT d.id + 10 FROM (VALUES (1), (2), (4)) d(id)"
                            + " WHERE NOT EXISTS (SELECT 1 FROM m1 m WHERE m.id = d.id + 3)"));
            assertEquals(
                    "MERGE 3",
                    db.run(
                            "MERGE INTO m1 USING (VALUES (1), (5), (21)) s(id) ON m1.id = s.id"
                                    + " WHEN MATCHED THEN UPDATE SET at = now() WHEN NOT MATCHED THEN INSERT (id, at) VALUES (s.id, now())"));
            assertEquals(List.of("1"), db.rows("SELECT count(DISTINCT at) FROM m1 WHERE id IN (1, 5, 21)"));
            db.run("UPDATE m1 SET at = now() WHERE NOT EXISTS (SELECT 1 FROM m1 o WHERE o.id = m1.id + 1)");
            assertEquals(List.of("t"), db.rows("SELECT count(*) = 7 FROM m1"));
        }
    }

    @Test
    void whatAStatementWritesInManyPartsHasOneTime() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT, a TIMESTAMPTZ DEFAULT now(), b TIMESTAMPTZ)");
            db.run("INSERT INTO t (id, b) SELECT i, now() FROM generate_series(1, 100000) AS g(i)");
            assertEquals(
                    List.of("1|1|t"), db.rows("SELECT count(DISTINCT a), count(DISTINCT b), max(a) = min(b) FROM t"));
            assertEquals(
                    List.of("1|1"),
                    db.rows(
                            "SELECT count(DISTINCT now()), count(DISTINCT n) FROM (SELECT now() AS n FROM t"
                                    + " UNION ALL SELECT CURRENT_TIMESTAMP FROM t UNION ALL SELECT 'now'::timestamptz FROM t) AS q"));
            List<String> returned =
                    db.rows("WITH w AS (INSERT INTO t (id) VALUES (0) RETURNING a) SELECT a = now() FROM w");
            assertEquals(List.of("t"), returned);
        }
    }
}
