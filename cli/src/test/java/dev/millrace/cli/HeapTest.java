package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.PGConnection;

/** A server whose Java heap is small. */
@Timeout(300)
class HeapTest {
    private static final int QUERIES = 10_000;
    private static final int ROWS = 20_000;

    private static String windowed(int number) {
        return "CREATE MATERIALIZED VIEW v" + number + " AS SELECT window_start, a, count(*) AS n"
                + " FROM TUMBLE(s, ts, INTERVAL '1' MINUTE) WHERE a > " + number + " GROUP BY window_start, a";
    }

    @Test
    void moreQueriesThanTheHeapHasRoomForAreRefusedAndTheServerGoesOn() throws Exception {
        try (ServerProcess server = ServerProcess.start("-Xmx80m", "--port", "0", "--workers", "1", "--no-http");
                Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (a INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)");
            int[] made = {0};
            SQLException why = assertThrows(SQLException.class, () -> {
                while (made[0] < QUERIES) {
                    statement.execute(windowed(made[0]));
                    made[0]++;
                }
            });
            assertEquals("53200", why.getSQLState(), why.getMessage());
            assertTrue(
                    why.getMessage().contains("no room for query \"v" + made[0] + "\" on the Java heap"),
                    why::getMessage);
            assertTrue(why.getMessage().contains("MILLRACE_JVM_OPTIONS"), why::getMessage);
            StringBuilder rows = new StringBuilder();
            for (int row = 0; row < ROWS; row++) {
                String minute = row < ROWS / 2 ? "10" : "12";
                rows.append(row).append("\t2030-01-01 00:").append(minute).append(":00\n");
            }
            long copied = connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn("COPY s FROM STDIN", new StringReader(rows.toString()));
            assertEquals(ROWS, copied);
            statement.execute("FLUSH");
            assertEachIsRightOrSaysThatTheHeapIsFull(statement, made[0]);
            for (int dropped = 0; dropped < made[0] / 2; dropped++) {
                statement.execute("DROP MATERIALIZED VIEW v" + dropped);
            }
            server.collectGarbage();
            statement.execute(windowed(QUERIES));
            assertEquals(1, count(statement, "SELECT 1"));
            server.terminate();
            server.awaitExit();
        }
    }

    @Test
    void aStatementThatIsLargerThanTheHeapFailsAndNobodyElseDoes() throws Exception {
        String large = IntStream.range(0, 600_000)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(",", "SELECT 1 WHERE 1 IN (", ")"));
        try (ServerProcess server = ServerProcess.start("-Xmx128m", "--port", "0", "--workers", "1", "--no-http");
                Connection greedy = server.connect();
                Connection modest = server.connect();
                Statement statement = modest.createStatement()) {
            CompletableFuture<SQLException> failure = CompletableFuture.supplyAsync(
                    () -> assertThrows(SQLException.class, () -> {
                        try (Statement sent = greedy.createStatement()) {
                            sent.execute(large);
                        }
                    }),
                    work -> new Thread(work).start());
            do {
                assertEquals(1, count(statement, "SELECT 1"));
            } while (!failure.isDone());
            assertEquals("53200", failure.get().getSQLState(), failure.get().getMessage());
            assertEquals(1, count(greedy.createStatement(), "SELECT 1"));
            server.terminate();
            server.awaitExit();
        }
    }

    /** Rows take room, too: each query has the whole answer or fails as one of those that hold most. */
    private static void assertEachIsRightOrSaysThatTheHeapIsFull(Statement statement, int made) throws SQLException {
        for (int number = 0; number < made; number += 7) {
            try {
                assertEquals(ROWS / 2 - 1 - number, count(statement, "SELECT sum(n) FROM v" + number));
            } catch (SQLException e) {
                assertEquals("53200", e.getSQLState(), e.getMessage());
                assertTrue(e.getMessage().contains("Java heap"), e::getMessage);
            }
        }
    }

    private static long count(Statement statement, String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            assertTrue(rows.next());
            return rows.getLong(1);
        }
    }
}
