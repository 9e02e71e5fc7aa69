package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.SqlState;
import dev.millrace.server.differential.OracleCheck;
import dev.millrace.testing.oracle.Oracle;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** WITH RECURSIVE over random graphs, as DuckDB answers it. */
class RecursiveQueriesTest {
    private static final int GRAPHS = 12;

    private static final String[] QUERIES = {
        // all that can be reached from a node, round circles
        "WITH RECURSIVE r(a, b) AS (SELECT a, b FROM edge UNION SELECT r.a, e.b FROM r JOIN edge e ON r.b = e.a) SELECT * FROM r",
        // each way of at most five steps, as often as there is one, with what it costs
        "WITH RECURSIVE w(a, b, n, cost) AS (SELECT a, b, 1, c FROM edge UNION ALL SELECT w.a, e.b, n + 1, cost + e.c FROM edge e, w"
                + " WHERE w.b = e.a AND n < 5) SELECT a, b, n, count(*), sum(cost), min(cost) FROM w GROUP BY a, b, n",
        // ways without circles, which are kept as text
        "WITH RECURSIVE p(node, way) AS (SELECT b, '/' || a || '/' || b || '/' FROM edge WHERE a = 1 AND b <> 1 UNION ALL"
                + " SELECT e.b, way || e.b || '/' FROM p JOIN edge e ON p.node = e.a WHERE way NOT LIKE '%/' || e.b || '/%')"
                + " SELECT node, way FROM p",
        // NULLs are nodes that nothing leads on from
        "WITH RECURSIVE r(b) AS (SELECT b FROM edge WHERE a IS NULL UNION SELECT e.b FROM r LEFT JOIN edge e ON e.a = r.b)"
                + " SELECT b FROM r",
    };

    @Test
    void graphsAreFollowedAsByDuckDb() {
        long seed = Long.getLong("millrace.recursion.seed", 20261129);
        Random random = new Random(seed);
        try (TestDatabase db = new TestDatabase();
                Oracle oracle = Oracle.open()) {
            db.run("CREATE TABLE edge (a INT, b INT, c BIGINT)");
            oracle.execute("CREATE TABLE edge (a INT, b INT, c BIGINT)");
            for (int graph = 0; graph < GRAPHS; graph++) {
                String rows = edges(random);
                db.run("DELETE FROM edge");
                oracle.execute("DELETE FROM edge");
                db.run("INSERT INTO edge VALUES " + rows);
                oracle.execute("INSERT INTO edge VALUES " + rows);
                for (String query : QUERIES) {
                    OracleCheck.requireEqual(db.session(), query, oracle, query);
                }
            }
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        }
    }

    @Test
    void parametersAreOfAllItsParts() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE part (id INT PRIMARY KEY, inside INT)");
            db.run("INSERT INTO part VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, 1)");
            String below = "WITH RECURSIVE t(id, n) AS (SELECT id, $1::int FROM part WHERE id = $2 UNION ALL"
                    + " SELECT p.id, n + $1 FROM part p JOIN t ON p.inside = t.id WHERE n < $3) SELECT id, n FROM t WHERE id <> $4";
            for (int again = 0; again < 3; again++) {
                assertEquals(List.of("1|10", "2|20", "5|20"), db.rows(below, 10, 1, 20, 4));
                assertEquals(List.of("2|1", "4|3"), db.rows(below, 1, 2, 9, 3));
            }
            db.run("UPDATE part SET inside = NULL WHERE id = 3");
            assertEquals(List.of("2|1"), db.rows(below, 1, 2, 9, 3));
        }
    }

    @Test
    void oneWithoutAnEndIsCancelled() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE one (n INT)");
            db.run("INSERT INTO one VALUES (1)");
            db.run("SET statement_timeout = '300ms'");
            for (String step : List.of("SELECT n FROM t", "SELECT t.n FROM t JOIN one USING (n)")) {
                String forever = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL " + step + ") SELECT count(*) FROM t";
                assertEquals(SqlState.QUERY_CANCELED, db.failure(forever).sqlState());
            }
        }
    }

    private static String edges(Random random) {
        int nodes = 2 + random.nextInt(8);
        int edges = 1 + random.nextInt(12);
        StringBuilder rows = new StringBuilder();
        for (int i = 0; i < edges; i++) {
            rows.append(i == 0 ? "" : ", ")
                    .append("(" + node(random, nodes) + ", " + node(random, nodes) + ", " + random.nextInt(100) + ")");
        }
        return rows.toString();
    }

    private static String node(Random random, int nodes) {
        return random.nextInt(10) == 0 ? "NULL" : "" + (1 + random.nextInt(nodes));
    }
}
