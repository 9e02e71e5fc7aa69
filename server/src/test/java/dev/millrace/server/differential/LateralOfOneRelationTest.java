package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.ZSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** LATERAL rows that are made of one of several relations before them do not need the pairs of all. */
class LateralOfOneRelationTest {
    private static final int ROWS = 1_000;

    private static final List<String> TABLES =
            List.of("a (id INT, x INT, z INT)", "b (id INT, y INT, z INT)", "c (id INT, z INT)");

    private static final String VALUES = "LATERAL (VALUES (a.x), (-1))";

    /** Queries over a(id, x, z), b(id, y, z) and c(id, z), whose rows DuckDB gives, too. */
    private static final List<String> QUERIES = List.of(
            "SELECT a.id, b.id, v.x FROM a, b JOIN " + VALUES + " v(x) ON b.y = v.x",
            "SELECT a.id, b.id, v.x FROM a CROSS JOIN b JOIN " + VALUES + " v(x) ON b.y = v.x",
            "SELECT * FROM a, b, " + VALUES + " v(x) WHERE b.y = v.x",
            "SELECT * FROM b, a, " + VALUES + " v(x) WHERE b.y = v.x",
            "SELECT * FROM b CROSS JOIN a JOIN " + VALUES + " v(x) ON b.y = v.x AND a.z > 1",
            "SELECT * FROM a, b, " + VALUES + " v(x) WHERE b.y = v.x AND a.z = 1 AND b.z > 0",
            "SELECT * FROM a, b, " + VALUES + " v(x) WHERE b.y = v.x AND a.z = b.z",
            "SELECT * FROM a, b, " + VALUES + " v(x) WHERE b.y IS NOT DISTINCT FROM v.x",
            "SELECT * FROM a, b, LATERAL (SELECT a.x UNION ALL SELECT a.z + 1 UNION ALL SELECT 2) v(x) WHERE b.y = v.x",
            "SELECT * FROM a, b, LATERAL (SELECT a.x UNION SELECT a.z) v(x) WHERE b.y = v.x",
            "SELECT * FROM a, b, LATERAL (SELECT w.x FROM (VALUES (a.x), (a.z)) AS w(x) WHERE w.x > a.id) v(x) WHERE b.y = v.x",
            "SELECT * FROM a, b, LATERAL (SELECT max(w.x) FROM (VALUES (a.x), (a.z)) AS w(x)) v(x) WHERE b.y = v.x",
            "SELECT * FROM a, b, LATERAL (VALUES (a.x, b.z), (a.z, b.y)) v(x, y) WHERE v.x = v.y",
            "SELECT * FROM a, c, b, " + VALUES + " v(x) WHERE b.y = v.x AND c.z = b.z",
            "SELECT * FROM c, a, b JOIN " + VALUES + " v(x) ON b.y = v.x WHERE c.id < 3",
            "SELECT * FROM (a JOIN c ON a.z = c.z), b, " + VALUES + " v(x) WHERE b.y = v.x",
            "SELECT a.id, a.z, c.id, b.id, v.x FROM a JOIN c USING (z) CROSS JOIN b JOIN " + VALUES
                    + " v(x) ON b.y = v.x",
            "SELECT * FROM a, b, " + VALUES + " v(x), LATERAL (VALUES (a.z), (0)) w(x) WHERE b.y = v.x AND b.z = w.x",
            "SELECT * FROM a, b, " + VALUES + " v(x), LATERAL (VALUES (b.z), (0)) w(x) WHERE b.y = v.x AND a.z = w.x",
            "SELECT * FROM a, b, " + VALUES + " v(x), LATERAL (VALUES (v.x), (b.y)) w(x) WHERE w.x = a.z AND w.x = b.z",
            "SELECT a.id, b.id, v.x, w.x FROM a, b JOIN " + VALUES
                    + " v(x) ON b.y = v.x JOIN LATERAL (VALUES (a.x + 1), (v.x)) w(x) ON w.x = b.z",
            "SELECT a.id, b.id, v.x FROM a CROSS JOIN b LEFT JOIN " + VALUES + " v(x) ON b.y = v.x",
            "SELECT a.id, b.id, v.x FROM a CROSS JOIN b LEFT JOIN " + VALUES + " v(x) ON true WHERE b.y = v.x",
            "SELECT * FROM a CROSS JOIN b LEFT JOIN c ON c.z = a.z JOIN " + VALUES + " v(x) ON b.y = v.x",
            "SELECT * FROM a LEFT JOIN b ON a.z = b.z JOIN LATERAL (VALUES (b.y), (a.x)) v(x) ON v.x = a.id",
            "SELECT count(*), sum(v.x) FROM a, b, " + VALUES + " v(x) WHERE a.z <> 2 AND b.y = v.x",
            "SELECT a.id, (SELECT count(*) FROM b, c, LATERAL (VALUES (b.y), (a.x)) v(x) WHERE c.z = v.x) FROM a",
            "SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b, c, LATERAL (VALUES (b.y), (a.x)) v(x) WHERE c.z = v.x"
                    + " AND v.x <> a.z)");

    /** What DuckDB does not take, and the same without LATERAL. */
    private static final String LEFT =
            "SELECT a.id, b.id, v.x FROM a CROSS JOIN b LEFT JOIN " + VALUES + " v(x) ON b.y = v.x AND a.z = 1";

    private static final String LEFT_WITHOUT_LATERAL =
            "SELECT a.id, b.id, v.x FROM a CROSS JOIN b LEFT JOIN (SELECT id, x FROM a"
                    + " UNION ALL SELECT id, -1 FROM a) AS v ON v.id = a.id AND b.y = v.x AND a.z = 1";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT count(*) FROM a, b JOIN LATERAL (VALUES (a.x), (-1)) v(x) ON b.y = v.x",
                "SELECT count(*) FROM b, a JOIN LATERAL (VALUES (a.x), (-1)) v(x) ON b.y = v.x",
                "SELECT count(*) FROM a, b, LATERAL (VALUES (a.x), (-1)) v(x) WHERE b.y = v.x",
                "SELECT count(*) FROM a, b, LATERAL (VALUES (a.x), (-1)) v(x) WHERE b.y = v.x AND a.z < 9 AND b.z < 9",
                "SELECT count(*) FROM a, b, LATERAL (SELECT a.x UNION ALL SELECT -1) v(x) WHERE b.y = v.x",
                "SELECT count(*) FROM a, b, LATERAL (VALUES (a.z), (0)) w(x), LATERAL (VALUES (a.x), (-1)) v(x)"
                        + " WHERE b.y = v.x",
                "SELECT count(*) FROM a, b, c, LATERAL (VALUES (a.x), (-1)) v(x) WHERE b.y = v.x AND c.id = b.id",
                "SELECT count(*) FROM b, a, c, LATERAL (VALUES (a.x), (-1)) v(x) WHERE b.y = v.x AND c.id = a.id",
                "SELECT count(*) FROM a CROSS JOIN b JOIN c ON c.id = b.id JOIN LATERAL (VALUES (a.x), (-1)) v(x) ON b.y = v.x",
            })
    void noPairsAreMadeButThoseOfKeys(String query) {
        try (TestDatabase db = new TestDatabase(1)) {
            db.run("CREATE TABLE a (id INT PRIMARY KEY, x INT, z INT)");
            db.run("CREATE TABLE b (id INT PRIMARY KEY, y INT, z INT)");
            db.run("CREATE TABLE c (id INT PRIMARY KEY, z INT)");
            String series = " FROM generate_series(1, " + ROWS + ") AS g(i)";
            db.run("INSERT INTO a SELECT i, i, i % 3" + series);
            db.run("INSERT INTO b SELECT i, i, i % 3" + series);
            db.run("INSERT INTO c SELECT i, i" + series);
            int doubled = query.contains("w(x)") ? 2 : 1;
            assertEquals(List.of(Integer.toString(doubled * ROWS)), db.rows(query));
            long work = db.work(query);
            assertTrue(
                    work < 50 * ROWS, work + " rows went through\n" + String.join("\n", db.rows("EXPLAIN " + query)));
        }
    }

    @Test
    void conditionsAreAskedBeforeRowsAreMade() {
        try (TestDatabase db = new TestDatabase(1)) {
            db.run("CREATE TABLE a (id INT PRIMARY KEY, x INT)");
            db.run("CREATE TABLE b (id INT PRIMARY KEY, y INT)");
            db.run("INSERT INTO a VALUES (1, 0), (2, 5)");
            db.run("INSERT INTO b VALUES (1, 2), (2, 3)");
            assertEquals(
                    List.of("2|1"),
                    db.rows("SELECT a.id, b.id FROM a, b, LATERAL (VALUES (10 / a.x), (-1)) v(y)"
                            + " WHERE a.x <> 0 AND b.y = v.y"));
        }
    }

    @Test
    void viewsOfThemFollowChanges() {
        List<String> queries =
                QUERIES.stream().filter(query -> !query.startsWith("SELECT *")).toList();
        try (TestDatabase db = new TestDatabase(2);
                Oracle oracle = Oracle.open()) {
            List<String> changes = List.of(
                    "INSERT INTO a VALUES (1, 1, 1), (2, NULL, 2), (3, 2, NULL), (4, 0, 2)",
                    "INSERT INTO b VALUES (1, -1, 1), (2, NULL, 2), (3, 2, NULL), (4, 1, 3), (5, 0, 2)",
                    "INSERT INTO c VALUES (1, 1), (2, NULL), (3, 2), (4, 0)",
                    "UPDATE a SET x = z, z = 1 WHERE id > 1",
                    "DELETE FROM b WHERE y = -1",
                    "DELETE FROM a WHERE id < 3");
            for (String table : TABLES) {
                db.run("CREATE TABLE " + table);
                oracle.execute("CREATE TABLE " + table);
            }
            for (int i = 0; i < queries.size(); i++) {
                String query =
                        queries.get(i).replaceFirst("b\\.id", "b.id AS bid").replace("c.id, b", "c.id AS cid, b");
                query = query.replace(", v.x, w.x", ", v.x, w.x AS wx");
                db.run("CREATE MATERIALIZED VIEW v" + i + " AS " + query);
            }
            for (String change : changes) {
                db.run(change);
                oracle.execute(change);
                for (int i = 0; i < queries.size(); i++) {
                    agree(db, oracle, "SELECT * FROM v" + i, queries.get(i));
                }
            }
        }
    }

    @Test
    void theRowsAreThoseOfDuckDb() {
        for (long seed = 1; seed <= 3; seed++) {
            Chance chance = new Chance(seed);
            try (TestDatabase db = new TestDatabase(1 + (int) (seed % 2));
                    Oracle oracle = Oracle.open()) {
                for (String table : TABLES) {
                    db.run("CREATE TABLE " + table);
                    oracle.execute("CREATE TABLE " + table);
                    String name = table.substring(0, 1);
                    for (int row = 1; row <= 8; row++) {
                        String insert = "INSERT INTO " + name + " VALUES (" + row + ", " + value(chance)
                                + (name.equals("c") ? ")" : ", " + value(chance) + ")");
                        db.run(insert);
                        oracle.execute(insert);
                    }
                }
                QUERIES.forEach(query -> agree(db, oracle, query, query));
                agree(db, oracle, LEFT, LEFT_WITHOUT_LATERAL);
            }
        }
    }

    private static void agree(TestDatabase db, Oracle oracle, String ours, String query) {
        Answers answers;
        try {
            answers = Answers.of(db.session(), ours);
        } catch (RuntimeException e) {
            throw new AssertionError(query, e);
        }
        String differences = oracle.differences(query, answers.schema(), ZSet.of(answers.rows()));
        assertTrue(differences.isEmpty(), () -> differences + query);
    }

    private static String value(Chance chance) {
        return chance.percent(25) ? "NULL" : Integer.toString(chance.between(-1, 3));
    }
}
