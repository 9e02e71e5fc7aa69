package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that come before the database is open. */
@Timeout(120)
class StartingServerTest {
    private static final int LONG = 2 << 20; // of a message, more than what needs room on the heap

    private static Connection connect(PgServer server) throws SQLException {
        return DriverManager.getConnection("jdbc:postgresql://localhost:" + server.port() + "/millrace?user=millrace");
    }

    private static void send(Socket socket, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer message = ByteBuffer.allocate(type.length() + 4 + body.length);
        message.put(type.getBytes(StandardCharsets.US_ASCII))
                .putInt(4 + body.length)
                .put(body);
        socket.getOutputStream().write(message.array());
    }

    @Test
    void areToldHowFarTheStartIsAndLetInWhenItIsDone() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        try (Database database = Millrace.open();
                PgServer server =
                        PgServer.starting(PgServerOptions.local(0), () -> "step " + asked.incrementAndGet() + " of 9");
                Socket early = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            SQLException first = assertThrows(SQLException.class, () -> connect(server));
            assertEquals("57P03", first.getSQLState());
            assertTrue(first.getMessage().contains("the database system is starting up"), first.getMessage());
            assertTrue(first.getMessage().contains("step 1 of 9"), first.getMessage());
            SQLException second = assertThrows(SQLException.class, () -> connect(server));
            assertTrue(second.getMessage().contains("step 2 of 9"), second.getMessage());
            server.serve(database, new Authentication.Trust());
            try (Connection connection = connect(server);
                    ResultSet one = connection.createStatement().executeQuery("SELECT 1")) {
                assertTrue(one.next());
            }
            // who had connected before and had not said yet who it is comes in like any other
            early.setSoTimeout(60_000);
            send(early, "", "\0\3\0\0user\0millrace\0\0");
            send(early, "Q", "SELECT length('" + "x".repeat(LONG) + "') AS n\0");
            send(early, "X", "");
            String answer = new String(early.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertTrue(answer.contains(String.valueOf(LONG)) && answer.contains("SELECT 1"), answer);
        }
    }

    @Test
    void endsOnceHoweverOftenItIsClosed() throws Exception {
        try (Database database = Millrace.open()) {
            PgServer server = PgServer.listen(database, PgServerOptions.local(0));
            try (Connection connection = connect(server)) {
                server.close();
                server.close();
                assertThrows(
                        SQLException.class, () -> connection.createStatement().execute("SELECT 1"));
            }
        }
    }
}
