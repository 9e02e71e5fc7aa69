package dev.millrace.benchmarks.templates;

import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.mqtt.Mosquitto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Queries of templates, each with an event a second that it wants. A template has a stream of its own, and a subscriber to all of its answers. Latency is
 * counted from when an event was due until its answer is at hand.
 */
@Command(
        name = "templates",
        description = "Runs many queries of templates at one event a second each; a JSON line for each number of them.",
        mixinStandardHelpOptions = true)
public final class TemplatesCommand implements Callable<Integer> {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int CREATED_AT_ONCE = 50_000;
    private static final double ZIPF = 1.0; // of the paper
    private static final int STEPS_BETWEEN = 2;
    private static final double WELL_MEDIAN_MILLIS = 100; // as in the paper
    private static final double WELL_P99_MILLIS = 1_000;

    @Option(
            names = "--queries",
            split = ",",
            defaultValue = "10000,100000,1000000",
            description = "How many (default: ${DEFAULT-VALUE}).")
    private List<Integer> queries;

    @Option(
            names = "--templates",
            defaultValue = "15",
            description = "Of how many templates (default: ${DEFAULT-VALUE}).")
    private int templates;

    @Option(names = "--seconds", defaultValue = "20", description = "That are measured (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--warm-up", defaultValue = "10", description = "Seconds before (default: ${DEFAULT-VALUE}).")
    private int warmUp;

    @Option(
            names = "--zipf",
            description =
                    "Queries have events by Zipf's law with exponent 1, and not one a second each; as many in all.")
    private boolean zipf;

    @Option(
            names = "--broker",
            description =
                    "Events are messages of MQTT, a JSON object each, at QoS 0 through Eclipse Mosquitto on this machine.")
    private boolean byBroker;

    @Option(
            names = "--find",
            description =
                    "Finds how many there may be with a median below 100 ms and 99 % below 1 s, from the first of --queries on: twice as many as"
                            + " long as that holds, then between.")
    private boolean isFinding;

    /** What was measured of a number of queries. */
    private record Measured(String line, boolean isWell) {}

    @Override
    public Integer call() throws InterruptedException, IOException {
        if (byBroker && !Mosquitto.isInstalled()) {
            System.err.println("--broker needs Mosquitto: install the package mosquitto");
            return 2;
        }
        if (isFinding) {
            find(queries.get(0));
            return 0;
        }
        for (int count : queries) {
            System.out.println(measured(count).line());
        }
        return 0;
    }

    private void find(int first) throws InterruptedException, IOException {
        int well = 0;
        int count = first;
        while (isWell(count)) {
            well = count;
            count = Math.multiplyExact(2, count);
        }
        int tooMany = count;
        for (int step = 0; well > 0 && step < STEPS_BETWEEN; step++) {
            int between = well + (tooMany - well) / 2;
            if (isWell(between)) {
                well = between;
            } else {
                tooMany = between;
            }
        }
        System.out.printf(
                Locale.ROOT,
                "{\"bench\":\"templates\",\"found\":%d,\"too_many\":%d,\"events\":\"%s\",\"broker\":%b}%n",
                well,
                tooMany,
                zipf ? "zipf" : "uniform",
                byBroker);
    }

    private boolean isWell(int count) throws InterruptedException, IOException {
        Measured measured = measured(count);
        System.out.println(measured.line());
        return measured.isWell();
    }

    private Measured measured(int count) throws InterruptedException, IOException {
        if (!byBroker) {
            try (Database database = Database.open(DatabaseOptions.defaults());
                    EventFeed feed = new InsertedEvents(database)) {
                return measured(database, feed, count);
            }
        }
        Path folder = Files.createTempDirectory("millrace-bench-templates");
        try (Mosquitto broker = new Mosquitto(folder);
                Database database = Database.open(DatabaseOptions.defaults());
                EventFeed feed = new PublishedEvents(broker.url())) {
            return measured(database, feed, count);
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private Measured measured(Database database, EventFeed feed, int count) throws InterruptedException {
        try (Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            int each = (count + templates - 1) / templates;
            for (int template = 0; template < templates; template++) {
                session.run(feed.definition(template));
                session.run("CREATE QUERY TEMPLATE t" + template
                        + "(dev BIGINT, low DOUBLE PRECISION) AS SELECT due FROM events_" + template
                        + " WHERE device = dev AND value > low");
            }
            long before = ProcessClock.memoryBytes(database);
            long from = System.nanoTime();
            for (int template = 0; template < templates; template++) {
                for (int first = 0; first < each; first += CREATED_AT_ONCE) {
                    session.run("INSERT INTO t" + template + " SELECT 'query_' || g, g, g % 100 FROM generate_series("
                            + first + ", " + (Math.min(each, first + CREATED_AT_ONCE) - 1) + ") AS g");
                }
            }
            session.run("FLUSH");
            double creation = (System.nanoTime() - from) / 1e9;
            double bytes = (ProcessClock.memoryBytes(database) - before) / (double) (each * templates);
            List<Application> all = new ArrayList<>();
            for (int template = 0; template < templates; template++) {
                all.add(new Application(database, template));
            }
            feed(feed, all, each);
            Thread.sleep(2_000);
            all.forEach(Application::close);
            long[] waits =
                    all.stream().flatMapToLong(Application::waits).sorted().toArray();
            long lost = sent - all.stream().mapToLong(Application::answers).sum();
            double median = quantile(waits, .5);
            double ofHundred = quantile(waits, .99);
            String line = String.format(
                    Locale.ROOT,
                    "{\"bench\":\"templates\",\"queries\":%d,\"templates\":%d,\"events\":\"%s\",\"broker\":%b,\"created_per_s\":%.0f,"
                            + "\"bytes_per_query\":%.0f,\"events_per_s\":%d,\"behind_s\":%.2f,\"lost\":%d,\"cpu_us_per_event\":%.3f,\"p50_ms\":%.1f,\"p99_ms\":%.1f}",
                    each * templates,
                    templates,
                    zipf ? "zipf" : "uniform",
                    byBroker,
                    each * templates / creation,
                    bytes,
                    each * templates,
                    behindSeconds,
                    lost,
                    cpuMicros,
                    median,
                    ofHundred);
            return new Measured(line, lost == 0 && median < WELL_MEDIAN_MILLIS && ofHundred < WELL_P99_MILLIS);
        }
    }

    private long sent; // events of the run
    private double behindSeconds; // of the one that was sent last
    private double cpuMicros; // of this process for an event, while it is measured

    private void feed(EventFeed feed, List<Application> all, int each) {
        double[] cumulated = zipf ? cumulated(each) : new double[0];
        SplittableRandom random = new SplittableRandom(1);
        long[] devices = new long[0];
        long start = System.nanoTime();
        long end = start + TimeUnit.SECONDS.toNanos(warmUp + seconds);
        long measuredFrom = start + TimeUnit.SECONDS.toNanos(warmUp);
        all.forEach(one -> one.measureFrom(measuredFrom));
        long cpu = 0;
        long sentBefore = 0;
        sent = 0;
        long next = 0; // of each application
        for (long due = start; due < end; due += TICK_NANOS) {
            for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                LockSupport.parkNanos(due - now);
            }
            if (cpu == 0 && due >= measuredFrom) {
                cpu = ProcessClock.now().cpuNanos();
                sentBefore = sent;
            }
            long upTo = (long) ((due + TICK_NANOS - start) / 1e9 * each);
            int count = (int) (upTo - next);
            devices = devices.length < count ? new long[count] : devices;
            for (int application = 0; application < all.size(); application++) {
                for (int row = 0; row < count; row++) {
                    devices[row] = zipf ? drawn(cumulated, random.nextDouble()) : (next + row) % each;
                }
                feed.send(application, devices, count, due);
            }
            feed.flush();
            next = upTo;
            sent += (long) count * all.size();
            behindSeconds = (System.nanoTime() - due - TICK_NANOS) / 1e9;
        }
        cpuMicros = (ProcessClock.now().cpuNanos() - cpu) / 1e3 / Math.max(1, sent - sentBefore);
    }

    private static double[] cumulated(int each) {
        double[] sums = new double[each];
        double sum = 0;
        for (int i = 0; i < each; i++) {
            sum += 1 / Math.pow(i + 1.0, ZIPF);
            sums[i] = sum;
        }
        return sums;
    }

    private static int drawn(double[] cumulated, double at) {
        int place = Arrays.binarySearch(cumulated, at * cumulated[cumulated.length - 1]);
        return Math.min(cumulated.length - 1, place < 0 ? -place - 1 : place);
    }

    private static double quantile(long[] sorted, double part) {
        return sorted.length == 0
                ? Double.NaN
                : sorted[(int) Math.min(sorted.length - 1, (long) (sorted.length * part))] / 1e6;
    }
}
