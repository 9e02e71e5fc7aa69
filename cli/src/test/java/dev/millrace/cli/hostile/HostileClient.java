package dev.millrace.cli.hostile;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.cli.hostile.HostileStatements.Hostile;
import dev.millrace.testing.time.OwnThread;
import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/** One client that sends hostile statements under a timeout, and sometimes cancels them or breaks off. One thread. */
final class HostileClient {
    private static final int[] TIMEOUT_MILLIS = {50, 200, 500, 1000};
    private static final int MOST_FETCHES = 5;
    private static final int FETCH_ROWS = 500;

    /** What a server that is in order never says. */
    private static final Set<String> DEFECTS = Set.of("XX000", "XX001");

    /** Connects to the server. */
    interface Server {
        Connection connect(Properties options) throws SQLException;
    }

    private final Server server;
    private final HostileReport report;
    private final SplittableRandom random;
    private Connection connection;
    private String name; // of the connection
    private int timeoutMillis;

    HostileClient(Server server, HostileReport report, long seed) {
        this.server = server;
        this.report = report;
        this.random = new SplittableRandom(seed);
    }

    /** Sends one statement of each kind, from a first on, and goes on at random while it may. */
    void work(int firstKind, BooleanSupplier goesOn) throws Exception {
        reconnect();
        try {
            for (int i = 0; goesOn.getAsBoolean(); i++) {
                if (random.nextInt(20) == 0) {
                    breakOff();
                } else {
                    int kinds = HostileStatements.kinds();
                    send(
                            i < kinds
                                    ? HostileStatements.of((firstKind + i) % kinds, random)
                                    : HostileStatements.draw(random));
                }
            }
        } finally {
            connection.abort(Runnable::run);
        }
    }

    private void reconnect() throws Exception {
        if (connection != null) {
            connection.abort(Runnable::run);
            SentTimes.forget(name);
        }
        Properties options = new Properties();
        name = SentTimes.name(options);
        connection = server.connect(options);
        timeoutMillis = TIMEOUT_MILLIS[random.nextInt(TIMEOUT_MILLIS.length)];
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET statement_timeout = '" + timeoutMillis + "ms'");
        }
        connection.setAutoCommit(false); // so that rows come in portions
    }

    private void send(Hostile hostile) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(FETCH_ROWS);
            if (random.nextInt(4) == 0) {
                cancelSoon(statement);
            }
            run(statement, hostile);
        } catch (SQLException e) {
            assertFalse(DEFECTS.contains(e.getSQLState()), () -> hostile.kind() + ": " + e.getMessage());
            report.failed(hostile, e);
            if (e.getSQLState() == null || e.getSQLState().startsWith("08")) {
                reconnect();
                return;
            }
        }
        connection.rollback();
    }

    private void run(Statement statement, Hostile hostile) throws SQLException {
        if (hostile.sql().startsWith("COPY")) {
            timed(hostile, () -> copyOut(hostile.sql()));
            return;
        }
        boolean rows = timed(hostile, () -> statement.execute(hostile.sql()));
        if (!rows) {
            return;
        }
        try (ResultSet result = statement.getResultSet()) {
            boolean more = true;
            for (int fetch = 0; more && fetch < MOST_FETCHES; fetch++) {
                more = timed(hostile, () -> {
                    boolean next = true;
                    for (int row = 0; next && row < FETCH_ROWS; row++) {
                        next = result.next();
                    }
                    return next;
                });
            }
        }
    }

    /** A step that may fail. */
    private interface Step {
        boolean run() throws SQLException;
    }

    private boolean timed(Hostile hostile, Step step) throws SQLException {
        report.begins(this, hostile, timeoutMillis, SentTimes.lastNanos(name));
        try {
            return step.run();
        } finally {
            report.ended(this, hostile);
        }
    }

    private boolean copyOut(String sql) throws SQLException {
        CopyOut copy = connection.unwrap(PGConnection.class).getCopyAPI().copyOut(sql);
        while (copy.readFromCopy() != null) {
            // read as fast as it comes
        }
        return false;
    }

    private void cancelSoon(Statement statement) {
        int millis = random.nextInt(timeoutMillis);
        CompletableFuture.runAsync(
                () -> {
                    try {
                        statement.cancel();
                    } catch (SQLException e) {
                        // it ended before
                    }
                },
                CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, OwnThread.EACH));
    }

    /** In the middle of a COPY, or of a result. */
    private void breakOff() throws Exception {
        try {
            if (random.nextBoolean()) {
                try (Statement statement = connection.createStatement()) {
                    statement.setFetchSize(FETCH_ROWS);
                    statement.executeQuery("SELECT a.id FROM h a, h b").next();
                }
            } else {
                var copy = connection.unwrap(PGConnection.class).getCopyAPI();
                copy.copyIn("COPY h (id, k) FROM STDIN (FORMAT csv)", new StringReader("-1,1\n-2,many\n"));
            }
        } catch (SQLException | IOException e) {
            // as it should be
        }
        reconnect();
    }
}
