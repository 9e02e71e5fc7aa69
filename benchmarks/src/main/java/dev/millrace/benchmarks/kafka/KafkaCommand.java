package dev.millrace.benchmarks.kafka;

import dev.millrace.batch.Batch;
import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.registry.RegistryServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench kafka}: JSON or Avro bids of a topic into a windowed view, and into another topic; that exactly once by turns with
 * {@link BareClients}.
 */
@Command(
        name = "kafka",
        description =
                "Writes bids to a topic of a broker in this process, reads them into a view over windows, and passes"
                        + " them on to another topic; one JSON line for each, with all of the process's processor time.",
        mixinStandardHelpOptions = true)
public final class KafkaCommand implements Callable<Integer> {
    private static final int PARTITIONS = 2;
    private static final String EXACTLY_ONCE = ", delivery = 'exactly_once', checkpoint_interval = '1 s'";

    /** Kept, as levels go with their loggers. */
    private static final List<Logger> OF_KAFKA = List.of(
            Logger.getLogger("org.apache.kafka"), Logger.getLogger("kafka"), Logger.getLogger("state.change.logger"));

    @Option(names = "--records", defaultValue = "2000000", description = "How many bids (default: ${DEFAULT-VALUE}).")
    private int records;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "How often each; the first warms up (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = "--format", defaultValue = "json", description = "json or avro (default: ${DEFAULT-VALUE}).")
    private String format;

    @Option(
            names = "--flink",
            paramLabel = "PROJECT",
            description =
                    "The view alone, beside Flink SQL, each in a process without the broker, by turns; the project is"
                            + " benchmarks/peers/flink, which Maven builds first.")
    private Optional<Path> flink = Optional.empty();

    @Option(names = "--of", hidden = true, description = "The view alone, of brokers that have the topic.")
    private Optional<String> bootstrap = Optional.empty();

    private long bytes;
    private String of = ""; // options of the format

    @Override
    public Integer call() throws IOException, InterruptedException {
        OF_KAFKA.forEach(logger -> logger.setLevel(Level.SEVERE));
        if (bootstrap.isPresent()) {
            views(bootstrap.get());
            return 0;
        }
        if (flink.isPresent()) {
            new BesideFlink(flink.get()).build();
        }
        Path folder = Files.createTempDirectory("millrace-bench-kafka");
        try (KafkaBroker broker = KafkaBroker.start(folder);
                RegistryServer registry = RegistryServer.start()) {
            broker.topic("bids", PARTITIONS);
            of = format.equals("avro") ? ", format = 'avro', schema_registry = '" + registry.address() + "'" : "";
            write(broker, registry);
            if (flink.isPresent()) {
                new BesideFlink(flink.get()).measure(broker.bootstrap(), "bids", records, rounds);
                return 0;
            }
            views(broker.bootstrap());
            for (int round = 0; round < rounds; round++) {
                broker.topic("out" + round, PARTITIONS);
                measure(
                        "topic to topic, at least once",
                        broker.bootstrap(),
                        round,
                        "CREATE SINK k FROM bids" + with(broker, "out" + round, ""));
            }
            for (int round = 0; round < rounds; round++) {
                broker.topic("bare" + round, PARTITIONS);
                ProcessClock.Reading start = ProcessClock.now();
                new BareClients(broker.bootstrap()).passOn("bids", "bare" + round, PARTITIONS, records);
                print("topic to topic, exactly once", "clients", round, start, ProcessClock.now());
                broker.topic("once" + round, PARTITIONS);
                measure(
                        "topic to topic, exactly once",
                        broker.bootstrap(),
                        round,
                        "CREATE SINK k FROM bids" + with(broker, "once" + round, EXACTLY_ONCE));
            }
            return 0;
        } finally {
            delete(folder);
        }
    }

    private void views(String brokers) throws IOException {
        for (int round = 0; round < rounds; round++) {
            measure("view", brokers, round, """
                    CREATE MATERIALIZED VIEW w AS SELECT window_start, auction % 100 AS a, count(*) AS n, max(price) AS most
                    FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(datetime), INTERVAL '10' SECONDS))
                    GROUP BY window_start, window_end, auction % 100""");
        }
    }

    private String with(KafkaBroker broker, String topic, String more) {
        return " WITH (connector = 'kafka', bootstrap = '" + broker.bootstrap() + "', topic = '" + topic + "'" + of
                + more + ")";
    }

    private void write(KafkaBroker broker, RegistryServer registry) {
        SplittableRandom random = new SplittableRandom(1);
        boolean isAvro = format.equals("avro");
        int schema = isAvro ? registry.register("bids-value", "AVRO", AvroBid.SCHEMA) : 0;
        try (KafkaProducer<byte[], byte[]> producer =
                broker.producer(Map.of("batch.size", "200000", "linger.ms", "20"))) {
            for (int i = 0; i < records; i++) {
                byte[] bid = isAvro ? AvroBid.of(schema, random, i) : bid(random, i);
                bytes += bid.length;
                producer.send(new ProducerRecord<>("bids", i % PARTITIONS, null, bid));
            }
        }
    }

    /** Ten fields, of which the stream has five; ten thousand bids a second. */
    private static byte[] bid(SplittableRandom random, int i) {
        int second = i / 10_000;
        return String.format(
                        Locale.ROOT,
                        "{\"auction\":%d,\"bidder\":%d,\"price\":%d,\"channel\":\"channel-%d\",\"url\":\"https://www.nexmark.com/item.htm?query=%d\","
                                + "\"datetime\":\"2026-01-01T10:%02d:%02d.%03d\",\"extra\":\"%s\",\"currency\":\"EUR\",\"rate\":1.25,\"automatic\":false}",
                        1000 + random.nextInt(100_000),
                        1000 + random.nextInt(100_000),
                        random.nextInt(10_000_000),
                        random.nextInt(10_000),
                        random.nextInt(1_000_000),
                        second / 60 % 60,
                        second % 60,
                        i % 10_000 / 10,
                        "abcdefghij".repeat(5))
                .getBytes(StandardCharsets.UTF_8);
    }

    private void measure(String what, String brokers, int round, String create) throws IOException {
        boolean isOnce = create.contains(EXACTLY_ONCE);
        Path data = Files.createTempDirectory("millrace-bench-kafka-data");
        DatabaseOptions inMemory = DatabaseOptions.defaults();
        try (Database database = Database.open(isOnce ? inMemory.withData(data) : inMemory);
                Session session = database.session()) {
            run(
                    session,
                    "CREATE STREAM bids (auction BIGINT, bidder BIGINT, price BIGINT, channel TEXT, datetime TIMESTAMP,"
                            + " WATERMARK FOR datetime AS datetime - INTERVAL '1 second') WITH (connector = 'kafka',"
                            + " mode = 'once', bootstrap = '" + brokers + "', topic = 'bids'" + of + ")");
            ProcessClock.Reading start = ProcessClock.now();
            run(session, create);
            session.flush();
            if (isOnce) {
                run(session, "CHECKPOINT");
                while (number(session, "SELECT sum(records)::bigint FROM millrace.sinks") < records) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                }
            }
            ProcessClock.Reading end = ProcessClock.now();
            long read = number(session, "SELECT sum(rows_in)::bigint FROM millrace.query_stats");
            if (read != records) {
                throw new IllegalStateException(read + " records were read of " + records);
            }
            print(what, "millrace", round, start, end);
        } finally {
            delete(data);
        }
    }

    private void print(String what, String whose, int round, ProcessClock.Reading start, ProcessClock.Reading end) {
        double seconds = (end.nanos() - start.nanos()) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "{\"what\": \"%s%s\", \"of\": \"%s\", \"format\": \"%s\", \"records\": %d, \"rows_per_second\": %.0f,%s"
                        + " \"cpu_seconds_per_million\": %.2f}%n",
                round == 0 ? "(warm-up) " : "",
                what,
                whose,
                format,
                records,
                records / seconds,
                bytes == 0 ? "" : String.format(Locale.ROOT, " \"mb_per_second\": %.0f,", bytes / 1e6 / seconds),
                (end.cpuNanos() - start.cpuNanos()) / 1e3 / records);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    private static long number(Session session, String query) {
        try (StatementResults results = session.execute(query);
                StatementResult result = results.next();
                Batch batch = ((StatementResult.Rows) result).next().orElseThrow()) {
            return Memory.getLong(batch.dataAddress(0));
        }
    }

    private static void run(Session session, String sql) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows) {
                        throw new IllegalStateException("rows of " + sql);
                    }
                }
            }
        }
    }
}
