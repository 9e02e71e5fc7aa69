package dev.millrace.benchmarks.sketch;

import dev.millrace.benchmarks.storage.Folders;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.arrow.vector.BigIntVector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench past}: a question about the past of plugs, of sketches, of exact rows, and of DuckDB. */
@Command(
        name = "past",
        description =
                "Asks for the readings of plugs above a value, by plug and hour, and prints JSON lines: in files of sketches, of each row"
                        + " that these show, in a stream that keeps sketches, of exact retained rows, and of DuckDB over Parquet;"
                        + " by turns, the best of each.",
        mixinStandardHelpOptions = true)
public final class PastCommand implements Callable<Integer> {
    /** What is read. */
    enum Kind {
        /** Of tracebase, a day repeated. */
        PLUGS,
        /** Made up: noise of several bounds. */
        NOISY
    }

    private static final long FEW_ROWS = 1 << 18;
    private static final Schema GROUPS = Schema.of(
            new Field("groups", DataType.BIGINT, true),
            new Field("rows", DataType.BIGINT, true),
            new Field("averages", DataType.BIGINT, true),
            new Field("most", DataType.BIGINT, true));

    @Option(
            names = "--days",
            defaultValue = "1",
            description = "How many days (default: ${DEFAULT-VALUE}; a month is 30).")
    private int days;

    @Option(names = "--plugs", defaultValue = "37", description = "How many plugs (default: ${DEFAULT-VALUE}).")
    private int plugs;

    @Option(names = "--segment", defaultValue = "3600", description = "Rows of a sketch (default: ${DEFAULT-VALUE}).")
    private int segment;

    @Option(names = "--runs", defaultValue = "5", description = "How often each is asked (default: ${DEFAULT-VALUE}).")
    private int runs;

    @Option(names = "--workers", defaultValue = "1", description = "Threads of each (default: ${DEFAULT-VALUE}).")
    private int workers;

    @Option(
            names = "--set",
            defaultValue = "PLUGS,NOISY",
            split = ",",
            description = "Which: ${COMPLETION-CANDIDATES}.")
    private List<Kind> kinds;

    @Option(names = "--data", description = "The directory of the sets (default: MILLRACE_DATA, or ../shared/data).")
    private Optional<Path> data = Optional.empty();

    private interface Question {
        /** How many groups, how many rows are in them, and what else is asked. */
        long[] ask();
    }

    @Override
    public Integer call() throws IOException {
        for (Kind kind : kinds) {
            Path folder = Files.createTempDirectory("millrace-past");
            try {
                measure(PastSet.of(kind, plugs, days, new DataSets(data.orElseGet(DataSets::defaultRoot))), folder);
            } finally {
                Folders.remove(folder);
            }
        }
        return 0;
    }

    private void measure(PastSet set, Path folder) throws IOException {
        try (Oracle duck = Oracle.open();
                Database database = Database.open(
                        DatabaseOptions.defaults().withWorkers(workers).withData(folder.resolve("data")));
                Session session = database.session()) {
            duck.execute("SET threads = " + workers);
            List<Path> sketches = set.sketches(folder, segment);
            run(
                    session,
                    "CREATE STREAM sketched WITH (connector = 'sketch', path = '"
                            + sketches.stream().map(Path::toString).collect(Collectors.joining(",")) + "')");
            run(
                    session,
                    "CREATE STREAM exact (time TIMESTAMP, watts DOUBLE PRECISION, plug TEXT) WITH (retention = '1000 GB')");
            run(
                    session,
                    "CREATE STREAM kept (time TIMESTAMP, watts DOUBLE PRECISION, plug TEXT, WATERMARK FOR time AS time) WITH (retention = '1000 GB',"
                            + " retention.form = 'sketch', sketch.key = 'plug')");
            Path parquet = folder.resolve("past.parquet");
            for (Path quarter : set.parquet(folder, parquet, duck)) {
                run(session, "CREATE STREAM quarter WITH (connector = 'file', path = '" + quarter + "')");
                run(session, "INSERT INTO exact SELECT time, watts, plug FROM quarter");
                run(session, "INSERT INTO kept SELECT time, watts, plug FROM quarter");
                run(session, "DROP STREAM quarter");
                Files.delete(quarter);
            }
            run(session, "CHECKPOINT");
            awaitSketches(session);

            String where = " WHERE watts > " + set.threshold();
            String windowed = "SELECT plug, window_start, avg(watts) AS a, max(watts) AS m, count(*) AS n%s"
                    + " FROM TUMBLE(TABLE %s, DESCRIPTOR(time), INTERVAL '1 hour')" + where
                    + " GROUP BY plug, window_start, window_end";
            String counted =
                    "SELECT count(*) AS groups, sum(n)::bigint AS rows, sum(a)::bigint AS averages, max(m)::bigint AS most"
                            + "%s FROM (%s) q";
            List<Question> questions = List.of(
                    () -> answer(session, counted.formatted("", windowed.formatted("", "sketched"))),
                    // The last time itself is wanted, so each row is looked at.
                    () -> answer(
                            session,
                            counted.formatted(
                                    ", count(last) AS l", windowed.formatted(", max(time) AS last", "sketched"))),
                    () -> answer(session, counted.formatted("", windowed.formatted("", "exact"))),
                    () -> answer(session, counted.formatted("", windowed.formatted("", "kept"))),
                    () -> {
                        var row = duck.query(
                                        counted.formatted(
                                                "",
                                                "SELECT plug, date_trunc('hour', time) AS h, avg(watts) AS a,"
                                                        + " max(watts) AS m, count(*) AS n FROM '" + parquet + "'"
                                                        + where
                                                        + " GROUP BY plug, h"),
                                        GROUPS)
                                .get(0);
                        return new long[] {
                            (long) row.values().get(0), (long) row.values().get(1)
                        };
                    },
                    () -> answer(
                            session,
                            counted.formatted(
                                    ", count(last) AS l", windowed.formatted(", max(time) AS last", "exact"))));
            double[] seconds = new double[questions.size()];
            long[][] answers = new long[questions.size()][];
            for (int run = 0; run < runs; run++) {
                for (int q = 0; q < seconds.length; q++) {
                    long start = System.nanoTime();
                    answers[q] = questions.get(q).ask();
                    double took = (System.nanoTime() - start) / 1e9;
                    seconds[q] = run == 0 ? took : Math.min(seconds[q], took);
                }
            }
            if (!Arrays.equals(answers[0], 0, 2, answers[1], 0, 2)
                    || !Arrays.equals(answers[2], 0, 2, answers[4], 0, 2)) {
                throw new IllegalStateException("two ways of counting differ for " + set.name());
            }
            print(set, sketches, folder, session, seconds, answers);
        }
    }

    /** Rows are sketched behind the scenes, but for the last ones. */
    private static void awaitSketches(Session session) {
        long end = System.nanoTime() + 300_000_000_000L;
        String exact =
                "SELECT coalesce(sum(rows), 0)::bigint AS rows FROM millrace.segments WHERE stream = 'kept' AND form = 'exact'";
        while (answer(session, exact)[0] >= FEW_ROWS && System.nanoTime() < end) {
            LockSupport.parkNanos(100_000_000);
        }
    }

    private static long bytes(Session session, String stream, String which) {
        return answer(
                session,
                "SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM millrace.segments WHERE stream = '" + stream
                        + "' AND " + which)[0];
    }

    private void print(
            PastSet set, List<Path> sketches, Path folder, Session session, double[] seconds, long[][] answers)
            throws IOException {
        long sketchBytes = 0;
        for (Path file : sketches) {
            sketchBytes += Files.size(file);
        }
        System.out.printf(
                Locale.ROOT,
                "{\"set\":\"%s\",\"rows\":%d,\"plugs\":%d,\"days\":%d,\"segment_rows\":%d,\"workers\":%d,"
                        + "\"sketch_bytes\":%d,\"exact_bytes\":%d,\"kept_bytes\":%d,\"parquet_bytes\":%d,\"groups\":%d,\"rows_passed\":%d,"
                        + "\"in_sketch_s\":%.4f,\"each_row_s\":%.4f,\"exact_each_row_s\":%.4f,\"exact_s\":%.4f,\"kept_s\":%.4f,\"duckdb_s\":%.4f,"
                        + "\"exact_ratio\":%.1f,\"kept_ratio\":%.1f,\"duckdb_ratio\":%.1f,\"each_row_ratio\":%.2f}%n",
                set.name(),
                set.rows(),
                plugs,
                days,
                segment,
                workers,
                sketchBytes,
                bytes(session, "exact", "true"),
                bytes(session, "kept", "true"),
                Files.size(folder.resolve("past.parquet")),
                answers[0][0],
                answers[0][1],
                seconds[0],
                seconds[1],
                seconds[5],
                seconds[2],
                seconds[3],
                seconds[4],
                seconds[2] / seconds[0],
                seconds[2] / seconds[3],
                seconds[4] / seconds[0],
                seconds[5] / seconds[1]);
    }

    private static void run(Session session, String sql) {
        answer(session, sql);
    }

    /** The numbers of the first row; empty if there are none. */
    private static long[] answer(Session session, String sql) {
        long[] numbers = {};
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows given) {
                        for (var next = given.next(); next.isPresent(); next = given.next()) {
                            try (var batch = next.get()) {
                                numbers = new long[batch.schema().size()];
                                for (int column = 0; column < numbers.length; column++) {
                                    numbers[column] = ((BigIntVector) batch.column(column)).get(0);
                                }
                            }
                        }
                    }
                }
            }
        }
        return numbers;
    }
}
