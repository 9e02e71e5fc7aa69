package dev.millrace.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.pgwire.PgServer;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.session.Database;
import dev.millrace.testing.time.OwnThread;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** SUBSCRIBE through JDBC, inside this program and over a socket. */
@Tag("long")
@Timeout(120)
class SubscribeTest {
    private Database database;
    private PgServer server;

    private Connection connect(String place) throws SQLException {
        if (place.equals("inside")) {
            return DriverManager.getConnection("jdbc:millrace:mem:subscriptions");
        }
        if (server == null) {
            database = Millrace.open();
            server = PgServer.listen(database, PgServerOptions.local(0));
        }
        return DriverManager.getConnection("jdbc:millrace://localhost:" + server.port() + "/millrace");
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
            database.close();
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    private static CompletableFuture<Void> later(int millis, Step step) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        step.run();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, OwnThread.EACH));
    }

    @Test
    void aDurableSubscriptionGoesOnInAnotherProcess(@TempDir Path folder) throws Exception {
        String url = "jdbc:millrace:" + folder.resolve("data");
        String seen;
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (k INT PRIMARY KEY, v BIGINT)");
            statement.execute("CREATE MATERIALIZED VIEW w AS SELECT k, v FROM t");
            statement.execute("CREATE SUBSCRIPTION s FROM w");
            statement.execute("INSERT INTO t VALUES (1, 10)");
            try (Statement subscriber = connection.createStatement();
                    ResultSet rows = subscriber.executeQuery("SUBSCRIBE TO s")) {
                assertTrue(rows.next());
                assertEquals(10, rows.getLong("v"));
                seen = rows.getString("epoch_time");
            }
            statement.execute("INSERT INTO t VALUES (2, 20)");
        }
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String sql : List.of("SUBSCRIBE TO s", "SUBSCRIBE TO w AS OF '" + seen + "'")) {
                statement.execute("ALTER SUBSCRIPTION s ACKNOWLEDGE '" + seen + "'");
                try (Statement subscriber = connection.createStatement();
                        ResultSet rows = subscriber.executeQuery(sql)) {
                    assertTrue(rows.next());
                    assertEquals(20, rows.getLong("v"), sql);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"inside", "server"})
    void theNextRowIsWaitedForWhileTheConnectionServesOthers(String place) throws Exception {
        try (Connection connection = connect(place);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (k TEXT, v BIGINT)");
            statement.execute("CREATE MATERIALIZED VIEW totals AS SELECT k, sum(v) AS total FROM s GROUP BY k");
            try (Statement subscriber = connection.createStatement();
                    ResultSet rows = subscriber.executeQuery("-- changes\nsubscribe to totals with (snapshot)")) {
                assertSame(subscriber, rows.getStatement());
                CompletableFuture<Void> writing = later(100, () -> {
                    try (Statement writer = connection.createStatement()) {
                        writer.execute("INSERT INTO s VALUES ('a', 1)");
                        writer.execute("INSERT INTO s VALUES ('a', 2)");
                    }
                });
                List<String> seen = new ArrayList<>();
                while (!seen.contains("+ a 3")) {
                    assertTrue(rows.next());
                    seen.add(rows.getString("op") + " " + rows.getString("k") + " " + rows.getLong("total"));
                }
                writing.get(60, TimeUnit.SECONDS);
                assertTrue(seen.contains("- a 1") == seen.contains("+ a 1"), seen.toString());
            }
            assertEquals(List.of("a 3"), MillraceDriverTest.rows(connection, "SELECT * FROM totals"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"inside", "server"})
    void cancellingEndsTheWait(String place) throws Exception {
        try (Connection connection = connect(place);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (v BIGINT)");
            try (ResultSet rows = statement.executeQuery("SUBSCRIBE TO s")) {
                CompletableFuture<Void> cancelling = later(100, statement::cancel);
                assertEquals(
                        "57014", assertThrows(SQLException.class, rows::next).getSQLState());
                cancelling.get(60, TimeUnit.SECONDS);
            }
            try (ResultSet rows = statement.executeQuery("SUBSCRIBE TO s")) {
                statement.cancel(); // before the wait, as fast readers meet it
                assertEquals(
                        "57014", assertThrows(SQLException.class, rows::next).getSQLState());
            }
            assertEquals(List.of("1"), MillraceDriverTest.rows(connection, "SELECT 1"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"inside", "server"})
    void theQueryTimeoutBoundsTheWaitForARow(String place) throws Exception {
        try (Connection connection = connect(place);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (v BIGINT)");
            statement.setQueryTimeout(2);
            try (ResultSet rows = statement.executeQuery("SUBSCRIBE TO s")) {
                try (Statement writer = connection.createStatement()) {
                    writer.execute("INSERT INTO s VALUES (1)");
                }
                assertTrue(rows.next());
                long began = System.nanoTime();
                SQLTimeoutException timeout = assertThrows(SQLTimeoutException.class, rows::next);
                assertEquals("57014", timeout.getSQLState());
                assertTrue(System.nanoTime() - began >= TimeUnit.MILLISECONDS.toNanos(1_950));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"inside", "server"})
    void closingTheStatementEndsTheWait(String place) throws Exception {
        try (Connection connection = connect(place);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (v BIGINT)");
            assertTrue(statement.execute("SUBSCRIBE TO s"));
            assertEquals(-1, statement.getUpdateCount());
            ResultSet rows = statement.getResultSet();
            CompletableFuture<Void> closing = later(100, statement::close);
            assertThrows(SQLException.class, rows::next);
            closing.get(60, TimeUnit.SECONDS);
            assertEquals(List.of("1"), MillraceDriverTest.rows(connection, "SELECT 1"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"inside", "server"})
    void aPreparedSubscriptionTakesParametersAndBeginsAnew(String place) throws Exception {
        try (Connection connection = connect(place);
                Statement statement = connection.createStatement();
                PreparedStatement subscribe =
                        connection.prepareStatement("SUBSCRIBE TO (SELECT v * 2 AS w FROM s WHERE v > ?)")) {
            statement.execute("CREATE STREAM s (v BIGINT)");
            for (long least : new long[] {10, 20}) {
                subscribe.setLong(1, least);
                try (ResultSet rows = subscribe.executeQuery()) {
                    CompletableFuture<Void> writing = later(
                            50,
                            () -> MillraceDriverTest.rows(
                                    connection, "INSERT INTO s VALUES (5), (" + (least + 1) + ") RETURNING v"));
                    assertTrue(rows.next());
                    assertEquals(2 * least + 2, rows.getLong("w"));
                    writing.get(60, TimeUnit.SECONDS);
                }
            }
        }
    }
}
