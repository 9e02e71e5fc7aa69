package dev.millrace.connectors.datagen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.testing.time.TestClock;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DatagenSourceTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("device", DataType.TEXT, true),
            new Field("temp", DataType.DOUBLE, true),
            new Field("amount", DataType.numeric(10, 2), true),
            new Field("note", DataType.TEXT, true),
            new Field("ok", DataType.BOOLEAN, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final TestClock clock = new TestClock(0);

    private record Context(BufferAllocator allocator, Clock clock, int batchRows) implements SourceContext {
        @Override
        public void wakeUp() {}

        @Override
        public void reject(RejectedRecord record) {
            throw new AssertionError(record);
        }
    }

    private static Source source(String... options) {
        Map<String, String> map = new LinkedHashMap<>(Map.of("id.kind", "sequence"));
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
        }
        return new DatagenSourceFactory().create(SCHEMA, new Options(map));
    }

    private List<Row> rows(Source source, int readers, int batchRows) {
        ScanRequest request =
                new ScanRequest(IntStream.range(0, SCHEMA.size()).boxed().toList(), List.of(), readers);
        List<Row> rows = new ArrayList<>();
        for (SourceReader reader : source.open(request, new Context(memory.allocator(), clock, batchRows))) {
            for (Optional<Batch> batch = reader.poll(); batch.isPresent(); batch = reader.poll()) {
                try (Batch each = batch.get()) {
                    rows.addAll(TestBatches.rows(each));
                }
            }
            assertTrue(reader.isFinished());
        }
        return rows;
    }

    @Test
    void columnsFollowTheirRules() {
        List<Row> rows = rows(
                source(
                        "rows",
                        "10000",
                        "id.start",
                        "5",
                        "id.step",
                        "2",
                        "ts.start",
                        "2026-02-01",
                        "ts.step",
                        "100ms",
                        "ts.jitter",
                        "5s",
                        "device.values",
                        "a, b,c",
                        "temp.min",
                        "-10",
                        "temp.max",
                        "30",
                        "temp.nulls",
                        "0.25",
                        "amount.min",
                        "-1.50",
                        "amount.max",
                        "1.50",
                        "note.length",
                        "3"),
                1,
                100);
        assertEquals(10_000, rows.size());
        long february = 1_769_904_000_000_000L;
        int nulls = 0;
        for (int n = 0; n < rows.size(); n++) {
            Row row = rows.get(n);
            assertEquals(5L + 2 * n, row.get(0));
            long behind = february + n * 100_000L - (Long) row.get(1);
            assertTrue(behind >= 0 && behind <= 5_000_000, "behind " + behind);
            assertTrue(List.of("a", "b", "c").contains(row.get(2)));
            if (row.get(3) == null) {
                nulls++;
            } else {
                assertTrue((Double) row.get(3) >= -10 && (Double) row.get(3) < 30);
            }
            assertTrue(((BigDecimal) row.get(4)).abs().compareTo(new BigDecimal("1.50")) <= 0);
            assertTrue(((String) row.get(5)).matches("[a-z]{3}"));
        }
        assertEquals(2500, nulls, 200);
        assertEquals(301, rows.stream().map(row -> row.get(4)).distinct().count());
        assertEquals(2, rows.stream().map(row -> row.get(6)).distinct().count());
    }

    @Test
    void anyNumberOfReadersMakesTheSameRows() {
        ZSet once = ZSet.of(rows(source("rows", "5001", "temp.nulls", "0.5"), 1, 4096));
        assertEquals("", once.differences(ZSet.of(rows(source("rows", "5001", "temp.nulls", "0.5"), 3, 64))));
    }

    @Test
    void rateIsRowsPerSecondOfRealTime() {
        Source source = source("rate", "1000");
        SourceReader reader = source.open(
                        new ScanRequest(List.of(0), List.of(), 1), new Context(memory.allocator(), clock, 4096))
                .get(0);
        assertTrue(reader.poll().isEmpty() && !reader.isFinished());
        assertEquals(1000, reader.retryAfterMicros(), 1);
        clock.advance(20_000);
        try (Batch batch = reader.poll().orElseThrow()) {
            assertEquals(20, batch.rowCount());
        }
        assertEquals(-1, reader.progress());
    }

    @Test
    void wrongOptionsAreNamed() {
        assertTrue(message("temp.minimum", "1").contains("\"temp.minimum\" does not exist"));
        assertTrue(message("amount.max", "abc").contains("\"amount.max\" cannot be \"abc\""));
        assertTrue(message("id.nulls", "0.1").contains("NOT NULL"));
        assertTrue(message("temp.nulls", "2").contains("fraction"));
        assertTrue(message("amount.min", "101").contains("at least amount.min"));
        assertTrue(message("device.kind", "values").contains("\"device.values\" is required"));
    }

    private static String message(String... options) {
        return assertThrows(MillraceException.class, () -> source(options)).getMessage();
    }
}
