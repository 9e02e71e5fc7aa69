package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Lines that come by TCP and in datagrams: streams whose rows nobody can ask for again. */
@Timeout(120)
class SocketStreamTest {
    @TempDir
    Path folder;

    private static int port(TestDatabase database, String stream) {
        String split = database.rows(
                        "SELECT split FROM millrace.sources WHERE stream = '" + stream + "' AND split LIKE '___ %'")
                .get(0);
        return Integer.parseInt(split.substring(split.lastIndexOf(':') + 1));
    }

    private static void send(int port, String text) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port);
                OutputStream out = socket.getOutputStream()) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static String numbers(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "{\"v\": " + i + "}\n").collect(Collectors.joining());
    }

    private static void becomes(TestDatabase database, String sql, String... rows) {
        Eventually.holds(
                sql + " gives " + List.of(rows) + " and not " + database.rows(sql),
                () -> database.rows(sql).equals(List.of(rows)));
    }

    @Test
    void linesOfAllConnectionsAreRows() throws IOException {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (v BIGINT, twice BIGINT GENERATED ALWAYS AS (v * 2) STORED)"
                    + " INCLUDE PEER AS who, RECEIVED AS at WITH (connector = 'tcp', listen = '127.0.0.1:0')");
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(twice) AS t,"
                    + " count(DISTINCT who) AS peers, count(at) AS times FROM s");
            int port = port(database, "s");
            send(port, numbers(0, 1_000));
            send(port, "{\"v\": 1000}\r\n\n{\"v\": 1001}"); // and a last line without an end
            becomes(database, "TABLE n", "1002|1003002|2|1002");
            try (Socket open = new Socket("127.0.0.1", port)) {
                open.getOutputStream().write("{\"v\": 0}\n{\"v\"".getBytes(StandardCharsets.UTF_8));
                becomes(
                        database,
                        "SELECT records FROM millrace.sources WHERE split = '127.0.0.1:" + open.getLocalPort() + "'",
                        "1");
            }
            database.run("DROP MATERIALIZED VIEW n; DROP STREAM s");
            Eventually.holds("nobody listens any more", () -> !listens(port));
        }
    }

    private static boolean listens(int port) {
        try {
            new Socket("127.0.0.1", port).close();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void whatCannotBecomeARowIsKeptAndTheRestGoesOn() throws IOException {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (v BIGINT NOT NULL)"
                    + " WITH (connector = 'tcp', listen = '127.0.0.1:0', max_record_bytes = 20)");
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(v) AS t FROM s");
            send(
                    port(database, "s"),
                    "{\"v\": 1}\n{\"v\": \"x\"}\nno JSON\n{\"v\": null}\n{\"v\": 1234567, \"long\": 1}\n{\"v\": 2}\n");
            becomes(database, "TABLE n", "2|3");
            becomes(database, "SELECT count(*) FROM millrace.rejected_rows WHERE stream = 's'", "4");
        }
    }

    @Test
    void rowsThatCameOutliveTheDatabase() throws IOException {
        Path data = folder.resolve("data");
        try (TestDatabase database = new TestDatabase(data)) {
            database.run("CREATE STREAM s (v BIGINT)"
                    + " WITH (connector = 'tcp', listen = '127.0.0.1:0', retention = 'forever')");
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, sum(v) AS t FROM s");
            send(port(database, "s"), numbers(0, 500));
            becomes(database, "TABLE n", "500|124750");
            database.run("CHECKPOINT");
            send(port(database, "s"), numbers(500, 1_000));
            becomes(database, "TABLE n", "1000|499500");
        }
        try (TestDatabase again = new TestDatabase(data)) {
            assertEquals(List.of("1000|499500"), again.flushedRows("TABLE n"));
            assertEquals(List.of("1000|499500"), again.rows("SELECT count(*), sum(v) FROM s"));
            send(port(again, "s"), numbers(1_000, 1_001));
            becomes(again, "TABLE n", "1001|500500");
        }
    }

    @Test
    void ofDatagramsTheOldestAreThrownAwayAndCounted() throws IOException {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (v BIGINT, pad TEXT)"
                    + " WITH (connector = 'udp', listen = '127.0.0.1:0', buffer_bytes = 1024)");
            database.run("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, max(v) AS last FROM s");
            int count = 2_000;
            InetSocketAddress to = new InetSocketAddress("127.0.0.1", port(database, "s"));
            try (DatagramSocket socket = new DatagramSocket()) {
                for (int i = 1; i <= count; i++) {
                    byte[] bytes = ("{\"v\": " + i + ", \"pad\": \"" + "x".repeat(200) + "\"}")
                            .getBytes(StandardCharsets.UTF_8);
                    socket.send(new DatagramPacket(bytes, bytes.length, to));
                }
            }
            Eventually.holds("all were taken or thrown away", () -> {
                List<String> found =
                        database.rows("SELECT records + shed_records + coalesce(lag_records, 0), shed_records > 0"
                                + " FROM millrace.sources WHERE stream = 's'");
                return found.equals(List.of(count + "|t"));
            });
            Eventually.holds(
                    "the newest are there",
                    () -> database.rows("SELECT last FROM n").equals(List.of("" + count)));
        }
    }

    @Test
    void aStreamThatOthersPushToCannotFailOfARecord() {
        try (TestDatabase database = new TestDatabase()) {
            MillraceException refused = Assertions.assertThrows(
                    MillraceException.class,
                    () -> database.run("CREATE STREAM s (v BIGINT)"
                            + " WITH (connector = 'tcp', listen = '127.0.0.1:0', on_error = 'fail')"));
            assertTrue(refused.getMessage().contains("on_error"), refused::getMessage);
            MillraceException inUse = Assertions.assertThrows(MillraceException.class, () -> {
                database.run("CREATE STREAM a (v BIGINT) WITH (connector = 'tcp', listen = '127.0.0.1:0')");
                database.run("CREATE STREAM b (v BIGINT) WITH (connector = 'tcp', listen = '127.0.0.1:"
                        + port(database, "a") + "')");
            });
            assertTrue(inUse.getMessage().contains("cannot listen"), inUse::getMessage);
            assertEquals(List.of("a"), database.rows("SELECT DISTINCT stream FROM millrace.sources"));
        }
    }
}
