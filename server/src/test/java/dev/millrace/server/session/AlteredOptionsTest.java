package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** ALTER .. SET of options that a query's plan follows from, while rows flow: all that was seen stays, and the rule of what is forgotten holds from then on. */
class AlteredOptionsTest {
    private static final int STEPS = 120;
    private static final String SECOND = "TIMESTAMP '2026-01-01' + INTERVAL '1 second' * ";

    /** What views over {@code s} have of a key, at seconds; forgotten when no row came for {@code ttl} and a half. */
    private static final class Model {
        private record Group(long last, int count, int sum, int most) {}

        private final Map<Integer, Group> groups = new TreeMap<>();
        private long ttl;
        private long now;

        void add(int key, long second, int value) {
            Group before = groups.get(key);
            boolean isNew = before == null || second - before.last > ttl;
            groups.put(
                    key,
                    isNew
                            ? new Group(second, 1, value, value)
                            : new Group(second, before.count + 1, before.sum + value, Math.max(before.most, value)));
            now = second;
        }

        void endEpoch() {
            groups.values().removeIf(group -> now - group.last > ttl);
        }

        List<String> grouped() {
            List<String> rows = new ArrayList<>();
            groups.forEach((key, group) -> rows.add(key + "|" + group.count + "|" + group.sum));
            return rows;
        }

        List<String> best() {
            List<String> rows = new ArrayList<>();
            groups.forEach((key, group) -> rows.add(key + "|" + group.most));
            return rows;
        }
    }

    @TempDir
    Path folder;

    private static void alter(TestDatabase database, Model model, long ttl) {
        for (String view : List.of("MATERIALIZED VIEW grouped", "MATERIALIZED VIEW best", "MATERIALIZED VIEW keys")) {
            database.run("ALTER " + view + " SET (state_ttl = '" + ttl + "500 ms')");
        }
        model.ttl = ttl;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void stateIsKeptAndForgottenAsTheModelSays(long seed) {
        Random random = new Random(seed);
        Model model = new Model();
        model.ttl = 5;
        TestDatabase database = new TestDatabase(folder);
        try {
            database.run("CREATE STREAM s (k INT, at TIMESTAMP NOT NULL, v INT, WATERMARK FOR at AS at);"
                    + " CREATE MATERIALIZED VIEW grouped WITH (state_ttl = '5500 ms') AS SELECT k, count(*) AS n, sum(v) AS s FROM s GROUP BY k;"
                    + " CREATE MATERIALIZED VIEW best WITH (state_ttl = '5500 ms') AS SELECT k, v FROM s QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC) <= 1;"
                    + " CREATE MATERIALIZED VIEW keys WITH (state_ttl = '5500 ms') AS SELECT DISTINCT k FROM s");
            for (int step = 0; step < STEPS; step++) {
                String place = "seed " + seed + ", step " + step;
                int what = random.nextInt(10);
                if (what == 0) {
                    if (random.nextBoolean()) {
                        database.run("CHECKPOINT");
                    }
                    database.close();
                    database = new TestDatabase(folder);
                } else if (what < 3) {
                    alter(database, model, 1 + random.nextInt(30));
                }
                insert(database, model, random);
                assertEquals(model.grouped(), database.flushedRows("SELECT * FROM grouped"), place);
                assertEquals(model.best(), database.flushedRows("SELECT * FROM best"), place);
                assertEquals(
                        model.groups.keySet().stream().map(String::valueOf).toList(),
                        database.flushedRows("SELECT * FROM keys"),
                        place);
            }
        } finally {
            database.close();
        }
    }

    private static void insert(TestDatabase database, Model model, Random random) {
        List<String> rows = new ArrayList<>();
        long second = model.now;
        for (int i = random.nextInt(6); i >= 0; i--) {
            second += random.nextInt(random.nextInt(8) == 0 ? 20 : 3);
            int key = random.nextInt(8);
            int value = random.nextInt(100);
            rows.add("(" + key + ", " + SECOND + second + ", " + value + ")");
            model.add(key, second, value);
        }
        database.run("INSERT INTO s VALUES " + String.join(", ", rows));
        model.endEpoch();
    }

    @Test
    void whatWouldLoseRowsIsRefusedAndSaysWhatToDo() {
        try (TestDatabase database = new TestDatabase(folder)) {
            database.run(
                    "CREATE STREAM s (k INT, at TIMESTAMP NOT NULL, WATERMARK FOR at AS at); CREATE TABLE t (k INT PRIMARY KEY, v INT);"
                            + " INSERT INTO t VALUES (1, 2);"
                            + " CREATE MATERIALIZED VIEW lasting AS SELECT k, count(*) AS n FROM s GROUP BY k;"
                            + " CREATE MATERIALIZED VIEW of_table AS SELECT v, count(*) AS n FROM t GROUP BY v;"
                            + " INSERT INTO s VALUES (1, '2026-01-01'); FLUSH");
            String refused = database.error("ALTER MATERIALIZED VIEW lasting SET (state_ttl = '1 hour')");
            assertTrue(refused.startsWith("0A000 "), refused);
            assertTrue(refused.contains("goes on without former rows of s, which are not kept"), refused);
            database.run("ALTER MATERIALIZED VIEW of_table SET (state_ttl = '1 hour', retries = 3)");
            assertEquals(List.of("2|1"), database.flushedRows("SELECT * FROM of_table"));
            database.run("ALTER MATERIALIZED VIEW of_table RESET (state_ttl)");
            assertEquals(
                    List.of(
                            "CREATE MATERIALIZED VIEW of_table WITH (retries = '3') AS SELECT v, count(*) AS n FROM t GROUP BY v;"),
                    database.rows("SHOW CREATE MATERIALIZED VIEW of_table").stream()
                            .map(row -> row.substring(row.indexOf('|') + 1))
                            .toList());
            for (String wrong : List.of("SET (state_ttl = 'never')", "SET (late = 'perhaps')", "SET (retries = -1)")) {
                assertTrue(database.error("ALTER MATERIALIZED VIEW of_table " + wrong)
                        .startsWith("22023 "));
            }
            assertEquals(List.of("1|1"), database.flushedRows("SELECT * FROM lasting"));
        }
    }
}
