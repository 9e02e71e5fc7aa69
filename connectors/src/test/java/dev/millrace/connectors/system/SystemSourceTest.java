package dev.millrace.connectors.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SystemSourceTest implements SourceContext, Clock {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private long nanos = 1;

    private Source source(Schema declared, Map<String, String> options) {
        return new SystemSourceFactory().create(declared, new Options(options));
    }

    private SourceReader reader(String table, String period) {
        Source source = source(new Schema(List.of()), Map.of("table", table, "period", period));
        List<Integer> all = IntStream.range(0, source.schema().size()).boxed().toList();
        return source.open(new ScanRequest(all, List.of(), 1), this).get(0);
    }

    @Test
    void aRowComesOncePerPeriodAndPollsBetweenDoNotWait() {
        try (SourceReader reader = reader("summary", "1s")) {
            assertTrue(reader.poll().isEmpty());
            assertFalse(reader.isFinished());
            assertEquals(1_000_000, reader.retryAfterMicros());
            nanos += 1_000_000_000;
            try (Batch batch = reader.poll().get()) {
                assertEquals(1, batch.rowCount());
                assertEquals(Optional.of("1970-01-01 00:00:01+00"), ValueText.format(batch, 0, 0));
                double cpu = Double.parseDouble(ValueText.format(batch, 1, 0).get());
                assertTrue(cpu >= 0 && cpu <= 1, cpu + " of the processors");
                long used = Long.parseLong(ValueText.format(batch, 5, 0).get());
                long total = Long.parseLong(ValueText.format(batch, 6, 0).get());
                assertTrue(used > 0 && used < total, used + " of " + total);
                assertTrue(Long.parseLong(ValueText.format(batch, 12, 0).get()) > 0);
            }
            assertTrue(reader.poll().isEmpty());
            nanos += 7_500_000_000L; // missed times are not made up for
            reader.poll().get().close();
            assertTrue(reader.poll().isEmpty());
        }
    }

    @Test
    void everyTableHasItsRows() {
        for (SystemTable table : SystemTable.values()) {
            try (SourceReader reader = reader(table.name().toLowerCase(), "10ms")) {
                nanos += 10_000_000;
                reader.poll().ifPresent(batch -> {
                    try (batch) {
                        assertTrue(batch.rowCount() > 0);
                        assertEquals(table.schema(), batch.schema());
                        for (int column = 0; column < batch.columnCount(); column++) {
                            Optional<String> value = ValueText.format(batch, column, 0);
                            assertTrue(
                                    value.isPresent()
                                            || table.schema().field(column).nullable(),
                                    batch.toString());
                        }
                    }
                });
            }
        }
    }

    @Test
    void declaredColumnsMayBeSomeInAnyOrder() {
        Schema declared =
                Schema.of(new Field("cpu", DataType.DOUBLE, true), new Field("ts", DataType.TIMESTAMPTZ, true));
        try (SourceReader reader = source(declared, Map.of())
                .open(new ScanRequest(List.of(1), List.of(), 1), this)
                .get(0)) {
            nanos += 1_000_000_000;
            try (Batch batch = reader.poll().get()) {
                assertEquals("ts timestamp with time zone", batch.schema().toString());
            }
        }
        MillraceException e = assertThrows(
                MillraceException.class, () -> source(Schema.of(new Field("cpuu", DataType.DOUBLE, true)), Map.of()));
        assertEquals("did you mean \"cpu\"?", e.hint().get());
        assertThrows(MillraceException.class, () -> source(declared, Map.of("period", "1ms")));
    }

    @Test
    void ratesArePerSecondOverATenthOfASecondAtLeast() {
        Rate rate = new Rate();
        assertEquals(0, rate.perSecond(0, 1000)[0]);
        assertEquals(100, rate.perSecond(1_000_000_000, 1100)[0]);
        assertEquals(0, rate.perSecond(1_050_000_000, 1100)[0], 96); // over 1.05 s, not 0.05 s
        assertEquals(0, rate.perSecond(2_000_000_000, 500)[0]); // a counter that fell back
    }

    @Override
    public BufferAllocator allocator() {
        return memory.allocator();
    }

    @Override
    public Clock clock() {
        return this;
    }

    @Override
    public long epochMicros() {
        return nanos / 1000;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    @Override
    public int batchRows() {
        return 4096;
    }

    @Override
    public void wakeUp() {}

    @Override
    public void reject(RejectedRecord record) {
        throw new AssertionError(record);
    }
}
