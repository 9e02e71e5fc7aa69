package dev.millrace.benchmarks.storage;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench spill}: how fast groups are kept that are more than memory may have, beside the same groups in memory. */
@Command(
        name = "spill",
        description =
                "Counts and sums rows by a key, each key once and then keys at random, with all state in memory and with what goes"
                        + " beyond a limit on disk; one JSON line for each.",
        mixinStandardHelpOptions = true)
public final class SpillCommand implements Callable<Integer> {
    private static final long PART = 1_000_000;
    private static final long STRIDE = 2_654_435_761L; // a prime, so that its multiples are all keys in some order
    private static final long UNLIMITED = 1L << 50;
    private static final Path STATUS = Path.of("/proc/self/status");

    @Option(names = "--keys", defaultValue = "10000000", description = "How many (default: ${DEFAULT-VALUE}).")
    private long keys;

    @Option(
            names = "--updates",
            defaultValue = "5000000",
            description = "Rows with keys that are there (default: ${DEFAULT-VALUE}).")
    private long updates;

    @Option(
            names = "--limit-mb",
            defaultValue = "2048",
            split = ",",
            description =
                    "memory_limit in MB, 0 for all in memory; one run each, in this order (default: ${DEFAULT-VALUE}).")
    private List<Long> limits = new ArrayList<>();

    @Option(names = "--data", description = "Where files are (default: the directory for temporary ones).")
    private Optional<Path> data = Optional.empty();

    @Override
    public Integer call() throws IOException {
        for (long limit : limits) {
            run(limit);
        }
        return 0;
    }

    private void run(long limitMb) throws IOException {
        EngineOptions engine = EngineOptions.defaults();
        engine = limitMb == 0
                ? engine.withMemoryLimitBytes(UNLIMITED).withSpillLimitBytes(0)
                : engine.withMemoryLimitBytes(limitMb << 20);
        DatabaseOptions options = DatabaseOptions.defaults().withEngine(engine);
        try (Database database = Database.open(data.map(options::withData).orElse(options));
                Session session = database.session()) {
            session.execute("CREATE STREAM s (k BIGINT, v BIGINT); CREATE SINK grouped WITH (connector = 'blackhole')"
                            + " AS SELECT k, count(*) AS n, sum(v) AS total FROM s GROUP BY k")
                    .drain();
            measure(database, session, limitMb, "new keys", keys, 0);
            measure(database, session, limitMb, "known keys", updates, keys / 3);
            session.execute("DROP SINK grouped; DROP STREAM s").drain();
        }
    }

    private void measure(Database database, Session session, long limitMb, String what, long rows, long from)
            throws IOException {
        long begin = System.nanoTime();
        long slowest = 0;
        for (long done = 0; done < rows; done += PART) {
            long partBegin = System.nanoTime();
            long last = Math.min(rows, done + PART) - 1;
            session.execute("INSERT INTO s SELECT i * " + STRIDE + " % " + keys + ", i FROM generate_series("
                            + (from + done) + ", " + (from + last) + ") AS g(i)")
                    .drain();
            session.flush();
            slowest = Math.max(slowest, System.nanoTime() - partBegin);
            if (database.engine().query("grouped").failure().isPresent()) {
                throw database.engine().query("grouped").failure().get();
            }
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "{\"benchmark\": \"spill\", \"keys\": %d, \"limit_mb\": %d, \"rows\": \"%s\", \"count\": %d, \"seconds\": %.1f,"
                        + " \"rows_per_second\": %.0f, \"slowest_million_seconds\": %.1f, \"memory_mb\": %d, \"disk_mb\": %d,"
                        + " \"rss_anonymous_mb\": %d, \"rss_file_mb\": %d}%n",
                keys,
                limitMb,
                what,
                rows,
                seconds,
                rows / seconds,
                slowest / 1e9,
                database.engine().allocatedBytes() >> 20,
                database.engine().spilledBytes() >> 20,
                resident("RssAnon"),
                resident("RssFile"));
    }

    /** In MB; -1 where the system does not say. */
    private static long resident(String what) throws IOException {
        if (!Files.exists(STATUS)) {
            return -1;
        }
        return Files.readAllLines(STATUS).stream()
                .filter(line -> line.startsWith(what + ":"))
                .map(line -> line.replaceAll("[^0-9]", ""))
                .mapToLong(kilobytes -> Long.parseLong(kilobytes) >> 10)
                .findFirst()
                .orElse(-1);
    }
}
