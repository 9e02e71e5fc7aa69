package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A database that serves sessions while it is being restored: each statement waits for what it needs, and answers as it would later. */
@Tag("long")
@Timeout(120)
class EarlySessionsTest {
    private static final long SEED = Long.getLong("millrace.early.seed", 1);
    private static final int ROWS = 20_000;

    @TempDir
    Path folder;

    private Path data() {
        return folder.resolve("data");
    }

    private TestDatabase early() {
        return TestDatabase.early(data(), 2);
    }

    /** A checkpoint, rows behind it if there are to be some, and a definition that came after it. */
    private void fill(boolean behind) {
        try (TestDatabase database = new TestDatabase(data())) {
            database.run("CREATE STREAM s (k BIGINT, v BIGINT); CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT);"
                    + "CREATE STREAM past (k BIGINT, v BIGINT) WITH (retention = 'forever');"
                    + "CREATE INDEX by_v ON t (v);"
                    + "CREATE VIEW small AS SELECT k FROM t WHERE v < 10");
            for (int view = 0; view < 4; view++) {
                database.run("CREATE MATERIALIZED VIEW v" + view + " AS SELECT k % " + (ROWS - view)
                        + " AS k, count(*) AS n, sum(v) AS v FROM s GROUP BY k % " + (ROWS - view));
            }
            database.run("CREATE MATERIALIZED VIEW joined AS SELECT s.k, t.v FROM s JOIN t ON s.k = t.k");
            insert(database, 0, ROWS);
            database.run("CREATE ROLE reader LOGIN; GRANT SELECT ON t, v0 TO reader; CHECKPOINT");
            if (behind) {
                insert(database, ROWS, ROWS + 1000);
                database.run("CREATE TABLE late (k BIGINT); INSERT INTO late VALUES (1), (2);"
                        + "CREATE MATERIALIZED VIEW of_late AS SELECT count(*) AS n FROM s");
                insert(database, ROWS + 1000, ROWS + 1010);
            }
        }
    }

    private static void insert(TestDatabase database, int from, int to) {
        for (String relation : List.of("s", "t", "past")) {
            database.run("INSERT INTO " + relation + " SELECT g, g % 100 FROM generate_series(" + from + ", " + (to - 1)
                    + ") g");
        }
    }

    /** In any order, from the first moment on. */
    @Test
    void whateverIsAskedFirstIsAnsweredAsWhenAllIsThere() {
        fill(true);
        int rows = ROWS + 1010;
        List<List<String>> questions = List.of(
                List.of("SELECT count(*), sum(k) FROM past", rows + "|" + (long) rows * (rows - 1) / 2),
                List.of("SELECT count(*), sum(k) FROM t", rows + "|" + (long) rows * (rows - 1) / 2),
                List.of("SELECT v FROM t WHERE k = " + (rows - 1), String.valueOf((rows - 1) % 100)),
                List.of("SELECT count(*) FROM t WHERE v = 7", String.valueOf((rows - 7 + 99) / 100)),
                List.of("SELECT count(*) FROM small", String.valueOf((rows + 90) / 100 * 10)),
                List.of("SELECT count(*), sum(n) FROM v0", ROWS + "|" + rows),
                List.of("SELECT count(*), sum(n) FROM v3", (ROWS - 3) + "|" + rows),
                List.of("SELECT count(*) FROM joined", String.valueOf(rows)),
                List.of("SELECT count(*) FROM late", "2"),
                List.of("SELECT n FROM of_late", "10"),
                List.of("SELECT count(*) FROM pg_class WHERE relname IN ('late', 'by_v', 'v1')", "3"),
                List.of("SELECT 1", "1"));
        Random random = new Random(SEED);
        for (int round = 0; round < 12; round++) {
            try (TestDatabase database = early()) {
                for (int question = 0; question < 6; question++) {
                    List<String> asked = questions.get(random.nextInt(questions.size()));
                    assertEquals(
                            List.of(asked.get(1)),
                            database.rows(asked.get(0)),
                            asked.get(0) + ", question " + question + " of round " + round + ", seed " + SEED);
                }
                assertEquals("42P01", database.error("SELECT * FROM nowhere").substring(0, 5));
                assertTrue(database.database().awaitOpen());
            }
        }
    }

    @Test
    void whatChangesSomethingWaitsUntilAllIsThere() {
        fill(true);
        for (int round = 0; round < 3; round++) {
            int before = ROWS + 1010 + round;
            try (TestDatabase database = early()) {
                database.run("INSERT INTO t VALUES (" + before + ", 1)");
                assertTrue(database.error("INSERT INTO t VALUES (5, 1)").startsWith("23505 "), "keys are known");
                database.run("INSERT INTO s VALUES (" + before + ", 1); CREATE TABLE more" + round + " (a INT)");
                assertEquals(List.of(String.valueOf(before + 1)), database.rows("SELECT count(*) FROM joined"));
                assertEquals(List.of(String.valueOf(before + 1)), database.rows("SELECT sum(n) FROM v1"));
            }
        }
    }

    @Test
    void whoMayReadMayReadEarly() {
        fill(false);
        try (TestDatabase database = early();
                Session reader = database.database().session("reader")) {
            assertEquals(List.of(String.valueOf(ROWS)), TestDatabase.texts(reader.query("SELECT count(*) FROM t")));
            MillraceException refused =
                    assertThrows(MillraceException.class, () -> reader.query("SELECT count(*) FROM past"));
            assertEquals(SqlState.INSUFFICIENT_PRIVILEGE, refused.sqlState());
        }
    }

    @Test
    void aDatabaseIsClosedBeforeItIsThereAndLosesNothing() {
        fill(true);
        for (int round = 0; round < 8; round++) {
            try (TestDatabase database = early()) {
                if (round % 2 == 0) {
                    database.rows("SELECT count(*) FROM t");
                }
            }
        }
        try (TestDatabase database = early()) {
            assertEquals(List.of(String.valueOf(ROWS + 1010)), database.rows("SELECT sum(n) FROM v2"));
        }
    }

    /** Whatever is asked of it meanwhile. */
    @Test
    void damageThatIsFoundLaterIsWhatEveryStatementHears() throws IOException {
        fill(true);
        Path snapshot;
        try (Stream<Path> files = Files.list(data().resolve("checkpoints"))) {
            snapshot = files.filter(file -> file.toFile().length() > 1 << 20)
                    .findFirst()
                    .orElseThrow();
        }
        byte[] whole = Files.readAllBytes(snapshot);
        Random random = new Random(SEED);
        for (int round = 0; round < 8; round++) {
            byte[] damaged = whole.clone();
            damaged[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(snapshot, damaged);
            try (TestDatabase database = early()) {
                MillraceException why = assertThrows(
                        MillraceException.class, database.database()::awaitOpen, "round " + round + ", seed " + SEED);
                assertEquals(SqlState.DATA_CORRUPTED, why.sqlState(), why.getMessage());
                for (String statement : List.of("SELECT * FROM v0", "SELECT 1 FROM t", "INSERT INTO s VALUES (1, 1)")) {
                    assertTrue(database.error(statement).startsWith("XX001 "), statement);
                }
            } catch (MillraceException e) { // found before there was a database
                assertEquals(SqlState.DATA_CORRUPTED, e.sqlState(), e.getMessage());
            }
        }
        Files.write(snapshot, whole);
        try (TestDatabase database = early()) {
            assertEquals(List.of(String.valueOf(ROWS + 1010)), database.rows("SELECT sum(n) FROM v2"));
        }
    }
}
