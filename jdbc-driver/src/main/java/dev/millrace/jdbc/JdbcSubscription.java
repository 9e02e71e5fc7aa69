package dev.millrace.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * A SUBSCRIBE on a connection of its own, whose rows are fetched as they come. The query timeout is how long one call of
 * {@code next} may wait.
 *
 * <p>Used by one thread, but for {@link #cancel} and {@link #close}, which any may call while that one waits.
 */
final class JdbcSubscription implements AutoCloseable {
    private static final Pattern SUBSCRIBE = Pattern.compile(
            "(?:\\s|--[^\\n]*(?:\\n|$)|/\\*.*?\\*/)*SUBSCRIBE\\b.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    private static final int USUAL_FETCH_SIZE = 1000;
    private static final long LOOK_MILLIS = 50;
    private static final String CANCELLED = "57014";

    private static final ScheduledExecutorService WATCH = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "millrace-jdbc-watch");
        thread.setDaemon(true);
        return thread;
    });

    private final Connection connection;
    private final PreparedStatement statement;
    private @Nullable ResultSet rows; // null while none is read
    private @Nullable ResultSet result; // null before the first
    private @Nullable ScheduledFuture<?> watch; // null before the first result
    private boolean closesWithResult;
    private volatile long waitingSinceNanos; // 0 when not; written by the reader, read by the watch
    private volatile boolean cancelled; // written by who cancels, read by the reader
    private volatile boolean timedOut; // written by the watch, read by the reader

    JdbcSubscription(Connection connection, PreparedStatement statement) {
        this.connection = connection;
        this.statement = statement;
    }

    static boolean isSubscribe(String sql) {
        return sql != null && SUBSCRIBE.matcher(sql).matches();
    }

    static JdbcSubscription open(Endpoint endpoint, String sql) throws SQLException {
        Connection connection = endpoint.open();
        try (Statement setting = connection.createStatement()) {
            setting.execute("SET subscription_begins = at_once"); // so that executeQuery returns when it has begun
            connection.setAutoCommit(false); // pgjdbc fetches piece by piece only in a transaction
            return new JdbcSubscription(connection, connection.prepareStatement(sql));
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /** Takes the parameters and settings. */
    PreparedStatement statement() {
        return statement;
    }

    /**
     * Begins anew.
     *
     * @param owner what the result says it belongs to
     * @param closes whether the end of the result is the end of all
     */
    ResultSet start(Statement owner, boolean closes) throws SQLException {
        stop();
        if (statement.getFetchSize() == 0) {
            statement.setFetchSize(USUAL_FETCH_SIZE);
        }
        closesWithResult = closes;
        cancelled = false;
        timedOut = false;
        long timeoutNanos = TimeUnit.SECONDS.toNanos(statement.getQueryTimeout());
        statement.setQueryTimeout(0); // ours is for each wait
        ResultSet begun;
        try {
            begun = statement.executeQuery();
            rows = begun;
        } finally {
            statement.setQueryTimeout((int) TimeUnit.NANOSECONDS.toSeconds(timeoutNanos));
        }
        watch = WATCH.scheduleWithFixedDelay(() -> look(timeoutNanos), LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
        ResultSet wrapped = ChangesResult.wrap(begun, owner, this);
        result = wrapped;
        return wrapped;
    }

    /** What was begun last; null, as JDBC has it, before the first. */
    @Nullable ResultSet result() {
        return result;
    }

    /** Waits for the next row. */
    boolean next() throws SQLException {
        if (cancelled) {
            throw new SQLException("canceling statement due to user request", CANCELLED);
        }
        waitingSinceNanos = Math.max(1, System.nanoTime());
        try {
            return Objects.requireNonNull(rows, "ended").next();
        } catch (SQLException e) {
            if (timedOut && CANCELLED.equals(e.getSQLState())) {
                throw new SQLTimeoutException("no row came within the query timeout", CANCELLED, e);
            }
            throw e;
        } finally {
            waitingSinceNanos = 0;
        }
    }

    /** On the thread of all watches. A request that finds the server idle is lost, so it is made until it has an effect. */
    private void look(long timeoutNanos) {
        long since = waitingSinceNanos;
        if (since == 0) {
            return;
        }
        if (!cancelled && timeoutNanos > 0 && System.nanoTime() - since >= timeoutNanos) {
            timedOut = true;
        }
        if (cancelled || timedOut) {
            interrupt();
        }
    }

    private void interrupt() {
        try {
            connection.unwrap(PGConnection.class).cancelQuery();
        } catch (SQLException e) {
            // the connection is gone, which the reader finds out itself
        }
    }

    /** Ends the wait for the next row, or else the next wait. */
    void cancel() {
        cancelled = true;
        if (waitingSinceNanos != 0) {
            interrupt();
        }
    }

    /** The reader is done with the result. */
    void resultClosed() throws SQLException {
        if (closesWithResult) {
            close();
        } else {
            stop();
        }
    }

    private void stop() throws SQLException {
        ResultSet begun = rows;
        if (begun != null) {
            if (watch != null) {
                watch.cancel(false);
            }
            begun.close();
            rows = null;
            connection.rollback();
        }
    }

    /** Ends the connection, and with it whatever waits. */
    @Override
    public void close() throws SQLException {
        if (watch != null) {
            watch.cancel(false);
        }
        connection.close();
    }
}
