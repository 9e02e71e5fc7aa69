package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.ColumnPredicate.Comparison;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parquet files that DuckDB wrote, of all types, encodings and codecs, and what becomes of damaged ones. */
@Tag("long")
class ParquetSourceTest {
    private static final Schema NONE = new Schema(List.of());

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private static List<String> duck(String... statements) {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            List<String> rows = new ArrayList<>();
            for (String sql : statements) {
                rows.clear();
                if (statement.execute(sql)) {
                    try (ResultSet result = statement.getResultSet()) {
                        while (result.next()) {
                            StringBuilder row = new StringBuilder();
                            for (int column = 1; column <= result.getMetaData().getColumnCount(); column++) {
                                String value = result.getString(column);
                                row.append(column == 1 ? "" : "|").append(value == null ? "~" : value);
                            }
                            rows.add(row.toString());
                        }
                    }
                }
            }
            return rows;
        } catch (SQLException e) {
            throw new AssertionError(String.join("; ", statements) + ": " + e.getMessage(), e);
        }
    }

    /** A file of what a query of DuckDB's gives. */
    private Path written(String query, String options) {
        Path file = folder.resolve("t.parquet");
        duck("SET TimeZone = 'UTC'", "COPY (" + query + ") TO '" + file + "' (FORMAT parquet" + options + ")");
        return file;
    }

    private List<String> rows(Schema declared, Path file) {
        return new FileScan(memory.allocator()).rows(FileScan.source(declared, "path", file.toString()));
    }

    @Test
    void columnsAndValuesOfAllTypesAreAsDuckDbHasThem() {
        String values = "SELECT * FROM (VALUES"
                + " (true, 1::TINYINT, 2::SMALLINT, 3, 4::BIGINT, 200::UTINYINT, 60000::USMALLINT, 4000000000::UINTEGER,"
                + " 18000000000000000000::UBIGINT, 1.5::FLOAT, 2.25::DOUBLE, 12.34::DECIMAL(4,2), 1234567.891::DECIMAL(18,3),"
                + " 12345678901234567890123.45::DECIMAL(38,2), 'text é', '\\x00\\xff'::BLOB, DATE '2026-01-31',"
                + " TIME '12:34:56.789012', TIMESTAMP '2026-01-31 12:34:56.789012', TIMESTAMPTZ '2026-01-31 12:34:56+00',"
                + " '2026-01-31 12:34:56.789'::TIMESTAMP_MS, '2026-01-31 12:34:56.789012345'::TIMESTAMP_NS,"
                + " '00112233-4455-6677-8899-aabbccddeeff'::UUID, INTERVAL '1 month 2 days 3 seconds'),"
                + " (NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),"
                + " (false, -1, -2, -3, -4, 0, 0, 0, 0, 'nan', '-inf', -12.34, -1234567.891, -1.01, '', ''::BLOB, DATE '1969-12-31',"
                + " TIME '00:00:00', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMPTZ '1900-01-01 00:00:00+00',"
                + " '1969-12-31 23:59:59.999'::TIMESTAMP_MS, '1969-12-31 23:59:59.999999999'::TIMESTAMP_NS,"
                + " 'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID, INTERVAL '0 seconds'))"
                + " t(b, i8, i16, i32, i64, u8, u16, u32, u64, f, d, d4, d18, d38, s, bytes, dt, tm, ts, tz, ms, ns, u, iv)";
        Path file = written(values, "");
        Source source = FileScan.source(NONE, "path", file.toString());
        assertEquals(
                "boolean, smallint, smallint, integer, bigint, smallint, integer, bigint, numeric(20,0), real,"
                        + " double precision, numeric(4,2), numeric(18,3), numeric(38,2), text, bytea, date, time without time zone,"
                        + " timestamp without time zone, timestamp with time zone, timestamp without time zone,"
                        + " timestamp without time zone, uuid, interval",
                String.join(
                        ", ",
                        source.schema().fields().stream()
                                .map(field -> field.type().toString())
                                .toList()));
        assertEquals(
                List.of(
                        "t|1|2|3|4|200|60000|4000000000|18000000000000000000|1.5|2.25|12.34|1234567.891|12345678901234567890123.45|"
                                + "text é|\\x00ff|2026-01-31|12:34:56.789012|2026-01-31 12:34:56.789012|2026-01-31 12:34:56+00|"
                                + "2026-01-31 12:34:56.789|2026-01-31 12:34:56.789012|00112233-4455-6677-8899-aabbccddeeff|1 mon 2 days 00:00:03",
                        "~" + "|~".repeat(23),
                        "f|-1|-2|-3|-4|0|0|0|0|NaN|-Infinity|-12.34|-1234567.891|-1.01||\\x|1969-12-31|00:00:00|"
                                + "1969-12-31 23:59:59.999999|1900-01-01 00:00:00+00|1969-12-31 23:59:59.999|1969-12-31 23:59:59.999999|"
                                + "ffffffff-ffff-ffff-ffff-ffffffffffff|00:00:00"),
                rows(NONE, file));
    }

    /** Pages that are large and small, plain, of dictionaries and of differences, packed by everything that is read. */
    @ParameterizedTest
    @CsvSource({
        "uncompressed,V1",
        "snappy,V1",
        "zstd,V2",
        "gzip,V1",
        "lz4_raw,V1",
        "snappy,V2",
        "gzip,V2",
        "uncompressed,V2"
    })
    void whateverTheCodecAndEncodingRowsAreTheSame(String codec, String version) {
        String query =
                "SELECT i AS id, i % 7 AS few, CASE WHEN i % 3 = 0 THEN NULL ELSE hash(i)::UBIGINT % 1000003 END AS many,"
                        + " 'name ' || (hash(i) % 50) AS name, 'x' || hash(i * 31) AS far, (hash(i + 1) % 100000) / 7.0 AS real,"
                        + " (hash(i + 2) % 1000 / 3)::FLOAT AS small, i % 5 = 0 AS flag, NULL::INTEGER AS nothing,"
                        + " repeat('prefix', (i % 9)::INT) || i AS prefixed, (i * 1000003 % 97)::DECIMAL(9,2) AS price,"
                        + " TIMESTAMP '2026-01-01' + to_microseconds(i * 1234567) AS moment FROM range(20000) t(i)";
        Path file = written(query, ", COMPRESSION " + codec + ", PARQUET_VERSION " + version + ", ROW_GROUP_SIZE 6000");
        List<String> expected =
                duck("SELECT id, few, many, name, far, real, small, CASE WHEN flag THEN 't' ELSE 'f' END, nothing,"
                        + " prefixed, price, epoch_us(moment) FROM (" + query + ")");
        Source source = FileScan.source(NONE, "path", file.toString());
        List<String> rows = new FileScan(memory.allocator()).batchRows(1000).rows(source);
        assertEquals(expected.size(), rows.size());
        for (int row = 0; row < rows.size(); row += 37) {
            String[] want = expected.get(row).split("\\|", -1);
            String[] have = rows.get(row).split("\\|", -1);
            for (int column : new int[] {0, 1, 2, 3, 4, 7, 8, 9, 10}) {
                assertEquals(want[column], have[column], "row " + row + ", column " + column);
            }
            assertEquals(Double.parseDouble(want[5]), Double.parseDouble(have[5]));
            assertEquals(Float.parseFloat(want[6]), Float.parseFloat(have[6]));
        }
        assertEquals(
                duck("SELECT count(*), sum(id), count(many), sum(many) FROM (" + query + ")"),
                duck("SELECT count(*), sum(id), count(many), sum(many) FROM '" + file + "'"));
    }

    @Test
    void listsAndStructsAreArraysAndRows() {
        Path file = written(
                "SELECT * FROM (VALUES (1, [1, NULL, 3], {'a': 1, 'b': 'x'}, [[1, 2], [], NULL, [3]], [{'k': 1, 'v': ['p', 'q']}], map {'a': 1}),"
                        + " (2, [], {'a': NULL, 'b': 'y'}, [], [], map {}), (3, NULL, NULL, NULL, NULL, NULL),"
                        + " (4, [4], {'a': 2, 'b': NULL}, [[NULL]], [{'k': 2, 'v': []}, NULL, {'k': NULL, 'v': NULL}], NULL))"
                        + " t(id, list, struct, lists, structs, map)",
                "");
        assertEquals(
                List.of(
                        "1|{1,NULL,3}|(1,x)|{{1,2},{},NULL,{3}}|{\"(1,\\\"{p,q}\\\")\"}",
                        "2|{}|(,y)|{}|{}", "3|~|~|~|~", "4|{4}|(2,)|{{NULL}}|{\"(2,{})\",NULL,\"(,)\"}"),
                rows(NONE, file));
        Schema some =
                FileScan.schema("struct", DataType.row(List.of(new dev.millrace.type.Field("b", DataType.TEXT, true))));
        assertEquals(List.of("(x)", "(y)", "~", "()"), rows(some, file));
        MillraceException map =
                assertThrows(MillraceException.class, () -> rows(FileScan.schema("map", DataType.JSONB), file));
        assertTrue(map.getMessage().contains("a map"), map::getMessage);
    }

    @Test
    void declaredColumnsAreMatchedByNameAndWidened() {
        Path file = written(
                "SELECT 1::SMALLINT AS \"A\", 2.5::FLOAT AS f, 'x' AS s, 1.25::DECIMAL(4,2) AS d, 3::INTEGER AS i", "");
        assertEquals(
                List.of("3|1|2.5|1.2500|x"),
                rows(
                        FileScan.schema(
                                "i",
                                DataType.numeric(20, 0),
                                "a",
                                DataType.BIGINT,
                                "f",
                                DataType.DOUBLE,
                                "d",
                                DataType.numeric(10, 4),
                                "s",
                                DataType.TEXT),
                        file));
        MillraceException lacks =
                assertThrows(MillraceException.class, () -> rows(FileScan.schema("fx", DataType.DOUBLE), file));
        assertEquals("42703", lacks.sqlState().code());
        MillraceException narrow =
                assertThrows(MillraceException.class, () -> rows(FileScan.schema("i", DataType.SMALLINT), file));
        assertEquals("42804", narrow.sqlState().code());
    }

    @Test
    void aNullInAColumnThatHasNoneIsNamed() {
        Path file = written("SELECT CASE WHEN i < 5 THEN i END AS i FROM range(10) t(i)", "");
        Schema declared = Schema.of(new dev.millrace.type.Field("i", DataType.BIGINT, false));
        MillraceException error = assertThrows(MillraceException.class, () -> rows(declared, file));
        assertEquals("23502", error.sqlState().code());
        assertTrue(error.getMessage().contains("row 6"), error::getMessage);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 64, 4096})
    void rowGroupsWithoutRowsOfInterestArePassedOver(int batchRows) {
        Path file = written(
                "SELECT i AS id, 'k' || lpad(i::VARCHAR, 6, '0') AS k, i / 2.0 AS real, TIMESTAMP '2026-01-01' + to_seconds(i) AS moment,"
                        + " CASE WHEN i < 8000 THEN i END AS maybe FROM range(16384) t(i)",
                ", ROW_GROUP_SIZE 2048");
        skips(file, batchRows, 7, 1, new ColumnPredicate(0, Comparison.EQ, Optional.of(5000L)));
        skips(file, batchRows, 7, 100, new ColumnPredicate(0, Comparison.LT, Optional.of(100L)));
        skips(file, batchRows, 0, 16384, new ColumnPredicate(0, Comparison.GE, Optional.of(0L)));
        skips(file, batchRows, 8, 0, new ColumnPredicate(0, Comparison.GT, Optional.of(16383L)));
        skips(file, batchRows, 7, 1, new ColumnPredicate(1, Comparison.EQ, Optional.of("k003000")));
        skips(file, batchRows, 7, 3, new ColumnPredicate(2, Comparison.LE, Optional.of(1.0)));
        skips(file, batchRows, 3, 8384, new ColumnPredicate(4, Comparison.IS_NULL, Optional.empty()));
        long noon = 1_767_225_600_000_000L + 16_380_000_000L;
        skips(file, batchRows, 7, 4, new ColumnPredicate(3, Comparison.GE, Optional.of(noon)));
    }

    private void skips(Path file, int batchRows, int skipped, int rows, ColumnPredicate predicate) {
        Source source = FileScan.source(NONE, "path", file.toString());
        FileScan scan = new FileScan(memory.allocator()).batchRows(batchRows);
        int[] given = {0};
        List<SourceReader> readers = source.open(new ScanRequest(List.of(0), List.of(predicate), 1), scan);
        try (SourceReader reader = readers.get(0)) {
            while (!reader.isFinished()) {
                reader.poll().ifPresent(batch -> {
                    given[0] += batch.rowCount();
                    batch.close();
                });
            }
            ScanCounts counts = reader.counts().orElseThrow();
            assertEquals(rows, given[0], predicate::toString);
            assertEquals(skipped, counts.blocksSkipped(), predicate::toString);
        }
    }

    @Test
    void readingGoesOnFromAnyPosition() {
        written("SELECT i FROM range(5000) t(i)", ", ROW_GROUP_SIZE 2048");
        duck("COPY (SELECT i FROM range(5000, 6000) t(i)) TO '" + folder + "/u.parquet' (FORMAT parquet)");
        Source source = FileScan.source(NONE, "path", folder + "/*.parquet");
        ScanRequest request = new ScanRequest(List.of(0), List.of(), 1);
        Random random = new Random(3);
        for (int round = 0; round < 10; round++) {
            FileScan scan = new FileScan(memory.allocator()).batchRows(1 + random.nextInt(900));
            List<Long> ids = new ArrayList<>();
            Optional<SourcePosition> position = Optional.empty();
            while (true) {
                List<SourceReader> readers = position.isEmpty()
                        ? source.open(request, scan)
                        : source.reopen(request, List.of(position.get()), scan);
                try (SourceReader reader = readers.get(0)) {
                    for (int polls = random.nextInt(8); polls > 0 && !reader.isFinished(); polls--) {
                        reader.poll().ifPresent(batch -> take(batch, ids));
                    }
                    position = reader.position();
                    if (reader.isFinished()) {
                        break;
                    }
                }
            }
            assertEquals(6000, ids.size());
            for (int i = 0; i < ids.size(); i++) {
                assertEquals(i, ids.get(i));
            }
        }
    }

    private static void take(Batch batch, List<Long> ids) {
        try (batch) {
            for (int row = 0; row < batch.rowCount(); row++) {
                ids.add(Long.parseLong(FileScan.text(batch, row)));
            }
        }
    }

    @Test
    void whatIsNoParquetFileSaysSo() throws IOException {
        Path file = folder.resolve("x.parquet");
        for (String text :
                new String[] {"", "PAR1", "PAR1----PAR1", "PAR1\u0000\u0000\u0000\u0000PAR1", "hello, this is text"}) {
            Files.writeString(file, text);
            MillraceException error = assertThrows(MillraceException.class, () -> rows(NONE, file));
            assertTrue(error.getMessage().contains("is no Parquet file"), error::getMessage);
        }
    }

    @Test
    void largeValuesMakeSmallBatches() {
        Path file = written("SELECT repeat('x', 1000000) || (i % 2) AS s FROM range(100) t(i)", "");
        Source source = FileScan.source(NONE, "path", file.toString());
        List<Integer> batches = new ArrayList<>();
        new FileScan(memory.allocator()).each(source, List.of(0), 1, batch -> batches.add(batch.rowCount()));
        assertEquals(100, batches.stream().mapToInt(Integer::intValue).sum());
        assertTrue(batches.stream().allMatch(rows -> rows <= 18), batches::toString);
    }

    @Test
    void metadataOfListsWithinListsIsRefused() throws IOException {
        byte[] metadata = new byte[100_000];
        Arrays.fill(metadata, (byte) 0x19); // a list of one list
        ByteBuffer bytes = ByteBuffer.allocate(metadata.length + 12).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put("PAR1".getBytes(StandardCharsets.US_ASCII)).put(metadata).putInt(metadata.length);
        bytes.put("PAR1".getBytes(StandardCharsets.US_ASCII));
        Path file = Files.write(folder.resolve("deep.parquet"), bytes.array());
        MillraceException error = assertThrows(MillraceException.class, () -> rows(NONE, file));
        assertTrue(error.getMessage().contains("deep"), error::getMessage);
    }

    /** Bytes are changed anywhere, and places where lengths are more often: a file is read, or refused with an error for users. */
    @ParameterizedTest
    @ValueSource(strings = {"uncompressed", "zstd", "snappy"})
    void damagedFilesAreReadOrRefused(String codec) throws IOException {
        Path good = written(
                "SELECT i AS id, i % 3 = 0 AS flag, 'name ' || (i % 5) AS name, repeat('p', (i % 9)::INT) || i AS prefixed,"
                        + " [i, NULL] AS list, {'a': i, 'b': [i::VARCHAR]} AS struct, i / 3.0 AS real, i::DECIMAL(30,2) AS price,"
                        + " CASE WHEN i % 4 = 0 THEN i END AS some FROM range(300) t(i)",
                ", COMPRESSION " + codec + ", PARQUET_VERSION " + (codec.equals("zstd") ? "V2" : "V1"));
        byte[] bytes = Files.readAllBytes(good);
        Random random = new Random(codec.hashCode());
        Path bad = folder.resolve("bad.parquet");
        int refused = 0;
        int rounds = Integer.getInteger("millrace.parquet.damages", 100);
        for (int round = 0; round < rounds; round++) {
            byte[] damaged = bytes.clone();
            for (int change = random.nextInt(3); change >= 0; change--) {
                int at = random.nextBoolean()
                        ? random.nextInt(bytes.length)
                        : bytes.length - 1 - random.nextInt(Math.min(bytes.length, 1_500));
                damaged[at] = switch (random.nextInt(4)) {
                    case 0 -> (byte) 0xff;
                    case 1 -> (byte) 0x7f;
                    case 2 -> (byte) (damaged[at] + 1);
                    default -> (byte) random.nextInt(256);
                };
            }
            Files.write(bad, round % 10 == 0 ? Arrays.copyOf(damaged, random.nextInt(bytes.length)) : damaged);
            try {
                Source source = FileScan.source(NONE, "path", bad.toString());
                int[] given = {0};
                new FileScan(memory.allocator()).each(source, FileScan.allColumns(source), 1, batch -> {
                    given[0] += batch.rowCount();
                    assertTrue(given[0] <= 100_000_000, "more rows than can be");
                });
            } catch (MillraceException e) {
                refused++;
                assertTrue(e.fault() != MillraceException.Fault.INTERNAL, () -> "round of codec " + codec + ": " + e);
            }
        }
        assertTrue(refused > rounds / 4, "only " + refused + " were refused");
    }
}
