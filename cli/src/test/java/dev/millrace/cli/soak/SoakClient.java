package dev.millrace.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.postgresql.PGConnection;

/**
 * One client that does in random order what clients do: transfers between accounts in transactions, rows into a stream,
 * views made, altered and dropped, subscriptions left, wrong statements, connections cut. Whatever it reads must add up.
 * One thread.
 */
final class SoakClient {
    static final int ACCOUNTS = 40;
    static final int BALANCE = 1_000; // of each account at the beginning

    /** What everybody uses. */
    static final List<String> SETUP = List.of(
            "CREATE TABLE accounts (id INTEGER PRIMARY KEY, branch INTEGER NOT NULL, balance BIGINT NOT NULL)",
            "INSERT INTO accounts SELECT n, n % 5, " + BALANCE + " FROM generate_series(1, " + ACCOUNTS + ") AS t(n)",
            "CREATE STREAM events (account INTEGER, amount BIGINT, ts TIMESTAMP,"
                    + " WATERMARK FOR ts AS ts - INTERVAL '5 seconds')",
            "CREATE MATERIALIZED VIEW branches AS SELECT branch, sum(balance) AS balance, count(*) AS n FROM accounts"
                    + " GROUP BY branch",
            "CREATE MATERIALIZED VIEW total AS SELECT sum(balance) AS balance FROM branches",
            "CREATE MATERIALIZED VIEW richest AS SELECT id, balance FROM accounts ORDER BY balance DESC, id LIMIT 5",
            "CREATE CONTINUOUS QUERY minutes AS SELECT window_end, account, sum(amount) AS amount"
                    + " FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1 minute') GROUP BY window_end, account",
            "CREATE CONTINUOUS QUERY paid WITH (state_ttl = '1 minute') AS SELECT e.account, a.branch, e.amount"
                    + " FROM events AS e JOIN accounts AS a ON e.account = a.id");

    /** Views that a client makes for a while; each gives one number, which is that of all money. */
    private static final List<String> SUMS = List.of(
            "SELECT sum(balance) AS s FROM accounts",
            "SELECT sum(b.balance * (a.n > 0)::int) AS s FROM branches AS b JOIN branches AS a ON a.branch = b.branch",
            "SELECT sum(balance) AS s FROM (SELECT balance FROM accounts WHERE id % 2 = 0 UNION ALL"
                    + " SELECT sum(balance) FROM accounts WHERE id % 2 = 1) AS parts",
            "SELECT sum(t.balance) AS s FROM total AS t LEFT JOIN richest AS r ON r.id < 0");

    private static final List<String> WRONG = List.of(
            "SELECT 1 / (balance - balance) FROM accounts",
            "SELECT nothing FROM accounts",
            "INSERT INTO accounts VALUES (1, 1, 1)",
            "INSERT INTO events VALUES ('many', 1, NULL)",
            "CREATE MATERIALIZED VIEW total AS SELECT 1 AS one",
            "DROP TABLE accounts",
            "SELEC 1",
            "CREATE CONTINUOUS QUERY bad AS SELECT account FROM events WHERE ts > 'yesterday evening'");

    private final Callable<Connection> server;
    private final SplittableRandom random;
    private final AtomicLong clock; // seconds of event time, of all clients
    private final String name;
    private Connection connection;
    private long actions;

    /** @param name that no other client has */
    SoakClient(Callable<Connection> server, String name, AtomicLong clock, long seed) {
        this.server = server;
        this.name = name;
        this.clock = clock;
        this.random = new SplittableRandom(seed);
    }

    /** Works until the time, which is {@code System.nanoTime}'s; returns how much was done. */
    long workUntil(long nanos) throws Exception {
        connection = server.call();
        try {
            while (System.nanoTime() < nanos) {
                act(random.nextInt(12));
                actions++;
            }
        } finally {
            connection.close();
        }
        return actions;
    }

    private void act(int action) throws Exception {
        switch (action) {
            case 0, 1, 2 -> transfer();
            case 3, 4 -> insert();
            case 5 -> copy();
            case 6 -> makeAView();
            case 7 -> subscribe();
            case 8 -> fail();
            case 9 -> leave();
            default -> read();
        }
    }

    private void transfer() throws SQLException {
        connection.setAutoCommit(false);
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE accounts SET balance = balance + ? WHERE id = ?")) {
            int amount = random.nextInt(100);
            int from = 1 + random.nextInt(ACCOUNTS);
            move(update, -amount, from);
            move(update, amount, 1 + (from + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS);
            if (random.nextInt(5) == 0) {
                connection.rollback();
            } else {
                connection.commit();
            }
        } catch (SQLException e) {
            connection.rollback();
            if (!List.of("40001", "40P01").contains(e.getSQLState())) { // another client was first
                throw e;
            }
        } finally {
            connection.setAutoCommit(true);
        }
    }

    private static void move(PreparedStatement update, long amount, int account) throws SQLException {
        update.setLong(1, amount);
        update.setInt(2, account);
        assertEquals(1, update.executeUpdate());
    }

    private void insert() throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO events VALUES (?, ?, TIMESTAMP '2026-01-01' + ? * INTERVAL '1 second')")) {
            for (int row = random.nextInt(50); row >= 0; row--) {
                insert.setInt(1, random.nextInt(2 * ACCOUNTS));
                insert.setLong(2, random.nextInt(1_000));
                insert.setLong(3, clock.incrementAndGet() - random.nextInt(10));
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private void copy() throws SQLException, IOException {
        StringBuilder rows = new StringBuilder();
        for (int row = random.nextInt(500); row >= 0; row--) {
            long seconds = clock.incrementAndGet() % 86_400;
            rows.append(random.nextInt(ACCOUNTS))
                    .append(",5,\"2026-01-02 ")
                    .append(String.format("%02d:%02d:%02d", seconds / 3_600, seconds / 60 % 60, seconds % 60))
                    .append("\"\n");
        }
        connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn("COPY events FROM STDIN (FORMAT csv)", new StringReader(rows.toString()));
    }

    private void makeAView() throws SQLException {
        String view = "sum_of_" + name;
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE MATERIALIZED VIEW " + view + " AS " + SUMS.get(random.nextInt(SUMS.size())));
            for (int i = random.nextInt(3); i > 0; i--) {
                statement.execute("ALTER MATERIALIZED VIEW " + view + " AS " + SUMS.get(random.nextInt(SUMS.size())));
                addsUp("SELECT s FROM " + view);
            }
            addsUp("SELECT s FROM " + view);
            statement.execute("DROP MATERIALIZED VIEW " + view);
        }
    }

    /** Reads some changes, then leaves in one way or another. */
    private void subscribe() throws Exception {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("DECLARE changes CURSOR FOR SUBSCRIBE TO branches WITH (snapshot = true)");
            for (int fetch = random.nextInt(3); fetch >= 0; fetch--) {
                try (ResultSet rows = statement.executeQuery("FETCH 5 FROM changes WITH (timeout = '50ms')")) {
                    while (rows.next()) {
                        assertNotNull(rows.getString(1));
                    }
                }
            }
            if (random.nextBoolean()) {
                reconnect();
                return;
            }
            connection.rollback();
        }
        connection.setAutoCommit(true);
    }

    private void fail() throws SQLException {
        String wrong = WRONG.get(random.nextInt(WRONG.size()));
        try (Statement statement = connection.createStatement()) {
            SQLException error = assertThrows(SQLException.class, () -> statement.execute(wrong), wrong);
            assertNotNull(error.getSQLState(), wrong);
        }
    }

    /** In the middle of a result. */
    private void leave() throws Exception {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(10);
            ResultSet rows = statement.executeQuery("SELECT n FROM generate_series(1, 100000) AS t(n)");
            rows.next();
        }
        reconnect();
    }

    private void reconnect() throws Exception {
        connection.abort(Runnable::run);
        connection = server.call();
    }

    private void read() throws SQLException {
        switch (random.nextInt(4)) {
            case 0 -> addsUp("SELECT balance FROM total");
            case 1 -> addsUp("SELECT sum(balance) FROM branches");
            case 2 -> addsUp("SELECT sum(balance) FROM accounts");
            default -> addsUp("SELECT max(t.balance) FROM total AS t, richest AS r");
        }
    }

    private void addsUp(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            assertEquals(true, rows.next(), query);
            assertEquals((long) ACCOUNTS * BALANCE, rows.getLong(1), query);
        }
    }
}
