package dev.millrace.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.config.ConfigFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server as a process: how it starts, is refused a start, and stops. */
@Timeout(180)
class ServerLifeTest {
    @TempDir
    Path directory;

    private static SQLException failure(CompletableFuture<SQLException> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    @Test
    void aStopLetsStatementsEndAndTellsClientsAndFillsSinks() throws Exception {
        Path out = directory.resolve("out.csv");
        try (ServerProcess server =
                ServerProcess.start("--port", "0", "--no-http", "--tls", "off", "--set", "log.format=json")) {
            Connection idle = server.connect();
            Connection subscriber = server.connect();
            Connection busy = server.connect();
            try (Statement statement = idle.createStatement()) {
                statement.execute("CREATE STREAM s (k BIGINT)");
                statement.execute("CREATE SINK f FROM s WITH (connector = 'file', path = '" + out + "')");
                statement.execute("INSERT INTO s SELECT g FROM generate_series(1, 1000) AS g");
            }
            CompletableFuture<SQLException> subscription = CompletableFuture.supplyAsync(() -> assertThrows(
                    SQLException.class, () -> subscriber.createStatement().executeQuery("SUBSCRIBE TO s")));
            CompletableFuture<Long> counting = CompletableFuture.supplyAsync(() -> count(busy));
            Thread.sleep(3000); // until both are under way, on a busy machine too
            server.terminate();
            assertTrue(counting.get(30, TimeUnit.SECONDS) > 0, "a statement under way is finished");
            assertEquals("57014", failure(subscription).getSQLState());
            SQLException told = assertThrows(
                    SQLException.class, () -> idle.createStatement().execute("SELECT 1"));
            assertEquals("57P01", told.getSQLState());
            assertEquals(143, server.awaitExit());
            assertTrue(
                    server.lines().stream()
                            .anyMatch(line -> line.startsWith("{\"time\":") && line.contains("\"event\":\"stopped\"")),
                    () -> server.lines().toString());
        }
        assertEquals(
                1000,
                Files.readAllLines(out).stream()
                        .filter(line -> !line.equals("k"))
                        .count());
    }

    /** Some seconds of work. */
    private static long count(Connection connection) {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT count(*) FROM generate_series(1, 20000) AS a JOIN generate_series(1, 1000) AS b ON a < b")) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aPortThatIsTakenIsSaidInOneLine() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerProcess server = ServerProcess.start("--port", "" + taken.getLocalPort())) {
            assertEquals(1, server.awaitExit());
            assertEquals(1, server.lines().size(), () -> server.lines().toString());
            assertTrue(
                    server.lines().get(0).startsWith("millrace: cannot listen on localhost:" + taken.getLocalPort()),
                    () -> server.lines().toString());
        }
    }

    @Test
    void aMistakeInTheConfigurationIsSaidInOneLine() throws Exception {
        Path file = directory.resolve("wrong.conf");
        Files.writeString(file, "listen {\n  prot = 7\n}\n");
        try (ServerProcess server = ServerProcess.start("--config", file.toString())) {
            assertEquals(1, server.awaitExit());
            assertEquals(
                    "[millrace: " + file
                            + ", line 2: option \"listen.prot\" does not exist; did you mean \"listen.port\"?]",
                    server.lines().toString());
        }
    }

    @Test
    void allOptionsCanBePrinted() throws Exception {
        try (ServerProcess server = ServerProcess.start("--print-config")) {
            assertEquals(0, server.awaitExit());
            assertEquals(ConfigFile.reference().lines().toList(), server.lines());
        }
    }
}
