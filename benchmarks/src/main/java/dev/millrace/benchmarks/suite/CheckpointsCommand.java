package dev.millrace.benchmarks.suite;

import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.SectionContents;
import dev.millrace.engine.runtime.Engine;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench checkpoints}: what checkpoints cost of throughput. Each query runs to the end of its streams without and
 * with a checkpoint every so often, by turns in one process; the first turn of each only warms up. What is written is copied in
 * memory, so that no disk is measured.
 */
@Command(
        name = "checkpoints",
        description = "Measures NEXMark queries with and without checkpoints, by turns; one JSON line per run.",
        mixinStandardHelpOptions = true)
public final class CheckpointsCommand implements Callable<Integer> {
    @Option(
            names = "--queries",
            split = ",",
            defaultValue = "q5,q4,q18",
            paramLabel = "NAME",
            description = "Which (default: ${DEFAULT-VALUE}).")
    private List<String> queries = List.of();

    @Option(names = "--events", defaultValue = "20000000", description = "Of all kinds (default: ${DEFAULT-VALUE}).")
    private long events;

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

    @Override
    public Integer call() throws InterruptedException {
        Suite suite = Suite.named("nexmark");
        Inputs inputs = new Inputs(events, rate, Inputs.usualData(), FunctionJar.of(suite));
        for (String query : queries) {
            for (int turn = 0; turn <= turns; turn++) {
                run(suite, inputs, query, turn, false);
                run(suite, inputs, query, turn, true);
            }
        }
        return 0;
    }

    private void run(Suite suite, Inputs inputs, String query, int turn, boolean checkpoints)
            throws InterruptedException {
        try (SuiteRun run = new SuiteRun(suite, query, inputs, workers)) {
            Every every = new Every(run.engine(), everySeconds);
            if (checkpoints) {
                every.start();
            }
            Measurement measured = run.measure();
            every.end();
            if (turn > 0) {
                print(query, turn, checkpoints, measured, every.summaries);
            }
        }
    }

    private void print(String query, int turn, boolean checkpoints, Measurement measured, List<CheckpointSummary> all) {
        System.out.printf(
                Locale.ROOT,
                "{\"bench\":\"checkpoints\",\"query\":\"%s\",\"turn\":%d,\"workers\":%d,\"events\":%d,\"every_s\":%s,"
                        + "\"seconds\":%.2f,\"events_per_s\":%.0f,\"checkpoints\":%d,\"mean_mb\":%.1f,\"mean_ms\":%.1f,"
                        + "\"longest_at_barrier_ms\":%.1f}%n",
                query,
                turn,
                workers,
                measured.events(),
                checkpoints ? Double.toString(everySeconds) : "null",
                measured.seconds(),
                measured.events() / measured.seconds(),
                all.size(),
                all.stream().mapToLong(CheckpointSummary::bytes).average().orElse(0) / 1e6,
                all.stream().mapToLong(CheckpointSummary::nanos).average().orElse(0) / 1e6,
                all.stream().mapToLong(CheckpointSummary::barrierNanos).max().orElse(0) / 1e6);
    }

    /** Makes checkpoints of an engine until it is told to end. */
    private static final class Every extends Thread {
        private static final int COPY_BYTES = 1 << 20;

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
            ByteBuffer copy = ByteBuffer.allocateDirect(COPY_BYTES);
            CheckpointWriter writer = new CheckpointWriter() {
                @Override
                public boolean keep(SectionContents contents) {
                    return false;
                }

                @Override
                public void begin(String section) {}

                @Override
                public void write(ByteBuffer bytes) {
                    while (bytes.hasRemaining()) {
                        copy.clear();
                        copy.put(0, bytes, bytes.position(), Math.min(COPY_BYTES, bytes.remaining()));
                        bytes.position(bytes.position() + Math.min(COPY_BYTES, bytes.remaining()));
                    }
                }
            };
            try {
                for (long next = System.nanoTime() + nanos; !ending; next += nanos) {
                    while (!ending && System.nanoTime() < next) {
                        TimeUnit.MILLISECONDS.sleep(10);
                    }
                    if (!ending) {
                        summaries.add(engine.checkpoint(writer, () -> {}));
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
