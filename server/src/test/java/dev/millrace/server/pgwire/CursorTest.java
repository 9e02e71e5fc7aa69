package dev.millrace.server.pgwire;

import static dev.millrace.testing.jdbc.Statements.run;
import static dev.millrace.testing.jdbc.Statements.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.jdbc.Statements;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cursors, prepared statements in SQL, and timeouts, through PostgreSQL's JDBC driver. */
@Timeout(120)
class CursorTest {
    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    /** The rows, without the time of a subscription's epoch. */
    private static List<String> rows(Connection connection, String sql) throws SQLException {
        return Statements.rows(connection, sql, column -> !column.equals("epoch_time"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple"})
    void aCursorGivesAPartAtATime(String mode) throws SQLException {
        try (Connection one = server.connect("preferQueryMode", mode)) {
            run(one, "CREATE TABLE t (id INT PRIMARY KEY)");
            run(one, "INSERT INTO t SELECT * FROM generate_series(1, 10)");
            assertEquals("25P01", state(one, "DECLARE c CURSOR FOR SELECT 1"));
            run(one, "BEGIN", "DECLARE c NO SCROLL CURSOR FOR SELECT id FROM t ORDER BY id");
            assertEquals("42P03", state(one, "DECLARE c CURSOR FOR SELECT 1"));
            run(one, "ROLLBACK");
            run(one, "BEGIN", "DECLARE c NO SCROLL CURSOR FOR SELECT id FROM t ORDER BY id");
            assertEquals(List.of("1"), rows(one, "FETCH c"));
            assertEquals(List.of("2", "3"), rows(one, "FETCH 2 FROM c"));
            assertEquals(List.of("4"), rows(one, "FETCH NEXT IN c"));
            assertEquals(List.of("5", "6"), rows(one, "FETCH FORWARD 2 FROM c"));
            try (Statement statement = one.createStatement()) {
                assertEquals(2, statement.executeUpdate("MOVE 2 FROM c"));
            }
            assertEquals(List.of(), rows(one, "FETCH 0 FROM c"));
            assertEquals(List.of("9", "10"), rows(one, "FETCH ALL FROM c"));
            assertEquals(List.of(), rows(one, "FETCH ALL FROM c"));
            run(one, "CLOSE c");
            assertEquals("34000", state(one, "FETCH c"));
            run(one, "ROLLBACK", "BEGIN", "DECLARE c NO SCROLL CURSOR FOR SELECT 1");
            assertEquals("55000", state(one, "FETCH BACKWARD 1 FROM c"));
            run(one, "ROLLBACK");
            assertEquals("34000", state(one, "FETCH c"));
            run(
                    one,
                    "BEGIN",
                    "DECLARE gone CURSOR FOR SELECT 1",
                    "DECLARE kept CURSOR WITH HOLD FOR SELECT id FROM t ORDER BY id");
            run(one, "COMMIT");
            assertEquals("34000", state(one, "FETCH gone"));
            assertEquals(List.of("1", "2"), rows(one, "FETCH 2 FROM kept"));
            run(one, "BEGIN", "ROLLBACK");
            assertEquals(List.of("3"), rows(one, "FETCH kept"));
            run(one, "CLOSE ALL");
            assertEquals("34000", state(one, "FETCH kept"));
            run(one, "CREATE STREAM s (k TEXT)");
            assertEquals("0A000", state(one, "DECLARE c SCROLL CURSOR FOR SUBSCRIBE TO (SELECT k FROM s)"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple"})
    void aCursorGoesBackToRowsThatItHad(String mode) throws SQLException {
        try (Connection one = server.connect("preferQueryMode", mode)) {
            run(one, "BEGIN", "DECLARE c CURSOR FOR SELECT n FROM generate_series(1, 5) AS t (n) ORDER BY n");
            assertEquals(List.of("1", "2", "3"), rows(one, "FETCH 3 FROM c"));
            assertEquals(List.of("2"), rows(one, "FETCH PRIOR FROM c"));
            assertEquals(List.of("2"), rows(one, "FETCH RELATIVE 0 FROM c"));
            assertEquals(List.of("1"), rows(one, "FETCH BACKWARD 4 FROM c"));
            assertEquals(List.of(), rows(one, "FETCH BACKWARD ALL FROM c"));
            assertEquals(List.of("5"), rows(one, "FETCH LAST FROM c"));
            assertEquals(List.of(), rows(one, "FETCH NEXT FROM c"));
            assertEquals(List.of("5", "4"), rows(one, "FETCH BACKWARD 2 FROM c"));
            assertEquals(List.of("2"), rows(one, "FETCH ABSOLUTE -4 FROM c"));
            try (Statement statement = one.createStatement()) {
                assertEquals(1, statement.executeUpdate("MOVE BACKWARD ALL IN c"));
            }
            assertEquals(List.of("1"), rows(one, "FETCH FIRST IN c"));
            assertEquals(List.of("t"), rows(one, "SELECT is_scrollable FROM pg_cursors WHERE name = 'c'"));
            run(one, "COMMIT");
        }
    }

    /** PostgreSQL's cursor in its own words: before the first row is 0, after the last is one more than there are. */
    private static final class Model {
        private final int rows;
        private int at;

        Model(int rows) {
            this.rows = rows;
        }

        List<String> go(String direction, int count) {
            return switch (direction) {
                case "FORWARD" -> step(count);
                case "BACKWARD" -> step(-count);
                case "ABSOLUTE" -> stand(count < 0 ? rows + 1 + count : count);
                default -> stand(count == 0 ? at : at + count);
            };
        }

        private List<String> stand(int place) {
            at = Math.max(0, Math.min(rows + 1, place));
            return at == 0 || at > rows ? List.of() : List.of(String.valueOf(at));
        }

        private List<String> step(int count) {
            if (count == 0) {
                return stand(at);
            }
            List<String> passed = new ArrayList<>();
            for (int left = Math.abs(count); left > 0 && at >= 0 && at <= rows + 1; left--) {
                List<String> row = stand(at + Integer.signum(count));
                if (row.isEmpty()) {
                    break;
                }
                passed.addAll(row);
            }
            return passed;
        }
    }

    @Test
    void randomMovesAreAsPostgresCounts() throws SQLException {
        long seed = Long.getLong("millrace.cursor.seed", 20261129);
        Random random = new Random(seed);
        String[] directions = {"FORWARD", "BACKWARD", "ABSOLUTE", "RELATIVE"};
        try (Connection one = server.connect("preferQueryMode", "simple")) {
            for (int cursor = 0; cursor < 20; cursor++) {
                int count = random.nextInt(4) == 0 ? 9_000 : random.nextInt(12);
                Model model = new Model(count);
                run(
                        one,
                        "BEGIN",
                        "DECLARE c " + (random.nextBoolean() ? "" : "SCROLL ")
                                + "CURSOR FOR SELECT n FROM generate_series(1, " + count + ") AS t (n) ORDER BY n");
                for (int move = 0; move < 25; move++) {
                    String direction = directions[random.nextInt(4)];
                    int rows = random.nextInt(count < 100 ? 9 : 6_000) - (count < 100 ? 4 : 3_000);
                    String fetch = "FETCH " + direction + " " + rows + " FROM c";
                    assertEquals(
                            model.go(direction, rows), rows(one, fetch), fetch + " of " + count + ", seed " + seed);
                }
                run(one, "COMMIT");
            }
        }
    }

    @Test
    void rowsThatAreTooManyAreNotKept() throws SQLException {
        try (Connection one = server.connect("preferQueryMode", "simple")) {
            String rows = "CURSOR FOR SELECT n, repeat('x', 1000) FROM generate_series(1, 40000) AS t (n)";
            run(one, "BEGIN", "DECLARE c " + rows, "MOVE FORWARD ALL IN c");
            assertEquals("55000", state(one, "FETCH FIRST FROM c"));
            run(one, "ROLLBACK", "BEGIN", "DECLARE c SCROLL " + rows, "MOVE FORWARD ALL IN c");
            assertEquals(1, rows(one, "FETCH FIRST FROM c").size());
            run(one, "ROLLBACK", "BEGIN", "DECLARE c NO SCROLL " + rows, "MOVE FORWARD ALL IN c");
            assertEquals("55000", state(one, "FETCH LAST FROM c"));
            run(one, "ROLLBACK", "SET max_query_memory = '20MB'", "BEGIN", "DECLARE c SCROLL " + rows);
            assertEquals("53200", state(one, "MOVE FORWARD ALL IN c"));
            run(one, "ROLLBACK");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple"})
    void aCursorOfASubscriptionWaitsForRows(String mode) throws Exception {
        try (Connection one = server.connect("preferQueryMode", mode);
                Connection other = server.connect("preferQueryMode", mode)) {
            run(other, "CREATE STREAM s (k TEXT)");
            run(other, "CREATE MATERIALIZED VIEW mv AS SELECT k, count(*) AS n FROM s GROUP BY k");
            run(other, "INSERT INTO s VALUES ('a')");
            run(one, "DECLARE c CURSOR FOR SUBSCRIBE TO mv WITH (SNAPSHOT)");
            assertEquals(List.of("+|a|1"), rows(one, "FETCH 100 FROM c"));
            long before = System.nanoTime();
            assertEquals(List.of(), rows(one, "FETCH 100 FROM c WITH (timeout = '300ms')"));
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before);
            assertTrue(millis >= 290, millis + " ms");
            CompletableFuture<List<String>> waits = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return rows(one, "FETCH ALL FROM c");
                        } catch (SQLException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    OwnThread.EACH);
            assertThrows(TimeoutException.class, () -> waits.get(100, TimeUnit.MILLISECONDS), "it waits");
            run(other, "INSERT INTO s VALUES ('a')");
            assertEquals(2, waits.get(60, TimeUnit.SECONDS).size());
            run(other, "INSERT INTO s VALUES ('b')");
            run(other, "INSERT INTO s VALUES ('c')");
            assertEquals(List.of("+|b|1"), rows(one, "FETCH 1 FROM c WITH (timeout = '60s')"));
            assertEquals(List.of("+|c|1"), rows(one, "FETCH 1 c WITH (timeout = '60s')"));
            assertEquals(List.of(), rows(one, "FETCH 1 FROM c WITH (timeout = 0)"));
            run(one, "SET statement_timeout = '2s'");
            assertEquals("57014", state(one, "FETCH 1 FROM c"));
            run(one, "CLOSE c");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple"})
    void aCursorDeclaredOutsideATransactionOutlivesThoseThatFail(String mode) throws SQLException {
        try (Connection one = server.connect("preferQueryMode", mode)) {
            run(one, "CREATE STREAM s (k TEXT)", "CREATE CONTINUOUS QUERY q AS SELECT k FROM s");
            run(one, "DECLARE c CURSOR FOR SUBSCRIBE TO q", "BEGIN");
            assertEquals("42703", state(one, "SELECT nothing"));
            run(one, "ROLLBACK", "INSERT INTO s VALUES ('a')");
            assertEquals("42703", state(one, "SELECT 1; SELECT nothing"));
            assertEquals(List.of("+|a"), rows(one, "FETCH 1 FROM c"));
            run(one, "BEGIN", "DECLARE d CURSOR FOR SUBSCRIBE TO q", "ROLLBACK", "CLOSE c");
            assertEquals("34000", state(one, "FETCH 1 FROM d"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple"})
    void statementsArePreparedInSql(String mode) throws SQLException {
        try (Connection one = server.connect("preferQueryMode", mode)) {
            run(one, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT)");
            run(one, "PREPARE ins (int, text) AS INSERT INTO t VALUES ($1, $2)", "EXECUTE ins(1, 'a')");
            run(one, "EXECUTE ins(1 + 1, upper('b'))", "EXECUTE ins(3, NULL)");
            run(one, "PREPARE sel AS SELECT v FROM t WHERE id = $1");
            assertEquals(List.of("B"), rows(one, "EXECUTE sel(2)"));
            assertEquals(List.of("null"), rows(one, "EXECUTE sel(3)"));
            assertEquals("42601", state(one, "EXECUTE sel(1, 2)"));
            assertEquals("42P05", state(one, "PREPARE sel AS SELECT 1"));
            run(one, "DEALLOCATE sel");
            assertEquals("26000", state(one, "EXECUTE sel(2)"));
            run(one, "DISCARD ALL");
            assertEquals("26000", state(one, "EXECUTE ins(2, 'x')"));
            assertEquals("0A000", state(one, "LISTEN x"));
            run(one, "UNLISTEN *", "DEALLOCATE ALL", "RESET ALL", "CLOSE ALL");
        }
    }

    @Test
    void whatLastsTooLongIsCancelledOrEnded() throws Exception {
        try (Connection one = server.connect("preferQueryMode", "simple");
                Connection idle = server.connect("preferQueryMode", "simple");
                Connection inTransaction = server.connect("preferQueryMode", "simple")) {
            run(one, "CREATE STREAM s (k TEXT)", "CREATE MATERIALIZED VIEW mv AS SELECT k FROM s");
            run(one, "SET statement_timeout = 2000");
            SQLException late = assertThrows(SQLException.class, () -> run(one, "SUBSCRIBE TO mv"));
            assertEquals("57014", late.getSQLState());
            assertTrue(late.getMessage().contains("canceling statement due to statement timeout"), late.getMessage());
            assertEquals(List.of("2s"), rows(one, "SHOW statement_timeout"));
            run(one, "SET statement_timeout = 0");
            run(idle, "SET idle_session_timeout = '100ms'");
            run(
                    inTransaction,
                    "SET idle_in_transaction_session_timeout = '100ms'",
                    "BEGIN; INSERT INTO s VALUES ('x')");
            Eventually.holds("both sessions end", () -> server.database().sessionCount() == 1);
            assertEquals("57P05", state(idle, "SELECT 1"));
            assertEquals("25P03", state(inTransaction, "SELECT 1"));
            assertEquals(List.of("0"), rows(one, "SELECT count(*) FROM mv"));
            List<String> all = rows(one, "SHOW ALL");
            assertTrue(all.stream().allMatch(row -> row.split("\\|", -1)[2].length() > 5), all.toString());
        }
    }
}
