package dev.millrace.connectors.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.Sink;
import dev.millrace.connectors.file.FileSinkFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.testing.connector.SinkLives;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectorySinkTest {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private TestSinkContext durable() {
        return new TestSinkContext(memory.allocator(), "d", folder.resolve("home"));
    }

    private Sink open(Schema schema, TestSinkContext context, String... options) {
        Map<String, String> all = new java.util.LinkedHashMap<>();
        for (int i = 0; i < options.length; i += 2) {
            all.put(options[i], options[i + 1]);
        }
        return new FileSinkFactory().open(schema, true, new Options(all), context);
    }

    private void write(Sink sink, Schema schema, Row... rows) {
        try (Batch batch = TestBatches.of(schema, memory.allocator(), rows)) {
            sink.write(batch);
        }
    }

    /** Files that go on over checkpoints, of text, are cut to what a checkpoint has of them. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void filesThatGoOnOverCheckpointsHaveEachRowOnce(long seed) {
        DirectoryOutside outside =
                new DirectoryOutside(folder.resolve("out"), seed % 2 == 0 ? "csv" : "json", "roll.interval", "2 ms");
        try (SinkLives lives = new SinkLives(outside, durable(), seed)) {
            lives.begin();
            for (int i = 0; i < 20; i++) {
                lives.write();
                lives.checkpoint();
                lives.write();
                lives.endEpoch();
                lives.write();
                lives.crash();
                lives.begin();
                lives.showsNothingElse();
            }
            lives.write();
            lives.checkpoint();
            org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(java.time.Duration.ofMinutes(1), () -> {
                while (outside.files().stream()
                        .anyMatch(file -> file.getFileName().toString().startsWith("."))) {
                    lives.checkpoint();
                }
            });
            lives.showsAll();
        }
    }

    @Test
    void rowsAreInDirectoriesByTheValuesOfColumns() {
        Schema schema = new Schema(List.of(
                new Field("day", DataType.DATE, true),
                new Field("id", DataType.BIGINT, true),
                new Field("site", DataType.TEXT, true)));
        String out = folder.resolve("out").toString();
        for (String format : List.of("parquet", "csv")) {
            String path = out + "/" + format + "/";
            try (CheckpointedSink sink = (CheckpointedSink)
                    open(schema, durable(), "path", path, "format", format, "partition_by", "day, site")) {
                sink.recover(Optional.empty());
                write(
                        sink,
                        schema,
                        Row.of(20_000, 1L, "north"),
                        Row.of(20_001, 2L, "a/b=c:%"),
                        Row.of(20_000, 3L, "north"),
                        Row.of(20_000, 4L, "south"),
                        Row.of(null, 5L, null));
                sink.commit(1);
                sink.prepare(1);
                sink.publish(1);
            }
            assertEquals(
                    List.of(
                            "2024-10-04|1|north",
                            "2024-10-04|3|north",
                            "2024-10-04|4|south",
                            "2024-10-05|2|a/b=c:%",
                            "~|5|~"),
                    DuckFiles.rows("SELECT day, id, site FROM '" + path + "/*/*/*." + format
                            + "' ORDER BY day NULLS LAST, id"),
                    format);
        }
    }

    /** Each type, its extremes and NULL, as DuckDB reads it from Parquet. */
    @ParameterizedTest
    @ValueSource(strings = {"zstd", "snappy", "none"})
    void parquetHasEachTypeAsDuckDbReadsIt(String compression) {
        List<Field> fields = new ArrayList<>();
        List<DataType> types = List.of(
                DataType.BOOLEAN,
                DataType.SMALLINT,
                DataType.INTEGER,
                DataType.BIGINT,
                DataType.REAL,
                DataType.DOUBLE,
                DataType.numeric(20, 4),
                DataType.TEXT,
                DataType.BYTEA,
                DataType.DATE,
                DataType.TIME,
                DataType.TIMESTAMP,
                DataType.TIMESTAMPTZ,
                DataType.UUID,
                DataType.INTERVAL);
        for (int i = 0; i < types.size(); i++) {
            fields.add(new Field("c" + i, types.get(i), true));
        }
        Schema schema = new Schema(fields);
        UUID uuid = UUID.fromString("0123abcd-0000-4000-8000-00000000ffff");
        String path = folder.resolve("out") + "/";
        try (CheckpointedSink sink = (CheckpointedSink)
                open(schema, durable(), "path", path, "format", "parquet", "compression", compression)) {
            sink.recover(Optional.empty());
            write(
                    sink,
                    schema,
                    Row.of(
                            true,
                            Short.MIN_VALUE,
                            Integer.MIN_VALUE,
                            Long.MIN_VALUE,
                            1.5f,
                            -2.5e300,
                            new BigDecimal("-1234567890123456.7890"),
                            "ü|\u0001",
                            new byte[] {0, -1},
                            -1,
                            86_399_999_999L,
                            1_577_836_800_123_456L,
                            1_577_836_800_123_456L,
                            uuid,
                            new Row.Interval(1, 2, 3_000_000)),
                    new Row(Arrays.asList(new Object[types.size()])),
                    Row.of(
                            false,
                            Short.MAX_VALUE,
                            Integer.MAX_VALUE,
                            Long.MAX_VALUE,
                            Float.MAX_VALUE,
                            0.0,
                            new BigDecimal("0.0001"),
                            "",
                            new byte[0],
                            0,
                            0L,
                            -1L,
                            -1L,
                            uuid,
                            new Row.Interval(0, 0, 0)));
            sink.commit(1);
            sink.prepare(1);
            sink.publish(1);
        }
        String file = "'" + path + "*.parquet'";
        assertEquals(
                List.of(
                        "true|-32768|-2147483648|-9223372036854775808|1.5|-2.5E300|-1234567890123456.7890|ü|\u0001|00FF|1969-12-31|23:59:59.999999|2020-01-01 00:00:00.123456|2020-01-01 00:00:00.123456|0123abcd-0000-4000-8000-00000000ffff|1 mon 2 days 00:00:03",
                        "~|~|~|~|~|~|~|~|~|~|~|~|~|~|~",
                        "false|32767|2147483647|9223372036854775807|3.4028235E38|0.0|0.0001|||1970-01-01|00:00:00|1969-12-31 23:59:59.999999|1969-12-31 23:59:59.999999|0123abcd-0000-4000-8000-00000000ffff|00:00:00"),
                DuckFiles.rows(
                        "SELECT c0, c1, c2, c3, c4, c5, c6, c7, hex(c8), c9, c10::VARCHAR, c11::VARCHAR, (c12 AT TIME ZONE 'UTC')::VARCHAR, c13::VARCHAR, c14 FROM "
                                + file));
        assertEquals(
                List.of(
                        "BOOLEAN|SMALLINT|INTEGER|BIGINT|FLOAT|DOUBLE|DECIMAL(20,4)|VARCHAR|BLOB|DATE|TIME|TIMESTAMP|TIMESTAMP WITH TIME ZONE|UUID|VARCHAR"),
                DuckFiles.rows("SELECT "
                        + String.join(
                                ", ",
                                fields.stream()
                                        .map(field -> "typeof(" + field.name() + ")")
                                        .toList()) + " FROM " + file + " LIMIT 1"));
    }

    @Test
    void largeFilesRollWithinACheckpointAndHaveRowGroups() {
        Schema schema = SinkOutside.SCHEMA;
        String path = folder.resolve("out") + "/";
        long rows = 0;
        try (CheckpointedSink sink =
                (CheckpointedSink) open(schema, durable(), "path", path, "format", "csv", "roll.size_mb", "1")) {
            sink.recover(Optional.empty());
            for (int epoch = 1; epoch <= 8; epoch++) {
                long from = rows;
                write(
                        sink,
                        schema,
                        LongStream.range(from, from + 5_000)
                                .mapToObj(id -> Row.of(id, "x".repeat(100)))
                                .toArray(Row[]::new));
                rows += 5_000;
                sink.commit(epoch);
            }
            sink.prepare(1);
            sink.publish(1);
        }
        DirectoryOutside outside = new DirectoryOutside(folder.resolve("out"), "csv");
        assertEquals(rows, outside.seen().size());
        assertTrue(outside.files().size() >= 4, outside.files().toString());
    }

    @Test
    void withoutADataDirectoryFilesAreShownWhenTheyAreComplete() {
        Schema schema = SinkOutside.SCHEMA;
        String path = folder.resolve("out") + "/";
        DirectoryOutside outside = new DirectoryOutside(folder.resolve("out"), "parquet");
        try (Sink sink = open(schema, new TestSinkContext(memory.allocator()), "path", path, "format", "parquet")) {
            write(sink, schema, Row.of(1L, "a"));
            sink.commit(1);
            assertEquals(List.of(), outside.seen());
        }
        assertEquals(List.of(1L), outside.seen());
        try (Sink sink = open(schema, new TestSinkContext(memory.allocator()), "path", path, "format", "parquet")) {
            write(sink, schema, Row.of(2L, "b")); // an epoch that is not whole
        }
        assertEquals(List.of(1L), outside.seen());
        assertEquals(1, outside.files().size(), outside.files().toString());
        MillraceException error = assertThrows(
                MillraceException.class,
                () -> open(
                        schema,
                        new TestSinkContext(memory.allocator()),
                        "path",
                        path,
                        "format",
                        "parquet",
                        "delivery",
                        "exactly_once"));
        assertEquals(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, error.sqlState());
    }

    @Test
    void whatIsNotPossibleIsSaid() {
        Schema schema = SinkOutside.SCHEMA;
        String path = folder.resolve("out") + "/";
        assertEquals(SqlState.UNDEFINED_COLUMN, error(schema, "path", path, "partition_by", "nam"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, error(schema, "path", path, "partition_by", "id,name"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, error(schema, "path", path + "x.parquet"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, error(schema, "path", path, "roll.size", "3"));
        assertEquals(SqlState.INVALID_PARAMETER_VALUE, error(schema, "path", path, "compression", "zstd"));
    }

    private SqlState error(Schema schema, String... options) {
        return assertThrows(MillraceException.class, () -> open(schema, durable(), options))
                .sqlState();
    }

    @Test
    void tokensThatAreDamagedAreRefused() {
        byte[] token = new PartEntry.Token(
                        3, List.of(new PartEntry("a=1/b=2", 2, 30, true), new PartEntry("", 3, 0, false)))
                .bytes();
        assertEquals(2, PartEntry.Token.of(token).entries().size());
        for (int length = 0; length < token.length; length++) {
            byte[] cut = Arrays.copyOf(token, length);
            assertEquals(
                    SqlState.DATA_CORRUPTED,
                    assertThrows(MillraceException.class, () -> PartEntry.Token.of(cut))
                            .sqlState());
        }
        byte[] outside = new PartEntry.Token(3, List.of(new PartEntry("../../etc", 2, 30, true))).bytes();
        assertThrows(MillraceException.class, () -> PartEntry.Token.of(outside));
    }

    @Test
    void aFileThatACheckpointHasMoreOfIsMissed() throws Exception {
        String path = folder.resolve("out") + "/";
        PreparedRows prepared;
        try (CheckpointedSink sink = (CheckpointedSink)
                open(SinkOutside.SCHEMA, durable(), "path", path, "format", "csv", "roll.interval", "1 h")) {
            sink.recover(Optional.empty());
            write(sink, SinkOutside.SCHEMA, Row.of(1L, "a"));
            sink.commit(1);
            prepared = new PreparedRows(1, sink.prepare(1));
        }
        Path file = new DirectoryOutside(folder.resolve("out"), "csv").files().get(0);
        java.nio.file.Files.write(file, new byte[] {'i'});
        try (CheckpointedSink sink = (CheckpointedSink)
                open(SinkOutside.SCHEMA, durable(), "path", path, "format", "csv", "roll.interval", "1 h")) {
            assertThrows(MillraceException.class, () -> sink.recover(Optional.of(prepared)));
        }
    }
}
