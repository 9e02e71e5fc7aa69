package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A column {@code proctime()} of a table is what it was when its row was written: after restarts, in copies, and in what reads it. */
class TimesOfWritingTest {
    private static final String TIMES = "SELECT id, at FROM seen ORDER BY id";

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    @Test
    void theyAreThereAgainAfterARestartAndChangeWithTheirRows() {
        List<String> before;
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE seen (id INT PRIMARY KEY, n INT, at TIMESTAMPTZ AS proctime())");
            database.run("CREATE MATERIALIZED VIEW last AS SELECT max(at) AS at FROM seen");
            database.run("INSERT INTO seen VALUES (1, 1), (2, 1)");
            before = database.rows(TIMES);
        }
        try (TestDatabase database = open()) {
            assertEquals(before, database.rows(TIMES));
            database.run("UPDATE seen SET n = 2 WHERE id = 2");
            database.run("INSERT INTO seen VALUES (3, 1)");
            assertEquals(
                    List.of("t|t|t"),
                    database.rows("SELECT a.at < b.at, b.at <= c.at, c.at = (SELECT at FROM last)"
                            + " FROM seen a, seen b, seen c WHERE a.id = 1 AND b.id = 2 AND c.id = 3"));
            before = database.rows(TIMES);
        }
        try (TestDatabase database = open()) {
            assertEquals(before, database.rows(TIMES));
            assertEquals(List.of("t"), database.rows("SELECT (SELECT max(at) FROM seen) = (SELECT at FROM last)"));
        }
    }
}
