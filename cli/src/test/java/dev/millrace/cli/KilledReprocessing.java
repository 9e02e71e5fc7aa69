package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A view that is asked again over the past of a stream, again and again, while somebody writes into the stream, over all processes of a server that
 * is killed: it has each row once, whatever was under way. One process at a time.
 */
final class KilledReprocessing {
    private static final int LOADED = 200_000; // rows of the past, that reading it takes a while
    private static final int GROUPS = 100;
    private static final String QUERY =
            "SELECT CASE WHEN n < 0 THEN n % " + GROUPS + " ELSE n END AS n, count(*) AS c FROM long GROUP BY 1";
    static final List<String> DEFINITIONS = List.of(
            "CREATE STREAM long (n BIGINT) WITH (retention = 'forever')",
            "CREATE MATERIALIZED VIEW asked AS " + QUERY,
            "INSERT INTO long SELECT -g FROM generate_series(1, " + LOADED + ") g");

    private final Set<Long> answered = ConcurrentHashMap.newKeySet();
    private long sent; // by the writer, in one process after the other
    private volatile boolean isUnderWay;
    private int interrupted;
    private int replaced;

    /** Whether the past is being read now for another answer. */
    boolean isUnderWay() {
        return isUnderWay;
    }

    int answered() {
        return answered.size();
    }

    /** How often a process ended while the past was read for another answer. */
    int interrupted() {
        return interrupted;
    }

    /** How often another answer came in the place of the one that there was. */
    int replaced() {
        return replaced;
    }

    /** Writes until the server is dead. */
    void write(ServerProcess server) {
        try (Connection connection = server.connect();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO long VALUES (?)")) {
            while (true) {
                long n = ++sent;
                insert.setLong(1, n);
                insert.execute();
                answered.add(n);
            }
        } catch (SQLException dead) {
            return;
        }
    }

    /** Has the view asked again until the server is dead. */
    void ask(ServerProcess server) {
        isUnderWay = false;
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            while (true) {
                if (!isUnderWay(statement)) {
                    statement.execute("REPROCESS MATERIALIZED VIEW asked FROM 'earliest'");
                }
                do {
                    isUnderWay = isUnderWay(statement);
                } while (isUnderWay);
                replaced++;
            }
        } catch (SQLException dead) {
            interrupted += isUnderWay ? 1 : 0;
        }
    }

    private static boolean isUnderWay(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery("SELECT 1 FROM millrace.backfills WHERE replaces = 'asked'")) {
            return rows.next();
        }
    }

    void check(Statement statement, String seed) throws SQLException {
        Set<Long> there = new HashSet<>();
        try (ResultSet rows = statement.executeQuery("SELECT n, c FROM asked")) {
            while (rows.next()) {
                long n = rows.getLong(1);
                assertTrue(there.add(n), n + " is there twice, " + seed);
                assertEquals(n > 0 ? 1 : LOADED / GROUPS, rows.getLong(2), n + ", " + seed);
                assertTrue(n <= sent, "nobody wrote " + n + ", " + seed);
            }
        }
        Set<Long> lost = new TreeSet<>(answered);
        lost.removeAll(there);
        assertEquals(Set.of(), lost, "lost by the view that is asked again, " + seed);
        assertEquals(GROUPS, there.stream().filter(n -> n <= 0).count(), seed);
        try (ResultSet rows = statement.executeQuery("SELECT * FROM (" + QUERY
                + ") x EXCEPT SELECT * FROM asked UNION ALL SELECT * FROM (SELECT * FROM asked EXCEPT " + QUERY
                + ") y")) {
            assertTrue(!rows.next(), "the view is not what its stream says, " + seed);
        }
    }
}
