package dev.millrace.benchmarks.suite;

import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.runtime.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench checkpoints}: what checkpoints cost of throughput. Each query runs to the end of its streams without and
 * with a checkpoint every so often, by turns in one process; the first turn of each, 0, only warms up. Beside it rows are inserted at a steady
 * rate, and read by a subscriber ({@link InsertProbe}). What is written is copied in memory, so that no disk is measured.
 */
@Command(
        name = "checkpoints",
        description = "Measures NEXMark queries with and without checkpoints, by turns; one JSON line per run.",
        mixinStandardHelpOptions = true)
public final class CheckpointsCommand implements Callable<Integer> {
    private static final long WARM_EVENTS = 20_000_000;
    private static final int RUN_CHECKPOINTS = 5; // that a run has time for

    @Option(
            names = "--queries",
            split = ",",
            defaultValue = "q5,q4,q18",
            paramLabel = "NAME",
            description = "Which (default: ${DEFAULT-VALUE}).")
    private List<String> queries = List.of();

    @Option(
            names = "--events",
            description =
                    "Of all kinds (default: 20 million to warm up, then what takes some five times --every by the speed of that).")
    private Optional<Long> events = Optional.empty();

    @Option(
            names = "--rate",
            defaultValue = "100000",
            description = "Events per second of event time (default: ${DEFAULT-VALUE}).")
    private long rate;

    @Option(names = "--every", defaultValue = "10", description = "Seconds (default: ${DEFAULT-VALUE}).")
    private double everySeconds;

    @Option(names = "--turns", defaultValue = "3", description = "Of each query (default: ${DEFAULT-VALUE}).")
    private int turns;

    @Option(names = "--workers", defaultValue = "2", description = "Worker threads (default: ${DEFAULT-VALUE}).")
    private int workers;

    @Option(
            names = "--inserts",
            defaultValue = "200",
            description = "Rows per second that a client inserts beside it, 0 for none (default: ${DEFAULT-VALUE}).")
    private int inserts;

    /** Of the turns of a query, without checkpoints and with them: events per second, p99 of the waits in ms, CPU seconds. */
    private final List<List<double[]>> turnsOf = new ArrayList<>();

    private int fewestCheckpoints; // in a turn that has them
    private double eventsPerSecond; // of a query, the fastest while it warms up

    @Override
    public Integer call() throws InterruptedException {
        Suite suite = Suite.named("nexmark");
        for (String query : queries) {
            turnsOf.clear();
            fewestCheckpoints = Integer.MAX_VALUE;
            eventsPerSecond = 0;
            turnsOf.add(new ArrayList<>());
            turnsOf.add(new ArrayList<>());
            for (int turn = 0; turn <= turns; turn++) {
                Inputs inputs = new Inputs(eventsOf(turn), rate, Inputs.usualData(), FunctionJar.of(suite));
                run(suite, inputs, query, turn, false);
                run(suite, inputs, query, turn, true);
            }
            sum(query);
        }
        return 0;
    }

    private long eventsOf(int turn) {
        long measured = (long) (eventsPerSecond * RUN_CHECKPOINTS * everySeconds);
        return events.orElse(turn == 0 ? WARM_EVENTS : Math.max(WARM_EVENTS, measured));
    }

    private void run(Suite suite, Inputs inputs, String query, int turn, boolean checkpoints)
            throws InterruptedException {
        try (SuiteRun run = new SuiteRun(suite, query, inputs, workers)) {
            Every every = new Every(run.engine(), everySeconds);
            if (checkpoints) {
                every.start();
            }
            Optional<InsertProbe> probe =
                    inserts > 0 ? Optional.of(new InsertProbe(run.database(), inserts)) : Optional.empty();
            Measurement measured = run.measure();
            probe.ifPresent(InsertProbe::close);
            every.end();
            double[] waits = {
                probe.map(one -> one.millis(.5)).orElse(0.),
                probe.map(one -> one.millis(.99)).orElse(0.),
                probe.map(one -> one.millis(1)).orElse(0.)
            };
            print(query, turn, checkpoints, measured, every.summaries, waits);
            if (turn == 0) {
                eventsPerSecond = Math.max(eventsPerSecond, measured.events() / measured.seconds());
            } else {
                turnsOf.get(checkpoints ? 1 : 0)
                        .add(new double[] {measured.events() / measured.seconds(), waits[1], measured.cpuSeconds()});
                fewestCheckpoints =
                        checkpoints ? Math.min(fewestCheckpoints, every.summaries.size()) : fewestCheckpoints;
            }
        }
    }

    /** Prints what checkpoints cost, by the medians of the turns; null where a turn ended before its first checkpoint. */
    private void sum(String query) {
        if (turns == 0) {
            return;
        }
        boolean isMeasured = fewestCheckpoints > 0;
        System.out.printf(
                Locale.ROOT,
                "{\"bench\":\"checkpoints\",\"query\":\"%s\",\"throughput_ratio\":%s,\"p99_added_ms\":%s,"
                        + "\"cpu_ratio\":%s,\"fewest_checkpoints\":%d}%n",
                query,
                isMeasured ? String.format(Locale.ROOT, "%.3f", median(1, 0) / median(0, 0)) : "null",
                isMeasured ? String.format(Locale.ROOT, "%.1f", median(1, 1) - median(0, 1)) : "null",
                isMeasured ? String.format(Locale.ROOT, "%.3f", median(1, 2) / median(0, 2)) : "null",
                fewestCheckpoints);
        if (!isMeasured) {
            System.err.printf(
                    "%s: a run ended before its first checkpoint, so nothing is compared: raise --events or lower --every%n",
                    query);
        }
    }

    private double median(int side, int value) {
        double[] sorted = turnsOf.get(side).stream()
                .mapToDouble(turn -> turn[value])
                .sorted()
                .toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private void print(
            String query,
            int turn,
            boolean checkpoints,
            Measurement measured,
            List<CheckpointSummary> all,
            double[] waits) {
        System.out.printf(
                Locale.ROOT,
                "{\"bench\":\"checkpoints\",\"query\":\"%s\",\"turn\":%d,\"workers\":%d,\"events\":%d,\"every_s\":%s,"
                        + "\"seconds\":%.2f,\"cpu_s\":%.2f,\"events_per_s\":%.0f,\"checkpoints\":%d,\"mean_mb\":%.1f,\"mb\":%s,\"mean_ms\":%.1f,"
                        + "\"longest_hold_ms\":%.1f,\"insert_p50_ms\":%.2f,\"insert_p99_ms\":%.2f,"
                        + "\"insert_max_ms\":%.2f}%n",
                query,
                turn,
                workers,
                measured.events(),
                checkpoints ? Double.toString(everySeconds) : "null",
                measured.seconds(),
                measured.cpuSeconds(),
                measured.events() / measured.seconds(),
                all.size(),
                all.stream().mapToLong(CheckpointSummary::bytes).average().orElse(0) / 1e6,
                all.stream().map(each -> each.bytes() / 1_000_000).toList(),
                all.stream().mapToLong(CheckpointSummary::nanos).average().orElse(0) / 1e6,
                all.stream().mapToLong(CheckpointSummary::barrierNanos).max().orElse(0) / 1e6,
                waits[0],
                waits[1],
                waits[2]);
    }

    /** Makes checkpoints of an engine until it is told to end, each going on from the one before. */
    private static final class Every extends Thread {
        private final Engine engine;
        private final long nanos;
        private final List<CheckpointSummary> summaries = new ArrayList<>(); // this thread's, until it has ended
        private volatile boolean ending; // written by who measures, read by this thread

        Every(Engine engine, double seconds) {
            super("bench-checkpoints");
            this.engine = engine;
            this.nanos = (long) (seconds * 1e9);
        }

        @Override
        public void run() {
            CopyingWriter writer = new CopyingWriter();
            try {
                for (long next = System.nanoTime() + nanos; !ending; next += nanos) {
                    while (!ending && System.nanoTime() < next) {
                        TimeUnit.MILLISECONDS.sleep(10);
                    }
                    if (!ending) {
                        summaries.add(engine.checkpoint(writer, () -> {}));
                        writer.finish();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void end() throws InterruptedException {
            ending = true;
            join();
        }
    }
}
