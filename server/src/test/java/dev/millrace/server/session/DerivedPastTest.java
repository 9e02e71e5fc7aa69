package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.operation.DirectoryDump;
import dev.millrace.server.operation.DirectoryVerification;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.script.DefinitionScript.Step;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What streams keep that a query fills: as sketches, in copies of the directory, and where the query cannot go on. */
class DerivedPastTest {
    private static final String STREAM = """
            CREATE STREAM s (id BIGINT, device TEXT, at TIMESTAMP, temp DOUBLE PRECISION, WATERMARK FOR at AS at);
            CREATE TABLE e (id BIGINT PRIMARY KEY, device TEXT, at TIMESTAMP, temp DOUBLE PRECISION);
            CREATE STREAM d WITH (retention = '30 days', retention.form = 'sketch', sketch.key = 'device', sketch.segment = '1ms') AS
            SELECT id, device, at, temp * 2 AS temp FROM s WHERE device <> 'd3' WITH (sketch.error.temp = '0.5 abs')
            """;
    private static final String FAR = "SELECT count(*) FROM d JOIN e ON e.id = d.id"
            + " WHERE abs(d.temp - 2 * e.temp) > 0.5 OR d.device <> e.device OR d.at <> e.at";

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    private static void insert(TestDatabase database, int from, int to) {
        String rows =
                "SELECT g, 'd' || g % 4, TIMESTAMP '2026-01-01 00:00:00' + g * INTERVAL '0.1' SECOND, 20 + 5 * sin(g / 50.0)"
                        + " FROM generate_series(" + from + ", " + to + ") AS x(g)";
        database.run("INSERT INTO e " + rows);
        database.run("INSERT INTO s SELECT * FROM e WHERE id BETWEEN " + from + " AND " + to);
    }

    private static void assertAll(TestDatabase database, int rows) {
        assertEquals(List.of(rows + "|" + rows), database.rows("SELECT count(*), count(DISTINCT id) FROM d"));
        assertEquals(List.of("" + rows), database.rows("SELECT count(*) FROM d JOIN e ON e.id = d.id"));
        assertEquals(List.of("0"), database.rows(FAR));
        double bound = Double.parseDouble(database.rows("SELECT error_bound(temp) FROM d ORDER BY 1 DESC LIMIT 1")
                .get(0));
        assertTrue(bound > 0 && bound <= 0.5000001, "rounded outward: " + bound);
    }

    private static void awaitSketched(TestDatabase database) {
        database.run("CHECKPOINT");
        Eventually.holds(
                "all is sketched",
                () -> database.rows("SELECT DISTINCT form FROM millrace.segments WHERE stream = 'd'")
                        .equals(List.of("sketch")));
    }

    @Test
    void itIsSketchedWithinItsBoundsWhateverHappensToTheDatabase() throws IOException {
        Path image;
        Path backup = folder.resolve("backup");
        try (TestDatabase database = open()) {
            database.run(STREAM);
            insert(database, 1, 2000);
            insert(database, 2001, 4000);
            awaitSketched(database);
            assertAll(database, 3000);
            assertTrue(
                    !database.rows("SELECT 1 FROM d JOIN e ON e.id = d.id WHERE d.temp <> 2 * e.temp LIMIT 1")
                            .isEmpty(),
                    "they are sketched");
            database.run("CREATE MATERIALIZED VIEW v WITH (start = 'earliest') AS SELECT count(*) AS n FROM d");
            insert(database, 4001, 4400); // behind the checkpoint
            assertAll(database, 3300);
            assertEquals(List.of("3300"), database.rows("SELECT n FROM v"));
            image = DirectoryImage.copy(folder.resolve("data"), folder.resolve("image"));
            database.run("BACKUP TO '" + backup + "'");
        }
        for (Path data : List.of(image, folder.resolve("data"))) {
            assertEquals(
                    List.of(),
                    DirectoryVerification.run(data).files().stream()
                            .filter(file -> !file.isWhole()
                                    || !file.known()
                                    || file.contents().startsWith("not read"))
                            .toList());
            try (TestDatabase again = new TestDatabase(data)) {
                assertAll(again, 3300);
                assertEquals(List.of("3300"), again.rows("SELECT n FROM v"));
                insert(again, 4401, 6000);
                awaitSketched(again);
                assertAll(again, 4500);
                assertEquals(List.of("4500"), again.rows("SELECT n FROM v"));
            }
        }
    }

    /** How far values were off that the query read from sketches is not known any more. */
    @Test
    void boundsOfWhatWasReadFromSketchesAreNotKnown() {
        try (TestDatabase database = open()) {
            database.run(STREAM);
            insert(database, 1, 200);
            database.run("CREATE STREAM e2 WITH (retention = '1 day', retention.form = 'sketch', start = 'earliest') AS"
                    + " SELECT temp, error_bound(temp) AS off FROM d");
            assertEquals(List.of("150"), database.rows("SELECT count(*) FROM e2 WHERE off >= 0"));
            assertEquals(List.of("Infinity"), database.rows("SELECT DISTINCT error_bound(temp) FROM e2"));
            assertEquals(
                    "0A000",
                    database.error(
                                    "CREATE STREAM e3 WITH (start = 'earliest') AS SELECT error_bound(temp) AS off FROM e2")
                            .substring(0, 5));
            database.run(
                    "CREATE STREAM live WITH (retention = '1 day', retention.form = 'sketch') AS SELECT temp FROM d");
            assertEquals(List.of(""), database.rows("SELECT max(error_bound(temp)) FROM live"));
        }
    }

    /** A source that knows no position is read from its beginning: the rows would come twice. */
    @Test
    void withoutItsStateTheQueryIsFailedAndItsRowsAreRead() throws IOException {
        Path file = folder.resolve("lines.csv");
        Files.writeString(file, "a\n1\n2\n");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM f (a INT) WITH (connector = 'file', path = '" + file
                    + "', format = 'csv', mode = 'follow')");
            database.run("CREATE STREAM d WITH (retention = 'forever') AS SELECT a FROM f");
            Eventually.holds(
                    "the file is read", () -> database.rows("SELECT * FROM d").equals(List.of("1", "2")));
            database.run("CHECKPOINT");
        }
        for (int i = 0; i < 2; i++) {
            try (TestDatabase again = open()) {
                assertEquals(List.of("1", "2"), again.rows("SELECT * FROM d"));
                assertEquals(
                        List.of("failed|55000"),
                        again.rows("SELECT state, sqlstate FROM millrace.query_stats WHERE query = 'd'"));
                again.run("CHECKPOINT");
            }
        }
        try (TestDatabase again = open()) {
            again.run("RESUME STREAM d");
            Eventually.holds(
                    "it is read anew", () -> again.rows("SELECT * FROM d").equals(List.of("1", "1", "2", "2")));
            assertTrue(
                    again.notices().toString().contains("begins anew"),
                    again.notices().toString());
        }
    }

    /** Rows that are in no log: the source says where it was. */
    @Test
    void rowsOfAGeneratorComeOnceWhereverTheProcessEnds() throws IOException {
        int lines = 60_000;
        Path data = folder.resolve("data");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM f (n INT) WITH (connector = 'datagen', n.kind = 'sequence', rows = " + lines
                    + ", rate = 20000)");
            database.run("CREATE STREAM d WITH (retention = 'forever') AS SELECT n FROM f");
            for (int i = 0; i < 3; i++) {
                long before =
                        Long.parseLong(database.rows("SELECT count(*) FROM d").get(0));
                Eventually.holds(
                        "more came",
                        () -> Long.parseLong(
                                        database.rows("SELECT count(*) FROM d").get(0))
                                > before);
                database.run("CHECKPOINT");
                RetainedStreams retained = database.database().instance().retained();
                retained.flush(0, Long.MAX_VALUE); // behind the checkpoint, if more came
                data = DirectoryImage.copy(folder.resolve("data"), folder.resolve("image" + i));
            }
        }
        try (TestDatabase again = new TestDatabase(data)) {
            Eventually.holds(
                    "all came", () -> again.rows("SELECT count(*) FROM d").equals(List.of("" + lines)));
            assertEquals(
                    List.of(lines + "|0|" + (lines - 1)),
                    again.rows("SELECT count(DISTINCT n), min(n), max(n) FROM d"));
            again.run("CHECKPOINT");
        }
        try (TestDatabase again = new TestDatabase(data)) { // a query that came to its end
            assertEquals(List.of("finished"), again.rows("SELECT state FROM millrace.query_stats WHERE query = 'd'"));
            assertEquals(List.of("" + lines), again.rows("SELECT count(*) FROM d"));
        }
    }

    @Test
    void anOlderCopyOfItsFilesIsNoticed() throws IOException {
        Path data = folder.resolve("data");
        Path older = folder.resolve("older");
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (v INT); CREATE STREAM d WITH (retention = 'forever') AS SELECT v FROM s");
            database.run("INSERT INTO s VALUES (1); FLUSH; CHECKPOINT");
            DirectoryImage.copy(data.resolve("streams"), older);
            database.run("INSERT INTO s VALUES (2); FLUSH; CHECKPOINT");
            assertEquals(List.of("1", "2"), database.rows("SELECT * FROM d"));
        }
        Files.move(data.resolve("streams"), folder.resolve("newest"));
        Files.move(older, data.resolve("streams"));
        assertTrue(DirectoryVerification.run(data).files().stream()
                .flatMap(file -> file.damage().stream())
                .anyMatch(damage -> damage.contains("older copy")));
        try (TestDatabase again = open()) {
            assertEquals("42P01", again.error("SELECT * FROM d").substring(0, 5));
            assertTrue(again.database().notRestored().toString().contains("older copy"));
            again.run("INSERT INTO s VALUES (3); CHECKPOINT"); // which is not written while it is lost
        }
        Files.move(data.resolve("streams"), folder.resolve("damaged"));
        Files.move(folder.resolve("newest"), data.resolve("streams"));
        try (TestDatabase again = open()) {
            assertEquals(List.of("1", "2", "3"), again.rows("SELECT * FROM d"));
        }
    }

    @Test
    void dumpsHaveItsDefinitionBehindWhatItReads() {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE TABLE t (k INT); CREATE STREAM z (k INT) WITH (retention = 'forever'); CREATE VIEW w AS SELECT k FROM z");
            database.run("CREATE STREAM a WITH (retention = 'forever', start = 'earliest') AS SELECT k FROM w");
            database.run("INSERT INTO z VALUES (1)");
            assertEquals(List.of("1"), database.rows("SELECT * FROM a"));
        }
        assertEquals(
                List.of("z", "t", "w", "a"),
                DirectoryDump.script(folder.resolve("data")).stream()
                        .filter(step ->
                                !step.name().isEmpty() && step.statement().startsWith("CREATE"))
                        .map(Step::name)
                        .toList());
        Path copy = folder.resolve("copy");
        assertTrue(copy.toFile().mkdir());
        DirectoryDump.copyTables(folder.resolve("data"), copy);
        try (TestDatabase of = new TestDatabase(copy)) {
            assertEquals(List.of("1"), of.rows("SELECT * FROM z"));
            assertEquals(List.of(), of.rows("SELECT query FROM millrace.query_stats"));
        }
    }

    @Test
    void privilegesAreThoseOfAStream() {
        try (TestDatabase database = open()) {
            database.run("CREATE STREAM s (v INT); CREATE ROLE r; GRANT CREATE ON SCHEMA public TO r; SET ROLE r");
            assertEquals(
                    "42501",
                    database.error("CREATE STREAM d AS SELECT v FROM s").substring(0, 5));
            database.run("RESET ROLE; GRANT SELECT ON s TO r; SET ROLE r");
            database.run("CREATE STREAM d WITH (retention = '1 day') AS SELECT v FROM s; RESET ROLE");
            database.run("CREATE ROLE q; SET ROLE q");
            assertEquals("42501", database.error("SELECT * FROM d").substring(0, 5));
            database.run("RESET ROLE; GRANT SELECT ON d TO q; SET ROLE q");
            assertEquals(List.of(), database.rows("SELECT * FROM d"));
            assertEquals("42501", database.error("DROP STREAM d").substring(0, 5));
            assertEquals("42501", database.error("PAUSE STREAM d").substring(0, 5));
            database.run("RESET ROLE; ALTER ROLE r SET max_queries = 1; SET ROLE r");
            assertEquals(
                    "53400",
                    database.error("CREATE STREAM d2 AS SELECT v FROM s").substring(0, 5));
        }
    }
}
