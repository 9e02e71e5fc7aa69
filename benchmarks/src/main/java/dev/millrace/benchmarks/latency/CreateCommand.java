package dev.millrace.benchmarks.latency;

import dev.millrace.benchmarks.process.SessionStatements;
import dev.millrace.benchmarks.process.SessionStatements.Times;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench create}: how long CREATE CONTINUOUS QUERY takes while others run over the same stream, each of a
 * shape of its own, and rows come in. What was created is dropped before the next is, so that their number stays.
 */
@Command(
        name = "create",
        description =
                "Times CREATE CONTINUOUS QUERY while other queries run; one JSON line per case and number of them.",
        mixinStandardHelpOptions = true)
public final class CreateCommand implements Callable<Integer> {
    private static final int WARM_UP = 400; // statements of each case
    private static final int ROWS = 100; // of an INSERT

    @Option(
            names = "--running",
            split = ",",
            defaultValue = "0,10,100,1000",
            description = "How many queries run beside it (default: ${DEFAULT-VALUE}).")
    private List<Integer> running;

    @Option(names = "--statements", defaultValue = "200", description = "Of each case (default: ${DEFAULT-VALUE}).")
    private int statements;

    @Option(
            names = "--rows",
            defaultValue = "1000",
            description = "A second that come in meanwhile; 0 for none (default: ${DEFAULT-VALUE}).")
    private int rowsPerSecond;

    private int shapes; // used so far

    private enum Case {
        FILTER_KNOWN {
            @Override
            String query(int number, int shape) {
                return "SELECT ts, temp FROM readings WHERE device = 'd" + number + "' AND temp > " + number;
            }
        },
        FILTER_NEW {
            @Override
            String query(int number, int shape) {
                return "SELECT ts, temp" + arithmetic(shape) + " AS t FROM readings WHERE device = 'd" + number + "'";
            }
        },
        GROUPS_KNOWN {
            @Override
            String query(int number, int shape) {
                return "SELECT device, max(temp) AS top FROM readings WHERE temp > " + number + " GROUP BY device";
            }
        },
        GROUPS_NEW {
            @Override
            String query(int number, int shape) {
                return "SELECT device, max(temp" + arithmetic(shape) + ") AS top FROM readings GROUP BY device";
            }
        },
        WINDOWS_KNOWN {
            @Override
            String query(int number, int shape) {
                return windows("count(*)", 1 + number);
            }
        },
        WINDOWS_NEW {
            @Override
            String query(int number, int shape) {
                return windows("count(*)" + arithmetic(shape), 1 + number);
            }
        };

        /** @param shape not used before */
        abstract String query(int number, int shape);

        private static String windows(String result, int seconds) {
            return "SELECT device, " + result
                    + " AS n, window_end FROM TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '"
                    + seconds + " seconds') GROUP BY device, window_start, window_end";
        }

        /** Plus and minus as the number's bits say: numbers are left out of what makes a shape, operators are not. */
        private static String arithmetic(int shape) {
            StringBuilder text = new StringBuilder();
            for (int rest = shape + 2; rest > 1; rest >>= 1) {
                text.append((rest & 1) == 0 ? " + " : " - ").append(text.length() % 7);
            }
            return text.toString();
        }
    }

    @Override
    public Integer call() throws InterruptedException, ExecutionException {
        ExecutorService feeder = Executors.newSingleThreadExecutor();
        try (Database database = Database.open(DatabaseOptions.defaults());
                Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            session.run("CREATE STREAM readings (device TEXT NOT NULL, ts TIMESTAMP NOT NULL, temp DOUBLE PRECISION,"
                    + " WATERMARK FOR ts AS ts - INTERVAL '1 second')");
            AtomicBoolean ended = new AtomicBoolean();
            Future<?> fed = feeder.submit(() -> feed(database, ended));
            for (Case what : Case.values()) {
                time(session, what, WARM_UP);
            }
            int started = 0;
            for (int others : running) {
                for (; started < others; started++) {
                    Case what = Case.values()[started % 3 * 2 + 1];
                    session.run("CREATE CONTINUOUS QUERY other_" + started + " AS " + what.query(started, shapes++));
                }
                for (Case what : Case.values()) {
                    System.out.println(json(what, started, time(session, what, statements)));
                }
            }
            ended.set(true);
            fed.get();
        } finally {
            feeder.shutdown();
        }
        return 0;
    }

    private Times time(SessionStatements session, Case what, int count) {
        return session.time(
                count,
                number -> "CREATE CONTINUOUS QUERY created_" + number + " AS " + what.query(number, shapes++),
                number -> "DROP CONTINUOUS QUERY created_" + number);
    }

    private void feed(Database database, AtomicBoolean ended) {
        try (Session opened = database.session()) {
            SessionStatements session = new SessionStatements(opened);
            long start = System.nanoTime();
            for (long inserted = 0; rowsPerSecond > 0 && !ended.get(); inserted += ROWS) {
                long due = start + (long) (inserted * 1e9 / rowsPerSecond);
                for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                    LockSupport.parkNanos(due - now);
                }
                LocalDateTime time = LocalDateTime.of(2026, 1, 1, 0, 0, 1).plusSeconds(inserted / rowsPerSecond);
                StringJoiner rows = new StringJoiner(", ");
                for (int row = 0; row < ROWS; row++) {
                    rows.add("('d" + row + "', TIMESTAMP '" + time + "', " + row + ")");
                }
                session.run("INSERT INTO readings VALUES " + rows);
            }
        }
    }

    private static String json(Case what, int others, Times times) {
        return String.format(
                Locale.ROOT,
                "{\"case\":\"%s\",\"running\":%d,\"statements\":%d,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"p50_cpu_ms\":%.2f,\"p99_cpu_ms\":%.2f}",
                what.name().toLowerCase(Locale.ROOT),
                others,
                times.millis().length,
                Times.quantile(times.millis(), .5),
                Times.quantile(times.millis(), .99),
                Times.quantile(times.cpuMillis(), .5),
                Times.quantile(times.cpuMillis(), .99));
    }
}
