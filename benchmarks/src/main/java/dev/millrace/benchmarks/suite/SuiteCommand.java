package dev.millrace.benchmarks.suite;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./millrace bench nexmark} and the like: one suite measured, compared with the oracle, or shown. Results go to stdout,
 * one line per query; all else to stderr.
 */
@Command(mixinStandardHelpOptions = true, sortOptions = false)
public final class SuiteCommand implements Callable<Integer> {
    private final Suite suite;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Option(names = "--queries", split = ",", paramLabel = "NAME", description = "Which; all by default (see --list).")
    private List<String> queries = List.of();

    @Option(names = "--list", description = "Name the queries and what they ask, and leave.")
    private boolean list;

    @Option(names = "--sql", description = "Print the streams and the queries as SQL for ./millrace sql, and leave.")
    private boolean sql;

    @Option(
            names = "--check",
            description = {
                "Compare with DuckDB over a small stream instead of measuring: at the end of the streams, and at random"
                        + " epochs while rows come in random chunks and views continue from snapshots."
            })
    private boolean check;

    @Option(names = "--seed", paramLabel = "N", description = "Of --check; another one each time by default.")
    private @Nullable Long seed;

    @Option(
            names = "--events",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "How many to measure with, where they are made (by default what the suite says of the query).")
    private long events;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description = "Events per second of event time, where they are made (by default what the suite says).")
    private long rate;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "The folder of real data, for suites that read files (MILLRACE_DATA, or ../shared/data).")
    private Path data = Inputs.usualData();

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "1",
            description = "Worker threads (default: ${DEFAULT-VALUE}).")
    private int workers;

    @Option(names = "--json", description = "One JSON line per query.")
    private boolean json;

    @Option(names = "--in-process", description = "Do not start a process per query.")
    private boolean inProcess;

    private SuiteCommand(Suite suite) {
        this.suite = suite;
    }

    /** The command of a suite, with a help that speaks of it. */
    public static CommandLine of(Suite suite) {
        CommandLine command = new CommandLine(new SuiteCommand(suite));
        command.getCommandSpec().name(suite.name());
        command.getCommandSpec()
                .usageMessage()
                .description(
                        suite.title() + ".",
                        "Measures each query from its streams into a blackhole, one line per query. CPU seconds count all"
                                + " threads of the process, garbage collection and compilation included; steady figures"
                                + " leave out the first quarter of the events.")
                .footer(
                        "",
                        "Queries: " + String.join(" ", suite.queries()),
                        "Exit code 1 if a query failed or differs.");
        return command;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<String> chosen = chosen();
        if (list) {
            chosen.forEach(query -> System.out.printf("%-24s %s%n", query, suite.comment(query)));
            return 0;
        }
        if (suite.readsFiles() && !Files.isDirectory(data)) {
            System.err.println("skipped because there is no real data at " + data + "; name its folder with --data");
            return 0;
        }
        if (sql) {
            return showSql(chosen);
        }
        if (check) {
            return check(chosen);
        }
        if (!json && !isChild()) {
            System.out.println(Measurement.header());
        }
        int failures = 0;
        for (String query : chosen) {
            if (inProcess || chosen.size() == 1) {
                measure(query);
            } else if (inOwnProcess(query) != 0) {
                failures++;
            }
        }
        return failures == 0 ? 0 : 1;
    }

    private List<String> chosen() {
        List<String> chosen = new ArrayList<>();
        for (String query : queries) {
            String name = query.toLowerCase(Locale.ROOT);
            if (!suite.queries().contains(name)) {
                throw new ParameterException(
                        spec.commandLine(),
                        suite.name() + " has no query \"" + query + "\"; there are: "
                                + String.join(", ", suite.queries()));
            }
            chosen.add(name);
        }
        return chosen.isEmpty() ? suite.queries() : chosen;
    }

    private Inputs inputs(long usualEvents) {
        return new Inputs(
                events > 0 ? events : usualEvents,
                rate > 0 ? rate : suite.number("rate").orElse(1L),
                data,
                FunctionJar.of(suite));
    }

    private int showSql(List<String> chosen) {
        System.out.println(suite.setup(inputs(100_000)).strip());
        for (String query : chosen) {
            System.out.printf(
                    "%nCREATE MATERIALIZED VIEW %s AS%n%s;%n",
                    query.replace('-', '_'), suite.sql(query).strip());
        }
        return 0;
    }

    private int check(List<String> chosen) {
        Map<String, String> wrong = new LinkedHashMap<>();
        try (EndCheck end = new EndCheck(suite, chosen, Inputs.of(suite, "check", data), workers)) {
            for (String query : chosen) {
                String differences = Differences.orFailure(() -> end.differences(query));
                if (!differences.isEmpty()) {
                    wrong.put(query, "at the end:\n" + differences);
                }
            }
        }
        long randomSeed = seed == null ? new Random().nextInt(1_000_000) : seed;
        Inputs inputs = Inputs.of(suite, "epochs", data);
        Feed feed = new Feed(suite, inputs);
        try (EpochCheck epochs = new EpochCheck(suite, chosen, inputs, feed, workers, randomSeed)) {
            epochs.differences().forEach((query, differences) -> wrong.merge(query, differences, String::concat));
            System.err.println(suite.name() + ": " + epochs.summary() + " (seed " + randomSeed + ")");
        }
        for (String query : chosen) {
            System.out.println(
                    query + (wrong.containsKey(query) ? " differs:\n" + wrong.get(query) : " agrees with DuckDB"));
        }
        return wrong.isEmpty() ? 0 : 1;
    }

    private void measure(String query) throws InterruptedException {
        Inputs inputs = inputs(suite.usualEvents(query));
        try (SuiteRun run = new SuiteRun(suite, query, inputs, workers)) {
            Measurement measurement = run.measure();
            System.out.println(json ? measurement.json() : measurement.line());
            if (suite.name().equals("nexmark")) {
                double generation = new Generation(
                                run.engine().allocator(),
                                run.engine().options().batchRows(),
                                inputs.events(),
                                inputs.rate())
                        .cpuSecondsPerMillion(run.plan());
                System.err.printf(
                        Locale.ROOT,
                        "%s: of that the generator takes %.4f cpu s per million events%n",
                        query,
                        generation);
            }
        }
    }

    /** A child prints no header; it has been told its one query by a parent that has. */
    private static boolean isChild() {
        return Boolean.getBoolean("millrace.bench.child");
    }

    private int inOwnProcess(String query) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.add("-Dmillrace.bench.child=true");
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of("dev.millrace.benchmarks.Main", suite.name(), "--queries", query));
        command.addAll(List.of("--events", Long.toString(events), "--rate", Long.toString(rate)));
        command.addAll(List.of("--workers", Integer.toString(workers), "--data", data.toString()));
        if (json) {
            command.add("--json");
        }
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
