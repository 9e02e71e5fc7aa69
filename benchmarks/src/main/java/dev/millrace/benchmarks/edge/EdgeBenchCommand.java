package dev.millrace.benchmarks.edge;

import dev.millrace.benchmarks.sketch.Chart;
import dev.millrace.benchmarks.sketch.DataSets;
import dev.millrace.benchmarks.sketch.SyntheticSeries;
import dev.millrace.benchmarks.sketch.TimeSeries;
import dev.millrace.edge.wire.DeviceTopics;
import dev.millrace.server.config.EdgeBroker;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.gateway.EdgeGateway;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.mqtt.Mosquitto;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench edge}: an agent as it is shipped, from its start to the last row in the stream. */
@Command(
        name = "edge",
        description =
                "Starts the agent over sets of readings, with a link to a server in this process that is counted; prints a line of JSON"
                        + " for each: resident memory, time to the first connection, values for each second of a processor (with the"
                        + " JVM's start), and bytes for each hour of readings beside those of CSV, JSON, Protobuf and zstd. Then one that"
                        + " waits for 100 values a second. Last the medians of how many times less went over the link.",
        mixinStandardHelpOptions = true)
public final class EdgeBenchCommand implements Callable<Integer> {
    @Option(
            names = "--values",
            description = "How many values of each set at least; it is repeated (default: ${DEFAULT-VALUE}).")
    private long values = 4_000_000;

    @Option(names = "--error", description = "The bound of the sketches (default: ${DEFAULT-VALUE}).")
    private String error = "1%";

    @Option(names = "--segment", description = "How long a segment is (default: ${DEFAULT-VALUE}).")
    private String segment = "10m";

    @Option(
            names = "--seconds",
            description = "How long 100 values a second are sent; 0 for not at all (default: ${DEFAULT-VALUE}).")
    private int seconds = 30;

    @Option(names = "--broker", description = "Send by way of Mosquitto, which is started and has to be installed.")
    private boolean byBroker;

    @Option(names = "--png", paramLabel = "FILE", description = "Draw the bytes for each hour there.")
    private Optional<Path> picture = Optional.empty();

    @Option(names = "--data", description = "Where the real sets are; those that are not there are left out.")
    private Path data = DataSets.defaultRoot();

    private Optional<String> url = Optional.empty(); // of the broker

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (byBroker && !Mosquitto.isInstalled()) {
            System.err.println("--broker needs Mosquitto: install the package mosquitto");
            return 2;
        }
        Path folder = Files.createTempDirectory("millrace-bench-edge");
        try (Closing broker = byBroker ? broker(folder.resolve("broker")) : () -> {}) {
            List<TimeSeries> sets = new ArrayList<>();
            for (SyntheticSeries kind : SyntheticSeries.values()) {
                sets.add(kind.make(65_536));
            }
            if (Files.isDirectory(data)) {
                new DataSets(data).all().forEach(set -> sets.add(set.regular())); // times of some are numbers of rows
            }
            measure(
                    AgentReadings.of(SyntheticSeries.QUIET.make(1000), 1),
                    folder.resolve("first")); // makes the archive of classes
            List<Measured> all = new ArrayList<>();
            for (int i = 0; i < sets.size(); i++) {
                Measured was = measure(AgentReadings.of(sets.get(i), values), folder.resolve("set" + i));
                print(sets.get(i).name(), was);
                all.add(was);
            }
            printMedians(all);
            if (picture.isPresent()) {
                Files.write(
                        picture.get(), drawn(sets.stream().map(TimeSeries::name).toList(), all));
            }
            if (seconds > 0) {
                slow(folder.resolve("slow"));
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

    private record Measured(
            AgentReadings readings,
            AgentReadings.Sizes sizes,
            long linkBytes,
            double startSeconds,
            double cpuSeconds,
            double peakMb) {}

    private static void print(String set, Measured was) {
        double hours = was.readings().hours();
        AgentReadings.Sizes sizes = was.sizes();
        System.out.printf(
                Locale.ROOT,
                "{\"set\":\"%s\",\"features\":%d,\"rows\":%d,\"rss_mb\":%.1f,\"start_s\":%.2f,\"values_per_cpu_s\":%.0f,"
                        + "\"hours\":%.1f,\"link_bytes_per_hour\":%.0f,\"csv\":%.0f,\"json\":%.0f,\"protobuf\":%.0f,\"zstd\":%.0f,"
                        + "\"times_less_than_csv\":%.1f,\"times_less_than_zstd\":%.1f}%n",
                set,
                was.readings().series().features().size(),
                was.readings().rows(),
                was.peakMb(),
                was.startSeconds(),
                was.readings().values() / was.cpuSeconds(),
                hours,
                was.linkBytes() / hours,
                sizes.csv() / hours,
                sizes.json() / hours,
                sizes.protobuf() / hours,
                sizes.zstd() / hours,
                sizes.csv() / (double) was.linkBytes(),
                sizes.zstd() / (double) was.linkBytes());
    }

    private interface Closing extends AutoCloseable {
        @Override
        void close();
    }

    private Closing broker(Path folder) {
        Mosquitto started = new Mosquitto(folder);
        url = Optional.of(started.url());
        return started::close;
    }

    private static byte[] drawn(List<String> sets, List<Measured> all) {
        return Chart.dots(
                "Fig. 6.10 and 6.11: bytes for each hour of readings, one a second",
                "bytes",
                sets,
                List.of(
                        dots("JSON", all, was -> was.sizes().json()),
                        dots("CSV", all, was -> was.sizes().csv()),
                        dots("Protobuf", all, was -> was.sizes().protobuf()),
                        dots("columns in zstd", all, was -> was.sizes().zstd()),
                        dots("sketches, on the link", all, Measured::linkBytes)));
    }

    private static Chart.Dots dots(String name, List<Measured> all, ToLongFunction<Measured> bytes) {
        return new Chart.Dots(
                name,
                all.stream()
                        .map(was -> bytes.applyAsLong(was) / was.readings().hours())
                        .toList());
    }

    private static void printMedians(List<Measured> all) {
        for (boolean single : List.of(true, false)) {
            List<Measured> some = all.stream()
                    .filter(was -> was.readings().series().features().size() == 1 == single)
                    .toList();
            System.out.printf(
                    Locale.ROOT,
                    "{\"medians_of\":\"%s\",\"sets\":%d,\"times_less_than_csv\":%.1f,\"json\":%.1f,\"protobuf\":%.1f,\"zstd\":%.1f}%n",
                    single ? "one column" : "several",
                    some.size(),
                    median(some, was -> was.sizes().csv()),
                    median(some, was -> was.sizes().json()),
                    median(some, was -> was.sizes().protobuf()),
                    median(some, was -> was.sizes().zstd()));
        }
    }

    private static double median(List<Measured> all, ToLongFunction<Measured> bytes) {
        double[] ratios = all.stream()
                .mapToDouble(was -> bytes.applyAsLong(was) / (double) was.linkBytes())
                .sorted()
                .toArray();
        int middle = ratios.length / 2;
        return ratios.length == 0
                ? Double.NaN
                : ratios.length % 2 == 1 ? ratios[middle] : (ratios[middle - 1] + ratios[middle]) / 2;
    }

    private Measured measure(AgentReadings readings, Path folder) throws IOException, InterruptedException {
        Files.createDirectory(folder);
        Path csv = folder.resolve("readings.csv");
        AgentReadings.Sizes sizes = readings.write(csv);
        try (Database database = Database.open(DatabaseOptions.defaults().withData(folder.resolve("db")));
                EdgeGateway gateway = gateway(database, readings);
                CountingRelay relay = new CountingRelay(
                        url.map(at -> URI.create(at).getPort()).orElse(gateway.port()));
                AgentProcess agent = new AgentProcess(config(readings, folder, csv, relay.port(), false))) {
            agent.await();
            EdgeStatus status = database.edgeInlets().status().get(0);
            if (status.kept().rows() != readings.rows()) {
                throw new IllegalStateException(status.kept().rows() + " rows are there of " + readings.rows());
            }
            double start = (relay.connectedNanos() - agent.startNanos()) / 1e9;
            return new Measured(readings, sizes, relay.bytes(), start, agent.cpuSeconds(), agent.peakMb());
        } finally {
            Files.delete(csv);
        }
    }

    private EdgeGateway gateway(Database database, AgentReadings readings) {
        try (Session session = database.session();
                StatementResults results = session.execute(
                        "CREATE STREAM readings (" + readings.sqlColumns() + ") WITH (connector = 'edge')")) {
            results.next().close();
        }
        return url.isPresent()
                ? EdgeGateway.atBroker(
                        database, new Authentication.Trust(), 10, EdgeBroker.at(url.get(), DeviceTopics.DEFAULT_PREFIX))
                : EdgeGateway.listen(
                        database, new Authentication.Trust(), List.of("localhost"), 0, 10, Optional.empty());
    }

    private Path config(AgentReadings readings, Path folder, Path csv, int port, boolean follow) throws IOException {
        return Files.writeString(folder.resolve("edge.conf"), """
                device = millrace/bench, data = "%s"
                server { address = "localhost:%d", token = none, tls = false, transport = %s }
                streams { readings {
                  columns = [%s], time = ts
                  input { type = file, path = "%s", follow = %s, format = csv }
                  sketch { error = "%s", segment = %s }
                } }
                """.formatted(
                        folder.resolve("data"),
                        port,
                        byBroker ? "mqtt" : "tcp",
                        readings.agentColumns(),
                        csv,
                        follow,
                        error,
                        segment));
    }

    /** A reading of one feature every 10 ms. */
    private void slow(Path folder) throws IOException, InterruptedException {
        Files.createDirectory(folder);
        Path csv = Files.createFile(folder.resolve("readings.csv"));
        AgentReadings readings = AgentReadings.of(SyntheticSeries.NOISY.make(1000), 1);
        try (Database database = Database.open(DatabaseOptions.defaults().withData(folder.resolve("db")));
                EdgeGateway gateway = gateway(database, readings);
                CountingRelay relay = new CountingRelay(
                        url.map(at -> URI.create(at).getPort()).orElse(gateway.port()));
                AgentProcess agent = new AgentProcess(config(readings, folder, csv, relay.port(), true));
                Writer out = Files.newBufferedWriter(csv)) {
            double before = 0;
            int warm = 500;
            for (int i = 0; i < warm + 100 * seconds; i++) {
                out.write(java.time.Instant.now() + ","
                        + readings.series().features().get(0)[i % 1000] + "\n");
                out.flush();
                Thread.sleep(10);
                if (i == warm) {
                    agent.look();
                    before = agent.cpuSeconds();
                }
            }
            agent.look();
            System.out.printf(
                    Locale.ROOT,
                    "{\"what\":\"100 values a second\",\"seconds\":%d,\"cpu_percent\":%.2f,\"rss_mb\":%.1f}%n",
                    seconds,
                    100 * (agent.cpuSeconds() - before) / seconds,
                    agent.peakMb());
        }
    }
}
