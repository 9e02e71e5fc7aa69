package dev.millrace.connectors.nexmark;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class NexmarkSourceTest {
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

    private static Source source(Schema declared, String... options) {
        Map<String, String> map = IntStream.range(0, options.length / 2)
                .boxed()
                .collect(Collectors.toMap(i -> options[2 * i], i -> options[2 * i + 1]));
        return new NexmarkSourceFactory().create(declared, new Options(map));
    }

    private static Source source(String... options) {
        return source(new Schema(List.of()), options);
    }

    private List<SourceReader> open(Source source, List<Integer> columns, int readers, int batchRows) {
        return source.open(
                new ScanRequest(columns, List.of(), readers), new Context(memory.allocator(), clock, batchRows));
    }

    private List<Row> rows(Source source, int readers, int batchRows) {
        List<Integer> columns =
                IntStream.range(0, source.schema().size()).boxed().toList();
        List<Row> rows = new ArrayList<>();
        for (SourceReader reader : open(source, columns, readers, batchRows)) {
            for (Optional<Batch> batch = reader.poll(); batch.isPresent(); batch = reader.poll()) {
                try (Batch each = batch.get()) {
                    rows.addAll(TestBatches.rows(each));
                }
            }
            assertTrue(reader.isFinished());
            reader.close();
        }
        return rows;
    }

    @Test
    void ofFiftyEventsOneIsAPersonThreeAreAuctionsAndTheRestBids() {
        assertEquals(
                20, rows(source("table", "person", "events", "1000"), 1, 64).size());
        assertEquals(
                60, rows(source("table", "auction", "events", "1000"), 1, 64).size());
        assertEquals(920, rows(source("table", "bid", "events", "1000"), 1, 64).size());
        assertEquals(921, rows(source("events", "1005"), 1, 64).size());
    }

    @Test
    void anyNumberOfReadersSeesTheSameEvents() {
        for (String table : List.of("person", "auction", "bid")) {
            Source source = source("table", table, "events", "20011");
            ZSet once = ZSet.of(rows(source, 1, 4096));
            assertEquals("", once.differences(ZSet.of(rows(source, 3, 100))), table);
        }
    }

    @Test
    void aSeedMakesOneStreamAndAnotherSeedAnother() {
        List<Row> first = rows(source("events", "1000", "seed", "7"), 1, 100);
        assertEquals(first, rows(source("events", "1000", "seed", "7"), 1, 33));
        assertTrue(!first.equals(rows(source("events", "1000", "seed", "8"), 1, 100)));
    }

    @Test
    void bidsHaveTheShapeOfTheSuite() {
        List<Row> bids = rows(source("events", "200000"), 1, 4096);
        double n = bids.size();
        assertEquals(0.5, share(bids, row -> (Long) row.get(0) % 100 == 0), 0.03);
        assertEquals(0.75, share(bids, row -> (Long) row.get(1) % 100 == 1), 0.02);
        for (int decade = 2; decade < 8; decade++) {
            double from = Math.pow(10, decade);
            assertEquals(1.0 / 6, share(bids, row -> (Long) row.get(2) >= from && (Long) row.get(2) < 10 * from), 0.01);
        }
        assertEquals(0.5, share(bids, row -> !((String) row.get(3)).startsWith("channel-")), 0.01);
        assertEquals(0.45, share(bids, row -> ((String) row.get(4)).contains("&channel_id=")), 0.01);
        assertEquals(4 + 10_000, bids.stream().map(row -> row.get(3)).distinct().count(), 10);
        for (Row row : bids) {
            String url = (String) row.get(4);
            assertTrue(url.matches("https://www\\.nexmark\\.com/[a-z]{5}/[a-z]{5}/[a-z]{5}/item\\.htm\\?.*"), url);
            assertTrue(url.length() >= 60 && url.length() <= 70, url);
            if (url.contains("channel_id=")) {
                assertEquals(row.get(3), "channel-" + url.replaceAll(".*=", ""));
            }
        }
        assertEquals(
                67.5,
                bids.stream().mapToInt(row -> ((String) row.get(6)).length()).sum() / n,
                0.5);
        assertEquals(n, bids.stream().map(row -> row.get(5)).distinct().count());
    }

    private static double share(List<Row> rows, Function<Row, Boolean> test) {
        return rows.stream().filter(test::apply).count() / (double) rows.size();
    }

    @Test
    void aHundredThousandEventsAreASecondOfEventTime() {
        List<Row> bids = rows(source("events", "200000"), 1, 4096);
        long first = (Long) bids.get(0).get(5);
        assertEquals(Timeline.START_MICROS + 40, first);
        assertEquals(1_999_990 - 40, (Long) bids.get(bids.size() - 1).get(5) - first);
        Timeline uneven = new Timeline(300_000);
        assertEquals(Timeline.START_MICROS + 1_000_003, uneven.micros(300_001));
    }

    @Test
    void sellersExistAndAuctionsExpireAfterTheyBegan() {
        for (Row auction : rows(source("table", "auction", "events", "50000"), 1, 4096)) {
            assertTrue((Long) auction.get(6) > (Long) auction.get(5));
            assertTrue((Long) auction.get(4) > (Long) auction.get(3));
            assertTrue((Long) auction.get(7) >= 1000 && (Long) auction.get(7) < 1000 + 1000 + 20);
        }
        Row person = rows(source("table", "person", "events", "50"), 1, 10).get(0);
        assertTrue(((String) person.get(3)).matches("\\d{4} \\d{4} \\d{4} \\d{4}"), person.toString());
        assertTrue(((String) person.get(2)).matches("[a-z]+@[a-z]+\\.com"), person.toString());
    }

    @Test
    void paceHoldsEventsBackUntilTheyAreDue() {
        Source source = source("events", "1000", "rate", "100", "pace", "2");
        SourceReader reader = open(source, List.of(0), 1, 4096).get(0);
        assertTrue(reader.poll().isEmpty() && !reader.isFinished());
        assertEquals(20_000, reader.retryAfterMicros(), 1);
        clock.advance(500_000);
        try (Batch batch = reader.poll().orElseThrow()) {
            assertEquals(92, batch.rowCount());
        }
        assertTrue(reader.poll().isEmpty());
    }

    @Test
    void columnsMayBeDeclaredAndAreChecked() {
        Field price = new Field("price", DataType.BIGINT, true);
        Field time = new Field("datetime", DataType.TIMESTAMPTZ, true);
        assertEquals(
                List.of("price", "datetime"),
                source(Schema.of(price, time), "events", "1").schema().names());
        MillraceException wrongName =
                assertThrows(MillraceException.class, () -> source(Schema.of(price.withName("prize"))));
        assertEquals("did you mean \"price\"?", wrongName.hint().orElseThrow());
        assertThrows(MillraceException.class, () -> source(Schema.of(new Field("price", DataType.TEXT, true))));
        assertThrows(MillraceException.class, () -> source("table", "bids"));
        assertThrows(MillraceException.class, () -> source("event", "5"));
    }
}
