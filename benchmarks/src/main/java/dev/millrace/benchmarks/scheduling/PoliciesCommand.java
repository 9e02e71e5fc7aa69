package dev.millrace.benchmarks.scheduling;

import dev.millrace.batch.Closing;
import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.benchmarks.process.SessionStatements.Times;
import dev.millrace.memory.Memory;
import dev.millrace.scheduler.simulation.Delays;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench policies}: the experiments of Klink's section 6 in the engine. Many queries with windows, each over a stream of its own, whose rows arrive late; by
 * each policy in turn. The age of an answer is how long after the end of its window it came to a subscriber, the delay of its rows included.
 */
@Command(
        name = "policies",
        description =
                "Runs queries with windows in the engine, each over a stream of its own, under each of the scheduler's policies by"
                        + " turns: how old their answers are. One JSON line each.",
        mixinStandardHelpOptions = true)
public final class PoliciesCommand implements Callable<Integer> {
    private static final int MOST_ROWS = 100_000; // that a stream brings at once
    private static final int ROWS_TOGETHER = 10_000; // where as many come as are taken
    private static final long LOOK_MILLIS = 100;

    @Option(
            names = "--workloads",
            split = ",",
            defaultValue = "YSB,LINEAR_ROAD,NYC_TAXI",
            description = "Default: ${DEFAULT-VALUE}.")
    private List<WindowWorkload> workloads;

    @Option(names = "--queries", split = ",", defaultValue = "40", description = "Default: ${DEFAULT-VALUE}.")
    private List<Integer> queries;

    @Option(
            names = "--policies",
            split = ",",
            defaultValue = "fcfs,round_robin,highest_rate,streambox,klink,klink_shortest",
            description = "Default: ${DEFAULT-VALUE}.")
    private List<String> policies;

    @Option(
            names = "--loads",
            split = ",",
            defaultValue = "0.9",
            description = "Of the rows that are taken where they come as fast as they are (default: ${DEFAULT-VALUE}).")
    private List<Double> loads;

    @Option(
            names = "--delays",
            split = ",",
            defaultValue = "uniform,zipf",
            description = "Of rows, up to half a second (default: ${DEFAULT-VALUE}).")
    private List<String> delays;

    @Option(
            names = "--burst",
            defaultValue = "4",
            description =
                    "How many times its mean a stream brings in a tenth of the seconds (default: ${DEFAULT-VALUE}).")
    private double burst;

    @Option(
            names = "--workers",
            defaultValue = "1",
            description = "Worker threads; a thread feeds beside them (default: ${DEFAULT-VALUE}).")
    private int workers;

    @Option(names = "--seconds", defaultValue = "20", description = "Of each run (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(names = "--turns", defaultValue = "1", description = "Of each policy (default: ${DEFAULT-VALUE}).")
    private int turns;

    @Override
    public Integer call() throws Exception {
        for (WindowWorkload workload : workloads) {
            for (int count : queries) {
                double capacity = capacity(workload, count);
                for (String delay : delays) {
                    for (double load : loads) {
                        for (int turn = 0; turn < turns; turn++) {
                            for (String policy : policies) {
                                System.out.println(measured(
                                        new Case(workload, count, policy, delay, load, capacity * load / count)));
                            }
                        }
                    }
                }
            }
        }
        return 0;
    }

    /** @param rate rows a second of a stream */
    private record Case(WindowWorkload workload, int queries, String policy, String delays, double load, double rate) {
        Delays drawn() {
            long most = TimeUnit.MILLISECONDS.toNanos(500);
            return delays.equals("zipf") ? Delays.zipf(.99, most) : Delays.uniform(most);
        }
    }

    /** A database with queries that run, and what feeds them. */
    private final class Running implements AutoCloseable {
        private final Database database;
        private final BufferAllocator allocator = new RootAllocator();
        private final List<FieldVector> columns;
        private final List<WindowFeed> feeds = new ArrayList<>();
        private final List<AnswerAges> ages = new ArrayList<>();

        /** @param rows that may come together */
        Running(Case of, int rows) {
            database = Database.open(DatabaseOptions.defaults().withWorkers(workers));
            run("SET scheduling_policy = '" + of.policy + "'");
            of.workload.tables().forEach(this::run);
            columns = of.workload.columns(allocator, rows, new SplittableRandom(1));
            columns.forEach(column -> column.setValueCount(rows));
            WindowFeed.Shape shape = new WindowFeed.Shape(of.queries, of.rate, burst, of.drawn());
            for (int i = 0; i < of.queries; i++) {
                of.workload.of(i).forEach(this::run);
                WindowFeed feed = new WindowFeed(database, shape, i, columns, allocator);
                AnswerAges age = new AnswerAges(end -> feed.micros() - end);
                feeds.add(feed);
                ages.add(age);
                database.subscribe("SUBSCRIBE TO " + WindowWorkload.name(i)).subscribe(age);
            }
        }

        /** Feeds all for some seconds; returns how many rows. */
        long feed(double forSeconds) throws InterruptedException, ExecutionException {
            ExecutorService threads = Executors.newFixedThreadPool(feeds.size());
            try {
                long rows = 0;
                for (Future<Long> fed : threads.invokeAll(feeds.stream()
                        .map(feed -> (Callable<Long>) () -> feed.feed(forSeconds))
                        .toList())) {
                    rows += fed.get();
                }
                return rows;
            } finally {
                threads.shutdown();
            }
        }

        /** The times that rows of each stream have now. */
        long[] micros() {
            return feeds.stream().mapToLong(WindowFeed::micros).toArray();
        }

        void run(String sql) {
            try (Session session = database.session()) {
                new SessionStatements(session).run(sql);
            }
        }

        /** The numbers in the first row of a query. */
        long[] numbers(String sql, int columns) {
            long[] found = new long[columns];
            try (StatementResult.Rows result = database.query(sql)) {
                result.forEach(batch -> {
                    for (int column = 0; column < columns && batch.rowCount() > 0; column++) {
                        found[column] = Memory.getLong(batch.dataAddress(column));
                    }
                });
            }
            return found;
        }

        @Override
        public void close() {
            ages.forEach(AnswerAges::isOver);
            database.close();
            Closing.all(feeds);
            Closing.all(columns);
            allocator.close();
        }
    }

    /** Rows a second that are taken, of all streams together. */
    private double capacity(WindowWorkload workload, int count) throws InterruptedException, ExecutionException {
        Case most = new Case(workload, count, "fcfs", "uniform", 1, 0);
        try (Running running = new Running(most, ROWS_TOGETHER)) {
            running.feed(seconds / 2); // the code is compiled by then
            running.run("FLUSH");
            long began = System.nanoTime();
            long rows = running.feed(seconds / 4);
            running.run("FLUSH");
            return rows / ((System.nanoTime() - began) / 1e9);
        }
    }

    private String measured(Case of) throws InterruptedException, ExecutionException {
        try (Running running = new Running(of, MOST_ROWS)) {
            running.feed(seconds / 4);
            AtomicLong mostMemory = new AtomicLong();
            Thread watch = watch(running.database, mostMemory);
            long[] from = running.micros();
            long began = System.nanoTime();
            long rows = running.feed(seconds);
            double took = (System.nanoTime() - began) / 1e9;
            long[] until = running.micros();
            running.run("FLUSH");
            watch.interrupt();
            watch.join();
            TimeUnit.MILLISECONDS.sleep(2 * LOOK_MILLIS); // subscribers have a thread each
            double[] millis = new double[0];
            for (int i = 0; i < of.queries; i++) { // the last windows may wait for rows that do not come
                double[] some = running.ages.get(i).between(from[i], until[i] - TimeUnit.SECONDS.toMicros(1));
                int before = millis.length;
                millis = Arrays.copyOf(millis, before + some.length);
                System.arraycopy(some, 0, millis, before, some.length);
            }
            long[] estimates = running.numbers("SELECT estimates, estimates_right FROM millrace.scheduler", 2);
            return String.format(
                    Locale.ROOT,
                    "{\"bench\":\"policies\",\"workload\":\"%s\",\"queries\":%d,\"policy\":\"%s\",\"delays\":\"%s\",\"load\":%.2f,\"answers\":%d,"
                            + "\"mean_ms\":%.0f,\"p50_ms\":%.0f,\"p99_ms\":%.0f,\"max_ms\":%.0f,\"rows_per_second\":%.0f,\"most_memory_mb\":%d,"
                            + "\"estimates\":%d,\"estimates_right\":%d}",
                    of.workload.name().toLowerCase(Locale.ROOT),
                    of.queries,
                    of.policy,
                    of.delays,
                    of.load,
                    millis.length,
                    Arrays.stream(millis).average().orElse(Double.NaN),
                    Times.quantile(millis, .5),
                    Times.quantile(millis, .99),
                    Times.quantile(millis, 1),
                    rows / took,
                    mostMemory.get() >> 20,
                    estimates[0],
                    estimates[1]);
        }
    }

    private static Thread watch(Database database, AtomicLong most) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    most.accumulateAndGet(database.engine().allocator().getAllocatedMemory(), Math::max);
                    TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
