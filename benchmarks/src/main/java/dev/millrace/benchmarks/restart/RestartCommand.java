package dev.millrace.benchmarks.restart;

import dev.millrace.benchmarks.Main;
import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.benchmarks.process.ProcessClock.Reading;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code ./millrace bench restart DIR}: another process fills a database, writes a checkpoint and some rows behind it, and ends without
 * closing anything; this one, whose code nothing has warmed up, opens what it left, and asks each view.
 */
@Command(
        name = "restart",
        description = "Kills a database and times how soon it is back; one JSON line per opening.",
        mixinStandardHelpOptions = true)
public final class RestartCommand implements Callable<Integer> {
    private static final int INSERTED_TOGETHER = 100_000;
    private static final int RETAINED_TOGETHER = 500_000;

    /** With state that grows with the rows: answers, groups, both sides of a join, windows that are open. */
    private static final List<String> VIEWS = List.of(
            "small AS SELECT count(*) AS n, sum(v) AS total FROM s",
            "groups AS SELECT k, count(*) AS n, sum(v) AS total, max(v) AS most FROM s GROUP BY k",
            "texts AS SELECT name, count(*) AS n FROM t GROUP BY name",
            "joined AS SELECT count(*) AS n, sum(s.v * u.w) AS total FROM s JOIN u ON s.k = u.k",
            "windows AS SELECT window_start, k % 1000 AS g, count(*) AS n FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts),"
                    + " INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k % 1000");

    @Parameters(paramLabel = "DIR", description = "Where the database is; made if there is none, and left there.")
    private Path directory;

    @Option(
            names = "--rows",
            defaultValue = "1000000",
            description = "Of each stream and table, in the checkpoint (default: ${DEFAULT-VALUE}).")
    private long rows;

    @Option(
            names = "--behind",
            defaultValue = "200000",
            description = "Of each, in the log behind the checkpoint (default: ${DEFAULT-VALUE}).")
    private long behind;

    @Option(
            names = "--behind-together",
            defaultValue = "100000",
            description = "How many of these an INSERT brings (default: ${DEFAULT-VALUE}).")
    private int behindTogether;

    @Option(
            names = "--retained",
            defaultValue = "0",
            description = "Rows of a stream with retention, beside them (default: ${DEFAULT-VALUE}).")
    private long retained;

    @Option(names = "--workers", defaultValue = "2", description = "Worker threads (default: ${DEFAULT-VALUE}).")
    private int workers;

    @Option(names = "--fill", hidden = true, description = "What the other process does.")
    private boolean fill;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (fill) {
            fill();
        }
        if (!Files.exists(directory)) {
            fillElsewhere();
        }
        open();
        return 0;
    }

    private void fillElsewhere() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of("restart", directory.toString(), "--fill", "--rows=" + rows, "--behind=" + behind));
        command.addAll(
                List.of("--behind-together=" + behindTogether, "--retained=" + retained, "--workers=" + workers));
        Process process = new ProcessBuilder(command).inheritIO().start();
        int code = process.waitFor();
        if (code != 0) {
            throw new IllegalStateException("the process that fills the database ended with " + code);
        }
    }

    private Database database() {
        return Database.open(options());
    }

    private DatabaseOptions options() {
        return DatabaseOptions.defaults().withWorkers(workers).withData(directory);
    }

    private void fill() {
        Database database = database();
        database.execute(
                "CREATE STREAM s (k BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE);"
                        + "CREATE STREAM u (k BIGINT, w BIGINT);"
                        + "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, v BIGINT)");
        if (retained > 0) {
            database.execute("CREATE STREAM past (k BIGINT, v BIGINT, ts TIMESTAMP) WITH (retention = 'forever')");
            for (long first = 0; first < retained; first += RETAINED_TOGETHER) {
                database.execute("INSERT INTO past SELECT i % 1000, i, TIMESTAMP '2026-01-01 00:00:00' + i * INTERVAL"
                        + " '1' MILLISECOND FROM generate_series(" + first + "::BIGINT, "
                        + (Math.min(retained, first + RETAINED_TOGETHER) - 1) + "::BIGINT) i");
            }
        }
        VIEWS.forEach(view -> database.execute("CREATE MATERIALIZED VIEW " + view));
        insert(database, 0, rows, INSERTED_TOGETHER);
        database.execute("CHECKPOINT");
        insert(database, rows, rows + behind, behindTogether);
        Runtime.getRuntime().halt(0);
    }

    private static void insert(Database database, long from, long to, int together) {
        for (long first = from; first < to; first += together) {
            String numbers = " FROM generate_series(" + first + "::BIGINT, " + (Math.min(to, first + together) - 1)
                    + "::BIGINT) i";
            database.execute("INSERT INTO s SELECT i * 7919 % 100000007, i % 1000,"
                    + " TIMESTAMP '2026-01-01 00:00:00' + i * INTERVAL '1' MILLISECOND" + numbers);
            database.execute("INSERT INTO u SELECT i * 7919 % 100000007, i % 10" + numbers);
            database.execute("INSERT INTO t SELECT i, 'the name of ' || i, i % 1000" + numbers);
        }
    }

    private void open() throws IOException {
        long checkpointBytes = bytes("checkpoints");
        long logBytes = bytes("rows");
        long streamBytes = bytes("streams");
        Reading begin = ProcessClock.now();
        try (Database database = Database.open(options().withEarlySessions())) {
            Reading opened = ProcessClock.now();
            boolean isRetained = Files.exists(directory.resolve("streams"))
                    && ask(database, "SELECT 1 FROM millrace.segments LIMIT 1") > 0;
            if (isRetained) {
                ask(database, "SELECT v FROM past WHERE ts < TIMESTAMP '2026-01-01 00:00:01'");
            }
            Reading ofPast = ProcessClock.now();
            ask(database, "SELECT n FROM small");
            Reading answered = ProcessClock.now();
            for (String view : VIEWS) {
                ask(database, "SELECT count(*) FROM " + view.substring(0, view.indexOf(' ')));
            }
            ask(database, "SELECT name FROM t WHERE id = 1");
            if (!database.awaitOpen()) {
                throw new IllegalStateException("states could not be read side by side");
            }
            Reading caughtUp = ProcessClock.now();
            System.out.printf(
                    Locale.ROOT,
                    "{\"bench\":\"restart\",\"rows\":%d,\"behind\":%d,\"workers\":%d,\"checkpoint_mb\":%.1f,\"log_mb\":%.1f,"
                            + "\"streams_mb\":%.1f,\"open_s\":%.2f,\"past_s\":%.2f,\"first_answer_s\":%.2f,\"caught_up_s\":%.2f,\"cpu_s\":%.2f,"
                            + "\"mb_per_cpu_s\":%.0f,\"gc_ms\":%d,\"rss_mb\":%d}%n",
                    rows,
                    behind,
                    workers,
                    checkpointBytes / 1e6,
                    logBytes / 1e6,
                    streamBytes / 1e6,
                    seconds(begin, opened),
                    seconds(begin, ofPast),
                    seconds(begin, answered),
                    seconds(begin, caughtUp),
                    (caughtUp.cpuNanos() - begin.cpuNanos()) / 1e9,
                    (checkpointBytes + logBytes) * 1e3 / (caughtUp.cpuNanos() - begin.cpuNanos()),
                    ProcessClock.gcMillis(),
                    ProcessClock.peakRssMb());
        }
    }

    /** @return how many rows there are */
    private static long ask(Database database, String query) {
        long[] rows = new long[1];
        try (StatementResult.Rows answer = database.query(query)) {
            answer.forEach(batch -> rows[0] += batch.rowCount());
        }
        return rows[0];
    }

    private static double seconds(Reading from, Reading to) {
        return (to.nanos() - from.nanos()) / 1e9;
    }

    /** Of a folder of the database; what the file system gave them. */
    private long bytes(String folder) throws IOException {
        if (!Files.exists(directory.resolve(folder))) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(directory.resolve(folder))) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> {
                        try {
                            return Files.size(file);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    })
                    .sum();
        }
    }
}
