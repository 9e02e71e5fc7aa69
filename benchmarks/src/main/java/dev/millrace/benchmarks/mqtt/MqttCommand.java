package dev.millrace.benchmarks.mqtt;

import dev.millrace.batch.Batch;
import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.eclipse.paho.mqttv5.common.MqttException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench mqtt}: messages of a broker into a view, beside a client that only counts them. */
@Command(
        name = "mqtt",
        description =
                "Has a broker in this process send messages by turns to Eclipse Paho's client, which counts them, and to a"
                        + " stream with a data directory and a view; then rows to a sink. One JSON line for each, with all of the"
                        + " process's processor time, the broker's too.",
        mixinStandardHelpOptions = true)
public final class MqttCommand implements Callable<Integer> {
    private static final String TOPIC = "readings";
    private static final long PAUSE_NANOS = 5_000_000;
    private static final long LIMIT_NANOS = 300_000_000_000L;
    private static final List<Logger> OF_OTHERS =
            List.of(Logger.getLogger("com.hivemq"), Logger.getLogger("jetbrains"), Logger.getLogger("org.eclipse"));

    @Option(names = "--messages", defaultValue = "300000", description = "How many (default: ${DEFAULT-VALUE}).")
    private int messages;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "How often each, behind one that warms up (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = "--qos", defaultValue = "1", description = "0, 1 or 2 (default: ${DEFAULT-VALUE}).")
    private int qos;

    @Option(names = "--mqtt", defaultValue = "5", description = "5 or 3.1.1, of Millrace (default: ${DEFAULT-VALUE}).")
    private String version;

    @Option(names = "--sink", description = "Rows to a sink instead.")
    private boolean isSink;

    private double cpuPerMillion; // of the last measurement

    @Override
    public Integer call() throws IOException, MqttException {
        OF_OTHERS.forEach(logger -> logger.setLevel(Level.SEVERE));
        Path folder = Files.createTempDirectory("millrace-bench-mqtt");
        try (EmbeddedBroker broker = new EmbeddedBroker(folder.resolve("broker"))) {
            for (int round = 0; round <= rounds; round++) {
                String mark = round == 0 ? "(warm-up) " : "";
                if (isSink) {
                    double sent = sink(broker, folder.resolve("data" + round));
                    print(mark + "sink", sent, "");
                } else {
                    double bare = bare(broker);
                    print(mark + "bare Paho", bare, "");
                    double stream = stream(broker, folder.resolve("data" + round));
                    print(mark + "stream", stream, String.format(Locale.ROOT, ", \"of_bare\": %.2f", stream / bare));
                }
            }
            return 0;
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private void print(String what, double perSecond, String more) {
        System.out.printf(
                Locale.ROOT,
                "{\"what\": \"%s\", \"qos\": %d, \"mqtt\": \"%s\", \"messages\": %d, \"messages_per_second\": %.0f,"
                        + " \"cpu_seconds_per_million\": %.2f%s}%n",
                what,
                qos,
                version,
                messages,
                perSecond,
                cpuPerMillion,
                more);
    }

    private double bare(EmbeddedBroker broker) throws MqttException {
        try (BareClient client = new BareClient(broker.url(), TOPIC, qos)) {
            return received(broker, client::count);
        }
    }

    private double stream(EmbeddedBroker broker, Path data) {
        try (Database database = Database.open(DatabaseOptions.defaults().withData(data));
                Session session = database.session()) {
            run(
                    session,
                    "CREATE STREAM s (device BIGINT, celsius DOUBLE PRECISION, at TIMESTAMP) WITH (connector = 'mqtt', url = '"
                            + broker.url() + "', topic = '" + TOPIC + "', qos = " + qos + ", version = '" + version
                            + "')");
            run(
                    session,
                    "CREATE MATERIALIZED VIEW n AS SELECT device, count(*) AS n, avg(celsius) AS celsius FROM s GROUP BY device");
            await(() -> number(session, "SELECT count(*) FROM millrace.sources WHERE position = 'subscribed'"), 1);
            double perSecond = received(
                    broker, () -> number(session, "SELECT coalesce(sum(records), 0)::bigint FROM millrace.sources"));
            await(() -> number(session, "SELECT coalesce(sum(n), 0)::bigint FROM n"), messages);
            run(session, "DROP MATERIALIZED VIEW n");
            run(session, "DROP STREAM s");
            return perSecond;
        }
    }

    private double sink(EmbeddedBroker broker, Path data) {
        try (Database database = Database.open(DatabaseOptions.defaults().withData(data));
                Session session = database.session()) {
            run(session, "CREATE STREAM s (device BIGINT, celsius DOUBLE PRECISION)");
            run(
                    session,
                    "CREATE SINK k FROM s WITH (connector = 'mqtt', url = '" + broker.url() + "', topic = 'out', qos = "
                            + qos + ", version = '" + version + "')");
            ProcessClock.Reading start = ProcessClock.now();
            run(session, "INSERT INTO s SELECT i % 100, i / 7.0 FROM generate_series(1, " + messages + ") AS t (i)");
            await(() -> number(session, "SELECT sum(records)::bigint FROM millrace.sinks"), messages);
            return perSecond(start);
        }
    }

    private double received(EmbeddedBroker broker, LongSupplier count) {
        ProcessClock.Reading start = ProcessClock.now();
        broker.flood(
                TOPIC,
                i -> ("{\"device\": " + i % 100 + ", \"celsius\": " + i % 400 / 10.0
                                + ", \"at\": \"2026-01-01 12:00:00\"}")
                        .getBytes(StandardCharsets.UTF_8),
                messages,
                qos);
        await(count, messages);
        return perSecond(start);
    }

    private double perSecond(ProcessClock.Reading start) {
        ProcessClock.Reading end = ProcessClock.now();
        cpuPerMillion = (end.cpuNanos() - start.cpuNanos()) / 1e3 / messages;
        return messages / ((end.nanos() - start.nanos()) / 1e9);
    }

    private static void await(LongSupplier count, long most) {
        long start = System.nanoTime();
        while (count.getAsLong() < most) {
            if (System.nanoTime() - start > LIMIT_NANOS) {
                throw new IllegalStateException(count.getAsLong() + " are there of " + most);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static long number(Session session, String sql) {
        try (StatementResults results = session.execute(sql);
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
