package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** Infinite dates and timestamps by PostgreSQL's JDBC driver, both ways, as parameters, results and COPY, in text and in binary. */
@Timeout(120)
class InfiniteTimesTest {
    private static final String TIMES = "1082,1114,1184"; // oids

    private TestServer server;

    @BeforeEach
    void start() {
        server = new TestServer();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"text", "binary"})
    void parametersAndResultsAreWhatTheyWere(String form) throws SQLException {
        String binary = form.equals("binary") ? TIMES : "";
        try (Connection connection = server.connect("binaryTransferEnable", binary, "prepareThreshold", "-1");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (k INT PRIMARY KEY, d DATE, l TIMESTAMP, z TIMESTAMPTZ)");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (?, ?, ?, ?)")) {
                insert.setInt(1, 1);
                insert.setObject(2, LocalDate.MAX);
                insert.setObject(3, LocalDateTime.MAX);
                insert.setObject(4, OffsetDateTime.MAX);
                assertEquals(1, insert.executeUpdate());
                insert.setInt(1, 2);
                insert.setObject(2, LocalDate.MIN);
                insert.setObject(3, LocalDateTime.MIN);
                insert.setObject(4, OffsetDateTime.MIN);
                assertEquals(1, insert.executeUpdate());
            }
            try (PreparedStatement select = connection.prepareStatement("SELECT d, l, z FROM t ORDER BY k");
                    ResultSet rows = select.executeQuery()) {
                assertTrue(rows.next());
                assertEquals(LocalDate.MAX, rows.getObject(1, LocalDate.class));
                assertEquals(LocalDateTime.MAX, rows.getObject(2, LocalDateTime.class));
                assertEquals(OffsetDateTime.MAX, rows.getObject(3, OffsetDateTime.class));
                assertTrue(rows.next());
                assertEquals(LocalDate.MIN, rows.getObject(1, LocalDate.class));
                assertEquals(LocalDateTime.MIN, rows.getObject(2, LocalDateTime.class));
                assertEquals(OffsetDateTime.MIN, rows.getObject(3, OffsetDateTime.class));
            }
            try (PreparedStatement select =
                    connection.prepareStatement("SELECT k FROM t WHERE l > ? AND z = 'infinity' AND d = 'infinity'")) {
                select.setObject(1, LocalDateTime.of(2026, 1, 1, 0, 0));
                try (ResultSet rows = select.executeQuery()) {
                    assertTrue(rows.next());
                    assertEquals(1, rows.getInt(1));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text", "csv", "binary"})
    void copyTakesWhatItGave(String form) throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            for (String table : new String[] {"t", "u"}) {
                statement.execute("CREATE TABLE " + table + " (k INT PRIMARY KEY, d DATE, l TIMESTAMP, z TIMESTAMPTZ)");
            }
            statement.execute(
                    "INSERT INTO t VALUES (1, 'infinity', 'infinity', 'infinity'), (2, '-infinity', '-infinity',"
                            + " '-infinity'), (3, '2026-01-02', '2026-01-02 03:04:05', '2026-01-02 03:04:05+00')");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            copies.copyOut("COPY t TO STDOUT (FORMAT " + form + ")", out);
            copies.copyIn("COPY u FROM STDIN (FORMAT " + form + ")", new ByteArrayInputStream(out.toByteArray()));
            try (ResultSet rows = statement.executeQuery(
                    "SELECT count(*) FROM t JOIN u USING (k) WHERE t.d = u.d AND t.l = u.l AND t.z = u.z")) {
                assertTrue(rows.next());
                assertEquals(3, rows.getInt(1));
            }
            ByteArrayOutputStream again = new ByteArrayOutputStream();
            copies.copyOut("COPY u TO STDOUT (FORMAT " + form + ")", again);
            assertArrayEquals(out.toByteArray(), again.toByteArray());
        }
    }
}
