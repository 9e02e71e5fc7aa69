package dev.millrace.server.pgwire;

import static dev.millrace.testing.jdbc.Statements.failure;
import static dev.millrace.testing.jdbc.Statements.rows;
import static dev.millrace.testing.jdbc.Statements.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.Eventually;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.PGConnection;

/** What users look at before they cancel: {@code pg_stat_activity}. */
@Timeout(120)
class ActivityTest {
    private static final String SLEEP = "SELECT pg_sleep(100000)";

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private static int pid(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getBackendPID();
    }

    private static String of(Connection connection, String columns) throws SQLException {
        return "SELECT " + columns + " FROM pg_stat_activity WHERE pid = " + pid(connection);
    }

    @Test
    void aStatementUnderWayIsFoundAndCancelledByItsText() throws Exception {
        try (Connection one = server.connect();
                Connection two = server.connect()) {
            assertEquals(List.of("idle|ClientRead"), rows(two, of(one, "state, wait_event")));
            Future<SQLException> failing = CompletableFuture.supplyAsync(() -> failure(one, SLEEP));
            String found =
                    "FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()";
            Eventually.holds(
                    "it is seen", () -> rows(two, "SELECT query " + found).equals(List.of(SLEEP)));
            assertEquals(
                    List.of("t|t|t|127.0.0.1"),
                    rows(
                            two,
                            of(
                                    one,
                                    "query_start <= clock_timestamp() + interval '1 minute', xact_start <= query_start,"
                                            + " backend_start <= query_start, client_addr")));
            assertEquals(List.of("t"), rows(two, "SELECT pg_cancel_backend(pid) " + found));
            assertEquals("57014", failing.get().getSQLState());
            assertEquals(List.of("idle|" + SLEEP), rows(two, of(one, "state, query")));
        }
    }

    @Test
    void aPreparedReaderSeesWhatIsNowAndTransactionsAreSaid() throws Exception {
        try (Connection one = server.connect();
                Connection two = server.connect();
                PreparedStatement state =
                        two.prepareStatement("SELECT state, application_name FROM pg_stat_activity WHERE pid = ?")) {
            state.setInt(1, pid(one));
            run(one, "SET application_name = 'first'");
            for (int i = 0; i < 8; i++) { // more than the driver needs to keep the statement
                run(one, "BEGIN");
                assertEquals("idle in transaction|first", only(state));
                failure(one, "SELECT 1 / 0");
                assertEquals("idle in transaction (aborted)|first", only(state));
                run(one, "ROLLBACK");
                assertEquals("idle|first", only(state));
            }
        }
    }

    @Test
    void whoWaitsForRowsSaysWhomFor() throws Exception {
        try (Connection one = server.connect();
                Connection two = server.connect();
                Connection three = server.connect()) {
            run(one, "CREATE TABLE t (k INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1), (2, 2)");
            run(one, "BEGIN", "UPDATE t SET v = 7 WHERE k = 1");
            run(two, "BEGIN", "UPDATE t SET v = 7 WHERE k = 2");
            String waits = of(two, "wait_event_type, wait_event, array_to_string(pg_blocking_pids(pid), ', ')");
            assertEquals(List.of("Client|ClientRead|"), rows(three, waits));
            Future<Void> waiting = CompletableFuture.runAsync(() -> execute(two, "UPDATE t SET v = 8 WHERE k = 1"));
            List<String> held = List.of("Lock|transactionid|" + pid(one));
            Eventually.holds("it is seen", () -> rows(three, waits).equals(held));
            // a statement that is no part of a transaction waits as well
            Future<Void> alone = CompletableFuture.runAsync(() -> execute(three, "UPDATE t SET v = v + 1 WHERE k = 2"));
            String all = "SELECT pid FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0 ORDER BY pid";
            List<String> both = Stream.of(pid(two), pid(three))
                    .sorted()
                    .map(String::valueOf)
                    .toList();
            Eventually.holds("both are seen", () -> rows(one, all).equals(both));
            assertEquals(
                    List.of(pid(one) + "|" + pid(two)),
                    rows(
                            one,
                            "SELECT (pg_blocking_pids(" + pid(two) + "))[1], (pg_blocking_pids(" + pid(three)
                                    + "))[1]"));
            run(one, "COMMIT");
            waiting.get();
            run(two, "COMMIT");
            alone.get();
            assertEquals(List.of(), rows(one, all));
            assertEquals(List.of("1|8", "2|8"), rows(one, "SELECT k, v FROM t ORDER BY k"));
        }
    }

    private static void execute(Connection connection, String sql) {
        try {
            run(connection, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String only(PreparedStatement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            assertTrue(rows.next());
            return rows.getString(1) + "|" + rows.getString(2);
        }
    }

    @Test
    void statementsOfOthersAreHiddenFromWhoIsNoMember() throws Exception {
        try (Connection owner = server.connect()) {
            run(owner, "CREATE ROLE curious LOGIN");
            run(owner, "SELECT 'a secret'");
            try (Connection curious = server.connect("user", "curious")) {
                assertEquals(
                        List.of("millrace|<insufficient privilege>|null|null|null"),
                        rows(curious, of(owner, "usename, query, state, client_addr, query_start")));
                assertEquals(List.of("curious|active"), rows(curious, of(curious, "usename, state")));
                run(owner, "GRANT pg_monitor TO curious");
                assertEquals(List.of("idle"), rows(curious, of(owner, "state")));
            }
        }
    }
}
