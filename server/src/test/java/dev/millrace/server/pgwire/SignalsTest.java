package dev.millrace.server.pgwire;

import static dev.millrace.testing.jdbc.Statements.failure;
import static dev.millrace.testing.jdbc.Statements.rows;
import static dev.millrace.testing.jdbc.Statements.run;
import static dev.millrace.testing.jdbc.Statements.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.session.Session;
import dev.millrace.testing.time.Eventually;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.PGConnection;

/** How sessions stop each other, through PostgreSQL's JDBC driver. */
@Timeout(120)
class SignalsTest {
    private static final String SLEEP = "SELECT pg_sleep(100000)";
    private static final String WORK =
            "SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b WHERE a % 7 = b % 5";

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private static int pid(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getBackendPID();
    }

    /** What a statement of another thread fails with. */
    private static Future<SQLException> failing(Connection connection, String sql) {
        return CompletableFuture.supplyAsync(() -> failure(connection, sql));
    }

    private static List<String> warnings(Connection connection, String sql) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            for (SQLWarning next = statement.getWarnings(); next != null; next = next.getNextWarning()) {
                texts.add(next.getMessage());
            }
        }
        return texts;
    }

    @Test
    void eachSessionHasTheNumberThatItsClientWasTold() throws Exception {
        try (Connection one = server.connect();
                Connection two = server.connect();
                Session own = server.database().session()) {
            assertEquals(List.of(String.valueOf(pid(one))), rows(one, "SELECT pg_backend_pid()"));
            assertEquals(List.of(String.valueOf(pid(two))), rows(two, "SELECT pg_backend_pid()"));
            assertNotEquals(pid(one), pid(two));
            assertFalse(List.of(pid(one), pid(two)).contains(own.process()));
            assertEquals(List.of("integer"), rows(one, "SELECT pg_typeof(pg_backend_pid())"));
        }
    }

    @Test
    void whatAnotherSessionHasUnderWayIsCancelledAndItGoesOn() throws Exception {
        try (Connection one = server.connect();
                Connection two = server.connect()) {
            for (String sql : List.of(SLEEP, WORK, SLEEP)) {
                Future<SQLException> failing = failing(one, sql);
                Eventually.holds("it is cancelled", () -> {
                    assertEquals(List.of("t"), rows(two, "SELECT pg_cancel_backend(" + pid(one) + ")"));
                    return failing.isDone();
                });
                assertEquals("57014", failing.get().getSQLState());
                assertTrue(failing.get().getMessage().contains("due to user request"), failing.get()::getMessage);
                assertEquals(List.of("1"), rows(one, "SELECT 1"));
            }
        }
    }

    @Test
    void aPreparedStatementCancelsEachTimeItIsExecuted() throws Exception {
        try (Connection one = server.connect();
                Connection two = server.connect();
                PreparedStatement cancel = two.prepareStatement("SELECT pg_cancel_backend(?)")) {
            for (int i = 0; i < 12; i++) {
                Future<SQLException> failing = failing(one, SLEEP);
                Eventually.holds("it is cancelled", () -> {
                    cancel.setInt(1, pid(one));
                    try (ResultSet rows = cancel.executeQuery()) {
                        assertTrue(rows.next() && rows.getBoolean(1));
                    }
                    return failing.isDone();
                });
                assertEquals("57014", failing.get().getSQLState());
            }
        }
    }

    @Test
    void whoIsTerminatedIsToldAndCutOffInAStatementOrIdle() throws Exception {
        try (Connection busy = server.connect();
                Connection idle = server.connect();
                Connection two = server.connect()) {
            int process = pid(busy);
            Future<SQLException> failing = failing(busy, "CREATE TABLE begun (a INT); " + SLEEP);
            Eventually.holds(
                    "the statement is under way",
                    () -> server.database().catalog().object("begun").isPresent());
            assertEquals(List.of("t"), rows(two, "SELECT pg_terminate_backend(" + process + ", 5000)"));
            assertEquals("57P01", failing.get().getSQLState());
            assertTrue(
                    failing.get().getMessage().contains("FATAL: terminating connection due to administrator command"),
                    failing.get()::getMessage);
            assertFalse(busy.isValid(5));
            assertEquals(List.of("f"), rows(two, "SELECT pg_terminate_backend(" + process + ")"));

            assertEquals(List.of("t"), rows(two, "SELECT pg_terminate_backend(" + pid(idle) + ", 5000)"));
            assertFalse(idle.isValid(5));
            assertEquals(1, server.database().sessionCount());
        }
    }

    @Test
    void aSessionStopsItselfToo() throws Exception {
        try (Connection one = server.connect()) {
            for (int i = 0; i < 100; i++) {
                assertEquals("57014", state(one, "SELECT pg_cancel_backend(pg_backend_pid())"));
                assertEquals(List.of("1"), rows(one, "SELECT 1"));
            }
            assertEquals("57P01", state(one, "SELECT pg_terminate_backend(pg_backend_pid())"));
            assertFalse(one.isValid(5));
        }
    }

    @Test
    void onlyWhoHasThePrivilegesOfTheOthersRoleStopsIt() throws Exception {
        try (Connection boss = server.connect()) {
            run(boss, "CREATE USER ann", "CREATE USER bob", "CREATE USER guard", "GRANT pg_signal_backend TO guard");
            try (Connection ann = server.connect("user", "ann");
                    Connection ann2 = server.connect("user", "ann");
                    Connection bob = server.connect("user", "bob");
                    Connection guard = server.connect("user", "guard")) {
                String cancel = "SELECT pg_cancel_backend(" + pid(ann) + ")";
                String terminate = "SELECT pg_terminate_backend(" + pid(ann) + ")";
                assertEquals("42501", state(bob, cancel));
                assertEquals("42501", state(bob, terminate));
                assertEquals("42501", state(bob, "SELECT session_terminate(" + pid(ann) + ", 0)"));
                for (Connection who : List.of(bob, guard)) {
                    assertEquals("42501", state(who, "SELECT pg_cancel_backend(" + pid(boss) + ")"));
                    assertEquals("42501", state(who, "SELECT pg_terminate_backend(" + pid(boss) + ")"));
                }
                assertEquals(List.of("1"), rows(ann, "SELECT 1"));
                assertEquals(List.of("t"), rows(ann2, cancel));
                assertEquals(List.of("t"), rows(guard, cancel));
                run(boss, "GRANT ann TO bob");
                assertEquals(List.of("t"), rows(bob, terminate));
                assertFalse(ann.isValid(5));
                run(boss, "SET ROLE bob"); // who is a superuser no more, meanwhile
                assertEquals("42501", state(boss, "SELECT pg_cancel_backend(" + pid(guard) + ")"));
            }
        }
    }

    @Test
    void aNumberThatNobodyHasIsWarnedOfOnceForEachCall() throws Exception {
        try (Connection one = server.connect()) {
            assertEquals(List.of("f"), rows(one, "SELECT pg_cancel_backend(1000000)"));
            assertEquals(
                    List.of("PID 1000000 is not a PostgreSQL backend process"),
                    warnings(one, "SELECT pg_cancel_backend(1000000)"));
            assertEquals(
                    3,
                    warnings(one, "SELECT pg_cancel_backend(1000000) FROM generate_series(1, 3)")
                            .size());
            assertEquals(1, warnings(one, "SELECT pg_terminate_backend(0)").size());
            assertEquals(
                    List.of("null|null"), rows(one, "SELECT pg_cancel_backend(NULL), pg_terminate_backend(NULL, 10)"));
            assertEquals("22003", state(one, "SELECT pg_terminate_backend(1000000, -1)"));
            assertEquals(
                    List.of("100000"),
                    rows(
                            one,
                            "SELECT count(*) FROM (SELECT pg_cancel_backend(-x::int) AS c"
                                    + " FROM generate_series(1, 100000) AS g(x)) AS calls WHERE NOT c"));
        }
    }

    @Test
    void queriesThatStandDoNotStopSessions() throws Exception {
        try (Connection one = server.connect()) {
            run(one, "CREATE TABLE t (a INT)");
            for (String sql : List.of(
                    "CREATE VIEW v AS SELECT pg_cancel_backend(a) FROM t",
                    "CREATE MATERIALIZED VIEW v AS SELECT a FROM t WHERE pg_terminate_backend(a)",
                    "SUBSCRIBE TO SELECT pg_terminate_backend(a) FROM t")) {
                assertEquals("0A000", state(one, sql), sql);
            }
        }
    }
}
