package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A row that cannot be computed is an error as long as it is there, and no longer. */
@Tag("long")
class FailedRowsTest {
    private static String code(TestDatabase db, String query) {
        return db.failure(query).sqlState().code();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aScalarSubQueryInHavingDividesForGroupsThatAreThere(int workers) {
        try (TestDatabase db = new TestDatabase(workers)) {
            String query =
                    "SELECT a, count(*) AS n FROM t GROUP BY a HAVING count(*) >= (SELECT count(*)/count(DISTINCT a) FROM t)";
            db.run("CREATE TABLE t (a BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS " + query);
            for (int round = 0; round < 3; round++) {
                assertEquals(List.of(), db.rows("SELECT * FROM v"));
                assertEquals(List.of(), db.rows(query));
                db.run("INSERT INTO t VALUES (NULL), (NULL)");
                assertEquals("22012", code(db, query)); // two rows by no value
                assertEquals("22012", code(db, "SELECT * FROM v"));
                db.run("INSERT INTO t VALUES (1), (1), (3)");
                assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
                assertEquals(List.of("1|2", "|2"), db.rows("SELECT * FROM v"));
                db.run("DELETE FROM t");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void anErrorGoesWithItsRow(int workers) {
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
            db.run("CREATE MATERIALIZED VIEW inverse AS SELECT id, 100 / n AS q FROM t WHERE id < 100000");
            db.run("CREATE MATERIALIZED VIEW total AS SELECT sum(q) AS s, count(*) AS c FROM inverse");
            db.run("CREATE MATERIALIZED VIEW sums AS SELECT sum(100 / n) AS s FROM t");
            db.run(
                    "INSERT INTO t SELECT i, CASE WHEN i % 1000 = 7 THEN 0 ELSE i END FROM generate_series(1, 20000) g(i)");
            for (String view : List.of("inverse", "total", "sums")) {
                assertEquals("22012", code(db, "SELECT * FROM " + view), view);
            }
            assertEquals(
                    List.of("inverse|running|22012", "sums|running|22012"),
                    db.rows("SELECT query, state, sqlstate FROM millrace.query_stats WHERE sqlstate IS NOT NULL"));
            db.run("DELETE FROM t WHERE n = 0 AND id > 10");
            assertTrue(db.error("SELECT * FROM total")
                    .startsWith(
                            "22012 materialized view \"inverse\" has a row that cannot be computed: division by zero"));
            db.run("UPDATE t SET n = 50 WHERE n = 0");
            assertEquals(db.rows("SELECT sum(100 / n), count(*) FROM t"), db.rows("SELECT * FROM total"));
            assertEquals(db.rows("SELECT sum(100 / n) FROM t"), db.rows("SELECT * FROM sums"));
            assertEquals(List.of("2"), db.rows("SELECT q FROM inverse WHERE id = 7"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT x.k FROM x JOIN y ON x.k = y.k WHERE 12 / (x.a - y.b) > 1",
                "SELECT x.k FROM x JOIN y ON x.k = y.k AND 12 / (x.a - y.b) > 1",
                "SELECT x.k FROM x, y WHERE x.k = y.k AND x.a % y.b = 1 AND x.a > y.b"
            })
    void anErrorOfAPairGoesWithIt(String query) {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run("CREATE TABLE x (k BIGINT, a BIGINT)");
            db.run("CREATE TABLE y (k BIGINT, b BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS " + query);
            db.run("INSERT INTO x VALUES (1, 0), (1, 3), (2, 3)");
            db.run("INSERT INTO y VALUES (1, 0), (2, 2), (3, 3)");
            db.run("INSERT INTO x VALUES (1, 5)");
            assertEquals("22012", code(db, query));
            assertEquals("22012", code(db, "SELECT * FROM v"));
            db.run("DELETE FROM x WHERE k = 1");
            assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
            assertEquals(List.of("2"), db.rows("SELECT * FROM v"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT x.k, x.a, y.b FROM x LEFT JOIN y ON x.k = y.k AND 12 / (x.a - y.b) > 1",
                "SELECT x.k, x.a, y.b FROM x RIGHT JOIN y ON x.k = y.k AND 12 / (x.a - y.b) > 1",
                "SELECT x.k, x.a, y.b FROM x FULL JOIN y ON x.k = y.k AND 12 / (x.a - y.b) > 1",
                "SELECT x.k, x.a FROM x WHERE EXISTS (SELECT 1 FROM y WHERE x.k = y.k AND 12 / (x.a - y.b) > 1)",
                "SELECT x.k, x.a FROM x WHERE NOT EXISTS (SELECT 1 FROM y WHERE x.k = y.k AND 12 / (x.a - y.b) > 1)",
                "SELECT x.k, x.a FROM x LEFT JOIN y ON 12 / (x.a - y.b) > 1",
                "SELECT x.k, x.a, y.b FROM x LEFT JOIN y ON x.k = y.k AND x.a > y.b AND 12 / (x.a - y.b - 3) > 1",
                "SELECT count(*) AS n, count(y.b) AS m, sum(x.a) AS s FROM x LEFT JOIN y ON x.k = y.k AND 12 / (x.a - y.b) > 1"
            })
    void aConditionOfAnOuterJoinFailsForPairsThatAreThere(String query) {
        for (int workers = 1; workers <= 3; workers++) {
            try (TestDatabase db = new TestDatabase(workers)) {
                db.run("CREATE TABLE x (k BIGINT, a BIGINT)");
                db.run("CREATE TABLE y (k BIGINT, b BIGINT)");
                db.run("INSERT INTO x VALUES (1, 0), (1, 3), (2, 3), (5, 7), (NULL, 40)");
                db.run("CREATE MATERIALIZED VIEW v AS " + query);
                for (int round = 0; round < 3; round++) {
                    assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
                    db.run("INSERT INTO y VALUES (1, 0), (1, 2), (1, 2), (2, 2), (3, 53), (NULL, 60)"); // two pairs in
                    // error
                    assertEquals("22012", code(db, query));
                    assertEquals("22012", code(db, "SELECT * FROM v"));
                    db.run("UPDATE x SET a = a + 10 WHERE k = 1");
                    assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
                    db.run("UPDATE x SET a = a - 10 WHERE k = 1");
                    assertEquals("22012", code(db, "SELECT * FROM v"));
                    db.run("DELETE FROM y WHERE b = 0");
                    db.run("DELETE FROM y WHERE b = 2");
                    assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
                    db.run("DELETE FROM y");
                }
            }
        }
    }

    @Test
    void whatRangesLeaveOutFailsNeitherBeforeNorAfterAKeyIsHot() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run("CREATE TABLE x (k BIGINT, a BIGINT)");
            db.run("CREATE TABLE y (k BIGINT, b BIGINT)");
            String query =
                    "SELECT count(*) AS n FROM x LEFT JOIN y ON x.k = y.k AND 12 / (x.a - y.b) > 1 AND x.a < y.b";
            db.run("CREATE MATERIALIZED VIEW v AS " + query);
            db.run("INSERT INTO x SELECT 1, i FROM generate_series(1, 40) g(i)");
            db.run("INSERT INTO y SELECT 1, i FROM generate_series(1, 40) g(i)");
            assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
            db.run("INSERT INTO y SELECT 1, i FROM generate_series(1, 5000) g(i)");
            assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
            db.run("DELETE FROM x WHERE a <= 40");
            db.run("INSERT INTO x VALUES (1, 70), (1, 5001)");
            assertEquals(db.rows(query), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void whatIsAddedAndTakenBackInOneEpochWasNeverThere() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT id, 1 / n AS q, ('x' || n)::text AS s FROM t");
            db.run("BEGIN");
            db.run("INSERT INTO t VALUES (1, 0), (2, 1)");
            db.run("DELETE FROM t WHERE id = 1");
            db.run("COMMIT");
            assertEquals(List.of("2|1|x1"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void severalErrorsOfOneRowCountOnceEach() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, s TEXT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT id, s::int AS n FROM t");
            db.run("INSERT INTO t SELECT i, 'bad ' || i FROM generate_series(1, 3000) g(i)"); // more texts than are
            // told apart
            assertEquals("22P02", code(db, "SELECT * FROM v"));
            db.run("INSERT INTO t VALUES (0, '17')");
            db.run("DELETE FROM t WHERE id > 1 AND id < 2000");
            assertEquals("22P02", code(db, "SELECT * FROM v"));
            db.run("DELETE FROM t WHERE id >= 2000");
            assertTrue(db.error("SELECT * FROM v").contains("\"bad 1\""), db.error("SELECT * FROM v"));
            db.run("DELETE FROM t WHERE id = 1");
            assertEquals(List.of("0|17"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void aSubQueryMayHaveTwoRowsForAWhile() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a BIGINT)");
            db.run("CREATE TABLE u (b BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT a, (SELECT b FROM u) AS b FROM t");
            db.run("INSERT INTO t VALUES (1), (2)");
            assertEquals(List.of("1|", "2|"), db.rows("SELECT * FROM v"));
            db.run("INSERT INTO u VALUES (5), (6)");
            assertEquals("21000", code(db, "SELECT * FROM v"));
            db.run("DELETE FROM u WHERE b = 5");
            assertEquals(List.of("1|6", "2|6"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void aQueryThatHasSuchARowIsNotAltered() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT id, 100 / n AS q FROM t");
            db.run("INSERT INTO t VALUES (1, 0), (2, 4)");
            String alter = "ALTER MATERIALIZED VIEW v AS SELECT id, 200 / n AS q FROM t";
            assertEquals("22012", code(db, "SELECT * FROM v"));
            assertEquals("55000", code(db, alter));
            db.run("DELETE FROM t WHERE n = 0");
            assertEquals(List.of("2|25"), db.rows("SELECT * FROM v"));
            db.run(alter);
            assertEquals(List.of("2|50"), db.rows("SELECT * FROM v"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aSelectFailsOnlyForRowsOfItsAnswer(int workers) {
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
            db.run("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) g(i)");
            String outer =
                    "SELECT count(*), sum(1000 / coalesce(t.n, 0)) FROM generate_series(1, %d) d(id) LEFT JOIN t ON t.id = d.id";
            assertEquals(1, db.rows(outer.formatted(5000)).size());
            assertEquals("22012", code(db, outer.formatted(5001)));
            assertEquals(
                    List.of(),
                    db.rows(
                            "SELECT 1 / (t.id - d.id) FROM t, generate_series(1, 10) d(id) WHERE false AND t.id = d.id"));
        }
    }
}
