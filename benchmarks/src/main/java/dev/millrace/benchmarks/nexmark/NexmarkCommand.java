package dev.millrace.benchmarks.nexmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench nexmark}. Results go to stdout, one line per query; all else to stderr. */
@Command(
        name = "nexmark",
        description = {
            "Runs queries of the NEXMark suite from the in-process generator into a blackhole.",
            "CPU seconds count all threads of the process, garbage collection and compilation included;",
            "steady figures leave out the first quarter of the events."
        },
        mixinStandardHelpOptions = true)
public final class NexmarkCommand implements Callable<Integer> {
    @Option(names = "--queries", split = ",", description = "Which, such as q0,q5; all by default.")
    private List<NexmarkQuery> queries = List.of(NexmarkQuery.values());

    @Option(
            names = "--events",
            defaultValue = "0",
            description =
                    "Events of all kinds (by default 50000000, and 10000000 for queries whose state grows with each).")
    private long events;

    @Option(
            names = "--rate",
            defaultValue = "100000",
            description = "Per second of event time (default: ${DEFAULT-VALUE}).")
    private long rate;

    @Option(names = "--workers", defaultValue = "1", description = "Worker threads (default: ${DEFAULT-VALUE}).")
    private int workers;

    @Option(names = "--json", description = "One JSON line per query.")
    private boolean json;

    @Option(names = "--check", description = "Compare with DuckDB over a small stream instead of measuring.")
    private boolean check;

    @Option(names = "--in-process", description = "Do not start a process per query.")
    private boolean inProcess;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (check) {
            return check();
        }
        if (!json && !isChild()) {
            System.out.println(Measurement.header());
        }
        int failures = 0;
        for (NexmarkQuery query : queries) {
            if (inProcess || queries.size() == 1) {
                measure(query);
            } else if (inOwnProcess(query) != 0) {
                failures++;
            }
        }
        return failures == 0 ? 0 : 1;
    }

    private int check() {
        int wrong = 0;
        for (NexmarkQuery query : queries) {
            String differences;
            try {
                differences = OracleCheck.differences(query, workers);
            } catch (RuntimeException e) {
                differences = "failed: " + e + "\n";
            }
            System.out.println(
                    query.title() + (differences.isEmpty() ? " agrees with DuckDB" : " differs:\n" + differences));
            wrong += differences.isEmpty() ? 0 : 1;
        }
        return wrong == 0 ? 0 : 1;
    }

    private void measure(NexmarkQuery query) throws InterruptedException {
        long count = events > 0 ? events : query.usualEvents();
        try (NexmarkRun run = new NexmarkRun(query, count, rate, workers)) {
            Measurement measurement = run.measure();
            System.out.println(json ? measurement.json() : measurement.line());
            double generation = new Generation(
                            run.engine().allocator(), run.engine().options().batchRows(), count, rate)
                    .cpuSecondsPerMillion(run.plan());
            System.err.printf(
                    Locale.ROOT,
                    "%s: of that the generator takes %.4f cpu s per million events%n",
                    query.title(),
                    generation);
        }
    }

    /** A child prints no header; it has been told its one query by a parent that has. */
    private static boolean isChild() {
        return Boolean.getBoolean("millrace.bench.child");
    }

    private int inOwnProcess(NexmarkQuery query) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.add("-Dmillrace.bench.child=true");
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of("dev.millrace.benchmarks.Main", "nexmark", "--queries", query.name()));
        command.addAll(List.of("--events", Long.toString(events), "--rate", Long.toString(rate)));
        command.addAll(List.of("--workers", Integer.toString(workers)));
        if (json) {
            command.add("--json");
        }
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
