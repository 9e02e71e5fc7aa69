package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.operation.DirectoryReport;
import dev.millrace.server.operation.DirectoryVerification;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints that go on using what earlier ones have of tables and answers which did not change. */
class KeptSectionsTest {
    private static final int MOST_FILES = 17; // a checkpoint's own, and 16 of earlier ones

    @TempDir
    Path folder;

    private Path data() {
        return folder.resolve("data");
    }

    private TestDatabase open() {
        return new TestDatabase(data());
    }

    private List<Long> lengths() throws IOException {
        try (Stream<Path> files = Files.list(data().resolve("checkpoints"))) {
            return files.filter(file -> file.toString().endsWith(".snapshot"))
                    .sorted()
                    .map(file -> file.toFile().length())
                    .toList();
        }
    }

    private void verify() {
        DirectoryReport report = DirectoryVerification.run(data());
        assertTrue(report.isWhole(), report::text);
    }

    @Test
    void whatDidNotChangeIsNotWrittenAgain() throws IOException {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE large (id BIGINT, name VARCHAR); CREATE TABLE small (id BIGINT)");
            database.run("CREATE MATERIALIZED VIEW names AS SELECT name, count(*) AS n FROM large GROUP BY name");
            database.run("INSERT INTO large SELECT n, 'name ' || n FROM generate_series(1, 20000) AS g (n)");
            database.run("CHECKPOINT");
            List<Long> first = lengths();
            assertEquals(1, first.size());
            for (int i = 0; i < 3; i++) {
                database.run("INSERT INTO small VALUES (" + i + "); CHECKPOINT");
                List<Long> now = lengths();
                assertEquals(2, now.size());
                assertEquals(first.get(0), now.get(0));
                assertTrue(now.get(1) < first.get(0), now::toString);
                verify();
            }
        }
        try (TestDatabase database = open()) {
            assertEquals(List.of("20000|20000"), database.rows("SELECT count(*), max(id) FROM large"));
            assertEquals(List.of("20000"), database.rows("SELECT count(*) FROM names"));
            assertEquals(List.of("3"), database.rows("SELECT count(*) FROM small"));
            database.run("UPDATE large SET name = 'one'; CHECKPOINT");
            assertEquals(1, lengths().size());
            verify();
        }
        try (TestDatabase database = open()) {
            assertEquals(List.of("one|20000"), database.rows("SELECT name, n FROM names"));
        }
    }

    @Test
    void nothingOfADroppedTableComesBack() throws IOException {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (id BIGINT); CREATE TABLE other (id BIGINT)");
            database.run("INSERT INTO t VALUES (1); INSERT INTO other VALUES (2); CHECKPOINT");
            database.run("DROP TABLE t; CREATE TABLE t (id BIGINT); CHECKPOINT");
            database.run("TRUNCATE other; CHECKPOINT");
            verify();
        }
        try (TestDatabase database = open()) {
            assertEquals(List.of("0"), database.rows("SELECT count(*) FROM t"));
            assertEquals(List.of("0"), database.rows("SELECT count(*) FROM other"));
        }
    }

    @Test
    void filesDoNotGrowWithoutBound() throws IOException {
        int tables = 25;
        try (TestDatabase database = open()) {
            for (int i = 0; i < tables; i++) {
                database.run("CREATE TABLE t" + i + " (id BIGINT)");
                database.run("INSERT INTO t" + i + " VALUES (" + i + "); CHECKPOINT");
                int files = lengths().size();
                assertTrue(files <= MOST_FILES, () -> files + " files");
            }
            assertEquals(MOST_FILES, lengths().size());
            verify();
        }
        try (TestDatabase database = open()) {
            for (int i = 0; i < tables; i++) {
                assertEquals(List.of(i + ""), database.rows("SELECT id FROM t" + i));
            }
        }
    }
}
