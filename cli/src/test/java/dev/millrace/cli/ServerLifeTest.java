package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.config.ConfigFile;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.PGConnection;

/** The server as a process: how it starts, is refused a start, and stops. */
@Timeout(180)
class ServerLifeTest {
    @TempDir
    Path directory;

    /** Copies the rows of a query out; counts the latch down when the first comes, and waits for another then. */
    private static CompletableFuture<Long> copy(
            Connection connection, String query, CountDownLatch begun, CountDownLatch goOn) {
        return CompletableFuture.supplyAsync(
                () -> {
                    OutputStream rows = new OutputStream() {
                        @Override
                        public void write(int value) {
                            throw new AssertionError("rows come whole");
                        }

                        @Override
                        public void write(byte[] row, int from, int length) throws IOException {
                            begun.countDown();
                            try {
                                assertTrue(goOn.await(60, TimeUnit.SECONDS));
                            } catch (InterruptedException e) {
                                throw new IOException(e);
                            }
                        }
                    };
                    try {
                        return connection
                                .unwrap(PGConnection.class)
                                .getCopyAPI()
                                .copyOut("COPY (" + query + ") TO STDOUT", rows);
                    } catch (SQLException | IOException e) {
                        throw new CompletionException(e);
                    }
                },
                OwnThread.EACH);
    }

    private static SQLException failure(CompletableFuture<Long> copy) {
        ExecutionException failed = assertThrows(ExecutionException.class, () -> copy.get(60, TimeUnit.SECONDS));
        return assertInstanceOf(SQLException.class, failed.getCause());
    }

    @Test
    void aStopLetsStatementsEndAndTellsClientsAndFillsSinks() throws Exception {
        Path out = directory.resolve("out.csv");
        try (ServerProcess server = ServerProcess.start(
                "--port", "0", "--no-http", "--tls", "off", "--set", "log.format=json", "--set", "stop-timeout=60s")) {
            Connection idle = server.connect();
            try (Statement statement = idle.createStatement()) {
                statement.execute("CREATE STREAM s (k BIGINT)");
                statement.execute("CREATE SINK f FROM s WITH (connector = 'file', path = '" + out + "')");
                statement.execute("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM s");
                statement.execute("INSERT INTO s SELECT g FROM generate_series(1, 1000) AS g");
            }
            CountDownLatch begun = new CountDownLatch(2);
            CountDownLatch stopping = new CountDownLatch(1);
            CompletableFuture<Long> subscription =
                    copy(server.connect(), "SUBSCRIBE TO n WITH (SNAPSHOT)", begun, new CountDownLatch(0));
            CompletableFuture<Long> copy = copy( // of more than the buffers between the two hold
                    server.connect(), "SELECT g FROM generate_series(1, 5000000) AS g", begun, stopping);
            assertTrue(begun.await(60, TimeUnit.SECONDS));
            server.terminate();
            Eventually.holds(
                    "it begins to stop",
                    () -> server.lines().stream().anyMatch(line -> line.contains("\"event\":\"stopping\"")));
            stopping.countDown();
            assertEquals(5_000_000, copy.get(60, TimeUnit.SECONDS), "a statement under way is finished");
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
