package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code millrace.recovery} says of a database that was opened again. */
class RecoveryTest {
    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    @Test
    void saysHowEachObjectCameBackAndWhenItHasCaughtUp() throws IOException {
        Path file = Files.writeString(folder.resolve("in.csv"), "1\n2\n3\n");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (k INT); CREATE TABLE t (k INT PRIMARY KEY)");
            database.run("CREATE STREAM f (k INT) WITH (connector = 'file', path = '" + file + "')");
            database.run("CREATE MATERIALIZED VIEW early AS SELECT k, count(*) AS n FROM s GROUP BY k");
            database.run("CREATE MATERIALIZED VIEW stopped AS SELECT count(*) AS n FROM s");
            database.run("INSERT INTO s VALUES (1), (2); PAUSE MATERIALIZED VIEW stopped; CHECKPOINT");
            database.run("INSERT INTO s VALUES (2); INSERT INTO t VALUES (7)");
            database.run("CREATE MATERIALIZED VIEW later AS SELECT count(*) AS n FROM s");
            database.run("CREATE MATERIALIZED VIEW above AS SELECT max(n) AS most FROM early");
            database.run("CREATE VIEW plain AS SELECT * FROM s");
            database.run("INSERT INTO s VALUES (3)");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("1|1", "2|2", "3|1"), again.rows("SELECT * FROM early ORDER BY k"));
            assertEquals(List.of("2"), again.rows("SELECT most FROM above"));
            assertEquals(List.of("1"), again.rows("SELECT n FROM later"));
            assertEquals(
                    List.of(
                            "above|materialized view|log|running|t|t",
                            "early|materialized view|checkpoint|running|t|t",
                            "f|stream|checkpoint|||t",
                            "later|materialized view|log|running|t|t",
                            "stopped|materialized view|checkpoint|paused|t|f",
                            "s|stream|checkpoint||t|t",
                            "t|table|checkpoint||t|t"),
                    again.rows("SELECT name, kind, way, state, target_epoch > 0, caught_up FROM millrace.recovery"
                            + " ORDER BY name"));
            assertEquals(
                    List.of("t"),
                    again.rows("SELECT last_epoch >= target_epoch FROM millrace.recovery WHERE name = 'early'"));
            again.run("DROP MATERIALIZED VIEW above; DROP MATERIALIZED VIEW later");
            again.run("CREATE MATERIALIZED VIEW later AS SELECT count(*) AS n FROM s");
            assertEquals(
                    List.of("early", "f", "s", "stopped", "t"),
                    again.rows("SELECT name FROM millrace.recovery ORDER BY name"),
                    "what was made since is not what came back");
        }
    }

    @Test
    void saysWhatBeginsAnewAndWhy() throws IOException {
        Path file = Files.writeString(folder.resolve("in.csv"), "1\n2\n3\n");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM f (k INT) WITH (connector = 'file', path = '" + file + "', mode = 'follow')");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM f");
            Eventually.holds("the file is read", () -> List.of("3").equals(database.rows("SELECT n FROM v")));
            database.run("CHECKPOINT");
        }
        try (TestDatabase again = open()) { // who follows a file knows no position of it
            Eventually.holds("the file is read again", () -> List.of("3").equals(again.rows("SELECT n FROM v")));
            assertEquals(
                    List.of("anew|t"), again.rows("SELECT way, reason <> '' FROM millrace.recovery WHERE name = 'v'"));
        }
    }

    /** Read side by side, who has no room fails for all; one by one, the others are there. */
    @Test
    void whatHasNoRoomIsLostAloneAndStaysOnDisk() {
        DatabaseOptions options = DatabaseOptions.defaults().withWorkers(2).withData(folder.resolve("data"));
        EngineOptions little = options.engine().withMemoryLimitBytes(8L << 20).withSpillLimitBytes(0);
        try (TestDatabase database = new TestDatabase(options)) {
            database.run("CREATE TABLE large (k INT, t TEXT); CREATE TABLE small (k INT);"
                    + "CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM small");
            database.run(
                    "INSERT INTO small VALUES (1), (2);"
                            + "INSERT INTO large SELECT g, repeat('x', 100) || g FROM generate_series(1, 100000) g; CHECKPOINT");
        }
        try (TestDatabase again = new TestDatabase(options.withEngine(little))) {
            String why = String.join(", ", again.database().notRestored());
            assertTrue(why.contains("\"large\"") && why.contains("out of memory"), why);
            assertEquals(List.of("1", "2"), again.rows("SELECT k FROM small ORDER BY k"));
            assertEquals(List.of("2"), again.rows("SELECT n FROM n"));
        }
        try (TestDatabase again = new TestDatabase(options)) {
            assertEquals(List.of("100000"), again.rows("SELECT count(*) FROM large"));
        }
    }
}
