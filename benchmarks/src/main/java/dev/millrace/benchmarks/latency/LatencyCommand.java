package dev.millrace.benchmarks.latency;

import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.benchmarks.process.SessionStatements.Times;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
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
                Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            session.run("CREATE STREAM readings (device TEXT NOT NULL, ts TIMESTAMP NOT NULL, temp DOUBLE PRECISION,"
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
                session.run("DROP CONTINUOUS QUERY known_" + number + "; DROP CONTINUOUS QUERY shape_" + number);
            }
            time(
                    session,
                    "INSERT and SELECT of its effect in a view",
                    number -> "INSERT INTO readings VALUES ('d" + number % 100 + "', TIMESTAMP '2026-01-01 00:00:00', "
                            + number + "); SELECT top FROM tops WHERE device = 'd" + number % 100 + "'");
        }
        return 0;
    }

    private void time(SessionStatements session, String what, IntFunction<String> sql) {
        double[] millis = session.time(statements, sql, number -> "").millis();
        System.out.printf(
                Locale.ROOT,
                "%-52s first %8.2f   median %8.2f   99%% %8.2f ms%n",
                what,
                millis[0],
                Times.quantile(millis, .5),
                Times.quantile(millis, .99));
    }
}
