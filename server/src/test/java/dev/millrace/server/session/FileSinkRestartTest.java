package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A sink that writes one file goes on in it after a restart: rows that a checkpoint has are not written again, and must not be lost. */
@Timeout(120)
class FileSinkRestartTest {
    @TempDir
    Path folder;

    private static void insert(TestDatabase database, int from, int to) {
        database.run("INSERT INTO s SELECT v FROM generate_series(" + from + ", " + (to - 1) + ") AS t (v)");
        database.run("FLUSH");
    }

    private Path file(String format) {
        return folder.resolve("out." + format);
    }

    private List<Long> written(String format) throws IOException {
        if (format.equals("arrow")) {
            try (TestDatabase reader = new TestDatabase()) {
                reader.run("CREATE STREAM r (v BIGINT) WITH (connector = 'file', path = '" + file(format) + "')");
                return reader.rows("SELECT v FROM r").stream()
                        .map(Long::valueOf)
                        .toList();
            }
        }
        return Files.readAllLines(file(format)).stream()
                .map(line -> line.replaceAll("\\D+", ""))
                .filter(digits -> !digits.isEmpty())
                .map(Long::valueOf)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"csv", "json", "arrow"})
    void aRestartGoesOnInTheFile(String format) throws IOException {
        Files.writeString(file(format), "what was there before");
        Path data = folder.resolve("data");
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE STREAM s (v BIGINT)");
            database.run("CREATE SINK k FROM s WITH (connector = 'file', path = '" + file(format) + "')");
            insert(database, 0, 10);
            database.run("CHECKPOINT");
            insert(database, 10, 20);
            DirectoryImage.copy(data, folder.resolve("crashed"));
        }
        try (TestDatabase again = new TestDatabase(folder.resolve("crashed"))) {
            insert(again, 20, 30);
        }
        List<Long> written = written(format);
        assertEquals(LongStream.range(0, 30).boxed().toList(), List.copyOf(new TreeSet<>(written)), written::toString);
        assertEquals(
                LongStream.range(0, 10).boxed().toList(),
                written.stream().filter(v -> v < 10).toList(),
                "what the checkpoint has is there once");
    }

    /** Files that are not complete are shown by the restart, whatever the sink was told of delivery. */
    @ParameterizedTest
    @ValueSource(strings = {"at_least_once", "exactly_once"})
    void whatACheckpointHasOfADirectoryIsThereAfterACrash(String delivery) throws IOException {
        Path data = folder.resolve("data");
        Path lake = Files.createDirectory(folder.resolve("lake"));
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE STREAM s (v BIGINT)");
            database.run("CREATE SINK k FROM s WITH (connector = 'file', format = 'csv', header = 'false', path = '"
                    + lake + "/', roll.interval = '1 s', delivery = '" + delivery + "')");
            insert(database, 0, 10);
            database.run("CHECKPOINT");
            insert(database, 10, 20);
            DirectoryImage.copy(data, folder.resolve("crashed"));
            DirectoryImage.copy(lake, folder.resolve("crashed lake"));
        }
        DirectoryImage.delete(lake);
        DirectoryImage.copy(folder.resolve("crashed lake"), lake);
        try (TestDatabase again = new TestDatabase(folder.resolve("crashed"))) {
            insert(again, 20, 30);
            List<Long> all = LongStream.range(0, 30).boxed().toList();
            Eventually.holds("files of a second's age are shown", () -> {
                again.run("CHECKPOINT");
                return shown(lake).equals(all);
            });
        }
    }

    private static List<Long> shown(Path lake) {
        List<Long> shown = new ArrayList<>();
        try (Stream<Path> files = Files.list(lake)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".csv")
                            && !each.getFileName().toString().startsWith("."))
                    .toList()) {
                Files.readAllLines(file).forEach(line -> shown.add(Long.valueOf(line)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return shown.stream().sorted().toList();
    }
}
