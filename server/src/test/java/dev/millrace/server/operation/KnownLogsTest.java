package dev.millrace.server.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories whose files are whole and are not those that were there: found when a database is opened, and by verify. */
class KnownLogsTest {
    private static final String MAKE =
            "CREATE TABLE t (k INT); CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM t;"
                    + " CREATE MATERIALIZED VIEW w AS SELECT max(k) AS n FROM t; CREATE SUBSCRIPTION s FROM v; CREATE SUBSCRIPTION r FROM w;"
                    + " INSERT INTO t VALUES (1)";

    @TempDir
    Path folder;

    private Path made(String name) {
        Path data = folder.resolve(name);
        try (TestDatabase database = new TestDatabase(data)) {
            database.run(MAKE);
        }
        return data;
    }

    private static String message(Path data) {
        DirectoryReport report = DirectoryVerification.run(data);
        assertFalse(report.isWhole(), report::text);
        MillraceException refused = assertThrows(MillraceException.class, () -> new TestDatabase(data).close());
        assertEquals("XX001", refused.sqlState().code(), refused::getMessage);
        assertTrue(refused.hint().orElse("").contains("backup"), () -> refused + ": " + refused.hint());
        assertTrue(report.text().contains(refused.getMessage()), () -> refused.getMessage() + "\n" + report.text());
        return refused.getMessage();
    }

    private static Map<String, byte[]> within(Map<String, byte[]> files, String prefix) {
        Map<String, byte[]> found = new TreeMap<>();
        files.forEach((name, bytes) -> {
            if (name.startsWith(prefix)) {
                found.put(name, bytes);
            }
        });
        return found;
    }

    private static void replace(Path data, String prefix, Map<String, byte[]> by) throws IOException {
        FullDirectory.delete(data.resolve(prefix));
        FullDirectory.write(data, by);
    }

    private static List<String> subscriptions(Path data) {
        try (TestDatabase database = new TestDatabase(data)) {
            return database.flushedRows("SELECT name, state FROM millrace.subscriptions");
        }
    }

    @Test
    void theChangesOfAViewThatAreGoneAreMissed() throws IOException {
        Path data = made("data");
        Map<String, byte[]> files = FullDirectory.files(data);
        for (String gone : List.of("changes/1", "changes/2", "changes")) {
            FullDirectory.delete(data.resolve(gone));
            assertTrue(message(data).contains("/changes/"), gone);
            replace(data, "", files);
            assertEquals(List.of("r|active", "s|active"), subscriptions(data));
            files = FullDirectory.files(data);
        }
        FullDirectory.delete(data.resolve("changes/1"));
        Files.createDirectories(data.resolve("changes/1"));
        assertTrue(message(data).endsWith("changes/1 is missing or empty: there was a log in it"));
        Files.createFile(data.resolve("changes/1/given-up"));
        assertEquals(List.of("r|active"), subscriptions(data)); // and r's directory is the second
        assertEquals(List.of("r|active"), subscriptions(data));
        assertTrue(DirectoryVerification.run(data).isWhole());
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE SUBSCRIPTION s FROM v; DROP SUBSCRIPTION r");
        }
        assertEquals(List.of("s|active"), subscriptions(data));
    }

    @Test
    void theLogOfAnotherDatabaseIsNotTakenForItsOwn() throws IOException {
        Path data = made("data");
        Path other = made("other");
        Map<String, byte[]> files = FullDirectory.files(data);
        for (String part : List.of("rows", "changes/1")) {
            replace(data, part, within(FullDirectory.files(other), part + "/"));
            assertTrue(message(data).contains(part + " is of another database: its log is "), part);
            replace(data, "", files);
        }
        try (TestDatabase database = new TestDatabase(other)) {
            database.run("CHECKPOINT");
        }
        replace(data, "checkpoints", within(FullDirectory.files(other), "checkpoints/"));
        MillraceException refused = assertThrows(MillraceException.class, () -> new TestDatabase(data).close());
        assertTrue(refused.getMessage().contains("checkpoints is of another database"), refused::getMessage);
        assertFalse(DirectoryVerification.run(data).isWhole());
    }

    @Test
    void anOlderCopyOfALogIsKnownByItsEnd() throws IOException {
        Path data = made("data");
        Map<String, byte[]> files = FullDirectory.files(data);
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)");
            database.flushedRows("SELECT * FROM v");
        }
        Map<String, byte[]> later = FullDirectory.files(data);
        for (String part : List.of("rows", "changes/1")) {
            replace(data, part, within(files, part + "/"));
            assertTrue(message(data).contains(part + " is an older copy: it ends with record "), part);
            replace(data, "", later);
        }
        try (TestDatabase database = new TestDatabase(data)) {
            assertEquals(List.of("3"), database.flushedRows("SELECT * FROM v"));
        }
    }
}
