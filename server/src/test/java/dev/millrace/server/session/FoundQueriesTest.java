package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What random queries have found wrong once, small. Most of it needs several workers to go wrong. */
@Tag("long")
class FoundQueriesTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aGroupingSetThatIsThereTwiceGivesItsGroupsTwice(int workers) {
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run("CREATE STREAM s (a TEXT, n BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT a, sum(n) AS n FROM s GROUP BY GROUPING SETS ((a), (a), ())");
            db.run("INSERT INTO s VALUES ('x', 1), ('y', 2), ('x', 3)");
            List<String> twice = List.of("x|4", "x|4", "y|2", "y|2", "|6");
            assertEquals(twice, db.rows("SELECT * FROM v ORDER BY a, n"));
            assertEquals(
                    List.of("1|6", "1|6"),
                    db.rows("SELECT a, sum(n) FROM (VALUES (1, 2), (1, 4)) AS t(a, n) GROUP BY CUBE (a), a"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void theFirstRowsOfGroupingSetsForgetWhatIsTakenBack(int workers) {
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run("CREATE STREAM s (k BIGINT)");
            db.run(
                    "CREATE MATERIALIZED VIEW v AS SELECT k, c FROM (SELECT k, count(*) AS c FROM s GROUP BY ROLLUP (k)) AS r"
                            + " ORDER BY k, c LIMIT 1");
            assertEquals(List.of("|0"), db.rows("SELECT * FROM v"));
            db.run("INSERT INTO s VALUES (NULL), (NULL)");
            assertEquals(List.of("|2"), db.rows("SELECT * FROM v"));
            db.run("INSERT INTO s VALUES (NULL)");
            assertEquals(List.of("|3"), db.rows("SELECT * FROM v"));
        }
    }

    @Test
    void aJoinOfWindowFunctionsThatNobodyReads() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT)");
            db.run("INSERT INTO t VALUES (1, 5), (2, 6)");
            assertEquals(
                    List.of("1|5", "2|6"),
                    db.rows(
                            "WITH w AS (SELECT id, sum(id) OVER () AS s FROM t) SELECT l.id, r.k FROM w AS l JOIN t AS r"
                                    + " ON l.id = r.id"));
        }
    }

    @Test
    void aConditionAboveConditionsBelowNotIn() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (k BIGINT, d DOUBLE PRECISION)");
            db.run("INSERT INTO t VALUES (1, 5), (2, NULL)");
            assertEquals(
                    List.of("1", "2"),
                    db.rows("SELECT k FROM t WHERE d NOT IN (SELECT .5::double precision FROM (SELECT k FROM t"
                            + " WHERE NOT (k = k) AND k > 1) AS r WHERE 'a' || 'a' LIKE '_') ORDER BY k"));
        }
    }

    @Test
    void existsReadsItsOwnColumnAboveALateralQuery() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, g TEXT, x TEXT, day DATE)");
            db.run("INSERT INTO t VALUES (1, 'g', 'x', '2020-01-01'), (2, 'h', NULL, '2020-01-02')");
            String lateral =
                    "SELECT a.id FROM t AS a JOIN LATERAL (SELECT b.x FROM t AS b WHERE b.day = a.day ORDER BY x"
                            + " LIMIT 2) AS l ON true WHERE %s (SELECT 1 FROM t AS c WHERE c.x = l.x)";
            assertEquals(List.of("1"), db.rows(lateral.formatted("EXISTS")));
            assertEquals(List.of("2"), db.rows(lateral.formatted("NOT EXISTS")));
        }
    }

    @Test
    void notExistsWithinExistsKnowsTheOutermostRow() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, k INT, day DATE)");
            db.run("INSERT INTO t VALUES (1, 1, '2020-01-01'), (2, 2, '2020-01-01'), (3, 1, '2020-01-02')");
            assertEquals(
                    List.of("3"),
                    db.rows(
                            "SELECT id FROM t AS o WHERE EXISTS (SELECT 1 FROM (VALUES (1), (2)) AS v(k) WHERE NOT EXISTS"
                                    + " (SELECT 1 FROM t AS i WHERE i.k = v.k AND i.day = o.day))"));
        }
    }

    @Test
    void whatHasNoPartnerMayBeNullBeneathASubQuery() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, d BIGINT)");
            db.run("INSERT INTO t VALUES (1, NULL), (2, 5), (3, 6)");
            assertEquals(
                    List.of("1"),
                    db.rows(
                            "SELECT a.id FROM t AS a ANTI JOIN t AS b ON a.d = b.d WHERE EXISTS (SELECT 1 FROM t AS c WHERE"
                                    + " c.id = a.id AND NOT EXISTS (SELECT 1 FROM t AS e WHERE e.d = a.d))"));
        }
    }

    @Test
    void aFilterBehindASubQueryWithoutFrom() {
        try (TestDatabase db = new TestDatabase()) {
            assertEquals(
                    List.of("1|2"),
                    db.rows("SELECT (SELECT 1) AS one, count(*) FILTER (WHERE x > 1) AS n"
                            + " FROM (VALUES (1), (2), (3)) AS v(x)"));
        }
    }

    @Test
    void anOuterColumnIsReadInAQueryAndInTheOneWithinIt() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, g TEXT, i BIGINT, k BIGINT)");
            db.run(
                    "INSERT INTO t VALUES (1, 'a', 1, 1), (2, 'a', 1, 2), (3, 'b', 2, 1), (4, 'b', 2, 1), (5, 'c', 3, NULL)");
            String nested = "SELECT o.id FROM t AS o WHERE EXISTS (SELECT 1 FROM t AS a WHERE a.g = o.g AND a.k >= o.k"
                    + " AND %s (SELECT 1 FROM t AS b WHERE b.i = a.i + %s AND b.k = o.k)) ORDER BY id";
            assertEquals(List.of("1", "2", "3", "4"), db.rows(nested.formatted("EXISTS", "0")));
            assertEquals(List.of(), db.rows(nested.formatted("NOT EXISTS", "0")));
            assertEquals(List.of("1"), db.rows(nested.formatted("EXISTS", "1")));
            assertEquals(List.of("2", "3", "4"), db.rows(nested.formatted("NOT EXISTS", "1")));
        }
    }

    @Test
    void aTableStandsBesideAQueryThatReadsItTwice() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT, d BIGINT)");
            db.run("INSERT INTO t VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, 5), (5, 9, 9)");
            String later =
                    "FROM t AS b WHERE (SELECT count(*) FROM t AS c WHERE c.k = b.k AND c.d < b.d) > 0"; // 2 and 4
            assertEquals(
                    List.of("1|2", "1|4", "2|4", "3|4"),
                    db.rows("SELECT a.id, q.id FROM t AS a JOIN (SELECT b.id, 0 AS x, 9 AS y, b.d " + later
                            + ") AS q ON q.id > a.id ORDER BY 1, 2"));
            assertEquals(
                    List.of("1", "2", "3"),
                    db.rows("SELECT id FROM t WHERE id < ANY (SELECT b.id " + later + ") ORDER BY id"));
            assertEquals(
                    List.of("4", "5"),
                    db.rows("SELECT id FROM t WHERE id >= ALL (SELECT b.id " + later + ") ORDER BY id"));
        }
    }

    @Test
    void atLeastAllOfNothing() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT, v BIGINT)");
            db.run("INSERT INTO t VALUES (1, 1, 1), (2, 1, 2), (3, NULL, NULL), (4, 2, NULL)");
            String all = "SELECT id FROM t AS a WHERE v >= ALL (SELECT v FROM t AS b WHERE b.k = a.k%s) ORDER BY id";
            assertEquals(List.of("2", "3"), db.rows(all.formatted("")));
            assertEquals(
                    List.of("2", "3"), db.rows(all.formatted(" AND EXISTS (SELECT 1 FROM t AS c WHERE c.id = b.id)")));
        }
    }

    @Test
    void whatIsComputedOfARowWithoutPartnerIsThere() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT, i BIGINT, g TEXT)");
            db.run("INSERT INTO t VALUES (1, 1, 2, 'a'), (2, 2, 9, 'b'), (3, NULL, 9, NULL)");
            assertEquals(
                    List.of("1|2|aa", "|1|", "||"),
                    db.rows("SELECT a.id, r.* FROM t AS a JOIN t AS c ON a.k = c.k AND a.id = c.id RIGHT JOIN t AS b"
                            + " ON a.i = b.k CROSS JOIN LATERAL (SELECT b.k AS k, a.g || a.g AS g) AS r"));
        }
    }

    @Test
    void aRowWithoutPartnerIsComparedWithASubQuery() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, b BOOLEAN, d BIGINT)");
            db.run("INSERT INTO t VALUES (1, 1, true, 1), (2, 2, false, 1), (3, NULL, NULL, 4), (4, 7, true, NULL)");
            // ON asks for a.n, but rows whose a.n IS NULL stay
            String rows = "FROM t AS a LEFT JOIN t AS b ON a.n = b.d";
            String right = "FROM t AS b RIGHT JOIN t AS a ON a.n = b.d";
            for (String from : List.of(rows, right)) {
                assertEquals(
                        List.of("1|1", "1|2", "2|", "3|", "4|"),
                        db.rows("SELECT a.id, b.id " + from
                                + " WHERE a.id > 9 OR ((b.b, a.n) NOT IN (SELECT c.b, c.n FROM t AS c WHERE c.n > 9))"
                                + " ORDER BY 1, 2"));
                assertEquals(
                        List.of("1|2"),
                        db.rows("SELECT a.id, b.id " + from
                                + " WHERE a.id > 9 OR ((b.b, a.n) NOT IN (SELECT c.b, c.n FROM t AS c WHERE c.n IS NOT NULL))"
                                + " ORDER BY 1, 2"));
                assertEquals(
                        List.of("1|1|0", "1|2|0", "2||0", "3||1", "4||0"),
                        db.rows("SELECT a.id, b.id, (SELECT count(*) FROM t AS c WHERE c.n IS NOT DISTINCT FROM a.n"
                                + " AND c.n IS NULL) " + from + " ORDER BY 1, 2"));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"=", "<"})
    void manyCorrelatedQueriesSideBySideTakeNoLongerThanTheyAreMany(String comparison) {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY)");
            db.run("CREATE TABLE u (id BIGINT PRIMARY KEY, w BIGINT)");
            String any = IntStream.range(0, 24)
                    .mapToObj(w -> "EXISTS (SELECT 1 FROM u WHERE u.id %s t.id AND u.w = %d)".formatted(comparison, w))
                    .collect(Collectors.joining(" OR "));
            db.run("CREATE MATERIALIZED VIEW v AS SELECT id FROM t WHERE " + any); // two to the 24th would never end
            db.run("INSERT INTO t VALUES (1), (2), (3); INSERT INTO u VALUES (1, 7), (2, 99), (3, 23)");
            assertEquals(
                    comparison.equals("=") ? List.of("1", "3") : List.of("2", "3"),
                    db.rows("SELECT * FROM v ORDER BY id"));
            db.run("UPDATE u SET w = 99 WHERE id = 1");
            assertEquals(comparison.equals("=") ? List.of("3") : List.of(), db.rows("SELECT * FROM v ORDER BY id"));
        }
    }

    @Test
    void aListOfTenThousandIsLookedUp() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, k TEXT)");
            db.run("INSERT INTO t VALUES (0, 'x0'), (9999, 'x10000'), (10000, 'x9999'), (10001, NULL)");
            String numbers =
                    IntStream.range(0, 10_000).mapToObj(Integer::toString).collect(Collectors.joining(", "));
            String texts =
                    IntStream.range(0, 10_000).mapToObj(i -> "'x" + i + "'").collect(Collectors.joining(", "));
            assertEquals(List.of("0", "9999"), db.rows("SELECT id FROM t WHERE id IN (" + numbers + ") ORDER BY id"));
            assertEquals(List.of("9999"), db.rows("SELECT id FROM t WHERE k NOT IN (" + texts + ")"));
        }
    }

    @Test
    void columnsComparedInOuterJoinsMayBeNullBeneathASubQuery() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a BIGINT, b BIGINT, c BIGINT)");
            db.run("INSERT INTO t VALUES (1, 2, 1), (2, NULL, 0), (3, 2, NULL), (4, 0, 3), (5, NULL, NULL)");
            String notIn = " WHERE x.c NOT IN (SELECT x.b FROM t AS z WHERE x.c = z.c)"; // of no rows where it is NULL
            assertEquals(
                    List.of("1|2", "3|", "4|0", "5|"),
                    db.rows("SELECT x.a, y.b FROM t AS x LEFT JOIN t AS y ON x.c = y.c" + notIn));
            assertEquals(
                    List.of("1|1", "|3", "|4", "|5"),
                    db.rows("SELECT y.a, x.a FROM t AS y RIGHT JOIN t AS x ON x.c = y.c AND y.a < 4" + notIn));
        }
    }

    @Test
    void aConditionOfNoColumnStaysAboveAFullJoin() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a BIGINT, b BIGINT)");
            db.run("INSERT INTO t VALUES (1, 2), (2, 3)");
            assertEquals(
                    List.of("1|0", "2|0"),
                    db.rows(
                            "SELECT o.a, (SELECT count(*) FROM t AS x FULL JOIN t AS y ON x.a = y.b WHERE (o.a IN (SELECT z.a"
                                    + " FROM t AS z WHERE x.b < x.b)) IS NULL) AS n FROM t AS o"));
        }
    }

    @Test
    void aSubQueryOfAColumnWithoutNullsIsNullForWhomItHasNoRow() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a BIGINT NOT NULL, b BIGINT)");
            db.run("INSERT INTO t VALUES (1, 2), (2, 3)");
            assertEquals(
                    List.of("1|", "2|"),
                    db.rows(
                            "SELECT o.a, (SELECT x.a FROM t AS x LEFT JOIN t AS y ON y.b = o.b WHERE x.a = 17) AS n FROM t AS o"));
            assertEquals(
                    List.of("1|t", "2|f"),
                    db.rows(
                            "SELECT o.a, o.b <= ALL (SELECT x.a FROM t AS x LEFT JOIN t AS y ON x.a = o.b WHERE x.a > 1) AS n"
                                    + " FROM t AS o"));
        }
    }

    @Test
    void aConstantIsPerhapsAmongNulls() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a BIGINT, b BIGINT)");
            db.run("INSERT INTO t VALUES (1, NULL), (2, 5)");
            String query = "SELECT a FROM t WHERE (%s IN (SELECT b FROM t)) IS %s";
            assertEquals(List.of("1", "2"), db.rows(query.formatted("1", "NOT TRUE")));
            assertEquals(List.of("1", "2"), db.rows(query.formatted("1", "NULL")));
            assertEquals(List.of(), db.rows(query.formatted("1", "TRUE")));
            assertEquals(List.of("1", "2"), db.rows(query.formatted("5", "TRUE")));
            assertEquals(List.of("2"), db.rows("SELECT a FROM t WHERE 1 IN (SELECT b FROM t) OR a > 1"));
            assertEquals(List.of("2"), db.rows("SELECT a FROM t WHERE 1 NOT IN (SELECT b FROM t) OR a > 1"));
        }
    }

    @Test
    void severalRowsOfAKeyThatNobodyAsksForAreNoError() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (k BIGINT, name TEXT)");
            db.run("CREATE TABLE o (k BIGINT)");
            db.run("INSERT INTO t VALUES (1, 'a'), (1, 'b'), (2, 'c')");
            db.run("INSERT INTO o VALUES (2), (3), (NULL)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT k, (SELECT name FROM t WHERE t.k = o.k) AS name FROM o");
            assertEquals(List.of("2|c", "3|", "|"), db.rows("SELECT * FROM v ORDER BY k"));
            db.run("INSERT INTO t VALUES (3, 'd'), (1, 'e')");
            assertEquals(List.of("2|c", "3|d", "|"), db.rows("SELECT * FROM v ORDER BY k"));
            db.run("DELETE FROM t WHERE name IN ('a', 'b')");
            db.run("INSERT INTO o VALUES (1)");
            assertEquals(List.of("1|e", "2|c", "3|d", "|"), db.rows("SELECT * FROM v ORDER BY k"));
        }
    }

    /** An hour passes, so that whoever waits for a session's end sees it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void groupsAndJoinsWithinSessionsDoNotTakeThemForClosed(int workers) {
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run(
                    "CREATE STREAM s (k INT, b TEXT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts - INTERVAL '5 seconds')");
            String sessions = " FROM SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2 seconds')";
            db.run(
                    "CREATE MATERIALIZED VIEW groups AS SELECT k, b, count(*) AS n, max(window_end - window_start) AS long"
                            + sessions + " GROUP BY k, b, window_start, window_end");
            db.run("CREATE MATERIALIZED VIEW firsts AS SELECT * FROM (SELECT k, b, row_number() OVER (PARTITION BY k,"
                    + " window_start, window_end ORDER BY b) AS place" + sessions + ") AS r WHERE place = 1");
            db.run(
                    "INSERT INTO s VALUES (1, 'x', TIMESTAMP '2020-01-01 00:00:00'), (1, 'y', TIMESTAMP '2020-01-01 00:00:01')");
            db.run(
                    "INSERT INTO s VALUES (1, 'x', TIMESTAMP '2020-01-01 00:00:02'), (2, 'z', TIMESTAMP '2020-01-01 01:00:00')");
            assertEquals(
                    List.of("1|x|2|00:00:04", "1|y|1|00:00:04", "2|z|1|00:00:02"),
                    db.rows("SELECT * FROM groups ORDER BY k, b"));
            assertEquals(List.of("1|x|1", "2|z|1"), db.rows("SELECT * FROM firsts ORDER BY k"));
        }
    }
}
