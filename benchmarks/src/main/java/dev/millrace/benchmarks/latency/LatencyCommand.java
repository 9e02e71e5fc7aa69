package dev.millrace.benchmarks.latency;

import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.server.session.StatementResult;
import dev.millrace.server.session.StatementResults;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.IntFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench latency}: single statements on an otherwise idle database. */
@Command(
        name = "latency",
        description =
                "Times single statements, one after the other: milliseconds of the first, the median, 99 percent.",
        mixinStandardHelpOptions = true)
public final class LatencyCommand implements Callable<Integer> {
    @Option(names = "--statements", defaultValue = "500", description = "Of each kind (default: ${DEFAULT-VALUE}).")
    private int statements;

    @Override
    public Integer call() {
        try (Database database = Database.open(DatabaseOptions.defaults());
                Session session = database.session()) {
            run(
                    session,
                    "CREATE STREAM readings (device TEXT NOT NULL, ts TIMESTAMP NOT NULL, temp DOUBLE PRECISION,"
                            + " WATERMARK FOR ts AS ts - INTERVAL '1 second');"
                            + "CREATE MATERIALIZED VIEW tops AS SELECT device, max(temp) AS top FROM readings GROUP BY device");
            time(
                    session,
                    "CREATE CONTINUOUS QUERY, known but for its literals",
                    number -> "CREATE CONTINUOUS QUERY known_" + number
                            + " AS SELECT ts, temp FROM readings WHERE device = 'd" + number + "' AND temp > "
                            + number);
            time(
                    session,
                    "CREATE CONTINUOUS QUERY, each of its own shape",
                    number -> "CREATE CONTINUOUS QUERY shape_"
                            + number + " AS SELECT device, count(*)" + " + 1".repeat(1 + number % 50)
                            + " AS n, window_end FROM TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '"
                            + (1 + number) + " seconds') GROUP BY device, window_start, window_end");
            for (int number = 0; number < statements; number++) {
                run(session, "DROP CONTINUOUS QUERY known_" + number + "; DROP CONTINUOUS QUERY shape_" + number);
            }
            time(
                    session,
                    "INSERT and SELECT of its effect in a view",
                    number -> "INSERT INTO readings VALUES ('d" + number % 100 + "', TIMESTAMP '2026-01-01 00:00:00', "
                            + number + "); SELECT top FROM tops WHERE device = 'd" + number % 100 + "'");
        }
        return 0;
    }

    private void time(Session session, String what, IntFunction<String> sql) {
        double[] millis = new double[statements];
        for (int number = 0; number < statements; number++) {
            long start = System.nanoTime();
            run(session, sql.apply(number));
            millis[number] = (System.nanoTime() - start) / 1e6;
        }
        double first = millis[0];
        Arrays.sort(millis);
        System.out.printf(
                Locale.ROOT,
                "%-52s first %8.2f   median %8.2f   99%% %8.2f ms%n",
                what,
                first,
                millis[statements / 2],
                millis[statements * 99 / 100]);
    }

    private static void run(Session session, String sql) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows rows) {
                        for (var next = rows.next(); next.isPresent(); next = rows.next()) {
                            next.get().close();
                        }
                    }
                }
            }
        }
    }
}
