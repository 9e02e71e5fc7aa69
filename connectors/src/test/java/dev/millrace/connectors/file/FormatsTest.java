package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Sink;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class FormatsTest {
    private static final Schema NONE = new Schema(List.of());

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private FileScan scan;

    private List<String> json(Schema declared, String text, String... options) throws IOException {
        Path path = Files.writeString(folder.resolve("f.jsonl"), text);
        List<String> all = new ArrayList<>(List.of("path", path.toString()));
        all.addAll(List.of(options));
        scan = new FileScan(memory.allocator()).batchRows(3);
        return scan.rows(FileScan.source(declared, all.toArray(String[]::new)));
    }

    @Test
    void jsonMembersBecomeColumnsByName() throws IOException {
        Schema schema = FileScan.schema(
                "id",
                DataType.INTEGER,
                "name",
                DataType.TEXT,
                "x",
                DataType.DOUBLE,
                "ok",
                DataType.BOOLEAN,
                "at",
                DataType.TIMESTAMPTZ,
                "n",
                DataType.numeric(5, 2),
                "raw",
                DataType.JSONB);
        String text = """
                {"id":1,"name":"é \\u00e9 \\"q\\" \\ud83d\\ude00","x":1.5,"ok":true,"at":"2020-01-01T00:00:00Z","n":1.005,"raw":{"a":[1,{"b":"c"}]}}
                {"NAME":"b","ignored":{"id":7},"id":"2","x":3,"ok":false,"raw":"text"}

                {"id":3,"name":null,"raw":[1,2]}
                {"id":4}
                {"name":"x","id":5,"id":6}
                """;
        assertEquals(
                List.of(
                        "1|é é \"q\" 😀|1.5|t|2020-01-01 00:00:00+00|1.01|{\"a\": [1, {\"b\": \"c\"}]}",
                        "2|b|3|f|~|~|\"text\"",
                        "3|~|~|~|~|~|[1, 2]",
                        "4|~|~|~|~|~|~",
                        "6|x|~|~|~|~|~"),
                json(schema, text));
        assertEquals(List.of(), scan.rejections());
    }

    @Test
    void badJsonLinesAreRejectedAloneWithTheirLine() throws IOException {
        Schema schema = FileScan.schema("id", DataType.INTEGER, "name", DataType.TEXT);
        String text = "{\"id\":1}\n{\"id\":\n[1]\n{\"id\":\"x\",\"name\":\"lost\"}\n{\"name\":\"a\\u0000b\"}\n"
                + "{\"id\":99999999999}\n{\"id\":{}}\n{\"id\":2} x\n{\"id\":9}";
        assertEquals(List.of("1|~", "9|~"), json(schema, text));
        List<String> rejections = scan.rejections();
        assertEquals(7, rejections.size(), rejections.toString());
        assertTrue(rejections.get(0).startsWith("2  22P02 invalid input syntax for type json"), rejections.get(0));
        assertEquals("3  22P02 a line must hold one JSON object", rejections.get(1));
        assertEquals("4 id 22P02 invalid input syntax for type integer: \"x\"", rejections.get(2));
        assertEquals("5 name 22021 invalid byte sequence for encoding \"UTF8\": 0x00", rejections.get(3));
        assertEquals("6 id 22003 value \"99999999999\" is out of range for type integer", rejections.get(4));
        assertEquals("7 id 22P02 a JSON object is no integer", rejections.get(5));
    }

    @Test
    void nestedMembersAreReachedByPath() throws IOException {
        Schema schema = FileScan.schema("lat", DataType.DOUBLE, "t", DataType.TIMESTAMP);
        assertEquals(
                List.of("1.5|2013-08-04 06:44:30"),
                json(
                        schema,
                        "{\"pos\":{\"deep\":{\"lat\":1.5}},\"t\":1375598670}",
                        "json.path.lat",
                        "pos.deep.lat",
                        "timestamp_format.t",
                        "unix"));
    }

    @Test
    void columnsMayBeTheSameMemberOrWithinEachOther() throws IOException {
        Schema schema = FileScan.schema(
                "pos", DataType.JSONB, "lat", DataType.DOUBLE, "raw", DataType.TEXT, "same", DataType.DOUBLE);
        assertEquals(
                List.of("{\"x\": [1, 2], \"lat\": 1.5}|1.5|{\"lat\":1.5,\"x\":[1,2]}|1.5", "3|~|3|~", "~|~|~|~"),
                json(
                        schema,
                        "{\"pos\":{\"lat\":1.5,\"x\":[1,2]}}\n{\"pos\":3}\n{\"pos\":null}",
                        "json.path.lat",
                        "pos.lat",
                        "json.path.raw",
                        "pos",
                        "json.path.same",
                        "pos.lat"));
    }

    @Test
    void elementsOfArraysAreReachedByPath() throws IOException {
        Schema schema = FileScan.schema(
                "first", DataType.INTEGER, "v", DataType.INTEGER, "all", DataType.JSONB, "deep", DataType.TEXT);
        assertEquals(
                List.of("7|2|[7, {\"v\": 2}]|é", "~|~|[]|~", "~|~|{\"0\": 5}|~", "1|~|[1]|~"),
                json(
                        schema,
                        "{\"r\":[7,{\"v\":2}],\"m\":[[1],[2,\"é\"]]}\n{\"r\":[]}\n{\"r\":{\"0\":5}}\n{\"r\":[1]}",
                        "json.path.first",
                        "r[0]",
                        "json.path.v",
                        "r.1.v",
                        "json.path.all",
                        "r",
                        "json.path.deep",
                        "m[1][1]"));
    }

    @Test
    void pathsThatAreNoneAreRefused() {
        Schema schema = FileScan.schema("a", DataType.INTEGER);
        for (String path : List.of("a[", "a[x]", "a..b", ".a", "a.", "a.[0]", "a[-1]", "a]")) {
            assertThrows(MillraceException.class, () -> json(schema, "{}", "json.path.a", path), path);
        }
    }

    @Test
    void jsonColumnsAreInferred() throws IOException {
        String text = "{\"A\":1,\"b\":\"x\",\"c\":null}\n{\"A\":1.5,\"at\":\"2020-01-01T00:00:00Z\",\"o\":{}}\n";
        assertEquals(List.of("1|x|~|~|~", "1.5|~|~|2020-01-01 00:00:00+00|{}"), json(NONE, text));
        assertEquals(
                "a double precision, b text, c text, at timestamp with time zone, o jsonb",
                FileScan.source(NONE, "path", folder.resolve("f.jsonl").toString())
                        .schema()
                        .toString());
    }

    @Test
    void arrowFilesComeBackAsTheyWereWritten() throws IOException {
        Schema schema = FileScan.schema(
                "id",
                DataType.BIGINT,
                "name",
                DataType.TEXT,
                "x",
                DataType.DOUBLE,
                "n",
                DataType.numeric(10, 2),
                "at",
                DataType.TIMESTAMPTZ,
                "d",
                DataType.DATE,
                "b",
                DataType.BOOLEAN);
        Path csv = Files.writeString(
                folder.resolve("a.csv"),
                "1,a,0.5,1.25,2020-01-01 00:00:00+00,2020-02-29,t\n,,,,,,\n3,ccc,-1,0.00,1999-12-31 23:59:59.5+00,1970-01-01,f\n");
        Source source = FileScan.source(schema, "path", csv.toString(), "header", "false");
        Path arrow = folder.resolve("a.arrow");
        List<String> expected = new ArrayList<>();
        try (Sink sink = new FileSinkFactory()
                .open(
                        schema,
                        true,
                        new Options(Map.of("path", arrow.toString())),
                        new TestSinkContext(memory.allocator()))) {
            new FileScan(memory.allocator()).each(source, FileScan.allColumns(source), 1, batch -> {
                for (int i = 0; i < 2; i++) {
                    sink.write(batch);
                    sink.commit(i);
                }
                sink.write(batch); // never committed
            });
        }
        for (int i = 0; i < 2; i++) {
            expected.addAll(new FileScan(memory.allocator()).rows(source));
        }
        for (int batchRows : new int[] {1, 2, 4096}) {
            FileScan back = new FileScan(memory.allocator()).batchRows(batchRows);
            assertEquals(expected, back.rows(FileScan.source(schema, "path", arrow.toString())));
        }
        Source inferred = FileScan.source(NONE, "path", arrow.toString());
        assertEquals(schema.toString(), inferred.schema().toString());
        assertEquals(
                List.of("a|1", "~|~", "ccc|3", "a|1", "~|~", "ccc|3"),
                new FileScan(memory.allocator()).rows(inferred, List.of(1, 0), 1));
        Path cut = Files.write(folder.resolve("cut.arrow"), java.util.Arrays.copyOf(Files.readAllBytes(arrow), 700));
        MillraceException e = assertThrows(
                MillraceException.class,
                () -> new FileScan(memory.allocator()).rows(FileScan.source(schema, "path", cut.toString())));
        assertEquals("XX001", e.sqlState().code(), e.getMessage());
    }

    @Test
    void arrowRetractionsHaveAnOperation() {
        Schema schema = FileScan.schema("id", DataType.BIGINT);
        Path arrow = folder.resolve("r.arrow");
        try (Sink sink = new FileSinkFactory()
                        .open(
                                schema,
                                false,
                                new Options(Map.of("path", arrow.toString())),
                                new TestSinkContext(memory.allocator()));
                Batch batch = dev.millrace.testing.rows.TestBatches.weighted(
                        schema,
                        memory.allocator(),
                        List.of(
                                new dev.millrace.testing.rows.Row(List.of(1L)),
                                new dev.millrace.testing.rows.Row(List.of(2L))),
                        new long[] {-1, 2})) {
            sink.write(batch);
            sink.commit(1);
        }
        assertEquals(
                List.of("-|1", "+|2", "+|2"),
                new FileScan(memory.allocator()).rows(FileScan.source(NONE, "path", arrow.toString())));
    }

    private final long[] nanos = {0};
    private final Clock clock = new Clock() {
        @Override
        public long epochMicros() {
            return nanos[0] / 1000;
        }

        @Override
        public long nanoTime() {
            return nanos[0];
        }
    };

    private SourceReader open(Source source) {
        scan = new FileScan(memory.allocator()).clock(clock);
        return source.open(new ScanRequest(FileScan.allColumns(source), List.of(), 2), scan)
                .get(0);
    }

    private List<String> drain(SourceReader reader) {
        List<String> rows = new ArrayList<>();
        for (int idle = 0; idle < 8; ) {
            Optional<Batch> polled = reader.poll();
            if (polled.isEmpty()) {
                idle++;
                nanos[0] += 1_000_000_000;
                continue;
            }
            try (Batch batch = polled.get()) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    rows.add(FileScan.text(batch, row));
                }
            }
        }
        return rows;
    }

    private static void append(Path path, String text) throws IOException {
        Files.writeString(path, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    @Test
    void followedFilesGrowRotateAndAppear() throws IOException {
        Schema schema = FileScan.schema("id", DataType.INTEGER, "name", DataType.TEXT);
        for (String format : List.of("csv", "json")) {
            Path path = folder.resolve("log1." + format);
            java.util.function.BiFunction<Integer, String, String> line = (id, name) ->
                    format.equals("csv") ? id + "," + name + "\n" : "{\"id\":" + id + ",\"name\":\"" + name + "\"}\n";
            append(path, (format.equals("csv") ? "id,name\n" : "") + line.apply(1, "a"));
            Source source = FileScan.source(schema, "path", folder + "/log*." + format, "mode", "follow");
            assertFalse(source.bounded());
            try (SourceReader reader = open(source)) {
                assertEquals(List.of("1|a"), drain(reader));
                String next = line.apply(2, "bbb");
                append(path, next.substring(0, 4));
                assertEquals(List.of(), drain(reader), "a line without its end waits");
                append(path, next.substring(4) + line.apply(3, "c"));
                assertEquals(List.of("2|bbb", "3|c"), drain(reader));
                append(
                        folder.resolve("log2." + format),
                        (format.equals("csv") ? "name,id\nd,4\n" : line.apply(4, "d")));
                assertEquals(List.of("4|d"), drain(reader));
                append(path, line.apply(5, "e"));
                Files.move(path, folder.resolve("old." + format), StandardCopyOption.REPLACE_EXISTING);
                append(path, (format.equals("csv") ? "id,name\n" : "") + line.apply(6, "f"));
                assertEquals(List.of("5|e", "6|f"), drain(reader), "what was written before the rotation comes first");
                Files.writeString(path, format.equals("csv") ? "id,name\n7,\n" : "{\"id\":7}\n");
                assertEquals(List.of(format.equals("csv") ? "7|~" : "7|~"), drain(reader), "truncated");
                Files.delete(path);
                drain(reader);
                append(path, (format.equals("csv") ? "id,name\n" : "") + line.apply(8, "h"));
                assertEquals(List.of("8|h"), drain(reader));
                assertFalse(reader.isFinished());
                assertEquals(List.of(), scan.rejections());
            }
        }
    }

    @Test
    void paceGivesRowsWhenTheirTimeHasCome() throws IOException {
        Path path = Files.writeString(
                folder.resolve("p.csv"),
                "id,ts\n1,2020-01-01 00:00:00\n2,2020-01-01 00:00:00\n3,2020-01-01 00:00:10\n4,2020-01-01 00:00:05\n5,\n"
                        + "6,2020-01-01 00:00:30\n");
        Schema schema = FileScan.schema("id", DataType.INTEGER, "ts", DataType.TIMESTAMP);
        Source source = FileScan.source(schema, "path", path.toString(), "pace", "2");
        scan = new FileScan(memory.allocator()).clock(clock);
        try (SourceReader reader =
                source.open(new ScanRequest(List.of(0), List.of(), 1), scan).get(0)) {
            assertEquals(List.of("1", "2"), due(reader));
            assertEquals(100_000, reader.retryAfterMicros());
            nanos[0] += 4_990_000_000L;
            assertEquals(List.of(), due(reader));
            assertEquals(10_000, reader.retryAfterMicros());
            nanos[0] += 10_000_000L;
            assertEquals(List.of("3", "4", "5"), due(reader));
            assertFalse(reader.isFinished());
            nanos[0] += 10_000_000_000L;
            assertEquals(List.of("6"), due(reader));
            assertEquals(List.of(), due(reader));
            assertTrue(reader.isFinished());
        }
        assertThrows(
                MillraceException.class,
                () -> FileScan.source(schema, "path", path.toString(), "pace", "1", "pace.column", "id"));
    }

    private List<String> due(SourceReader reader) {
        List<String> rows = new ArrayList<>();
        reader.poll().ifPresent(polled -> {
            try (Batch batch = polled) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    rows.add(FileScan.text(batch, row));
                }
            }
        });
        return rows;
    }
}
