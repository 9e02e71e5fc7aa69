package dev.millrace.benchmarks.decode;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Options;
import dev.millrace.connectors.Connectors;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.text.TextBuffer;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench decode}: records in memory to columns, by one thread. */
@Command(
        name = "decode",
        description =
                "Decodes bids of ten fields from records in memory by one thread, five of the fields and all; one JSON"
                        + " line for each format, by the processor time that the thread took.",
        mixinStandardHelpOptions = true)
public final class DecodeCommand implements Callable<Integer> {
    private static final Set<String> OF_OTHER_COLUMNS = Set.of("senml", "raw", "text"); // formats that have no bids

    private static final int RECORDS = 4096; // of a batch
    private static final Schema BIDS = Schema.of(
            new Field("auction", DataType.BIGINT, true),
            new Field("bidder", DataType.BIGINT, true),
            new Field("price", DataType.BIGINT, true),
            new Field("channel", DataType.TEXT, true),
            new Field("url", DataType.TEXT, true),
            new Field("datetime", DataType.TIMESTAMP, true),
            new Field("extra", DataType.TEXT, true),
            new Field("currency", DataType.TEXT, true),
            new Field("rate", DataType.DOUBLE, true),
            new Field("automatic", DataType.BOOLEAN, true));
    private static final List<Integer> FIVE = List.of(0, 1, 2, 3, 5);

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    @Option(
            names = "--seconds",
            defaultValue = "3",
            description = "Of processor time for each, after as long to warm up (${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--format", description = "Only this one.")
    private Optional<String> only = Optional.empty();

    @Option(
            names = "--batches",
            defaultValue = "64",
            description =
                    "How many different batches of 4,096 records are decoded by turns, so that neither caches nor branch"
                            + " predictors know them (${DEFAULT-VALUE}).")
    private int batches;

    @Override
    public Integer call() {
        RecordFormatFactory json = Connectors.formats().named("json");
        List<Batch> bids = new ArrayList<>();
        try (BufferAllocator allocator = new RootAllocator()) {
            try {
                for (int i = 0; i < batches; i++) {
                    try (Records texts = new Records(allocator)) {
                        bids(texts, i);
                        bids.add(rows(json.create(BIDS, BidSchemas.options("json")), texts.records, allocator));
                    }
                }
                for (RecordFormatFactory factory : Connectors.formats().all()) {
                    if (only.map(factory.name()::equals).orElse(!OF_OTHER_COLUMNS.contains(factory.name()))) {
                        measure(factory, bids, allocator);
                    }
                }
            } finally {
                Closing.all(bids);
            }
        }
        return 0;
    }

    private static void bids(Records into, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < RECORDS; i++) {
            String page = Long.toString(random.nextLong(1L << 40), 36);
            String text = String.format(
                    Locale.ROOT,
                    "{\"auction\":%d,\"bidder\":%d,\"price\":%d,\"channel\":\"channel-%d\",\"url\":\"https://www.nexmark.com/%s/item.htm?query=1&channel_id=%d\","
                            + "\"datetime\":\"2026-01-01T10:%02d:%02d.%03d\",\"extra\":\"%s\",\"currency\":\"EUR\",\"rate\":%.4f,\"automatic\":%b}",
                    1000 + random.nextInt(100_000),
                    1000 + random.nextInt(100_000),
                    random.nextInt(10_000_000),
                    random.nextInt(10_000),
                    page,
                    random.nextInt(10_000),
                    i / 60 % 60,
                    i % 60,
                    random.nextInt(1000),
                    page.repeat(56).substring(0, 48 + random.nextInt(8)),
                    random.nextDouble(0.5, 2),
                    random.nextBoolean());
            into.add(text.getBytes(StandardCharsets.UTF_8));
        }
        into.place();
    }

    private void measure(RecordFormatFactory factory, List<Batch> bids, BufferAllocator allocator) {
        List<Records> encoded = new ArrayList<>();
        try {
            for (Batch batch : bids) {
                encoded.add(encoded(factory, batch, allocator));
            }
            Schema five = BIDS.select(FIVE);
            String name = factory.name();
            if (!name.equals("csv")) { // whose columns are fields by position
                measure(name, "five declared", factory.create(five, BidSchemas.options(name)), 5, encoded, allocator);
            }
            RecordFormat ten = factory.create(BIDS, BidSchemas.options(name));
            measure(name, "ten declared, five read", ten, FIVE.size(), encoded, allocator);
            measure(name, "ten", ten, BIDS.size(), encoded, allocator);
        } catch (MillraceException e) {
            System.out.printf("{\"format\":\"%s\",\"error\":\"%s\"}%n", factory.name(), e.getMessage());
        } finally {
            Closing.all(encoded);
        }
    }

    private static Records encoded(RecordFormatFactory factory, Batch batch, BufferAllocator allocator) {
        try (RecordEncoder encoder = factory.encoder(BIDS, new Options(Map.of()))) {
            Records records = new Records(allocator);
            for (int row = 0; row < batch.rowCount(); row++) {
                encoder.encode(batch, row, records.text);
                records.added();
            }
            records.place();
            return records;
        }
    }

    private void measure(
            String format,
            String what,
            RecordFormat of,
            int columns,
            List<Records> encoded,
            BufferAllocator allocator) {
        List<Integer> all = IntStream.range(0, columns).boxed().toList();
        long bytes =
                encoded.stream().mapToLong(records -> records.text.length()).sum();
        try (RecordDecoder decoder = of.decoder(all, new Context(allocator))) {
            run(decoder, encoded);
            long begun = threads.getCurrentThreadCpuTime();
            long batchesRead = run(decoder, encoded);
            double took = (threads.getCurrentThreadCpuTime() - begun) / 1e9;
            double bytesOfRecord = bytes / (double) RECORDS / encoded.size();
            System.out.printf(
                    Locale.ROOT,
                    "{\"format\":\"%s\",\"fields\":\"%s\",\"bytes_per_record\":%.0f,\"mb_per_cpu_second\":%.0f,\"rows_per_cpu_second\":%.0f}%n",
                    format,
                    what,
                    bytesOfRecord,
                    batchesRead * RECORDS * bytesOfRecord / took / 1e6,
                    batchesRead * RECORDS / took);
        }
    }

    /** Decodes for the given processor time, whatever else runs on the machine, and returns how many batches. */
    private long run(RecordDecoder decoder, List<Records> all) {
        long end = threads.getCurrentThreadCpuTime() + seconds * 1_000_000_000L;
        long rounds = 0;
        while (threads.getCurrentThreadCpuTime() < end) {
            EncodedRecords records = all.get((int) (rounds % all.size())).records;
            try (DecodedRows rows = decoder.decode(records).orElseThrow()) {
                if (rows.rows() != RECORDS) {
                    throw MillraceException.internal("of " + RECORDS + " records " + rows.rows() + " were read");
                }
            }
            rounds++;
        }
        return rounds;
    }

    private static Batch rows(RecordFormat format, EncodedRecords records, BufferAllocator allocator) {
        List<Integer> all = IntStream.range(0, BIDS.size()).boxed().toList();
        try (RecordDecoder decoder = format.decoder(all, new Context(allocator))) {
            DecodedRows rows = decoder.decode(records).orElseThrow();
            return Batch.of(BIDS, rows.columns().toArray(FieldVector[]::new), rows.rows());
        }
    }

    /** Records one after the other. */
    private static final class Records implements AutoCloseable {
        private final TextBuffer text;
        private final EncodedRecords records = new EncodedRecords();
        private final List<Integer> ends = new ArrayList<>(List.of(0));

        Records(BufferAllocator allocator) {
            text = new TextBuffer(allocator, 1 << 20);
        }

        void add(byte[] record) {
            text.append(record);
            added();
        }

        void added() {
            int end = (int) text.length();
            records.add(ends.get(ends.size() - 1), end, ends.size());
            ends.add(end);
        }

        void place() {
            text.room(EncodedRecords.SLACK_BYTES);
            records.place(text.address(), (int) text.length());
        }

        @Override
        public void close() {
            text.close();
        }
    }

    private record Context(BufferAllocator allocator) implements DecoderContext {
        @Override
        public Clock clock() {
            return Clock.system();
        }

        @Override
        public void reject(int record, String column, MillraceException reason) {
            throw reason;
        }

        @Override
        public void note(String text) {
            System.err.println(text);
        }

        @Override
        public void wakeUp() {}
    }
}
