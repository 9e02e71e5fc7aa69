package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tables with numbers of any size, and views of all kinds that keep them, through random changes and restarts with other
 * numbers of workers: what a view shows is what its query answers over the rows that are there, with the same digits.
 */
@Tag("long")
class UnlimitedRestartsTest {
    private static final int ROUNDS = 12;
    private static final int CHANGES = 25;

    private static final Map<String, String> VIEWS = new LinkedHashMap<>();

    static {
        VIEWS.put("sums", "SELECT g, count(n) AS c, sum(n) AS s, avg(n) AS a, sum(n * n) AS q FROM t GROUP BY g");
        VIEWS.put("spreads", "SELECT g, variance(n) AS v, stddev_pop(n) AS d FROM t GROUP BY g");
        VIEWS.put("ends", "SELECT g, max(n) + 0.000 AS m, min(n) + 0.000 AS l FROM t GROUP BY g");
        VIEWS.put("groups", "SELECT n + 0.00000 AS x, count(*) AS c, sum(k) AS s FROM t GROUP BY n + 0.00000");
        VIEWS.put("kinds", "SELECT count(DISTINCT n) AS c FROM t");
        VIEWS.put(
                "distinct_sums",
                "SELECT g, sum(DISTINCT n) + 0.00000 AS s, sum(DISTINCT n) FILTER (WHERE k > 9) + 0.00000 AS f FROM t GROUP BY g");
        VIEWS.put("pairs", "SELECT a.k AS x, b.k AS y, a.n - b.n AS z FROM t a JOIN t b ON a.n = b.n AND a.k < b.k");
        VIEWS.put("keyed", "SELECT t.k, keys.v FROM t JOIN keys ON t.n = keys.n");
        VIEWS.put("missing", "SELECT k FROM t WHERE n NOT IN (SELECT n FROM keys)");
        VIEWS.put("best", "SELECT k, n FROM t WHERE n < 100000 ORDER BY n DESC, k LIMIT 3");
        VIEWS.put("ranks", "SELECT k, rank() OVER (PARTITION BY g ORDER BY n, k) AS r FROM t");
        VIEWS.put("running", "SELECT k, sum(n) OVER (PARTITION BY g ORDER BY k) AS s FROM t");
    }

    private final Random random = new Random(19);

    @TempDir
    Path folder;

    private String number() {
        return switch (random.nextInt(12)) {
            case 0 -> "'NaN'";
            case 1 -> "'Infinity'";
            case 2 -> "'-Infinity'";
            case 3 -> "NULL";
            case 4 -> "'1e" + random.nextInt(60) + "'";
            case 5 ->
                "'" + random.nextLong() + random.nextInt(1000) + random.nextInt(10) + "." + random.nextInt(1000) + "'";
            default ->
                "'" + random.nextInt(20) + "." + List.of("", "5", "50", "500").get(random.nextInt(4)) + "'";
        };
    }

    private void change(TestDatabase db) {
        int key = random.nextInt(60);
        switch (random.nextInt(6)) {
            case 0, 1, 2 ->
                db.run("INSERT INTO t VALUES (" + key + ", " + random.nextInt(3) + ", " + number()
                        + ") ON CONFLICT (k) DO UPDATE SET n = excluded.n");
            case 3 ->
                db.run("UPDATE t SET n = n * 2 WHERE g = " + random.nextInt(3) + " AND k % 5 = " + random.nextInt(5));
            case 4 -> db.run("DELETE FROM t WHERE k = " + key);
            default -> {
                String number = number();
                if (!number.equals("NULL")) {
                    db.run("INSERT INTO keys VALUES (" + number + ", 'v" + key
                            + "') ON CONFLICT (n) DO UPDATE SET v = excluded.v");
                }
            }
        }
    }

    private static void compare(TestDatabase db, int round) {
        List<String> different = new ArrayList<>();
        VIEWS.forEach((name, query) -> {
            List<String> fresh = db.flushedRows(query);
            List<String> kept = db.rows("SELECT * FROM " + name);
            if (!fresh.equals(kept)) {
                different.add(name + "\n fresh " + fresh + "\n kept  " + kept);
            }
        });
        assertEquals("", String.join("\n", different), "in round " + round);
    }

    @Test
    void viewsShowWhatTheirQueriesAnswerOverRestarts() {
        try (TestDatabase db = new TestDatabase(folder, 2)) {
            db.run("CREATE TABLE t (k INT PRIMARY KEY, g INT, n NUMERIC)");
            db.run("CREATE TABLE keys (n NUMERIC PRIMARY KEY, v TEXT)");
            VIEWS.forEach((name, query) -> db.run("CREATE MATERIALIZED VIEW " + name + " AS " + query));
        }
        for (int round = 0; round < ROUNDS; round++) {
            try (TestDatabase db = new TestDatabase(folder, 1 + random.nextInt(4))) {
                compare(db, round);
                for (int i = 0; i < CHANGES; i++) {
                    change(db);
                }
                compare(db, round);
            }
        }
    }
}
