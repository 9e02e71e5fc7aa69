package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tables with infinite dates and timestamps, and views of all kinds that keep them, through random changes and restarts with other numbers of
 * workers: what a view shows is what its query answers over the rows that are there.
 */
class InfiniteTimesRestartsTest {
    private static final int ROUNDS = 5;
    private static final int CHANGES = 20;

    private static final Map<String, String> VIEWS = new LinkedHashMap<>();

    static {
        VIEWS.put("ends", "SELECT g, min(d) AS a, max(z) AS b, count(DISTINCT z) AS n FROM t GROUP BY g");
        VIEWS.put("groups", "SELECT d, z, count(*) AS n FROM t GROUP BY d, z");
        VIEWS.put("pairs", "SELECT a.k AS x, b.k AS y FROM t a JOIN t b ON a.z = b.z AND a.k < b.k");
        VIEWS.put("within", "SELECT a.k AS x, b.k AS y FROM t a JOIN t b ON b.z BETWEEN a.d AND a.z");
        VIEWS.put("last", "SELECT k, z FROM t ORDER BY z DESC, k LIMIT 3");
        VIEWS.put("ranks", "SELECT k, rank() OVER (PARTITION BY g ORDER BY z, k) AS r FROM t");
        VIEWS.put("still", "SELECT k FROM t WHERE z > now()");
        VIEWS.put("days", "SELECT k, z::date AS d, date_part('year', z) AS y, isfinite(d) AS f FROM t");
    }

    private final Random random = new Random(23);

    @TempDir
    Path folder;

    private String time() {
        return switch (random.nextInt(5)) {
            case 0 -> "'infinity'";
            case 1 -> "'-infinity'";
            case 2 -> "NULL";
            default -> "'20" + (10 + random.nextInt(3)) + "-01-0" + (1 + random.nextInt(3)) + "'";
        };
    }

    private void change(TestDatabase db) {
        int key = random.nextInt(30);
        if (random.nextInt(4) == 0) {
            db.run("DELETE FROM t WHERE k = " + key);
        } else {
            db.run("INSERT INTO t VALUES (" + key + ", " + random.nextInt(3) + ", " + time() + ", " + time()
                    + ") ON CONFLICT (k) DO UPDATE SET d = excluded.d, z = excluded.z");
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
            db.run("CREATE TABLE t (k INT PRIMARY KEY, g INT, d DATE, z TIMESTAMPTZ)");
            db.run("CREATE INDEX ON t (z)");
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
