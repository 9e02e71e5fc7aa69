package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that connect and do not get as far as saying who they are: they take nobody's place, and are cut off in time. */
@Timeout(120)
class StartupLimitsTest {
    private final TestServer server = new TestServer();
    private final List<Socket> sockets = new ArrayList<>();

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        server.close();
    }

    private Socket open(String begun) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(60_000);
        sockets.add(socket);
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        switch (begun) {
            case "nothing" -> {}
            case "half a startup packet" -> {
                out.writeInt(50);
                out.writeInt(3 << 16);
                out.writeBytes("user");
            }
            case "a request for TLS" -> {
                out.writeInt(8);
                out.writeInt(80877103);
            }
            case "half a TLS handshake" -> out.write(new byte[] {0x16, 3, 1, 2, 0, 1});
            case "a startup packet without a proof" -> {
                out.writeInt(8 + 14 + 1);
                out.writeInt(3 << 16);
                out.writeBytes("user\0millrace\0\0");
            }
            default -> throw new AssertionError(begun);
        }
        return socket;
    }

    private static PgServerOptions options(int connections, Duration timeout) {
        PgServerOptions local = PgServerOptions.local(0);
        return new PgServerOptions(
                local.addresses(),
                0,
                connections,
                local.mostMessageBytes(),
                timeout,
                Optional.empty(),
                new Authentication.Scram(role -> Optional.empty()));
    }

    @Test
    void aLongListOfOptionsIsTaken() throws IOException {
        for (String options : List.of("-c application_name=" + "x".repeat(9_000), "-c a=" + "\\ ".repeat(4_500))) {
            try (RawClient client = new RawClient(server.port())) {
                client.send(RawClient.startup("user", "millrace", "options", options));
                client.next('Z');
            }
        }
    }

    private boolean isRunning(String statement) throws SQLException {
        try (Connection connection = server.connect();
                PreparedStatement count = connection.prepareStatement(
                        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = ?")) {
            count.setString(1, statement);
            try (ResultSet found = count.executeQuery()) {
                found.next();
                return found.getInt(1) == 1;
            }
        }
    }

    @Test
    void whoComesWhileTheServerStopsIsToldSo() throws Exception {
        try (PgServer inProcess = PgServer.inProcess(server.database(), PgServerOptions.local(0));
                Socket busy = inProcess.connect()) {
            busy.getOutputStream().write(RawClient.startup("user", "millrace"));
            busy.getOutputStream().write(RawClient.query("SELECT pg_sleep(600)"));
            Eventually.holds("a statement under way", () -> isRunning("SELECT pg_sleep(600)"));
            CompletableFuture<Void> stopping =
                    CompletableFuture.runAsync(() -> inProcess.stop(Duration.ofSeconds(60)), OwnThread.EACH);
            Eventually.holds("the stop", inProcess::isStopping);
            try (Socket late = inProcess.connect()) {
                assertEquals('E', late.getInputStream().read());
            }
            busy.close();
            stopping.join();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nothing",
                "half a startup packet",
                "a request for TLS",
                "half a TLS handshake",
                "a startup packet without a proof"
            })
    void whoSaysOnlyHalfIsCutOff(String begun) throws IOException {
        server.restart(options(10, Duration.ofMillis(200)));
        Socket socket = open(begun);
        while (socket.getInputStream().read() >= 0) {
            // what the server answers before it has enough
        }
        assertTrue(true, "it has ended");
    }

    @Test
    void halfSentStartupsKeepNobodyOut() throws Exception {
        server.restart(PgServerOptions.local(0).withLimits(20, 1 << 20));
        for (int i = 0; i < 100; i++) {
            open(i % 2 == 0 ? "half a startup packet" : "nothing");
        }
        List<Connection> clients = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            clients.add(server.connect());
        }
        assertEquals(-1, sockets.get(0).getInputStream().read(), "the oldest made room");
        for (Connection client : clients) {
            client.close();
        }
    }
}
