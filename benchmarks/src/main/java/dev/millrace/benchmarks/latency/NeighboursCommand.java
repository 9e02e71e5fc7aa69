package dev.millrace.benchmarks.latency;

import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.benchmarks.process.SessionStatements.Times;
import dev.millrace.benchmarks.storage.Folders;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench neighbours}: how old the answers of light queries are, alone and beside a heavy one over the same stream, which
 * gets rows as fast as it takes them; or beside queries that read what another stream has kept. The age of an answer is how long ago the newest row in it was brought, which where the stream has
 * no room is also how long that row waited to be taken, and how long the next one waits; how far it lags is how long ago the first row was taken that is not in it.
 */
@Command(
        name = "neighbours",
        description =
                "Measures how old answers of light queries are, and how far they lag behind rows that were taken, alone and beside a heavy one; one JSON line each.",
        mixinStandardHelpOptions = true)
public final class NeighboursCommand implements Callable<Integer> {
    private static final int ROWS_TOGETHER = 1_000;
    private static final long KEPT_TOGETHER = 500_000;
    private static final String SLOW =
            "SELECT k, count(*) AS n, sum(sqrt(v)) AS roots, max(length(repeat(v::text, 100))) AS l FROM kept GROUP BY k";
    private static final long LOOK_MILLIS = 1;
    private static final int MOST_SAMPLES = 1_000_000;
    private static final int MOST_INSERTS = 4_000_000;

    @Option(names = "--light", defaultValue = "50", description = "Light queries (default: ${DEFAULT-VALUE}).")
    private int light;

    @Option(
            names = "--steps",
            defaultValue = "20000",
            description = "Of the heavy query for each row (default: ${DEFAULT-VALUE}).")
    private int steps;

    @Option(names = "--seconds", defaultValue = "10", description = "Of each case (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
            names = "--past",
            description = "Rows that another stream has kept: a query reads them in the place of the heavy one.")
    private Optional<Long> past = Optional.empty();

    @Option(
            names = "--every",
            defaultValue = "0",
            description = "Milliseconds from one thousand rows to the next (default: as fast as they are taken).")
    private long everyMillis;

    private final long startNanos = System.nanoTime();
    private final AtomicLongArray broughtNanos =
            new AtomicLongArray(MOST_INSERTS); // by the number of an INSERT, before it
    private final AtomicLongArray takenNanos = new AtomicLongArray(MOST_INSERTS); // behind it; 0 until then
    private int inserts; // so far; of the thread that feeds

    @Override
    public Integer call() throws InterruptedException, ExecutionException, IOException {
        if (past.isPresent()) {
            Path folder = Files.createTempDirectory("millrace-neighbours");
            try {
                measure(DatabaseOptions.defaults().withData(folder.resolve("data")));
            } finally {
                Folders.remove(folder);
            }
        } else {
            measure(DatabaseOptions.defaults());
        }
        return 0;
    }

    private void measure(DatabaseOptions options) throws InterruptedException, ExecutionException {
        try (Database database = Database.open(options);
                Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            session.run("CREATE STREAM offered (k BIGINT NOT NULL, number BIGINT NOT NULL)");
            for (int i = 0; i < light; i++) {
                session.run("CREATE MATERIALIZED VIEW light_" + i + " AS SELECT max(number) AS newest FROM offered"
                        + " WHERE k % " + light + " = " + i);
            }
            past.ifPresent(rows -> keep(session, rows));
            measure(database, past.isPresent() ? 2 * seconds : seconds / 3); // the code is compiled by then
            System.out.println(json("alone", measure(database, seconds)));
            if (past.isPresent()) {
                session.run("CREATE MATERIALIZED VIEW reading WITH (start = 'earliest') AS " + SLOW);
                System.out.println(
                        json("beside one that reads the past", measure(database, seconds, () -> isOver(database))));
                session.run("DROP MATERIALIZED VIEW reading");
                System.out.println(json("alone again", measure(database, seconds)));
                return;
            }
            session.run("CREATE MATERIALIZED VIEW heavy AS SELECT count(*) AS n FROM offered,"
                    + " LATERAL generate_series(1, " + steps + ") AS g(step) WHERE (step * k) % 7 = 3");
            System.out.println(json("beside a heavy one", measure(database, seconds)));
            session.run("DROP MATERIALIZED VIEW heavy");
            System.out.println(json("alone again", measure(database, seconds)));
        }
    }

    private static void keep(SessionStatements session, long rows) {
        session.run("CREATE STREAM kept (k BIGINT, v DOUBLE PRECISION) WITH (retention = 'forever')");
        for (long from = 0; from < rows; from += KEPT_TOGETHER) {
            session.run("INSERT INTO kept SELECT g % 1000, g FROM generate_series(" + from + ", "
                    + (Math.min(rows, from + KEPT_TOGETHER) - 1) + ") AS g");
        }
        session.run("CHECKPOINT");
    }

    /** Rows that were brought meanwhile, and the ages and lags seen. */
    private record Ages(double[] millis, double[] lags, long rows, double seconds) {}

    private static boolean isOver(Database database) {
        return database.backfills().stream()
                .allMatch(backfill -> backfill.progress().isOver());
    }

    private Ages measure(Database database, double forSeconds) throws InterruptedException, ExecutionException {
        return measure(database, forSeconds, () -> false);
    }

    private Ages measure(Database database, double forSeconds, BooleanSupplier isOver)
            throws InterruptedException, ExecutionException {
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService feeder = Executors.newSingleThreadExecutor();
        long start = System.nanoTime();
        try (Session opened = database.session()) {
            Future<Long> brought = feeder.submit(() -> bring(database, over));
            double[] millis = new double[MOST_SAMPLES];
            double[] lags = new double[MOST_SAMPLES];
            int samples = 0;
            for (int look = 0;
                    System.nanoTime() - start < forSeconds * 1e9 && samples < MOST_SAMPLES && !isOver.getAsBoolean();
                    look++) {
                OptionalLong newest = number(opened, "SELECT newest FROM light_" + look % light);
                if (newest.isPresent()) {
                    long now = System.nanoTime() - startNanos;
                    int number = (int) newest.getAsLong();
                    long next = takenNanos.get(number + 1);
                    lags[samples] = next == 0 ? 0 : Math.max(0, now - next) / 1e6;
                    millis[samples++] = (now - broughtNanos.get(number)) / 1e6;
                }
                TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            }
            double took = (System.nanoTime() - start) / 1e9;
            over.set(true);
            return new Ages(Arrays.copyOf(millis, samples), Arrays.copyOf(lags, samples), brought.get(), took);
        } finally {
            over.set(true);
            feeder.shutdown();
        }
    }

    private long bring(Database database, AtomicBoolean over) throws InterruptedException {
        long rows = 0;
        try (Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            for (; !over.get() && inserts < MOST_INSERTS - 1; rows += ROWS_TOGETHER) {
                broughtNanos.set(inserts, System.nanoTime() - startNanos);
                session.run("INSERT INTO offered SELECT k, " + inserts + " FROM generate_series(1, " + ROWS_TOGETHER
                        + ") AS g(k)");
                takenNanos.set(inserts++, System.nanoTime() - startNanos);
                TimeUnit.MILLISECONDS.sleep(everyMillis);
            }
        }
        return rows;
    }

    /** The one value of a query; empty if it is NULL. */
    private static OptionalLong number(Session session, String sql) {
        OptionalLong found = OptionalLong.empty();
        try (StatementResults results = session.execute(sql);
                StatementResult result = results.next()) {
            StatementResult.Rows rows = (StatementResult.Rows) result;
            for (var next = rows.next(); next.isPresent(); next = rows.next()) {
                try (var batch = next.get()) {
                    if (batch.rowCount() > 0 && !batch.column(0).isNull(0)) {
                        found = OptionalLong.of(Memory.getLong(batch.dataAddress(0)));
                    }
                }
            }
        }
        return found;
    }

    private String json(String what, Ages ages) {
        return String.format(
                Locale.ROOT,
                "{\"case\":\"%d light queries %s\",\"rows_per_second\":%.0f,\"samples\":%d,\"p50_ms\":%.1f,\"p99_ms\":%.1f,\"max_ms\":%.1f,"
                        + "\"lag_p50_ms\":%.1f,\"lag_p99_ms\":%.1f,\"lag_max_ms\":%.1f}",
                light,
                what,
                ages.rows() / ages.seconds(),
                ages.millis().length,
                Times.quantile(ages.millis(), .5),
                Times.quantile(ages.millis(), .99),
                Times.quantile(ages.millis(), 1),
                Times.quantile(ages.lags(), .5),
                Times.quantile(ages.lags(), .99),
                Times.quantile(ages.lags(), 1));
    }
}
