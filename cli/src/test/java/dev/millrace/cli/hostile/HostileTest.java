package dev.millrace.cli.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.cli.ServerProcess;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whatever clients ask for ends when its time is over, and nobody else is held up by it: standing queries have all rows,
 * others are answered, and the server stops when it is told to. {@code -Dmillrace.hostile.seconds=N} sets for how long (8),
 * {@code -Dmillrace.hostile.seed=S} the seed, {@code -Dmillrace.hostile.launcher=F} the command that starts the server, as users
 * start it; with {@code -Dmillrace.hostile.timed=true} times are asserted, too. Times at which
 * the machine stood still, as a thread that only sleeps saw, are nobody's fault: they are taken off, and told. A statement's time
 * begins when the last byte of it was sent. {@code -Dmillrace.hostile.pictures=N} sets how many pictures are taken of what a late
 * statement is at (200): each stops the server for a while, so none is taken where times are asserted and nothing else is said.
 */
class HostileTest {
    private static final long SECONDS = Long.getLong("millrace.hostile.seconds", 8);
    private static final long SEED = Long.getLong("millrace.hostile.seed", 1);
    private static final boolean TIMED = Boolean.getBoolean("millrace.hostile.timed");
    private static final int CLIENTS = 8;
    private static final int STANDING = 50;
    private static final int ROWS_AT_A_TIME = 20;
    private static final long MOST_OVER_MILLIS = 100;
    private static final double MOST_POINT_MILLIS = 50;
    private static final long MOST_STOP_MILLIS = 5_000;
    private static final long MOST_RESIDENT_MB = 3_600; // a heap of 2,048, an engine of 1,024, and what the JVM needs
    private static final long[] PICTURES_MILLIS = {100, 500, 2_000}; // how late a statement is when one is taken
    private static final int MOST_PICTURES = Integer.getInteger("millrace.hostile.pictures", TIMED ? 0 : 200);

    private final Stalls stalls = new Stalls();
    private final HostileReport report = new HostileReport(stalls, MOST_OVER_MILLIS);
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong fed = new AtomicLong();
    private ServerProcess server;

    /** With a heap of two and an engine of one gigabyte; as it is shipped where the test is given that. */
    private static ServerProcess startServer() throws Exception {
        List<String> options = List.of("--port", "0", "--http-port", "0", "--tls", "off", "--set", "engine.memory=1g");
        Optional<String> launcher = Optional.ofNullable(System.getProperty("millrace.hostile.launcher"));
        List<String> command =
                new ArrayList<>(launcher.map(path -> List.of(path, "server")).orElse(List.of("-Xmx2g")));
        command.addAll(options);
        return launcher.isPresent()
                ? ServerProcess.launch("-Xmx2g", command)
                : ServerProcess.start(command.toArray(String[]::new));
    }

    @Test
    @Timeout(7_200)
    void whatIsAskedEndsInTimeAndHoldsNobodyUp() throws Exception {
        try (ServerProcess started = startServer()) {
            server = started;
            setUp();
            List<CompletableFuture<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int first = i * HostileStatements.kinds() / CLIENTS;
                HostileClient client = new HostileClient(server::connect, report, SEED + i);
                clients.add(start(() -> {
                    client.work(first, () -> !over.get());
                    return null;
                }));
            }
            CompletableFuture<Void> feeding = start(this::feed);
            List<Double> pointMillis = new ArrayList<>();
            CompletableFuture<Void> reading = start(() -> read(pointMillis));
            CompletableFuture<Void> watching = start(this::watch);
            watching.get(); // as long as the test lasts
            over.set(true);
            feeding.get();
            reading.get();
            report.lines().forEach(line -> System.out.println("hostile: " + line));
            requireExact();
            long residentMb = server.mostResidentBytes() >> 20;
            long from = System.nanoTime();
            server.terminate(); // clients are still at it
            assertEquals(0, server.awaitExit() & ~143, () -> "exit; " + server.lines());
            long stopMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - from);
            for (CompletableFuture<Void> client : clients) {
                Throwable failure = client.handle((done, why) -> why).get();
                if (failure instanceof CompletionException && failure.getCause() instanceof AssertionError wrong) {
                    throw wrong; // others found the server gone, as they should
                }
            }
            double[] points = pointMillis.stream()
                    .mapToDouble(Double::doubleValue)
                    .sorted()
                    .toArray();
            double p99 = points[points.length * 99 / 100];
            System.out.printf(
                    "hostile: {\"seed\": %d, \"seconds\": %d, \"statements\": %d, \"late\": %d, \"worst_over_ms\": %d,"
                            + " \"worst_wall_ms\": %d, \"stalls\": %d, \"stalled_ms\": %d,"
                            + " \"select_1\": %d, \"select_1_p50_ms\": %.2f, \"select_1_p99_ms\": %.2f,"
                            + " \"rows\": %d, \"resident_mb\": %d, \"stop_ms\": %d}%n",
                    SEED,
                    SECONDS,
                    report.runs(),
                    report.late(),
                    report.worstMillis(),
                    report.worstWallMillis(),
                    stalls.count(),
                    stalls.totalMillis(),
                    points.length,
                    points[points.length / 2],
                    p99,
                    fed.get(),
                    residentMb,
                    stopMillis);
            if (TIMED) {
                assertTrue(report.worstMillis() <= MOST_OVER_MILLIS, "a statement outlived its timeout");
                assertTrue(p99 <= MOST_POINT_MILLIS, "SELECT 1 waited");
                assertTrue(residentMb <= MOST_RESIDENT_MB, "the server took too much memory");
                assertTrue(stopMillis <= MOST_STOP_MILLIS, "the server took long to stop");
            }
        } finally {
            stalls.close();
        }
    }

    private static CompletableFuture<Void> start(Callable<Void> work) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return work.call();
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                OwnThread.EACH);
    }

    private void setUp() throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            for (String sql : HostileStatements.SETUP) {
                statement.execute(sql);
            }
            statement.execute("CREATE STREAM feed (n BIGINT, k BIGINT)");
            statement.execute("CREATE TABLE names (k BIGINT PRIMARY KEY, name TEXT)");
            statement.execute("INSERT INTO names SELECT n, 'n' || n FROM generate_series(0, 9) AS t(n)");
            for (int i = 0; i < STANDING; i++) {
                statement.execute("CREATE MATERIALIZED VIEW v" + i + " AS "
                        + switch (i % 4) {
                            case 0 -> "SELECT count(*) AS c, sum(n + " + i + ") AS s FROM feed";
                            case 1 ->
                                "SELECT sum(c) AS c, sum(s) AS s FROM (SELECT k, count(*) AS c, sum(n + " + i
                                        + ") AS s FROM feed GROUP BY k) AS q";
                            case 2 ->
                                "SELECT count(*) AS c, sum(n + " + i
                                        + ") AS s FROM feed AS f JOIN names AS m ON f.k = m.k";
                            default ->
                                "SELECT sum(c) AS c, sum(s) AS s FROM (SELECT count(*) AS c, sum(n + " + i
                                        + ") AS s, count(DISTINCT k) AS d FROM feed GROUP BY n % 1000) AS q WHERE d = 1";
                        });
            }
        }
    }

    /** Rows for the standing queries: n is 0, 1, 2, ... */
    private Void feed() throws SQLException {
        try (Connection connection = server.connect();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO feed VALUES (?, ?)")) {
            while (!over.get()) {
                for (int i = 0; i < ROWS_AT_A_TIME; i++) {
                    long n = fed.getAndIncrement();
                    insert.setLong(1, n);
                    insert.setLong(2, n % 10);
                    insert.addBatch();
                }
                insert.executeBatch();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
        return null;
    }

    /** Reads a point again and again; how long each took. */
    private Void read(List<Double> millis) throws SQLException {
        try (Connection connection = server.connect();
                PreparedStatement select = connection.prepareStatement("SELECT 1")) {
            while (!over.get()) {
                long from = System.nanoTime();
                try (ResultSet rows = select.executeQuery()) {
                    rows.next();
                    assertEquals(1, rows.getInt(1));
                }
                long now = System.nanoTime();
                millis.add((now - from - stalls.within(from, now)) / 1e6);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
        }
        return null;
    }

    /** Until the time is over, keeps what the server was at when a statement did not end, and with which one. */
    private Void watch() throws Exception {
        Path folder = Path.of("target", "hostile");
        Files.createDirectories(folder);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        int pictures = 0;
        Map<HostileReport.UnderWay, Integer> taken = new HashMap<>();
        try (ServerPicture server = new ServerPicture(this.server.process())) {
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                List<HostileReport.UnderWay> underWay = report.underWay();
                taken.keySet().retainAll(underWay);
                List<HostileReport.UnderWay> late = underWay.stream()
                        .filter(step -> lateMillis(step) > due(taken.getOrDefault(step, 0)))
                        .toList();
                if (late.isEmpty() || pictures >= MOST_PICTURES) {
                    continue;
                }
                String picture = server.take();
                StringBuilder text = new StringBuilder();
                for (HostileReport.UnderWay step : late) {
                    taken.merge(step, 1, Integer::sum);
                    System.out.printf(
                            "hostile: %d ms late (timeout %d, seed %d) is %s, see target/hostile/%d%n",
                            lateMillis(step),
                            step.timeoutMillis(),
                            SEED,
                            step.hostile().kind(),
                            pictures);
                    text.append(step.hostile().kind())
                            .append(": ")
                            .append(step.hostile().sql())
                            .append('\n');
                }
                Files.writeString(folder.resolve("" + pictures++), picture + "\n" + text);
            }
        }
        return null;
    }

    /** By how much a statement outlives its timeout so far, without the times at which the machine stood still. */
    private long lateMillis(HostileReport.UnderWay step) {
        long now = System.nanoTime();
        long late = now - step.dueNanos();
        return TimeUnit.NANOSECONDS.toMillis(late > 0 ? late - stalls.within(step.dueNanos(), now) : late);
    }

    private static long due(int picturesTaken) {
        return picturesTaken < PICTURES_MILLIS.length ? PICTURES_MILLIS[picturesTaken] : Long.MAX_VALUE;
    }

    private void requireExact() throws SQLException {
        long rows = fed.get();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < STANDING; i++) {
                String expected = rows + " rows, " + (rows * (rows - 1) / 2 + rows * i);
                String query = "SELECT c || ' rows, ' || s FROM v" + i;
                Eventually.holds("view v" + i + " has " + expected, () -> expected.equals(one(statement, query)));
            }
        }
    }

    private static String one(Statement statement, String query) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            return rows.next() ? rows.getString(1) : "";
        }
    }
}
