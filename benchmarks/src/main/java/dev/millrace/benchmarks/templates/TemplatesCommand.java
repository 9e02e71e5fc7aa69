package dev.millrace.benchmarks.templates;

import dev.millrace.batch.Batch;
import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VectorSchemaRoot;
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
    private static final long LOOK_MICROS = 20_000;
    private static final int CREATED_AT_ONCE = 50_000;
    private static final double ZIPF = 1.0; // of the paper

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

    /** Events of one template and what became of them. */
    private static final class Application implements AutoCloseable {
        private final String stream;
        private final Session reader;
        private final StatementResult.Changes changes;
        private final Thread reading;
        private long[] waits = new long[1 << 16];
        private int count;
        private long answers; // the measured ones and others
        private volatile boolean ending; // written by who ends it
        private volatile long fromNanos = Long.MAX_VALUE; // events due before do not count

        Application(Database database, int number) {
            stream = "events_" + number;
            reader = database.session();
            changes = reader.subscribe("SUBSCRIBE TO t" + number + "_answers", OptionalLong.empty());
            reading = new Thread(this::read, "templates-reader-" + number);
            reading.start();
        }

        private void read() {
            while (!ending) {
                Optional<EpochChanges> next = changes.next(LOOK_MICROS);
                if (next.isPresent()) {
                    try (EpochChanges epoch = next.get()) {
                        epoch.batches().forEach(this::count);
                    }
                }
            }
        }

        private void count(Batch batch) {
            long now = System.nanoTime();
            long dues = batch.dataAddress(1);
            for (int row = 0; row < batch.rowCount(); row++) {
                long due = Memory.getLong(dues + 8L * row);
                answers++;
                if (due >= fromNanos) {
                    if (count == waits.length) {
                        waits = Arrays.copyOf(waits, 2 * count);
                    }
                    waits[count++] = now - due;
                }
            }
        }

        @Override
        public void close() {
            ending = true;
            try {
                reading.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            changes.close();
            reader.close();
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        for (int count : queries) {
            System.out.println(measured(count));
        }
        return 0;
    }

    private String measured(int count) throws InterruptedException {
        try (Database database = Database.open(DatabaseOptions.defaults());
                Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            int each = (count + templates - 1) / templates;
            for (int template = 0; template < templates; template++) {
                session.run(
                        "CREATE STREAM events_" + template + " (device BIGINT, value DOUBLE PRECISION, due BIGINT)");
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
            feed(database, all, each);
            Thread.sleep(2_000);
            all.forEach(Application::close);
            long[] waits = all.stream()
                    .flatMapToLong(one -> Arrays.stream(one.waits, 0, one.count))
                    .sorted()
                    .toArray();
            return String.format(
                    Locale.ROOT,
                    "{\"bench\":\"templates\",\"queries\":%d,\"templates\":%d,\"events\":\"%s\",\"created_per_s\":%.0f,\"bytes_per_query\":%.0f,"
                            + "\"events_per_s\":%d,\"behind_s\":%.2f,\"lost\":%d,\"cpu_us_per_event\":%.3f,\"p50_ms\":%.1f,\"p99_ms\":%.1f}",
                    each * templates,
                    templates,
                    zipf ? "zipf" : "uniform",
                    each * templates / creation,
                    bytes,
                    each * templates,
                    behindSeconds,
                    sent - all.stream().mapToLong(one -> one.answers).sum(),
                    cpuMicros,
                    quantile(waits, .5),
                    quantile(waits, .99));
        }
    }

    private long sent; // events of the run
    private double behindSeconds; // of the one that was sent last
    private double cpuMicros; // an event, while it is measured

    private void feed(Database database, List<Application> all, int each) {
        double[] cumulated = zipf ? cumulated(each) : new double[0];
        SplittableRandom random = new SplittableRandom(1);
        BufferAllocator allocator = database.engine().allocator();
        try (BigIntVector devices = new BigIntVector("device", allocator);
                Float8Vector values = new Float8Vector("value", allocator);
                BigIntVector dues = new BigIntVector("due", allocator);
                VectorSchemaRoot rows = VectorSchemaRoot.of(devices, values, dues)) {
            long start = System.nanoTime();
            long end = start + TimeUnit.SECONDS.toNanos(warmUp + seconds);
            long measuredFrom = start + TimeUnit.SECONDS.toNanos(warmUp);
            all.forEach(one -> one.fromNanos = measuredFrom);
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
                for (Application one : all) {
                    devices.allocateNew(count);
                    values.allocateNew(count);
                    dues.allocateNew(count);
                    for (int row = 0; row < count; row++) {
                        devices.set(row, zipf ? drawn(cumulated, random.nextDouble()) : (next + row) % each);
                        values.set(row, 100);
                        dues.set(row, due);
                    }
                    rows.setRowCount(count);
                    database.insert(one.stream, rows);
                }
                next = upTo;
                sent += (long) count * all.size();
                behindSeconds = (System.nanoTime() - due - TICK_NANOS) / 1e9;
            }
            cpuMicros = (ProcessClock.now().cpuNanos() - cpu) / 1e3 / Math.max(1, sent - sentBefore);
        }
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
