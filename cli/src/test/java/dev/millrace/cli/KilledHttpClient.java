package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A client that writes to a stream of windows by HTTP, over all processes of a server that is killed. What it was told is there once, and
 * windows are what their rows say. One thread at a time.
 */
final class KilledHttpClient {
    /** What it writes to and reads: a row of each second, and windows of ten. */
    static final List<String> DEFINITIONS = List.of(
            "CREATE STREAM w (n BIGINT, at TIMESTAMP, WATERMARK FOR at AS at)",
            "CREATE MATERIALIZED VIEW came AS SELECT n, count(*) AS c FROM w GROUP BY n",
            "CREATE MATERIALIZED VIEW windows AS SELECT CAST(extract(epoch FROM window_start) AS BIGINT) / 10 AS ten,"
                    + " count(*) AS c FROM TUMBLE(TABLE w, DESCRIPTOR(at), INTERVAL '10 seconds')"
                    + " GROUP BY window_start, window_end");

    private static final String COUNTED = "SELECT n / 10 AS ten, count(*) AS c FROM came";

    private final HttpClient client = HttpClient.newHttpClient();
    private final Set<Long> answered = new HashSet<>();
    private long sent;

    long answered() {
        return answered.size();
    }

    /** Writes until the server is dead. */
    void write(ServerProcess server) {
        try {
            while (true) {
                long n = ++sent;
                String second = "TIMESTAMP '1970-01-01' + INTERVAL '" + n + " seconds'";
                HttpRequest request = HttpRequest.newBuilder(
                                URI.create("http://localhost:" + server.httpPort() + "/api/v1/query"))
                        .POST(HttpRequest.BodyPublishers.ofString("INSERT INTO w VALUES (" + n + ", " + second + ")"))
                        .build();
                HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
                assertEquals(200, response.statusCode(), response::body);
                answered.add(n);
            }
        } catch (IOException dead) {
            return;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** While nobody writes. */
    void check(Statement statement, String seed) throws SQLException {
        Set<Long> there = new HashSet<>();
        try (ResultSet rows = statement.executeQuery("SELECT n, c FROM came")) {
            while (rows.next()) {
                assertEquals(1, rows.getLong(2), "a row came twice, " + seed);
                there.add(rows.getLong(1));
            }
        }
        Set<Long> lost = new TreeSet<>(answered);
        lost.removeAll(there);
        assertEquals(Set.of(), lost, "lost of the client by HTTP, " + seed);
        assertTrue(there.stream().allMatch(n -> n <= sent), "nobody wrote that, " + seed);
        try (ResultSet rows = statement.executeQuery(
                "SELECT * FROM (SELECT ten, c FROM windows EXCEPT " + COUNTED
                        + " GROUP BY n / 10) x UNION ALL SELECT * FROM (" + COUNTED
                        + " WHERE n / 10 * 10 + 10 <= (SELECT max(n) FROM came) GROUP BY n / 10 EXCEPT SELECT ten, c FROM windows) y")) {
            assertTrue(!rows.next(), "windows are not what their rows say, " + seed);
        }
    }
}
