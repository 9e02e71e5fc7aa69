package dev.millrace.server.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.session.TestDatabase;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Directories of every version that was ever written, each as a zip, open in this one and answer what they did. {@code closed} is of a
 * database that was closed, {@code killed} of one whose process was gone; the answers are beside them. Those of the newest version are
 * written with {@code -Dmillrace.golden.update=true}, if they are not there; others never change.
 */
@Tag("long")
class DirectoryFixtureTest {
    private static final int NEWEST = 15;
    private static final int WITH_MORE = 8; // from which on there are FullDirectory.newerStatements
    private static final int WITH_CHANGING =
            10; // from which on there are an UndeliveredSink and views that go on with changes
    private static final int WITH_SKETCHED = 11; // from which on there is a stream whose old rows are sketches
    private static final int WITH_NUMBERS = 12; // from which on there are numbers of any size
    private static final int WITH_SCHEMAS = 13; // from which on there are schemas
    private static final int WITH_COMMENTS = 14; // from which on there are comments
    private static final int WITH_FOREIGN_KEYS = 15; // from which on there are foreign keys
    private static final String SUM = "51360"; // of what these give

    /** Views from version 10 on whose states are written by what changed: distinct values, a join of rows that change, rows with a time to live. */
    private static final Map<String, String> CHANGING = Map.of(
            "SELECT * FROM spread",
            "CREATE MATERIALIZED VIEW spread AS SELECT k, count(DISTINCT v) AS n, sum(DISTINCT v) AS total FROM s GROUP BY k",
            "SELECT * FROM paired",
            "CREATE MATERIALIZED VIEW paired AS SELECT a.k, a.n, b.most FROM (SELECT k, count(*) AS n FROM s GROUP BY k) AS a"
                    + " LEFT JOIN (SELECT k, max(v) AS most FROM s GROUP BY k HAVING max(v) > 4) AS b ON a.k = b.k",
            "SELECT * FROM lately",
            "CREATE MATERIALIZED VIEW lately WITH (state_ttl = '36500 days') AS SELECT k, count(DISTINCT v) AS n FROM s GROUP BY k");

    private static final Path FIXTURES = Path.of("src", "test", "resources", "directories");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1-closed",
                "2-closed",
                "2-killed",
                "3-closed",
                "3-killed",
                "4-closed",
                "4-killed",
                "5-closed",
                "5-killed",
                "6-closed",
                "6-killed",
                "7-closed",
                "7-killed",
                "8-closed",
                "8-killed",
                "9-closed",
                "9-killed",
                "10-closed",
                "10-killed",
                "11-closed",
                "11-killed",
                "12-closed",
                "12-killed",
                "13-closed",
                "13-killed",
                "14-closed",
                "14-killed",
                "15-closed",
                "15-killed"
            })
    void aDirectoryOfEachVersionOpensAndGoesOn(String name) throws IOException {
        if (name.startsWith(NEWEST + "-") && Boolean.getBoolean("millrace.golden.update")) {
            write();
        }
        Path data = folder.resolve("data");
        FullDirectory.write(data, unzip(FIXTURES.resolve(name + ".zip")));
        DirectoryReport report = DirectoryVerification.run(data);
        assertTrue(report.isWhole(), report::text);
        int version = Integer.parseInt(name.substring(0, name.indexOf('-')));
        String expected = Files.readString(FIXTURES.resolve(version + ".answers"));
        UndeliveredSink outside = UndeliveredSink.outside(folder.resolve("outside.duckdb"));
        for (int round = 0; round < 2; round++) {
            try (TestDatabase database = new TestDatabase(data)) {
                assertEquals(expected, text(answers(database, version)));
                if (version >= WITH_CHANGING) {
                    assertEquals(
                            List.of(round == 0 ? "" + UndeliveredSink.RECORDS : "0"),
                            UndeliveredSink.waiting(database));
                    outside.comesFor(database);
                    assertEquals(List.of("30|30"), outside.seen());
                    outside.goesFor(database);
                }
                assertEquals("INSERT 0 1", database.run("INSERT INTO customers VALUES (500, 'new')"));
                assertEquals("DELETE 1", database.run("DELETE FROM customers WHERE id = 500"));
                database.run("CHECKPOINT");
            }
        }
        DirectoryReport after = DirectoryVerification.run(data);
        assertTrue(after.isWhole(), after::text);
    }

    /** What to do is said, too. */
    @Test
    void aLaterVersionIsRefused() throws IOException {
        Path data = folder.resolve("data");
        Map<String, byte[]> files = unzip(FIXTURES.resolve(NEWEST + "-closed.zip"));
        for (String name :
                List.of("catalog.log", "rows/log.state", "rows/segment-000000000001.log", "checkpoints/manifest")) {
            Map<String, byte[]> later = new TreeMap<>(files);
            byte[] bytes = files.get(name).clone();
            if (name.equals("catalog.log")) {
                String text = new String(bytes, StandardCharsets.UTF_8);
                bytes = text.replaceFirst("^millrace-catalog \\d+", "millrace-catalog 99")
                        .getBytes(StandardCharsets.UTF_8);
            } else {
                bytes[8] = 99;
            }
            later.put(name, bytes);
            FullDirectory.write(data, later);
            MillraceException refused = assertThrows(MillraceException.class, () -> new TestDatabase(data), name);
            assertEquals("F0000", refused.sqlState().code(), refused::getMessage);
            assertTrue(refused.getMessage().contains(name), refused::getMessage);
            assertTrue(refused.hint().orElse("").contains("wrote it"), () -> name + ": " + refused.hint());
            assertTrue(!DirectoryVerification.run(data).isWhole(), name);
            FullDirectory.delete(data);
        }
    }

    private static Map<String, List<String>> answers(TestDatabase database, int version) {
        Map<String, List<String>> answers = FullDirectory.answers(database);
        if (version >= WITH_MORE) {
            answers.putAll(FullDirectory.newerAnswers(database, SUM));
        }
        if (version >= WITH_CHANGING) {
            CHANGING.keySet().forEach(query -> answers.put(query, database.rows(query)));
        }
        if (version >= WITH_SKETCHED) {
            answers.putAll(FullDirectory.sketchedAnswers(database));
        }
        if (version >= WITH_NUMBERS) {
            answers.putAll(FullDirectory.numbersAnswers(database));
        }
        if (version >= WITH_SCHEMAS) {
            answers.putAll(FullDirectory.schemasAnswers(database));
        }
        if (version >= WITH_COMMENTS) {
            answers.putAll(FullDirectory.commentsAnswers(database));
        }
        if (version >= WITH_FOREIGN_KEYS) {
            answers.putAll(FullDirectory.foreignKeysAnswers(database));
        }
        return answers;
    }

    private static String text(Map<String, List<String>> answers) {
        List<String> lines = new ArrayList<>();
        answers.forEach((query, rows) -> {
            lines.add("-- " + query);
            lines.addAll(rows);
        });
        return String.join("\n", lines) + "\n";
    }

    private void write() throws IOException {
        Path path = FIXTURES.resolve(NEWEST + "-closed.zip");
        if (Files.exists(path)) {
            return;
        }
        Files.createDirectories(FIXTURES);
        Path data = folder.resolve("written");
        FullDirectory.create(data, folder);
        try (TestDatabase database = new TestDatabase(data)) {
            for (String statement : FullDirectory.newerStatements()) {
                database.run(statement);
            }
            CHANGING.values().forEach(database::run);
            FullDirectory.sketch(database);
            FullDirectory.numbers(database);
            FullDirectory.schemas(database);
            FullDirectory.comments(database);
            FullDirectory.foreignKeys(database);
            database.run("INSERT INTO s VALUES ('2026-01-01 00:00:02', 'k', 5), ('2026-01-01 00:00:03', 'l', 3)");
            UndeliveredSink.outside(folder.resolve("away.duckdb")).create(database);
            database.run("CHECKPOINT; INSERT INTO s VALUES ('2026-01-01 00:00:04', 'k', 8); CHECKPOINT"
                    + "; CHECKPOINT"); // each goes on using files of those before, the second with what changed of
            // states
            database.run("UPDATE customers SET name = 'after the checkpoint' WHERE id = 1");
            String answers = text(answers(database, NEWEST));
            Files.writeString(FIXTURES.resolve(NEWEST + ".answers"), answers);
            zip(FullDirectory.files(data), FIXTURES.resolve(NEWEST + "-killed.zip"));
        }
        zip(FullDirectory.files(data), path);
    }

    private static void zip(Map<String, byte[]> files, Path to) throws IOException {
        try (OutputStream out = Files.newOutputStream(to);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                ZipEntry entry = new ZipEntry(file.getKey());
                entry.setTime(0);
                zip.putNextEntry(entry);
                zip.write(file.getValue());
                zip.closeEntry();
            }
        }
    }

    private static Map<String, byte[]> unzip(Path from) throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(from))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), zip.readAllBytes());
            }
        }
        return files;
    }
}
