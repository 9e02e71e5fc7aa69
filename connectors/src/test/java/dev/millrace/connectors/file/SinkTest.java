package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connectors.Connectors;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class SinkTest {
    private static final Schema SCHEMA = FileScan.schema(
            "id", DataType.BIGINT, "name", DataType.TEXT, "x", DataType.DOUBLE, "at", DataType.TIMESTAMPTZ);

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final Connectors connectors = Connectors.standard(new PrintStream(printed));

    private static Row row(Object... values) {
        return new Row(Arrays.asList(values));
    }

    private Batch batch(long[] weights, Row... rows) {
        return weights.length == 0
                ? TestBatches.of(SCHEMA, memory.allocator(), rows)
                : TestBatches.weighted(SCHEMA, memory.allocator(), List.of(rows), weights);
    }

    private Sink open(String connector, boolean appendOnly, String... options) {
        Map<String, String> map = new java.util.LinkedHashMap<>();
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
        }
        return connectors
                .sink(connector)
                .open(SCHEMA, appendOnly, new Options(map), new TestSinkContext(memory.allocator()));
    }

    private void write(Sink sink, long[] weights, Row... rows) {
        try (Batch batch = batch(weights, rows)) {
            sink.write(batch);
        }
    }

    private static final Row FIRST = row(1L, "a \"b\", c", 0.1, 1_577_836_800_123_000L);
    private static final Row SECOND = row(2L, "", null, null);
    private static final Row THIRD = row(null, null, Double.NaN, 0L);

    @Test
    void csvFilesHaveAHeaderAndPostgresValues() throws IOException {
        Path path = folder.resolve("out.csv");
        try (Sink sink = open("file", true, "path", path.toString())) {
            write(sink, new long[0], FIRST, SECOND, THIRD);
            sink.commit(1);
        }
        assertEquals(
                "id,name,x,at\n1,\"a \"\"b\"\", c\",0.1,2020-01-01 00:00:00.123+00\n2,\"\",,\n,,NaN,1970-01-01 00:00:00+00\n",
                Files.readString(path));
        assertEquals(
                List.of("1|a \"b\", c|0.1|2020-01-01 00:00:00.123+00", "2||~|~", "~|~|NaN|1970-01-01 00:00:00+00"),
                new FileScan(memory.allocator()).rows(FileScan.source(SCHEMA, "path", path.toString())));
    }

    @Test
    void retractionsAreMarkedAndWeightsRepeat() throws IOException {
        Path path = folder.resolve("out.csv");
        try (Sink sink = open("file", false, "path", path.toString(), "header", "false")) {
            write(sink, new long[] {-1, 2}, SECOND, row(3L, "x", 1.0, null));
            sink.commit(1);
        }
        assertEquals("-,2,\"\",,\n+,3,x,1,\n+,3,x,1,\n", Files.readString(path));
        Path json = folder.resolve("out.json");
        try (Sink sink = open("file", false, "path", json.toString())) {
            write(sink, new long[] {-1, 1}, SECOND, THIRD);
            sink.commit(1);
        }
        assertEquals("""
                {"op":"-","id":2,"name":"","x":null,"at":null}
                {"op":"+","id":null,"name":null,"x":"NaN","at":"1970-01-01T00:00:00+00:00"}
                """, Files.readString(json));
    }

    @Test
    void whatWasNotCommittedIsCutOff() throws IOException {
        Path path = folder.resolve("out.csv");
        try (Sink sink = open("file", true, "path", path.toString())) {
            write(sink, new long[0], SECOND);
            sink.commit(1);
            for (int i = 0; i < 200_000; i++) {
                if (i % 1000 == 0) {
                    Row[] rows = new Row[1000];
                    Arrays.fill(rows, FIRST);
                    write(sink, new long[0], rows);
                }
            }
            assertTrue(Files.size(path) > 1_000_000, "a large epoch does not wait in memory");
        }
        assertEquals("id,name,x,at\n2,\"\",,\n", Files.readString(path));
        try (Sink sink = open("file", true, "path", path.toString(), "existing", "append")) {
            write(sink, new long[0], SECOND);
            sink.commit(1);
        }
        assertEquals("id,name,x,at\n2,\"\",,\n2,\"\",,\n", Files.readString(path));
    }

    @Test
    void aFullDiskIsOneClearError() {
        Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.exists(full), "no /dev/full here");
        for (String format : List.of("csv", "json", "arrow")) {
            MillraceException e = assertThrows(MillraceException.class, () -> {
                try (Sink sink = open("file", true, "path", full.toString(), "format", format)) {
                    write(sink, new long[0], FIRST);
                    sink.commit(1);
                }
            });
            assertEquals("53100", e.sqlState().code(), e.getMessage());
            assertEquals("could not write to file \"/dev/full\": no space left on device", e.getMessage());
        }
    }

    @Test
    void unwritablePathsSaySo() {
        MillraceException directory =
                assertThrows(MillraceException.class, () -> open("file", true, "path", folder.toString()));
        assertEquals("42809", directory.sqlState().code());
        MillraceException missing =
                assertThrows(MillraceException.class, () -> open("file", true, "path", folder + "/no/such/out.csv"));
        assertEquals("58P01", missing.sqlState().code(), missing.getMessage());
    }

    @Test
    void printWritesWholeEpochs() {
        try (Sink sink = open("print", true)) {
            write(sink, new long[0], SECOND);
            assertEquals("", printed.toString());
            sink.commit(1);
            assertEquals("2,\"\",,\n", printed.toString());
        }
    }

    @Test
    void theBlackholesChecksumIsOfTheRowsNotOfTheirOrderOrBatches() {
        Random random = new Random(3);
        Row[] rows = new Row[1000];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = row(
                    random.nextInt(9) == 0 ? null : random.nextLong(),
                    "text".repeat(random.nextInt(9)) + i,
                    random.nextDouble(),
                    (long) random.nextInt());
        }
        long expected = checksum(rows, rows.length);
        Collections.shuffle(Arrays.asList(rows), random);
        assertEquals(expected, checksum(rows, 7));
        try (BlackholeSink sink = (BlackholeSink) open("blackhole", false)) {
            long[] added = new long[rows.length];
            Arrays.fill(added, 2);
            write(sink, added, rows);
            Arrays.fill(added, -1);
            write(sink, added, rows);
            sink.commit(1);
            assertEquals(expected, sink.checksum());
            assertEquals(1000, sink.rows());
        }
        rows[5] = row(1L, "other", 2.0, 3L);
        assertNotEquals(expected, checksum(rows, 100));
    }

    private long checksum(Row[] rows, int batchRows) {
        try (BlackholeSink sink = (BlackholeSink) open("blackhole", true)) {
            for (int from = 0; from < rows.length; from += batchRows) {
                write(sink, new long[0], Arrays.copyOfRange(rows, from, Math.min(rows.length, from + batchRows)));
            }
            sink.commit(1);
            assertEquals(rows.length, sink.rows());
            return sink.checksum();
        }
    }

    @Test
    void misspeltConnectorsAreSuggested() {
        MillraceException e = assertThrows(MillraceException.class, () -> connectors.source("flie"));
        assertEquals("did you mean \"file\"?", e.hint().get());
        assertThrows(MillraceException.class, () -> connectors.sink("nexmark"));
    }
}
