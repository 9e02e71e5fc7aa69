package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.Options;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Sink;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.directory.DuckFiles;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Columns of where a row is from: the file, the line or row in it, and when the file was written. */
class FileOriginTest {
    private static final Schema NONE = new Schema(List.of());
    private static final Schema N = FileScan.schema("n", DataType.BIGINT);

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private Source source(Schema declared, String pattern) {
        return FileScan.source(
                declared,
                "path",
                folder.resolve(pattern).toString(),
                "include.filename",
                "file",
                "include.line",
                "at",
                "include.modified",
                "written");
    }

    private List<String> rows(Source source, ScanRequest request, int batchRows) {
        List<String> rows = new ArrayList<>();
        new FileScan(memory.allocator())
                .batchRows(batchRows)
                .each(
                        source,
                        request,
                        batch -> IntStream.range(0, batch.rowCount())
                                .forEach(row -> rows.add(FileScan.text(batch, row))));
        return rows.stream()
                .map(row -> row.replace(folder.toString() + "/", ""))
                .toList();
    }

    private static ScanRequest request(Source source, List<ColumnPredicate> predicates, String... columns) {
        return new ScanRequest(
                List.of(columns).stream().map(source.schema()::indexOf).toList(), predicates, 1);
    }

    private void written(String name, String time) throws IOException {
        Files.setLastModifiedTime(folder.resolve(name), FileTime.from(Instant.parse(time)));
    }

    @Test
    void linesAreThoseOfTheFileWhateverIsPassedOver() throws IOException {
        Files.writeString(folder.resolve("a.csv"), "# c\nn,t\n1,\"x\ny\"\n\nbad,z\n3,w\n");
        Files.writeString(folder.resolve("b.csv"), "n,t\n4,v\n");
        written("a.csv", "2020-01-02T03:04:05.000006Z");
        written("b.csv", "2021-01-01T00:00:00Z");
        Source source = FileScan.source(
                FileScan.schema("n", DataType.BIGINT, "t", DataType.TEXT),
                "path",
                folder + "/*.csv",
                "comment",
                "#",
                "include.line",
                "line",
                "include.modified",
                "modified",
                "include.filename",
                "filename");
        assertEquals(
                "n bigint, t text, filename text not null, line bigint not null, modified timestamp with time zone not null",
                source.schema().toString());
        List<String> all = List.of(
                "1|a.csv|3|2020-01-02 03:04:05.000006+00",
                "3|a.csv|7|2020-01-02 03:04:05.000006+00",
                "4|b.csv|2|2021-01-01 00:00:00+00");
        assertEquals(all, rows(source, request(source, List.of(), "n", "filename", "line", "modified"), 4096));
        assertEquals(all, rows(source, request(source, List.of(), "n", "filename", "line", "modified"), 1));
        ColumnPredicate large = new ColumnPredicate(0, ColumnPredicate.Comparison.GT, Optional.of(1L));
        ColumnPredicate line = new ColumnPredicate(3, ColumnPredicate.Comparison.GT, Optional.of(1L));
        assertEquals(List.of("7|3", "2|4"), rows(source, request(source, List.of(large, line), "line", "n"), 4096));
        assertEquals(
                List.of("b.csv"),
                rows(source, request(source, List.of(), "filename"), 4096).subList(2, 3));
    }

    @Test
    void everyFormatSaysWhichRowItIs() throws IOException, SQLException {
        try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = duck.createStatement()) {
            statement.execute("COPY (SELECT i AS n FROM range(5000) t(i)) TO '" + folder
                    + "/p.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048)");
        }
        Files.writeString(
                folder.resolve("c.csv"),
                IntStream.range(0, 5000).mapToObj(i -> i + "\n").collect(Collectors.joining("", "n\n", "")));
        Files.writeString(
                folder.resolve("j.json"),
                IntStream.range(0, 5000).mapToObj(i -> "{\"n\":" + i + "}\n").collect(Collectors.joining()));
        Source csv = FileScan.source(N, "path", folder + "/c.csv");
        try (Sink sink = new FileSinkFactory()
                .open(
                        N,
                        true,
                        new Options(Map.of("path", folder + "/a.arrow")),
                        new TestSinkContext(memory.allocator()))) {
            new FileScan(memory.allocator()).batchRows(1500).each(csv, List.of(0), 1, sink::write);
            sink.commit(0);
        }
        ColumnPredicate one = new ColumnPredicate(0, ColumnPredicate.Comparison.EQ, Optional.of(4321L));
        for (String name : new String[] {"p.parquet", "c.csv", "j.json", "a.arrow"}) {
            long first = name.equals("c.csv") ? 2 : 1;
            Source source = source(N, name);
            List<String> expected = IntStream.range(0, 5000)
                    .mapToObj(i -> i + "|" + (i + first) + "|" + name)
                    .toList();
            assertEquals(expected, rows(source, request(source, List.of(), "n", "at", "file"), 700));
            List<String> some = rows(source, request(source, List.of(one), "file", "at", "n"), 700);
            assertEquals(true, some.contains(name + "|" + (4321 + first) + "|4321"), name);
        }
        assertEquals(
                DuckFiles.rows("SELECT n, file_row_number + 1 FROM read_parquet('" + folder
                        + "/p.parquet', file_row_number = true)"),
                rows(source(N, "p.parquet"), request(source(N, "p.parquet"), List.of(), "n", "at"), 4096));
    }

    @Test
    void aReaderThatGoesOnKnowsItsLines() throws IOException {
        for (int file = 0; file < 2; file++) {
            Files.writeString(
                    folder.resolve(file + ".csv"),
                    IntStream.range(0, 250).mapToObj(i -> i + "\n").collect(Collectors.joining("", "n\n", "")));
        }
        Source source = source(NONE, "*.csv");
        ScanRequest request = request(source, List.of(), "at", "file", "n");
        FileScan scan = new FileScan(memory.allocator()).batchRows(100);
        List<String> rows = new ArrayList<>();
        SourceReader reader = source.open(request, scan).get(0);
        while (true) {
            Optional<Batch> polled = reader.poll();
            if (polled.isEmpty() && reader.isFinished()) {
                reader.close();
                break;
            }
            try (Batch batch = polled.orElseThrow()) {
                IntStream.range(0, batch.rowCount()).forEach(row -> rows.add(FileScan.text(batch, row)));
            }
            SourcePosition position = reader.position().orElseThrow();
            reader.close();
            reader = source.reopen(request, List.of(position), scan).get(0);
        }
        assertEquals(
                IntStream.range(0, 500)
                        .mapToObj(i -> (i % 250 + 2) + "|" + folder + "/" + i / 250 + ".csv|" + i % 250)
                        .toList(),
                rows);
    }

    @Test
    void aNameThatIsTakenIsRefused() throws IOException {
        Files.writeString(folder.resolve("a.csv"), "n\n1\n");
        MillraceException e = assertThrows(
                MillraceException.class, () -> FileScan.source(NONE, "path", folder + "/a.csv", "include.line", "n"));
        assertEquals("42701", e.sqlState().code());
        assertEquals(
                "0A000",
                assertThrows(
                                MillraceException.class,
                                () -> FileScan.source(
                                        N, "path", "s3://b/*.csv", "s3.endpoint", "http://h:1", "include.line", "l"))
                        .sqlState()
                        .code());
    }
}
