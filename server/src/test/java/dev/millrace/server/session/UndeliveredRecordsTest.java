package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.backup.Restore;
import dev.millrace.server.operation.DirectoryReport;
import dev.millrace.server.operation.DirectoryVerification;
import dev.millrace.server.operation.UndeliveredSink;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Records that a sink's outside has not got belong to the data directory, and go where that goes. */
@Timeout(120)
class UndeliveredRecordsTest {
    @TempDir
    Path folder;

    private UndeliveredSink outside;
    private Path data;

    @BeforeEach
    void begin() {
        outside = UndeliveredSink.outside(folder.resolve("outside.duckdb"));
        data = folder.resolve("data");
    }

    private static long spools(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory.resolve("sinks"))) {
            return all.filter(Files::isRegularFile).count();
        }
    }

    private static void requireWhole(Path directory) {
        DirectoryReport report = DirectoryVerification.run(directory);
        assertTrue(report.isWhole(), report::text);
        assertTrue(report.text().contains(UndeliveredSink.RECORDS + " records of a sink"), report::text);
    }

    @Test
    void aBackupHasThemAndARestoredDatabaseDeliversThemOnce() {
        Path backup = folder.resolve("backup");
        Path restored = folder.resolve("restored");
        try (TestDatabase database = new TestDatabase(data)) {
            outside.create(database);
            database.run("BACKUP TO '" + backup + "'");
        }
        requireWhole(data);
        requireWhole(backup);
        Restore.run(backup, restored);
        requireWhole(restored);
        for (int round = 0; round < 2; round++) {
            try (TestDatabase database = new TestDatabase(restored)) {
                outside.comesFor(database);
                assertEquals(List.of("30|30"), outside.seen());
            }
        }
        try (TestDatabase database = new TestDatabase(data)) { // the other one has the same records, of the same sink
            outside.comesFor(database);
            assertEquals(List.of("30|30"), outside.seen());
        }
    }

    @Test
    void droppingTheSinkSaysWhatItThrowsAway() throws IOException {
        try (TestDatabase database = new TestDatabase(data)) {
            outside.create(database);
            database.run("DROP SINK undelivered");
            assertEquals(
                    List.of("sink \"undelivered\" throws 30 records away that table told of"
                            + " jdbc:duckdb:${secret:outside} has not got"),
                    database.notices().stream()
                            .filter(notice -> notice.contains("throws"))
                            .toList());
            database.run("CHECKPOINT");
            Eventually.holds("its files are gone", () -> spools(data) == 0);
        }
        assertEquals(List.of("0|0"), outside.seen());
    }

    @Test
    void whatWasPublishedIsDeliveredThoughTheQueryFailed() {
        try (TestDatabase database = new TestDatabase(data)) {
            outside.create(database);
            database.run("INSERT INTO posted VALUES (0)"); // 100 / 0
            Eventually.holds(
                    "it failed",
                    () -> database.rows("SELECT state FROM millrace.query_stats WHERE query = 'undelivered'")
                            .equals(List.of("failed")));
            assertEquals(List.of("30"), UndeliveredSink.waiting(database));
            outside.comesFor(database);
            assertEquals(List.of("30|30"), outside.seen());
        }
    }
}
