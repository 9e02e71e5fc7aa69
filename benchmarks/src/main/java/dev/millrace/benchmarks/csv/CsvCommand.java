package dev.millrace.benchmarks.csv;

import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench csv}: sensor readings from a CSV file into an aggregate, all columns checked and read. */
@Command(
        name = "csv",
        description = "Reads a CSV file of sensor readings (made for the purpose) and says how many MB per CPU second.",
        mixinStandardHelpOptions = true)
public final class CsvCommand implements Callable<Integer> {
    private static final double MEGABYTE = 1e6;

    @Option(names = "--megabytes", defaultValue = "500", description = "Size of the file (default: ${DEFAULT-VALUE}).")
    private long megabytes;

    @Option(
            names = "--rounds",
            defaultValue = "4",
            description = "How often; the first warms up (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = "--workers", defaultValue = "1", description = "Worker threads (default: ${DEFAULT-VALUE}).")
    private int workers;

    @Override
    public Integer call() throws IOException {
        Path file = Files.createTempFile("millrace-bench", ".csv");
        try {
            write(file);
            measure(file);
            return 0;
        } finally {
            Files.delete(file);
        }
    }

    private void write(Path file) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        long bytes = (long) (megabytes * MEGABYTE);
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write("device,ts,temp,humidity,status,count\n");
            for (long row = 0, written = 0; written < bytes; row++) {
                String line = String.format(
                        Locale.ROOT,
                        "sensor-%d,2026-01-%02d %02d:%02d:%02d.%03d,%.2f,%.1f,%s,%d%n",
                        random.nextInt(1000),
                        1 + row / 8_640_000 % 28,
                        row / 360_000 % 24,
                        row / 6_000 % 60,
                        row / 100 % 60,
                        row % 100 * 10,
                        random.nextDouble(-20, 40),
                        random.nextDouble(0, 100),
                        random.nextInt(20) == 0 ? "alarm" : "ok",
                        random.nextInt(100_000));
                out.write(line);
                written += line.length();
            }
        }
    }

    private void measure(Path file) throws IOException {
        double size = Files.size(file) / MEGABYTE;
        try (Database database = Database.open(DatabaseOptions.defaults().withWorkers(workers));
                Session session = database.session()) {
            run(
                    session,
                    "CREATE STREAM readings (device TEXT NOT NULL, ts TIMESTAMP NOT NULL, temp DOUBLE PRECISION,"
                            + " humidity DOUBLE PRECISION, status TEXT, count BIGINT) WITH (connector = 'file', path = '"
                            + file + "', format = 'csv', header = true)");
            for (int round = 0; round < rounds; round++) {
                ProcessClock.Reading start = ProcessClock.now();
                run(
                        session,
                        "SELECT device, max(ts), avg(temp), min(humidity), sum(count) FROM readings"
                                + " WHERE status = 'ok' GROUP BY device");
                ProcessClock.Reading end = ProcessClock.now();
                System.out.printf(
                        Locale.ROOT,
                        "%s%.0f MB: %.0f MB/s, %.0f MB per CPU second%n",
                        round == 0 ? "(warm-up) " : "",
                        size,
                        size / (end.nanos() - start.nanos()) * 1e9,
                        size / (end.cpuNanos() - start.cpuNanos()) * 1e9);
            }
        }
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
