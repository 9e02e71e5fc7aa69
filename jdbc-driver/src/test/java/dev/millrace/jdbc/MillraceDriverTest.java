package dev.millrace.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.pgwire.PgServer;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.session.Database;
import dev.millrace.testing.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.PGConnection;

/** The driver as programs find it, on a database inside this program and on a server. */
@Tag("long")
@Timeout(120)
class MillraceDriverTest {

    static List<String> rows(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> texts = new ArrayList<>();
            while (rows.next()) {
                List<String> cells = new ArrayList<>();
                for (int column = 1; column <= rows.getMetaData().getColumnCount(); column++) {
                    cells.add(rows.getString(column));
                }
                texts.add(String.join(" ", cells));
            }
            return texts;
        }
    }

    /** Daemons that all databases of a process share: those that watch subscriptions, and users' code. */
    private static final Set<String> THE_PROCESSES = Set.of("millrace-jdbc-watch", "millrace-user-watch");

    @Test
    void aUrlIsAllThatADatabaseInMemoryNeeds() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:millrace:");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (k TEXT, v BIGINT)");
            statement.execute("CREATE MATERIALIZED VIEW totals AS SELECT k, sum(v) AS total FROM s GROUP BY k");
            assertEquals(3, statement.executeUpdate("INSERT INTO s VALUES ('a', 1), ('b', 2), ('a', 3)"));
            assertEquals(List.of("a 4", "b 2"), rows(connection, "SELECT * FROM totals ORDER BY k"));
        }
    }

    @Test
    void connectionsOfOneUrlShareTheirDatabaseUntilTheLastCloses() throws SQLException {
        try (Connection first = DriverManager.getConnection("jdbc:millrace:mem:shared");
                Connection other = DriverManager.getConnection("jdbc:millrace:mem:other")) {
            try (Connection second = DriverManager.getConnection("jdbc:millrace:mem:shared")) {
                second.createStatement().execute("CREATE TABLE t (id BIGINT PRIMARY KEY)");
                second.createStatement().execute("INSERT INTO t VALUES (7)");
                second.close();
                second.close(); // once more takes nothing from the others
            }
            assertEquals(List.of("7"), rows(first, "SELECT id FROM t"));
            assertEquals(
                    "42P01",
                    assertThrows(SQLException.class, () -> rows(other, "SELECT id FROM t"))
                            .getSQLState());
        }
        try (Connection again = DriverManager.getConnection("jdbc:millrace:mem:shared")) {
            assertThrows(SQLException.class, () -> rows(again, "SELECT id FROM t"));
        }
    }

    @Test
    void nothingIsLeftOfADatabaseThatWasClosed() throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:millrace:mem:gone?workers=2")) {
            assertEquals(List.of("1"), rows(connection, "SELECT 1"));
            assertTrue(threads().stream().anyMatch(name -> name.startsWith("millrace-pgwire")));
        }
        Eventually.holds("all its threads end", () -> threads().isEmpty());
    }

    @Test
    void aProgramOfTenLinesEndsWithItsLastConnection() throws Exception {
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        FirstProgram.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT) // a newer JDK warns there
                .start();
        String out = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, program.waitFor(), out);
        assertEquals("42", out.strip(), "and no thread that keeps the JVM alive");
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("millrace-") && !THE_PROCESSES.contains(name))
                .toList();
    }

    @Test
    void aServerIsReachedByItsUrl() throws SQLException {
        try (Database database = Millrace.open();
                PgServer server = PgServer.listen(database, PgServerOptions.local(0))) {
            database.execute("CREATE ROLE ada LOGIN");
            String url = "jdbc:millrace://localhost:" + server.port() + "/millrace?ApplicationName=test";
            try (Connection connection = DriverManager.getConnection(url, "ada", "")) {
                assertEquals(
                        List.of("ada millrace test"),
                        rows(
                                connection,
                                "SELECT current_user, current_database(), current_setting('application_name')"));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc:millrace://h:1/d, jdbc:postgresql://h:1/d",
        "jdbc:millrace://h/d, jdbc:postgresql://h:5433/d",
        "jdbc:millrace://h, jdbc:postgresql://h:5433/millrace",
        "jdbc:millrace://, jdbc:postgresql://localhost:5433/millrace",
        "jdbc:millrace:///d?ssl=true, jdbc:postgresql://localhost:5433/d?ssl=true",
        "jdbc:millrace://[::1]/d, jdbc:postgresql://[::1]:5433/d",
        "'jdbc:millrace://a,b:7/d', 'jdbc:postgresql://a:5433,b:7/d'",
    })
    void urlsOfServersAreThoseOfPostgresqlWithOurPort(String url, String postgresql) throws SQLException {
        MillraceUrl parsed = MillraceUrl.parse(url).orElseThrow();
        assertEquals(postgresql, parsed.postgresql());
        assertTrue(parsed.location().isEmpty());
    }

    @Test
    void urlsWithoutAHostSayWhereTheDatabaseIs() throws SQLException {
        assertEquals(
                "", MillraceUrl.parse("jdbc:millrace:").orElseThrow().location().orElseThrow());
        assertEquals(
                "/var/a b",
                MillraceUrl.parse("jdbc:millrace:/var/a%20b?user=x")
                        .orElseThrow()
                        .location()
                        .orElseThrow());
        MillraceDriver driver = new MillraceDriver();
        assertTrue(driver.acceptsURL("jdbc:millrace:/data"));
        assertFalse(driver.acceptsURL("jdbc:postgresql://localhost/x"));
        assertNull(driver.connect("jdbc:postgresql://localhost/x", new Properties()));
    }

    @Test
    void theDriverTellsItsPropertiesAndVersion() throws SQLException {
        MillraceDriver driver = new MillraceDriver();
        var properties = driver.getPropertyInfo("jdbc:millrace://h:1/d?ssl=true", new Properties());
        assertTrue(Arrays.stream(properties)
                .anyMatch(property -> property.name.equals("user") && property.value.equals("millrace")));
        assertTrue(Arrays.stream(properties).anyMatch(property -> property.name.equals("sslmode")));
        assertTrue(Arrays.stream(properties).anyMatch(property -> property.name.equals("workers")));
        assertEquals(
                MillraceDriver.driverVersion(),
                "" + driver.getMajorVersion() + "." + driver.getMinorVersion()
                        + MillraceDriver.driverVersion().replaceFirst("^[0-9]+\\.[0-9]+", ""));
        assertTrue(DriverManager.drivers().anyMatch(found -> found instanceof MillraceDriver), "registered by itself");
        assertThrows(SQLException.class, () -> DriverManager.getConnection("jdbc:millrace:mem:x?workers=many"));
    }

    @Test
    void theMetaDataNamesMillrace() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:millrace:mem:meta")) {
            DatabaseMetaData meta = connection.getMetaData();
            assertEquals("Millrace", meta.getDatabaseProductName());
            assertEquals(MillraceDriver.driverVersion(), meta.getDatabaseProductVersion());
            assertEquals(0, meta.getDatabaseMajorVersion());
            assertEquals(1, meta.getDatabaseMinorVersion());
            assertEquals("Millrace JDBC Driver", meta.getDriverName());
            assertEquals(MillraceDriver.driverVersion(), meta.getDriverVersion());
            assertEquals("jdbc:millrace:mem:meta", meta.getURL());
            assertEquals(4, meta.getJDBCMajorVersion());
            assertEquals("millrace", meta.getUserName());
            assertSame(connection, meta.getConnection());
        }
    }

    @Test
    void whatIsHandedOutIsPgjdbcsUnderneath() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:millrace:mem:wrapped");
                Statement statement = connection.createStatement();
                PreparedStatement prepared = connection.prepareStatement("SELECT ?::integer")) {
            assertInstanceOf(PGConnection.class, connection);
            assertTrue(connection.isWrapperFor(PGConnection.class));
            assertSame(connection, statement.getConnection());
            assertSame(connection, prepared.getConnection());
            assertEquals(connection, connection);
            prepared.setInt(1, 5);
            try (ResultSet rows = prepared.executeQuery()) {
                assertTrue(rows.next());
                assertEquals(5, rows.getInt(1));
            }
            assertFalse(connection.isClosed());
            assertTrue(connection.isValid(1));
        }
    }

    @Test
    void largeAnswersAndSlowReadersWorkThroughThePipe() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:millrace:mem:large")) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(1000);
                long sum = 0;
                try (ResultSet rows =
                        statement.executeQuery("SELECT n, repeat('x', 100) FROM generate_series(1, 200000) AS g(n)")) {
                    while (rows.next()) {
                        sum += rows.getInt(1);
                        assertEquals(100, rows.getString(2).length());
                    }
                }
                assertEquals(200_000L * 200_001 / 2, sum);
            }
            connection.commit();
            assertEquals(
                    1 << 20,
                    rows(connection, "SELECT repeat('y', 1048576)").get(0).length());
        }
    }

    @Test
    void aDirectoryKeepsWhatWasDefined(@TempDir Path directory) throws SQLException {
        String url = "jdbc:millrace:" + directory.resolve("data");
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (v BIGINT)");
        }
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            assertEquals(1, statement.executeUpdate("INSERT INTO s VALUES (1)"));
        }
        SQLException refused = assertThrows(
                SQLException.class,
                () -> DriverManager.getConnection("jdbc:millrace:" + directory.resolve("data/lock")));
        assertEquals("F0000", refused.getSQLState());
    }
}
