package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers of queries over streams go on with what they had, after closing and after the process was gone at any moment. */
@Tag("long")
class DurableQueriesTest {
    private static final long SEED = Long.getLong("millrace.durable.seed", 1);
    private static final int STEPS = Integer.getInteger("millrace.durable.steps", 200);

    private static final String STREAMS = """
            CREATE STREAM s (k INT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5 seconds');
            CREATE STREAM p (k INT, t TEXT);
            CREATE TABLE names (k INT PRIMARY KEY, name TEXT)
            """;

    private static final List<String> VIEWS = List.of(
            "g AS SELECT k, count(*) AS n, sum(v) AS total, max(v) AS most FROM s GROUP BY k",
            "w AS SELECT window_start, k, count(*) AS n, sum(v) AS total FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10'"
                    + " SECONDS)) GROUP BY window_start, window_end, k",
            "j AS SELECT s.k, count(*) AS n, max(p.t) AS t FROM s JOIN p ON s.k = p.k GROUP BY s.k",
            "l AS SELECT names.name, sum(s.v) AS total FROM s LEFT JOIN names ON s.k = names.k GROUP BY names.name",
            "d AS SELECT DISTINCT v % 7 AS m FROM s",
            "top AS SELECT k, v FROM s ORDER BY v DESC, k LIMIT 5",
            "up AS SELECT count(*) AS n, sum(total) AS total FROM g");

    @TempDir
    Path folder;

    private final Random modes = new Random(SEED);

    private TestDatabase open() {
        return open(folder.resolve("data"), 2);
    }

    /** With statements from the first moment on, or when all is there. */
    private TestDatabase open(Path directory, int workers) {
        return modes.nextBoolean() ? TestDatabase.early(directory, workers) : new TestDatabase(directory, workers);
    }

    private Path crashed(String name) throws IOException {
        Path from = folder.resolve("data");
        Path to = folder.resolve(name);
        DirectoryImage.copy(from, to);
        return to;
    }

    private static List<String> all(TestDatabase database, List<String> relations) {
        List<String> rows = new ArrayList<>();
        for (String relation : relations) {
            rows.add(relation);
            rows.addAll(database.rows("SELECT * FROM " + relation));
        }
        return rows;
    }

    private static String rows(Random random, int most) {
        List<String> rows = new ArrayList<>();
        for (int i = random.nextInt(most); i >= 0; i--) {
            rows.add("(" + random.nextInt(6) + ", " + random.nextInt(1000)
                    + ", TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '" + random.nextInt(600) + " seconds')");
        }
        return String.join(", ", rows);
    }

    @Test
    void answersGoOnWithAndWithoutACheckpoint() throws IOException {
        List<String> names =
                VIEWS.stream().map(view -> view.substring(0, view.indexOf(' '))).toList();
        List<String> before;
        try (TestDatabase database = open()) {
            database.run(STREAMS);
            VIEWS.forEach(view -> database.run("CREATE MATERIALIZED VIEW " + view));
            Random random = new Random(SEED);
            database.run("INSERT INTO names VALUES (1, 'one'), (2, 'two')");
            database.run("INSERT INTO s (k, v, ts) VALUES " + rows(random, 50));
            database.run("INSERT INTO p VALUES (1, 'a'), (2, 'b'), (2, 'c')");
            before = all(database, names);
        }
        for (int round = 0; round < 4; round++) {
            try (TestDatabase again = open(folder.resolve("data"), 1 + round)) {
                assertEquals(before, all(again, names), "seed " + SEED + ", round " + round);
                if (round == 0) {
                    again.run("CHECKPOINT");
                }
                again.run(
                        "INSERT INTO s VALUES (2, 5000, TIMESTAMP '2026-01-01 00:20:00'); INSERT INTO p VALUES (2, 'z')");
                again.run("UPDATE names SET name = 'zwei' WHERE k = 2");
                before = all(again, names);
            }
        }
    }

    /** What is made between rows sees those after it, and none before. */
    @Test
    void whatIsMadeBetweenRowsIsMadeThereAgain() {
        List<String> before;
        List<String> views = List.of("v1", "v2", "v3");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (a INT)");
            database.run("CREATE MATERIALIZED VIEW v1 AS SELECT count(*) AS n, sum(a) AS t FROM s");
            database.run("INSERT INTO s VALUES (1)");
            database.run("CREATE MATERIALIZED VIEW v2 AS SELECT count(*) AS n, sum(a) AS t FROM s");
            database.run("INSERT INTO s VALUES (10); CHECKPOINT; INSERT INTO s VALUES (100)");
            database.run("CREATE MATERIALIZED VIEW v3 AS SELECT count(*) AS n, sum(a) AS t FROM s");
            database.run("INSERT INTO s VALUES (1000); PAUSE MATERIALIZED VIEW v1; INSERT INTO s VALUES (10000)");
            before = all(database, views);
            assertEquals(List.of("v1", "4|1111", "v2", "4|11110", "v3", "2|11000"), before);
        }
        try (TestDatabase again = open()) {
            assertEquals(before, all(again, views));
            again.run("RESUME MATERIALIZED VIEW v1; INSERT INTO s VALUES (1)");
            assertEquals(List.of("6|11112"), again.rows("SELECT * FROM v1"));
        }
    }

    @Test
    void whatStandsStillGoesOnWhereItStood() {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE STREAM s (a INT); CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(a) AS t FROM s");
            database.run("CREATE MATERIALIZED VIEW w AS SELECT count(*) AS n, sum(a) AS t FROM s");
            database.run(
                    "INSERT INTO s VALUES (1), (2); PAUSE MATERIALIZED VIEW v; INSERT INTO s VALUES (10); CHECKPOINT");
            database.run("INSERT INTO s VALUES (100)");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("4|113"), again.rows("SELECT * FROM w"));
            assertEquals(List.of("2|3"), again.rows("SELECT * FROM v"));
            again.run("INSERT INTO s VALUES (1000)");
        }
        try (TestDatabase third = open()) {
            assertEquals(List.of("2|3"), third.rows("SELECT * FROM v"));
            third.run("CHECKPOINT; RESUME MATERIALIZED VIEW v; INSERT INTO s VALUES (10000); FLUSH");
            assertEquals(List.of("6|11113"), third.rows("SELECT * FROM v"));
            assertEquals(List.of("6|11113"), third.rows("SELECT * FROM w"));
        }
        try (TestDatabase fourth = open()) {
            fourth.run("FLUSH"); // the checkpoint has it paused
            assertEquals(List.of("6|11113"), fourth.rows("SELECT * FROM v"));
        }
    }

    /** A table that a paused query reads is altered: what waits for the query has the columns of when it began. */
    @Test
    void whatStandsStillReadsATableThatWasAltered() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)");
            database.run(
                    "CREATE MATERIALIZED VIEW v AS SELECT k + 3 AS k, v - k AS v FROM t; INSERT INTO t VALUES (1, 1), (2, 2)");
            database.run("PAUSE MATERIALIZED VIEW v; UPDATE t SET v = 7 WHERE k = 1");
            database.run("ALTER TABLE t ADD COLUMN c BIGINT DEFAULT 4; INSERT INTO t VALUES (3, 30, 300); CHECKPOINT");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("4|0", "5|0"), again.rows("SELECT * FROM v"));
            again.run("RESUME MATERIALIZED VIEW v; FLUSH");
            assertEquals(List.of("4|6", "5|0", "6|27"), again.rows("SELECT * FROM v"));
        }
    }

    /** What failed is failed still, with what it had; what is resumed begins as it does without a restart. */
    @Test
    void whatFailedStaysFailed() {
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (a INT); CREATE MATERIALIZED VIEW v AS SELECT sum(10 / a) AS t FROM s");
            database.run("INSERT INTO s VALUES (1); CHECKPOINT; INSERT INTO s VALUES (2), (0)");
            assertFailed(database);
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = open()) {
                assertFailed(again);
                again.run("CHECKPOINT");
            }
        }
    }

    private static void assertFailed(TestDatabase database) {
        String why = database.error("SELECT * FROM v");
        assertTrue(why.startsWith("22012 materialized view \"v\" failed: ") && why.contains("division by zero"), why);
    }

    @Test
    void whatWasAlteredGoesOnAsItWas() throws IOException {
        List<String> before;
        List<String> relations = List.of("v", "t", "o");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (k INT, a INT); CREATE TABLE t (k INT PRIMARY KEY)");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT k, sum(a) AS t FROM s GROUP BY k");
            database.run(
                    "CREATE MATERIALIZED VIEW o AS SELECT s.k, count(*) AS n FROM s JOIN t ON s.k = t.k GROUP BY s.k");
            database.run("INSERT INTO t VALUES (1), (2); INSERT INTO s VALUES (1, 1), (2, 2), (2, 3)");
            database.run(
                    "ALTER MATERIALIZED VIEW v AS SELECT k, sum(a) AS t FROM s WHERE a > 0 GROUP BY k HAVING sum(a) > 2");
            database.run("INSERT INTO s VALUES (1, 7), (2, 8)");
            database.run("ALTER TABLE t ADD COLUMN name TEXT DEFAULT 'x'");
            database.run("INSERT INTO t VALUES (3, 'three'); INSERT INTO s VALUES (3, 1), (1, 1)");
            before = all(database, relations);
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = open()) {
                assertEquals(before, all(again, relations));
                again.run("INSERT INTO s VALUES (3, 2)");
                before = all(again, relations);
            }
        }
    }

    /** A file that a user damaged is the stream's trouble, and not the database's. */
    @Test
    void aDamagedFileOfAStreamKeepsNothingElseFromOpening() throws IOException {
        Path file = folder.resolve("a.csv.gz");
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            for (int i = 0; i < 100_000; i++) {
                out.write((i + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        }
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (7)");
            database.run("CREATE STREAM s (a INT) WITH (connector = 'file', path = '" + file
                    + "', format = 'csv', header = false)");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM s; FLUSH");
            database.run("CHECKPOINT"); // perhaps just as it comes to its end
            assertEquals(List.of("100000"), database.rows("SELECT * FROM v"));
        }
        byte[] packed = Files.readAllBytes(file);
        for (int length : new int[] {packed.length / 2, 3, 0}) {
            Files.write(file, Arrays.copyOf(packed, length));
            try (TestDatabase again = open()) {
                assertEquals(List.of("7"), again.rows("SELECT * FROM t"));
                again.run("INSERT INTO t VALUES (8); DELETE FROM t WHERE a = 8; CHECKPOINT");
            }
        }
    }

    @Test
    void namesThatSayTheDatabaseMeanTheSameAgain() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE \"millrace\".public.t (a INT); INSERT INTO millrace.public.t VALUES (1)");
            database.run("CREATE VIEW v AS SELECT a FROM \"millrace\".public.t");
            database.run(
                    "CREATE MATERIALIZED VIEW \"millrace\".\"public\".m AS SELECT sum(a) AS s FROM millrace.public.v");
        }
        try (TestDatabase again = open()) {
            again.run("INSERT INTO t VALUES (2); ALTER TABLE millrace.public.t RENAME TO u");
            assertEquals(List.of("3"), again.rows("SELECT s FROM m"));
            assertEquals(List.of("1", "2"), again.rows("SELECT a FROM millrace.public.v ORDER BY a"));
        }
    }

    @Test
    void aNameIsNotTheObject() {
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (a INT); CREATE MATERIALIZED VIEW v AS SELECT sum(a) AS t FROM s");
            database.run("INSERT INTO s VALUES (1); CHECKPOINT; DROP MATERIALIZED VIEW v");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT sum(a) AS t FROM s; INSERT INTO s VALUES (2)");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("2"), again.rows("SELECT * FROM v"));
            again.run("CHECKPOINT; DROP MATERIALIZED VIEW v; DROP STREAM s; CREATE STREAM s (a INT)");
            again.run("CREATE MATERIALIZED VIEW v AS SELECT sum(a) AS t FROM s; INSERT INTO s VALUES (5)");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("5"), again.rows("SELECT * FROM v"));
        }
    }

    /** Random statements; at random moments the process is gone, and what it leaves goes on as the database does. */
    @Test
    void atAnyMomentAllGoesOn() throws IOException {
        Random random = new Random(SEED);
        List<String> views = new ArrayList<>();
        int crashes = 0;
        int made = 0;
        try (TestDatabase database = open()) {
            database.run(STREAMS);
            database.run("CREATE MATERIALIZED VIEW " + VIEWS.get(0));
            database.run("CREATE MATERIALIZED VIEW " + VIEWS.get(1));
            views.addAll(List.of("g", "w"));
            for (int step = 0; step < STEPS; step++) {
                int what = random.nextInt(20);
                if (what < 8) {
                    database.run("INSERT INTO s VALUES " + rows(random, 10));
                } else if (what < 11) {
                    database.run("INSERT INTO p VALUES (" + random.nextInt(6) + ", 't" + random.nextInt(50) + "')");
                } else if (what < 13) {
                    database.run("INSERT INTO names VALUES (" + random.nextInt(6) + ", 'n" + random.nextInt(9)
                            + "') ON CONFLICT (k) DO UPDATE SET name = excluded.name");
                } else if (what == 13) {
                    database.run("BEGIN; INSERT INTO s VALUES " + rows(random, 3) + "; DELETE FROM names WHERE k = "
                            + random.nextInt(6) + "; INSERT INTO p VALUES (1, 'both'); COMMIT");
                } else if (what == 14) {
                    database.run("CHECKPOINT");
                } else if (what == 15 && views.size() < 12) {
                    String name = "x" + made++;
                    String view = VIEWS.get(random.nextInt(VIEWS.size()));
                    database.run("CREATE MATERIALIZED VIEW " + name + view.substring(view.indexOf(' ')));
                    views.add(name);
                } else if (what == 16 && views.size() > 3) {
                    database.run("DROP MATERIALIZED VIEW " + views.remove(2 + random.nextInt(views.size() - 2)));
                } else if (what == 17 && random.nextInt(4) == 0) {
                    database.run("ALTER TABLE names ADD COLUMN c" + step + " INT DEFAULT " + step);
                } else if (what == 18) {
                    crashes++;
                    Path crashed = crashed("crash" + crashes);
                    List<String> expected = all(database, views);
                    String more = "INSERT INTO s VALUES " + rows(random, 10) + "; INSERT INTO p VALUES (2, 'more')";
                    try (TestDatabase again = open(crashed, 1 + random.nextInt(4))) {
                        assertEquals(expected, all(again, views), "seed " + SEED + ", after step " + step);
                        again.run(more);
                        database.run(more);
                        expected = all(database, views);
                        assertEquals(expected, all(again, views), "seed " + SEED + ", rows after step " + step);
                    }
                    try (TestDatabase third = open(crashed, 1 + random.nextInt(4))) {
                        assertEquals(expected, all(third, views), "seed " + SEED + ", again after step " + step);
                    }
                }
            }
        }
        assertTrue(crashes > 0, "seed " + SEED);
    }
}
