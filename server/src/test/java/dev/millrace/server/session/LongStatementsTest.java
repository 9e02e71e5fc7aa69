package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.server.differential.OracleCheck;
import dev.millrace.testing.oracle.Oracle;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Statements as long as tools write them: each is several times what one generated method, or class, has room for. */
class LongStatementsTest {
    private static final List<String> QUERIES = List.of(
            "SELECT id FROM t WHERE " + listed(700, " OR ", i -> "(a = " + 3 * i + " AND b > " + i % 5 + ")"),
            "SELECT id FROM t WHERE " + listed(300, " AND ", i -> "(a <> " + 3 * i + " OR b * a > " + i % 5 + ")"),
            "SELECT id, CASE " + listed(400, " ", i -> "WHEN upper(x) = 'X" + i + "' THEN a + " + i) + " END FROM t",
            "SELECT id, CASE a " + listed(1500, " ", i -> "WHEN " + i + " THEN 'n" + i + "'") + " ELSE x END FROM t",
            "SELECT id, "
                    + listed(
                            500,
                            ", ",
                            i -> i % 3 == 0 ? "a * b + " + i : i % 3 == 1 ? "x || " + i : "a IS NULL OR b < " + i)
                    + " FROM t",
            "SELECT b, " + listed(200, ", ", i -> i % 2 == 0 ? "sum(a + " + i + ")" : "max(x || " + i + ")")
                    + " FROM t GROUP BY b",
            "SELECT id FROM t WHERE a IN (" + listed(600, ", ", i -> "b + " + 3 * i) + ")",
            "SELECT id, coalesce(" + listed(250, ", ", i -> "nullif(a, a % " + (i + 1) + ")") + ", -1) FROM t",
            "SELECT l.id FROM t AS l JOIN t AS r ON l.id = r.id AND ("
                    + listed(150, " OR ", i -> "l.a = " + i + " AND r.b < " + i) + ")",
            "SELECT count(*), sum(v), max(w) FROM (VALUES "
                    + listed(600, ", ", i -> "(" + i + " + 1, 'a' || '" + i + "')") + ") AS s(v, w)");

    private static String listed(int count, String separator, IntFunction<String> element) {
        return IntStream.range(0, count).mapToObj(element).collect(Collectors.joining(separator));
    }

    @Test
    void areAnsweredAsDuckDbAnswersThem() {
        try (TestDatabase db = new TestDatabase();
                Oracle oracle = Oracle.open()) {
            String table = "CREATE TABLE t (id BIGINT PRIMARY KEY, a BIGINT, b BIGINT, x TEXT)";
            String rows = "INSERT INTO t VALUES "
                    + listed(
                            100,
                            ", ",
                            i -> "(" + i + ", " + (i % 11 == 0 ? "NULL" : 13 * i) + ", " + (i % 7 == 0 ? "NULL" : i % 6)
                                    + ", " + (i % 13 == 0 ? "NULL" : "'x" + i + "'") + ")");
            for (String statement : List.of(table, rows)) {
                db.run(statement);
                oracle.execute(statement);
            }
            for (String query : QUERIES) {
                OracleCheck.requireEqual(db.session(), query, oracle, query);
            }
        }
    }

    @Test
    void aViewOfOneFollowsItsTable() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id BIGINT PRIMARY KEY, a BIGINT)");
            db.run("CREATE MATERIALIZED VIEW v AS SELECT CASE "
                    + listed(2000, " ", i -> "WHEN a = " + i + " THEN " + 2 * i) + " END AS twice FROM t");
            db.run("INSERT INTO t VALUES (1, 1999), (2, 7), (3, 2000)");
            db.run("UPDATE t SET a = 1234 WHERE id = 2");
            assertEquals(List.of("", "2468", "3998"), db.rows("SELECT twice FROM v ORDER BY twice"));
        }
    }
}
