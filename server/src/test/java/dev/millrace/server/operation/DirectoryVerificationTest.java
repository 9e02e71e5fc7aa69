package dev.millrace.server.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.storage.disk.FileReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ./millrace verify} says of a directory. */
class DirectoryVerificationTest {
    @TempDir
    Path folder;

    private Path data() {
        return folder.resolve("data");
    }

    private static FileReport file(DirectoryReport report, String name) {
        return report.files().stream()
                .filter(file -> file.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not in " + report.text()));
    }

    private static String names(DirectoryReport report) {
        return report.files().stream().map(FileReport::name).sorted().collect(Collectors.joining(" "));
    }

    @Test
    void aWholeDirectoryIsSaidToBeWholeFileByFileAndIsLeftAsItIs() throws IOException {
        FullDirectory.create(data(), folder);
        Map<String, byte[]> before = FullDirectory.files(data());
        DirectoryReport report = DirectoryVerification.run(data());
        assertTrue(report.isWhole(), report::text);
        assertEquals(String.join(" ", before.keySet()), names(report));
        assertEquals(Optional.empty(), report.user());
        assertTrue(report.files().stream().allMatch(FileReport::known), report::text);
        assertTrue(file(report, "catalog.log").contents().contains("table 3, view 1"), report::text);
        assertTrue(
                file(report, "rows/segment-000000000001.log")
                        .contents()
                        .endsWith("rows of Odd; name \"quoted\", customers, orders, s, tables that are gone"),
                report::text);
        assertTrue(report.files().stream().anyMatch(file -> file.contents().equals("code of twice")), report::text);
        assertEquals(before.keySet(), FullDirectory.files(data()).keySet());
        FullDirectory.files(data())
                .forEach((name, bytes) -> assertEquals(
                        List.of(before.get(name).length, java.util.Arrays.hashCode(before.get(name))),
                        List.of(bytes.length, java.util.Arrays.hashCode(bytes))));
    }

    @Test
    void damageIsNamedWithItsPlaceAndWhatIsLost() throws IOException {
        FullDirectory.create(data(), folder);
        Path log = data().resolve("catalog.log");
        String text = Files.readString(log);
        Files.writeString(log, text.replaceFirst("orders_by_customer", "orders_by_costumer"));
        Path segment = data().resolve("rows/segment-000000000001.log");
        byte[] bytes = Files.readAllBytes(segment);
        bytes[5000] ^= 1;
        Files.write(segment, bytes);
        Path jar = Files.list(data().resolve("jars")).findFirst().orElseThrow();
        Files.delete(jar);
        Files.writeString(data().resolve("notes.txt"), "mine");

        DirectoryReport report = DirectoryVerification.run(data());
        assertFalse(report.isWhole());
        FileReport catalog = file(report, "catalog.log");
        assertTrue(catalog.damage().get(0).contains("line "), report::text);
        assertTrue(catalog.notices().get(0).contains("define orders_by_costumer"), report::text);
        assertFalse(catalog.notices().get(0).contains("twice"), report::text);
        FileReport rows = file(report, "rows/segment-000000000001.log");
        assertTrue(rows.damage().get(0).contains(segment + " is damaged at byte "), report::text);
        assertTrue(rows.notices().toString().contains("lost: records from "), report::text);
        assertFalse(file(report, "notes.txt").known());
        assertTrue(report.json().contains("\"status\":\"unknown\""), report::json);

        Files.writeString(log, text);
        FileReport missing =
                file(DirectoryVerification.run(data()), data().relativize(jar).toString());
        assertEquals("code of twice", missing.contents());
        assertEquals(List.of(jar + " is missing"), missing.damage());
    }

    @Test
    void theLogOfRowsIsMissedWhereTablesHaveRows() throws IOException {
        FullDirectory.create(data(), folder);
        FullDirectory.delete(data().resolve("rows"));
        FileReport rows = file(DirectoryVerification.run(data()), "rows");
        assertEquals("all rows of Odd; name \"quoted\", customers, orders, s", rows.contents());
        MillraceException refused = assertThrows(MillraceException.class, () -> new TestDatabase(data()));
        assertEquals("XX001", refused.sqlState().code());
        assertTrue(refused.getMessage().contains(data().resolve("rows") + " is missing"), refused::getMessage);
    }

    /** The log is forgotten and begun anew all the time: none of that is damage. */
    @Test
    void aDirectoryIsWholeWhileADatabaseWritesToIt() throws Exception {
        try (TestDatabase database = new TestDatabase(data())) {
            database.run("CREATE TABLE t (a INT, b TEXT)");
            AtomicBoolean done = new AtomicBoolean();
            Thread writer = new Thread(() -> {
                for (int i = 0; !done.get(); i++) {
                    database.run("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 3000) g");
                    database.run("CREATE TABLE x" + i + " (a INT); DELETE FROM t; DROP TABLE x" + i);
                    if (i % 5 == 0) {
                        database.run("CHECKPOINT");
                    }
                }
            });
            writer.start();
            try {
                for (int i = 0; i < 30; i++) {
                    DirectoryReport report = DirectoryVerification.run(data());
                    assertTrue(report.isWhole(), report::text);
                    assertEquals(
                            Optional.of(String.valueOf(ProcessHandle.current().pid())), report.user());
                }
            } finally {
                done.set(true);
                writer.join();
            }
        }
    }
}
