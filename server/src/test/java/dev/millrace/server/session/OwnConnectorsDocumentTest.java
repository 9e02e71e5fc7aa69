package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of connectors that have no peer is so: what is made up, this machine, sketches, and sinks that keep nothing. */
@Timeout(120)
class OwnConnectorsDocumentTest {
    private static final DocumentPage PAGE = DocumentPage.connectors();

    @TempDir
    Path folder;

    /** Runs all but the last statement; gives the rows of that. */
    private static List<String> answer(TestDatabase database, List<String> statements) {
        int last = statements.size() - 1;
        statements.subList(0, last).forEach(database::run);
        return database.rows(statements.get(last));
    }

    @Test
    void whatIsMadeUpIsAsTheOptionsSay() {
        try (TestDatabase database = new TestDatabase()) {
            List<String> rooms = answer(database, PAGE.statements("Source `datagen`"));
            assertEquals(2, rooms.size());
            assertTrue(rooms.get(0).startsWith("attic|") && rooms.get(1).startsWith("hall|"), () -> "" + rooms);
            assertEquals(
                    List.of("1000|1|1000|t|t|t|t"),
                    database.rows(
                            "SELECT count(*), min(id), max(id), min(temp) >= 15 AND min(temp) < 16, max(temp) <= 25 AND max(temp) > 24,"
                                    + " count(note) BETWEEN 400 AND 600, bool_and(length(note) = 3 OR note IS NULL) FROM made"));
            assertEquals(
                    List.of("t|t"),
                    database.rows(
                            "SELECT bool_and(at BETWEEN planned - INTERVAL '2 seconds' AND planned),"
                                    + " count(DISTINCT planned - at) > 900 FROM"
                                    + " (SELECT at, TIMESTAMP '2026-01-01' + (id - 1) * INTERVAL '500 milliseconds' AS planned FROM made) AS of_plan"));
        }
    }

    @Test
    void theExamplesOfBenchmarksRun() {
        try (TestDatabase database = new TestDatabase()) {
            assertEquals(List.of("9200"), answer(database, PAGE.statements("Source `nexmark`"))); // 46 of 50
            assertEquals(List.of("600"), database.rows("SELECT count(*) FROM auctions"));
            List<String> ways = answer(database, PAGE.statements("Source `linear_road`"));
            assertEquals(2, ways.size(), () -> "" + ways); // one for each 100 reports per second
            assertEquals(
                    List.of("t"), database.rows("SELECT max(time) - min(time) = 4 FROM reports")); // 200 in each second
        }
    }

    @Test
    void thisMachineIsRead() {
        try (TestDatabase database = new TestDatabase()) {
            PAGE.statements("Source `system`").forEach(database::run);
            database.run("CREATE MATERIALIZED VIEW seen AS SELECT DISTINCT core FROM cores");
            Eventually.holds(
                    "something of this machine is there",
                    () -> database.rows("SELECT most > 0 FROM newest WHERE at > now() - INTERVAL '1 day'")
                            .equals(List.of("t")));
            Eventually.holds("its cores", () -> database.rows("TABLE seen").contains("0"));
        }
    }

    @Test
    void sketchesAreRead() throws Exception {
        SketchedRows.write(folder, new Random(1));
        try (TestDatabase database = new TestDatabase()) {
            List<String> statements = PAGE.statements("Source `sketch`").stream()
                    .map(text -> text.replace(
                            "readings.sketch", folder.resolve("s.sketch").toString()))
                    .toList();
            List<String> rooms = answer(database, statements);
            assertTrue(rooms.stream().anyMatch(row -> row.startsWith("hall|")), () -> "" + rooms);
        }
    }

    @Test
    void sinksThatKeepNothingSayWhatTheyGet() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM orders (id BIGINT, customer TEXT)");
            PAGE.statements("Sinks `print`, `stdout` and `blackhole`").forEach(database::run);
            database.run("INSERT INTO orders VALUES (1, 'a')");
            database.run("FLUSH");
            assertEquals(
                    List.of("1,a", "id,customer", "order: 1,a"),
                    Stream.of(database.printed().split("\n")).sorted().toList());
            assertEquals(
                    List.of("nowhere|running", "piped|running", "shown|running"),
                    database.rows("SELECT query, state FROM millrace.query_stats"));
        }
    }
}
