package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.backup.Restore;
import dev.millrace.server.operation.DirectoryVerification;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams that keep their rows, as SQL has them. */
class RetainedStreamsTest {
    private static final long SEED = Long.getLong("millrace.retained.seed", 1);

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private Path killed(String name) {
        return DirectoryImage.copy(folder.resolve("data"), folder.resolve(name));
    }

    private Stream<Path> segments() throws IOException {
        return Files.walk(folder.resolve("data/streams")).filter(Files::isRegularFile);
    }

    @Test
    void whatWasInsertedIsSelected() {
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE STREAM s (k TEXT, v BIGINT, at TIMESTAMPTZ, WATERMARK FOR at AS at - INTERVAL '1 second')
                    WITH (retention = '30 days, 10 GB')""");
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(v) AS v FROM s");
            assertEquals(List.of("0"), database.rows("SELECT count(*) FROM s"));
            database.run("INSERT INTO s VALUES ('a', 1, '2026-01-01 10:00Z'), ('b', 2, '2026-01-01 10:00:30Z')");
            database.run("BEGIN; INSERT INTO s VALUES ('c', 3, '2026-01-01 10:01Z'); COMMIT");
            database.run("BEGIN; INSERT INTO s VALUES ('never', 9, '2026-01-01 10:01Z'); ROLLBACK");
            List<String> all = List.of("a|1", "b|2", "c|3");
            assertEquals(all, database.rows("SELECT k, v FROM s"));
            database.run("CHECKPOINT");
            assertEquals(all, database.rows("SELECT k, v FROM s"), "from a segment");
            database.run("INSERT INTO s SELECT 'x', g, '2026-01-01 11:00Z'::timestamptz + g * INTERVAL '1 second' FROM"
                    + " generate_series(1, 50000) g");
            assertEquals(List.of("50003|1250025006"), database.rows("SELECT count(*), sum(v) FROM s"));
            assertEquals(database.rows("SELECT * FROM n"), database.rows("SELECT count(*), sum(v) FROM s"));
            assertEquals(
                    List.of("2026-01-01 10:00:00+00|2", "2026-01-01 10:01:00+00|1"),
                    database.rows("SELECT window_start, count(*) FROM TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '1"
                            + " minute') WHERE at < '2026-01-01 10:30Z' GROUP BY window_start, window_end ORDER BY 1"));
            assertEquals(
                    List.of("a|1|3"),
                    database.rows(
                            "SELECT a.k, a.v, b.v FROM s a JOIN s b ON b.v = a.v + 2 WHERE a.k = 'a' AND b.k = 'c'"));
        }
    }

    @Test
    void rowsAreThereAgainWhateverWasFlushed() throws IOException {
        Random random = new Random(SEED);
        List<Path> images = new ArrayList<>();
        List<List<String>> expected = new ArrayList<>();
        List<String> rows = new ArrayList<>();
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (v BIGINT, t TEXT) WITH (retention = 'forever');"
                    + "CREATE STREAM passing (v BIGINT);"
                    + "CREATE TABLE t (v BIGINT);"
                    + "CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM s");
            for (int step = 0; step < 40; step++) {
                int number = step;
                switch (random.nextInt(5)) {
                    case 0 -> database.run("CHECKPOINT");
                    case 1 -> {
                        images.add(killed("image" + step));
                        expected.add(List.copyOf(rows));
                    }
                    case 2 -> {
                        database.run("BEGIN; INSERT INTO s VALUES (" + number + ", 'both'); INSERT INTO t VALUES ("
                                + number + "); INSERT INTO passing VALUES (1); COMMIT");
                        rows.add(number + "|both");
                    }
                    default -> {
                        int many = 1 + random.nextInt(3) * random.nextInt(3000);
                        database.run(
                                "INSERT INTO s SELECT g, 'of " + number + "' FROM generate_series(1, " + many + ") g");
                        for (int i = 1; i <= many; i++) {
                            rows.add(i + "|of " + number);
                        }
                    }
                }
            }
            images.add(killed("last"));
            expected.add(List.copyOf(rows));
        }
        images.add(folder.resolve("data"));
        expected.add(List.copyOf(rows));
        for (int i = 0; i < images.size(); i++) {
            for (int round = 0; round < 2; round++) {
                try (TestDatabase again = new TestDatabase(images.get(i))) {
                    List<String> wanted = new ArrayList<>(expected.get(i));
                    if (round == 1) {
                        wanted.add("-1|after");
                    }
                    List<String> found = new ArrayList<>(again.rows("SELECT v, t FROM s"));
                    assertEquals(List.of("" + wanted.size()), again.rows("SELECT n FROM n"), "seed " + SEED);
                    Collections.sort(found);
                    Collections.sort(wanted);
                    assertEquals(wanted, found, "image " + images.get(i).getFileName() + ", seed " + SEED);
                    again.run("INSERT INTO s VALUES (-1, 'after')");
                }
            }
        }
    }

    @Test
    void droppedStreamsLeaveNoFiles() throws IOException {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE STREAM s (v BIGINT) WITH (retention = 'forever'); INSERT INTO s VALUES (1); CHECKPOINT");
            assertEquals(List.of("s|1"), database.rows("SELECT stream, rows FROM millrace.segments"));
            database.run("DROP STREAM s; CREATE STREAM s (v TEXT) WITH (retention = '1 day')");
            assertEquals(List.of(), database.rows("SELECT * FROM s"));
            database.run("INSERT INTO s VALUES ('x')");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("x"), again.rows("SELECT * FROM s"));
            again.run("DROP STREAM s");
        }
        open().close();
        try (Stream<Path> left = segments()) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void damageOfASegmentIsWhatReadingItFailsWith() throws IOException {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE STREAM s (v BIGINT) WITH (retention = 'forever');"
                            + "CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM s; INSERT INTO s VALUES (1); CHECKPOINT");
        }
        Path segment;
        try (Stream<Path> files = segments()) {
            segment = files.filter(file -> file.toString().endsWith(".columns"))
                    .findFirst()
                    .orElseThrow();
        }
        byte[] whole = Files.readAllBytes(segment);
        for (int kind = 0; kind < 3; kind++) {
            byte[] damaged = whole.clone();
            damaged[16] ^= 1;
            assertEquals(
                    List.of(),
                    DirectoryVerification.run(folder.resolve("data")).files().stream()
                            .filter(file -> !file.isWhole())
                            .toList());
            switch (kind) {
                case 0 -> Files.write(segment, damaged);
                case 1 -> Files.write(segment, new byte[7]);
                default -> Files.delete(segment);
            }
            String named = segment.getFileName().toString();
            assertTrue(DirectoryVerification.run(folder.resolve("data")).files().stream()
                    .anyMatch(file -> !file.isWhole() && file.name().endsWith(named)));
            try (TestDatabase again = open()) {
                String error = again.error("SELECT * FROM s");
                assertTrue(
                        error.startsWith("XX001 ")
                                && error.contains(segment.getFileName().toString()),
                        error);
                again.run("INSERT INTO s VALUES (2); CHECKPOINT");
                assertEquals(List.of(String.valueOf(2 + kind)), again.rows("SELECT n FROM n"), "it goes on");
            }
            Files.write(segment, whole);
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("1", "2", "2", "2"), again.rows("SELECT * FROM s"));
        }
        Path list = segment.resolveSibling("segments");
        byte[] names = Files.readAllBytes(list);
        Files.delete(list);
        assertTrue(DirectoryVerification.run(folder.resolve("data")).files().stream()
                .anyMatch(file -> !file.isWhole() && file.name().endsWith("segments")));
        try (TestDatabase again = open()) {
            String why = String.join(", ", again.database().notRestored());
            assertTrue(why.contains("segments is missing"), why);
            again.run("CHECKPOINT"); // which would forget rows that only the log has
        }
        Files.write(list, names);
        try (TestDatabase again = open()) {
            assertEquals(List.of("1", "2", "2", "2"), again.rows("SELECT * FROM s"));
        }
    }

    @Test
    void whatCannotHaveRowsIsPassedBy() {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE STREAM s (v BIGINT, k TEXT, at TIMESTAMP, WATERMARK FOR at AS at) WITH (retention = 'forever')");
            for (int part = 0; part < 2; part++) {
                int first = part * 100_000;
                database.run("INSERT INTO s SELECT g, 'k' || g % 3, TIMESTAMP '2026-01-01' + g * INTERVAL '1 second'"
                        + " FROM generate_series(" + (first + 1) + ", " + (first + 100_000) + ") g; CHECKPOINT");
            }
            assertEquals(List.of("2"), database.rows("SELECT count(*) FROM s WHERE v IN (7, 150000)"));
            String byTime = analysis(database, "SELECT count(*) FROM s WHERE at >= '2026-01-03 07:00:00'", "2001");
            assertTrue(byTime.matches("(?s).*segments read 1, skipped .; blocks read [12], skipped [1-9].*"), byTime);
            String byValue = analysis(database, "SELECT k FROM s WHERE v = 200000", "1");
            assertTrue(byValue.contains("; blocks read 1, skipped "), byValue);
            String byNothing = analysis(database, "SELECT sum(v) FROM s WHERE k = 'k1'", "1");
            assertTrue(
                    byNothing.contains(", skipped 0; blocks read ") && byNothing.contains(", skipped 0)"), byNothing);
            assertTrue(
                    database.error("EXPLAIN ANALYZE INSERT INTO s VALUES (1)").startsWith("0A000 "));
        }
    }

    private static String analysis(TestDatabase database, String sql, String expected) {
        List<String> rows = database.rows(sql);
        assertEquals(expected, expected.equals("1") ? "" + rows.size() : rows.get(0), sql);
        return String.join("\n", database.rows("EXPLAIN ANALYZE " + sql));
    }

    @Test
    void aBackupHasThePast() {
        List<String> all;
        Path target = folder.resolve("backup");
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE STREAM s (v BIGINT) WITH (retention = 'forever');"
                            + "INSERT INTO s VALUES (1); CHECKPOINT; INSERT INTO s VALUES (2); CHECKPOINT; INSERT INTO s VALUES (3)");
            all = database.rows("SELECT * FROM s");
            database.run("BACKUP TO '" + target + "'");
            database.run("INSERT INTO s VALUES (4); CHECKPOINT; DROP STREAM s");
        }
        Path restored = folder.resolve("restored");
        Restore.run(target, restored);
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = new TestDatabase(restored)) {
                assertEquals(all, again.rows("SELECT * FROM s WHERE v < 10"));
                again.run("INSERT INTO s VALUES (10)");
            }
            assertEquals(
                    List.of(),
                    DirectoryVerification.run(restored).files().stream()
                            .filter(file -> !file.isWhole() || !file.known())
                            .toList());
        }
    }

    @Test
    void whatCannotBeKeptIsRefused() {
        try (TestDatabase database = open()) {
            for (String wrong : List.of("soon", "0 days", "-1 GB", "1 day, 2 days", "1 GB, 2 GB", "")) {
                String error = database.error("CREATE STREAM s (v BIGINT) WITH (retention = '" + wrong + "')");
                assertTrue(error.startsWith("22023 "), wrong + ": " + error);
            }
            assertTrue(database.error("CREATE STREAM s WITH (retention = '1 day', connector = 'system')")
                    .startsWith("0A000 "));
            database.run("CREATE STREAM s (v BIGINT) WITH (retention = 'none')");
            assertTrue(database.error("SELECT * FROM s").startsWith("42809 "));
        }
        assertFalse(Files.exists(folder.resolve("data/streams/1/segments")));
    }
}
