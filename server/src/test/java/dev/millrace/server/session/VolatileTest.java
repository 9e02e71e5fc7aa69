package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

    private static TestDatabase numbers(int workers) {
        TestDatabase db = new TestDatabase(workers);
        db.run("CREATE TABLE t (a BIGINT PRIMARY KEY, b BIGINT)");
        db.run("INSERT INTO t SELECT i, i % 5 FROM generate_series(1, 2000) AS g(i)");
        return db;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void eachCallDrawsForEachRow(int workers) {
        try (TestDatabase db = numbers(workers)) {
            assertEquals(
                    List.of("f|t|f"),
                    db.rows(
                            "SELECT random() = random(), random() BETWEEN 0 AND 1, gen_random_uuid() = gen_random_uuid()"));
            assertEquals(
                    List.of("2000|t"),
                    db.rows("SELECT count(DISTINCT gen_random_uuid()), count(DISTINCT random()) > 1990 FROM t"));
            assertEquals(
                    List.of("4000"),
                    db.rows("SELECT count(DISTINCT u) FROM (SELECT gen_random_uuid() AS u FROM t UNION ALL SELECT"
                            + " gen_random_uuid() FROM t) AS q"));
            assertEquals(List.of("t"), db.rows("SELECT count(*) BETWEEN 800 AND 1200 FROM t WHERE random() < 0.5"));
            assertEquals(
                    List.of("5"), db.rows("SELECT count(*) FROM (SELECT DISTINCT b FROM t) AS q WHERE random() >= 0"));
            assertEquals(
                    List.of("5|t"),
                    db.rows("SELECT count(*), bool_and(u::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]')"
                            + " FROM (SELECT gen_random_uuid() AS u FROM t LIMIT 5) AS q"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void whatIsReadTwiceIsDrawnOnce(int workers) {
        try (TestDatabase db = numbers(workers)) {
            assertEquals(List.of("t|t"), db.rows("SELECT x = x, x BETWEEN x AND x FROM (SELECT random() AS x) AS q"));
            assertEquals(
                    List.of("0|2000"),
                    db.rows(
                            "WITH r AS (SELECT a, random() AS x FROM t) SELECT count(*) FILTER (WHERE p.x <> q.x), count(*)"
                                    + " FROM r AS p JOIN r AS q ON p.a = q.a"));
            assertEquals(
                    List.of("0|400"),
                    db.rows(
                            "WITH r AS (SELECT a, b, random() AS x FROM t) SELECT count(*) FILTER (WHERE p.x <> q.x), count(*)"
                                    + " FROM r AS p JOIN r AS q ON p.a = q.a AND q.b = 2"));
            assertEquals(
                    List.of("0"),
                    db.rows("SELECT count(*) FROM (SELECT random() AS x FROM t) AS q WHERE x < 0 OR x >= 1 OR x <> x"));
            assertEquals(
                    List.of("5"),
                    db.rows(
                            "SELECT count(*) FROM (SELECT b, floor(random()) AS f FROM t GROUP BY b, floor(random())) AS q"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void valuesAreDrawnForRowsThatStay(int workers) {
        try (TestDatabase db = numbers(workers)) {
            String d = "FROM generate_series(1, 3000) AS d(id) ";
            for (String drawn : List.of("random()", "gen_random_uuid()", "random() < 0.5", "now()")) {
                assertEquals(
                        List.of("1000"),
                        db.rows("SELECT count(*) FROM (SELECT d.id, " + drawn + " " + d
                                + "WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.a = d.id)) AS q"));
                assertEquals(
                        List.of("3000|2000"),
                        db.rows("SELECT count(*), count(a) FROM (SELECT d.id, t.a, " + drawn + " " + d
                                + "LEFT JOIN t ON t.a = d.id) AS q"));
                assertEquals(
                        3000,
                        db.rows("SELECT d.id, t.a, " + drawn + " " + d + "LEFT JOIN t ON t.a = d.id")
                                .size());
                assertEquals(
                        5,
                        db.rows("SELECT b, count(*), " + drawn + " FROM t GROUP BY b")
                                .size());
                assertEquals(
                        10,
                        db.rows("SELECT a, row_number() OVER (ORDER BY a), " + drawn + " FROM t ORDER BY a LIMIT 10")
                                .size());
            }
            assertEquals(
                    List.of("3000"), db.rows("SELECT count(*) " + d + "LEFT JOIN t ON t.a = d.id AND random() < 0"));
            assertEquals(
                    List.of("t"),
                    db.rows("SELECT count(*) BETWEEN 300 AND 700 " + d
                            + "LEFT JOIN t ON t.a = d.id WHERE t.a IS NULL AND random() < 0.5"));
            assertEquals(
                    "INSERT 0 1000",
                    db.run("INSERT INTO t SELECT d.id, floor(random() * 10) " + d
                            + "WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.a = d.id)"));
            assertEquals("UPDATE 3000", db.run("UPDATE t SET b = floor(random() * 10)"));
            assertEquals(List.of("3000|10"), db.rows("SELECT count(*), count(DISTINCT b) FROM t"));
        }
    }

    @Test
    void aStandingQueryDrawsOnceForRowsThatAreOnlyAddedAndElseIsRefused() {
        try (TestDatabase db = numbers(2)) {
            db.run("CREATE STREAM s (k BIGINT)");
            db.run(
                    "CREATE MATERIALIZED VIEW v AS SELECT k, random() AS r, gen_random_uuid() AS u FROM s WHERE random() >= 0");
            db.run("CREATE MATERIALIZED VIEW w AS SELECT k, max(r) AS r, count(*) AS n FROM v GROUP BY k");
            for (int i = 0; i < 5; i++) {
                db.run("INSERT INTO s VALUES (1), (2), (1)");
                assertEquals(
                        List.of("1|t", "2|t"),
                        db.rows("SELECT v.k, max(v.r) = max(w.r) FROM v JOIN w ON v.k = w.k GROUP BY v.k"));
            }
            assertEquals(List.of("15|15"), db.rows("SELECT count(*), count(DISTINCT u) FROM v"));
            for (String query : List.of(
                    "SELECT a, random() FROM t",
                    "SELECT a FROM t WHERE random() < 0.5",
                    "SELECT k, count(*), gen_random_uuid() FROM s GROUP BY k",
                    "SELECT k FROM s LEFT JOIN t ON t.a = s.k WHERE random() < 0.5",
                    "SELECT s.k FROM s LEFT JOIN t ON t.a = s.k AND random() < 0.5")) {
                assertEquals(
                        "0A000",
                        db.failure("CREATE MATERIALIZED VIEW x AS " + query)
                                .sqlState()
                                .code(),
                        query);
            }
        }
    }

    @Test
    void defaultsDraw() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE d (id INT, r DOUBLE PRECISION DEFAULT random(), u UUID DEFAULT gen_random_uuid())");
            db.run("INSERT INTO d (id) SELECT generate_series(1, 100)");
            db.run("INSERT INTO d (id) VALUES (101), (102)");
            assertEquals(List.of("102|102"), db.rows("SELECT count(DISTINCT r), count(DISTINCT u) FROM d"));
            assertEquals(
                    "42P17",
                    db.failure("CREATE TABLE g (a INT, b DOUBLE PRECISION GENERATED ALWAYS AS (random()) STORED)")
                            .sqlState()
                            .code());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aUsersVolatileFunctionIsCalledOnceForEachRowThatStays(int workers, @TempDir Path folder) throws IOException {
        Path jar = TestJar.of("""
                package org.example;

                import java.util.concurrent.atomic.AtomicLong;

                public final class Code {
                    private static final AtomicLong NEXT = new AtomicLong();

                    public static long ticket(long seat) { return NEXT.incrementAndGet(); }
                }
                """, folder);
        try (TestDatabase db = numbers(workers)) {
            db.run("CREATE FUNCTION ticket(seat BIGINT) RETURNS BIGINT LANGUAGE JAVA VOLATILE AS '" + jar
                    + "', 'org.example.Code'");
            String d = "FROM generate_series(1, 3000) AS d(id) ";
            assertEquals(
                    3000,
                    db.rows("SELECT d.id, t.a, ticket(d.id) " + d + "LEFT JOIN t ON t.a = d.id")
                            .size());
            assertEquals(
                    List.of("1000|1000"),
                    db.rows("SELECT count(*), count(DISTINCT n) FROM (SELECT d.id, ticket(1) AS n " + d
                            + "WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.a = d.id)) AS q"));
            assertEquals(
                    List.of("0|2000"),
                    db.rows(
                            "WITH r AS (SELECT a, ticket(a) AS n FROM t) SELECT count(*) FILTER (WHERE p.n <> q.n), count(*)"
                                    + " FROM r AS p JOIN r AS q ON p.a = q.a"));
            assertEquals(List.of("f"), db.rows("SELECT ticket(1) = ticket(1)"));
            assertEquals(
                    "0A000",
                    db.failure("CREATE MATERIALIZED VIEW v AS SELECT a, ticket(a) FROM t")
                            .sqlState()
                            .code());
            db.run("CREATE STREAM s (k BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT k, ticket(k) AS n FROM s");
            db.run("INSERT INTO s VALUES (1), (1), (2)");
            assertEquals(List.of("3|3"), db.rows("SELECT count(*), count(DISTINCT n) FROM v"));
        }
    }
}
