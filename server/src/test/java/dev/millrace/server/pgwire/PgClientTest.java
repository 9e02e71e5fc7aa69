package dev.millrace.server.pgwire;

import static dev.millrace.testing.jdbc.Statements.rows;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.role.ScramSecret;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;

/** A server with a real client, PostgreSQL's JDBC driver, in text and in binary. */
@Timeout(120)
class PgClientTest {
    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple", "extendedForPrepared"})
    void changesReturnRowsAndCounts(String queryMode) throws SQLException {
        try (Connection connection = server.connect("preferQueryMode", queryMode);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (id SERIAL PRIMARY KEY, n INT DEFAULT 7, s TEXT)");
            try (PreparedStatement insert =
                    connection.prepareStatement("INSERT INTO t (s) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                insert.setString(1, "a");
                assertEquals(1, insert.executeUpdate());
                ResultSet keys = insert.getGeneratedKeys();
                assertTrue(keys.next());
                assertEquals("1 7 a", keys.getInt("id") + " " + keys.getInt("n") + " " + keys.getString("s"));
            }
            try (PreparedStatement upsert = connection.prepareStatement(
                    "INSERT INTO t (id, n) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n + ?,"
                            + " s = ? WHERE t.n < ?")) {
                if (!queryMode.equals("simple")) {
                    assertEquals("int4", upsert.getParameterMetaData().getParameterTypeName(3));
                }
                for (int round = 0; round < 8; round++) { // long enough to be prepared on the server
                    upsert.setInt(1, 1);
                    upsert.setInt(2, 1);
                    upsert.setInt(3, 10);
                    upsert.setString(4, "round " + round);
                    upsert.setInt(5, 60);
                    assertEquals(round < 5 ? 1 : 0, upsert.executeUpdate());
                }
            }
            assertEquals(List.of("1 62 round 4"), rows(connection, "SELECT id || ' ' || n || ' ' || s FROM t"));
            try (ResultSet changed = statement.executeQuery(
                    "WITH x AS (SELECT 1 AS k) UPDATE t SET n = k FROM x RETURNING n + k AS two")) {
                assertTrue(changed.next());
                assertEquals(2, changed.getInt("two"));
            }
            assertEquals(1, statement.executeUpdate("WITH x AS (SELECT 1 AS k) DELETE FROM t USING x WHERE id = k"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"extended", "simple", "extendedForPrepared", "extendedCacheEverything"})
    void standingAnswersFollowInserts(String queryMode) throws SQLException {
        try (Connection connection = server.connect("preferQueryMode", queryMode);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (k TEXT, v BIGINT)");
            statement.execute(
                    "CREATE MATERIALIZED VIEW totals AS SELECT k, count(*) AS n, sum(v) AS total FROM s GROUP BY k");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO s VALUES (?, ?)")) {
                for (int i = 0; i < 20; i++) {
                    insert.setString(1, i % 2 == 0 ? "even" : "odd");
                    insert.setLong(2, i);
                    assertEquals(1, insert.executeUpdate());
                }
            }
            assertEquals(
                    List.of("even 10 90", "odd 10 100"),
                    rows(connection, "SELECT k || ' ' || n || ' ' || total FROM totals ORDER BY k"));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everyTypeComesAsItIs(boolean binary) throws SQLException {
        // prepareThreshold -1 asks for binary from the first execution on
        try (Connection connection =
                        server.connect("prepareThreshold", binary ? "-1" : "0", "binaryTransfer", "" + binary);
                PreparedStatement select = connection.prepareStatement("""
                        SELECT ?::smallint, ?::integer, ?::bigint, ?::real, ?::double precision, ?::numeric(20, 5),
                               ?::text, ?::boolean, ?::date, ?::timestamp, ?::timestamptz, ?::uuid, ?::bytea,
                               ?::text IS NULL, INTERVAL '1 month 2 days 3 seconds', TIME '12:34:56.789',
                               CAST('ab' AS CHAR(4)), 0::numeric(10,4), -0.0001::numeric(10,4), 123456789012345678901234567890::numeric(38,0)
                        """)) {
            UUID uuid = UUID.fromString("6f2c1c1e-53a5-4f0b-93a5-0f5d3f6b7a01");
            OffsetDateTime instant = OffsetDateTime.of(2024, 2, 29, 23, 59, 59, 123_456_000, ZoneOffset.UTC);
            select.setShort(1, (short) -7);
            select.setInt(2, Integer.MIN_VALUE);
            select.setLong(3, Long.MAX_VALUE);
            select.setFloat(4, 1.5f);
            select.setDouble(5, 0.1);
            select.setBigDecimal(6, new BigDecimal("-1234567.89012"));
            select.setString(7, "grün, \"quoted\" \\ and\nmore");
            select.setBoolean(8, true);
            select.setObject(9, LocalDate.of(1969, 7, 20));
            select.setObject(10, LocalDateTime.of(1999, 12, 31, 23, 59, 59));
            select.setObject(11, instant);
            select.setObject(12, uuid);
            select.setBytes(13, new byte[] {0, -1, 92});
            select.setString(14, null);
            try (ResultSet row = select.executeQuery()) {
                assertTrue(row.next());
                assertEquals(-7, row.getShort(1));
                assertEquals(Integer.MIN_VALUE, row.getInt(2));
                assertEquals(Long.MAX_VALUE, row.getLong(3));
                assertEquals(1.5f, row.getFloat(4));
                assertEquals(0.1, row.getDouble(5));
                assertEquals(new BigDecimal("-1234567.89012"), row.getBigDecimal(6));
                assertEquals("grün, \"quoted\" \\ and\nmore", row.getString(7));
                assertTrue(row.getBoolean(8));
                assertEquals(LocalDate.of(1969, 7, 20), row.getObject(9, LocalDate.class));
                assertEquals(LocalDateTime.of(1999, 12, 31, 23, 59, 59), row.getObject(10, LocalDateTime.class));
                assertEquals(instant, row.getObject(11, OffsetDateTime.class));
                assertEquals(uuid.toString(), row.getString(12));
                assertArrayEquals(new byte[] {0, -1, 92}, row.getBytes(13));
                assertTrue(row.getBoolean(14));
                assertTrue(row.getString(15).contains("mon"), row.getString(15));
                assertEquals("12:34:56.789", row.getObject(16, LocalTime.class).toString());
                assertEquals("ab  ", row.getString(17));
                assertEquals(new BigDecimal("0.0000"), row.getBigDecimal(18));
                assertEquals(new BigDecimal("-0.0001"), row.getBigDecimal(19));
                assertEquals(new BigDecimal("123456789012345678901234567890"), row.getBigDecimal(20));
                assertFalse(row.next());
            }
        }
    }

    @Test
    void aCursorFetchesPieceByPiece() throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.setFetchSize(7);
            try (ResultSet rows = statement.executeQuery("SELECT * FROM generate_series(1, 100) AS g(n) ORDER BY n")) {
                for (int n = 1; n <= 100; n++) {
                    assertTrue(rows.next());
                    assertEquals(n, rows.getInt(1));
                }
                assertFalse(rows.next());
            }
            connection.commit();
        }
    }

    @Test
    void errorsHaveTheirCodeAndPlaceAndTheSessionGoesOn() throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            PSQLException error =
                    assertThrows(PSQLException.class, () -> statement.executeQuery("SELECT a FROM nowhere"));
            assertEquals("42P01", error.getSQLState());
            assertEquals(15, error.getServerErrorMessage().getPosition());
            assertEquals(
                    "22012",
                    assertThrows(SQLException.class, () -> statement.executeQuery("SELECT 1 / 0"))
                            .getSQLState());
            assertEquals(List.of("1"), rows(connection, "SELECT 1"));
        }
    }

    @Test
    void aTransactionThatFailedTakesOnlyItsEnd() throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            assertThrows(SQLException.class, () -> statement.executeQuery("SELECT nope"));
            assertEquals(
                    "25P02",
                    assertThrows(SQLException.class, () -> statement.executeQuery("SELECT 1"))
                            .getSQLState());
            connection.rollback();
            assertEquals(List.of("1"), rows(connection, "SELECT 1"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text", "csv", "csv, HEADER"})
    void copyTakesWhatCopyGave(String form) throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, x DOUBLE PRECISION, at TIMESTAMP)");
            statement.execute("CREATE TABLE u (id BIGINT PRIMARY KEY, name TEXT, x DOUBLE PRECISION, at TIMESTAMP)");
            statement.execute(
                    "INSERT INTO t VALUES (1, 'plain', 1.5, '2024-01-01 00:00:00'), (2, NULL, NULL, NULL),"
                            + " (3, E'tab\\t, comma \"quote\" back\\\\slash\\nline', -0.1, NULL), (4, '', 1e30, NULL), (5, '\\N', 0, NULL)");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            StringWriter out = new StringWriter();
            assertEquals(5, copies.copyOut("COPY t TO STDOUT (FORMAT " + form + ")", out));
            assertEquals(
                    5,
                    copies.copyIn("COPY u FROM STDIN (FORMAT " + form + ")", new StringReader(out.toString())),
                    out.toString());
            assertEquals(List.of("0"), rows(connection, "SELECT count(*) FROM (TABLE t EXCEPT TABLE u) AS lost"));
            assertEquals(List.of("0"), rows(connection, "SELECT count(*) FROM (TABLE u EXCEPT TABLE t) AS made"));
        }
    }

    @Test
    void binaryCopyTakesWhatItGave() throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            String columns = "(a SMALLINT, b INTEGER, c BIGINT, d REAL, e DOUBLE PRECISION, f NUMERIC(20,6), g TEXT,"
                    + " h BYTEA, i DATE, j TIME, k TIMESTAMP, l TIMESTAMPTZ, m INTERVAL, n UUID, o BOOLEAN)";
            statement.execute("CREATE TABLE t " + columns);
            statement.execute("CREATE TABLE u " + columns);
            statement.execute("INSERT INTO t VALUES (1, 2, 3, 1.5, 2.5, -12345.678901, 'text', '\\xdeadbeef',"
                    + " '1960-02-29', '23:59:59.5', '1999-12-31 00:00:00', '2024-06-01 12:00:00+02', '1 mon -2 days',"
                    + " '6f2c1c1e-53a5-4f0b-93a5-0f5d3f6b7a01', true), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
                    + " NULL, NULL, NULL, NULL, NULL, NULL, NULL)");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            assertEquals(2, copies.copyOut("COPY t TO STDOUT (FORMAT binary)", out));
            assertEquals(
                    2, copies.copyIn("COPY u FROM STDIN (FORMAT binary)", new ByteArrayInputStream(out.toByteArray())));
            assertEquals(List.of("0"), rows(connection, "SELECT count(*) FROM (TABLE t EXCEPT TABLE u) AS x"));
            assertEquals(List.of("2"), rows(connection, "SELECT count(*) FROM u"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text", "csv", "binary"})
    void copyTakesTheArraysAndRowsThatItGave(String form) throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            String columns =
                    "(id INT PRIMARY KEY, a INT[], t TEXT[], r ROW(n INT, s TEXT, tags TEXT[], at ROW(d DATE)),"
                            + " m NUMERIC(8,2)[], rs ROW(n INT, s TEXT)[], j JSONB[])";
            statement.execute("CREATE TABLE t " + columns);
            statement.execute("CREATE TABLE u " + columns);
            statement.execute(
                    "INSERT INTO t VALUES (1, ARRAY[1, NULL, -3], ARRAY['', 'NULL', 'a,b', '{\"\\}', E'tab\\t'],"
                            + " ROW(1, 'it''s (\"so\")', ARRAY['x y', NULL], ROW(DATE '2024-02-29')), ARRAY[1.5, -0.01],"
                            + " ARRAY[ROW(1, ''), NULL], ARRAY['{\"k\": [1, \"v\"]}'::jsonb]),"
                            + " (2, NULL, NULL, NULL, NULL, NULL, NULL),"
                            + " (3, ARRAY[]::int[], ARRAY[]::text[], ROW(NULL, NULL, NULL, NULL), ARRAY[NULL::numeric], NULL, NULL)");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            assertEquals(3, copies.copyOut("COPY t TO STDOUT (FORMAT " + form + ")", out));
            assertEquals(
                    3,
                    copies.copyIn(
                            "COPY u FROM STDIN (FORMAT " + form + ")", new ByteArrayInputStream(out.toByteArray())));
            assertEquals(List.of("0"), rows(connection, "SELECT count(*) FROM (TABLE t EXCEPT TABLE u) AS lost"));
            assertEquals(List.of("0"), rows(connection, "SELECT count(*) FROM (TABLE u EXCEPT TABLE t) AS made"));
            PSQLException refused = assertThrows(
                    PSQLException.class,
                    () -> copies.copyIn("COPY u (id, r) FROM STDIN", new StringReader("4\t(1,x)\n")));
            assertEquals("22P02", refused.getSQLState());
            assertTrue(refused.getMessage().contains("column r"), refused.getMessage());
        }
    }

    @Test
    void aCopyThatFailsLeavesATableAlone() throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, x INTEGER)");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            PSQLException error = assertThrows(
                    PSQLException.class, () -> copies.copyIn("COPY t FROM STDIN", new StringReader("1\t2\n3\tnope\n")));
            assertEquals("22P02", error.getSQLState());
            assertTrue(error.getMessage().contains("row 2, column x"), error.getMessage());
            assertEquals(List.of("0"), rows(connection, "SELECT count(*) FROM t"));
        }
    }

    @Test
    void subscribersSeeChangesAndCancelEndsThem() throws Exception {
        try (Connection connection = server.connect();
                Connection other = server.connect();
                Statement statement = connection.createStatement();
                Statement writer = other.createStatement()) {
            writer.execute("CREATE STREAM s (k TEXT, v BIGINT)");
            writer.execute("CREATE MATERIALIZED VIEW totals AS SELECT k, sum(v) AS total FROM s GROUP BY k");
            connection.setAutoCommit(false);
            statement.setFetchSize(1);
            CompletableFuture<Void> writing = CompletableFuture.runAsync(
                    () -> {
                        try {
                            writer.execute("INSERT INTO s VALUES ('a', 1)");
                            writer.execute("INSERT INTO s VALUES ('a', 2)");
                        } catch (SQLException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    OwnThread.EACH);
            try (ResultSet rows = statement.executeQuery("SUBSCRIBE TO totals WITH (SNAPSHOT)")) {
                List<String> seen = new ArrayList<>();
                while (!seen.contains("+ a 3")) {
                    assertTrue(rows.next());
                    seen.add(rows.getString("op") + " " + rows.getString("k") + " " + rows.getString("total"));
                    assertTrue(rows.getTimestamp("epoch_time").after(new Timestamp(0)));
                }
                writing.get(60, TimeUnit.SECONDS);
                try (Eventually.Repeated cancelling = Eventually.repeat(
                        () -> connection.unwrap(PGConnection.class).cancelQuery())) {
                    SQLException cancelled = assertThrows(SQLException.class, () -> {
                        while (rows.next()) {
                            seen.add("more");
                        }
                    });
                    assertEquals("57014", cancelled.getSQLState());
                }
            }
            connection.rollback();
            assertEquals(List.of("1"), rows(connection, "SELECT 1"));
        }
    }

    @Test
    void manyBatchedInsertsArriveOnce() throws SQLException {
        try (Connection connection = server.connect("reWriteBatchedInserts", "true");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (v BIGINT)");
            statement.execute("CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, sum(v) AS total FROM s");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO s VALUES (?)")) {
                for (int i = 0; i < 1000; i++) {
                    insert.setLong(1, i);
                    insert.addBatch();
                }
                insert.executeBatch();
            }
            assertEquals(List.of("1000 499500"), rows(connection, "SELECT n || ' ' || total FROM total"));
        }
    }

    @Test
    void whoIsTurnedAwayIsTold() throws SQLException {
        ScramSecret secret = ScramSecret.parse(ScramSecret.of("right").text());
        PgServerOptions local = PgServerOptions.local(0);
        server.restart(local.withLimits(2, local.mostMessageBytes())
                .withAuthentication(new Authentication.Scram(
                        role -> role.equals("millrace") ? Optional.of(secret) : Optional.empty())));
        assertEquals(
                "28P01",
                assertThrows(SQLException.class, () -> server.connect("password", "wrong"))
                        .getSQLState());
        assertEquals(
                "28P01",
                assertThrows(SQLException.class, () -> server.connect("password", "right", "user", "nobody"))
                        .getSQLState());
        try (Connection first = server.connect("password", "right");
                Connection second = server.connect("password", "right")) {
            assertEquals(List.of("millrace"), rows(first, "SELECT current_user"));
            assertEquals(
                    "53300",
                    assertThrows(SQLException.class, () -> server.connect("password", "right"))
                            .getSQLState());
            assertEquals(List.of("1"), rows(second, "SELECT 1"));
        }
    }

    @Test
    void aMessageBeyondTheLimitEndsOnlyItsConnection() throws SQLException {
        server.restart(PgServerOptions.local(0).withLimits(10, 1 << 16));
        try (Connection healthy = server.connect();
                Connection greedy = server.connect();
                Statement statement = greedy.createStatement()) {
            String longText = "x".repeat(1 << 17);
            SQLException refused =
                    assertThrows(SQLException.class, () -> statement.execute("SELECT '" + longText + "'"));
            assertTrue(refused.getSQLState().startsWith("08"), refused.toString()); // or the write already failed
            assertEquals(List.of("1"), rows(healthy, "SELECT 1"));
        }
    }

    @Test
    void bytesThatAreNoProtocolHarmNobody() throws Exception {
        Random random = new Random(7);
        try (Connection healthy = server.connect()) {
            for (int i = 0; i < 200; i++) {
                byte[] junk = new byte[1 + random.nextInt(300)];
                random.nextBytes(junk);
                try (Socket socket = new Socket("localhost", server.port())) {
                    socket.getOutputStream().write(junk);
                    socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                }
            }
            assertEquals(List.of("1"), rows(healthy, "SELECT 1"));
        }
    }
}
