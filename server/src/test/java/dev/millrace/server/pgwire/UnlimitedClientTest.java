package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** Numbers of any size by PostgreSQL's JDBC driver, both ways, as parameters, results and COPY, in text and in binary. */
@Timeout(120)
class UnlimitedClientTest {
    private static final List<String> NUMBERS = List.of(
            "0",
            "0.00",
            "1.50",
            "-1.5",
            "10000",
            "0.0001",
            "1E-20",
            "12345678901234567890123.4500",
            "-" + "9".repeat(60) + "." + "1".repeat(50),
            "1" + "0".repeat(2000));

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
        String binary = form.equals("binary") ? "1700" : "";
        try (Connection connection = server.connect("binaryTransferEnable", binary, "prepareThreshold", "-1");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (k INT PRIMARY KEY, n NUMERIC)");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (?, ?)")) {
                for (int i = 0; i < NUMBERS.size(); i++) {
                    insert.setInt(1, i);
                    insert.setBigDecimal(2, new BigDecimal(NUMBERS.get(i)));
                    assertEquals(1, insert.executeUpdate());
                }
            }
            try (PreparedStatement select = connection.prepareStatement("SELECT n, n = ? FROM t WHERE k = ?")) {
                for (int i = 0; i < NUMBERS.size(); i++) {
                    BigDecimal number = new BigDecimal(NUMBERS.get(i));
                    select.setBigDecimal(1, number);
                    select.setInt(2, i);
                    try (ResultSet row = select.executeQuery()) {
                        assertTrue(row.next());
                        assertEquals(number, row.getBigDecimal(1));
                        assertTrue(row.getBoolean(2), NUMBERS.get(i));
                        assertEquals(0, row.getMetaData().getPrecision(1));
                    }
                }
            }
            try (PreparedStatement select = connection.prepareStatement("SELECT 'NaN'::numeric, '-inf'::numeric");
                    ResultSet row = select.executeQuery()) {
                assertTrue(row.next());
                assertEquals("NaN", row.getString(1));
                assertEquals(Double.NEGATIVE_INFINITY, row.getDouble(2));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text", "csv", "binary"})
    void copyTakesWhatItGave(String form) throws Exception {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (k INT PRIMARY KEY, n NUMERIC, a NUMERIC[])");
            statement.execute("CREATE TABLE u (k INT PRIMARY KEY, n NUMERIC, a NUMERIC[])");
            for (int i = 0; i < NUMBERS.size(); i++) {
                statement.execute("INSERT INTO t VALUES (" + i + ", " + NUMBERS.get(i) + ", ARRAY[" + NUMBERS.get(i)
                        + ", NULL])");
            }
            statement.execute(
                    "INSERT INTO t VALUES (100, 'NaN', '{NaN,Infinity}'), (101, '-Infinity', NULL), (102, NULL, '{}')");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            copies.copyOut("COPY t TO STDOUT (FORMAT " + form + ")", out);
            copies.copyIn("COPY u FROM STDIN (FORMAT " + form + ")", new ByteArrayInputStream(out.toByteArray()));
            List<String> given = rows(statement, "SELECT k, n, a FROM t ORDER BY k");
            assertEquals(NUMBERS.size() + 3, given.size());
            assertEquals(given, rows(statement, "SELECT k, n, a FROM u ORDER BY k"));
            ByteArrayOutputStream again = new ByteArrayOutputStream();
            copies.copyOut("COPY u TO STDOUT (FORMAT " + form + ")", again);
            assertEquals(
                    new String(out.toByteArray(), StandardCharsets.ISO_8859_1),
                    new String(again.toByteArray(), StandardCharsets.ISO_8859_1));
        }
    }

    private static List<String> rows(Statement statement, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (ResultSet results = statement.executeQuery(sql)) {
            while (results.next()) {
                rows.add(results.getString(1) + " " + results.getString(2) + " " + results.getString(3));
            }
        }
        return rows;
    }
}
