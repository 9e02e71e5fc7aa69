package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.TreeSet;

/**
 * A page that follows the subscription {@code heard} to the view {@code came} by server-sent events, over all processes of a server that
 * is killed: it comes again with the id of the last event that it saw, and hears each row once. One thread at a time.
 */
final class KilledHttpSubscriber {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PATIENCE_MILLIS = 30_000;

    private final Set<Long> heard = new TreeSet<>();
    private String lastId = "";
    private long before; // events, of the processes before this one

    /** How many events it had before the last time that it came. */
    long events() {
        return before;
    }

    /** Reads until the server is dead. */
    void follow(ServerProcess server) {
        try {
            read(server, Integer.MAX_VALUE);
        } catch (IOException dead) {
            return;
        }
    }

    /** What it heard, and what it hears yet, is the answer. While nobody writes. */
    void check(ServerProcess server, Statement statement, String seed) throws SQLException, IOException {
        Set<Long> there = new TreeSet<>();
        try (ResultSet rows = statement.executeQuery("SELECT n FROM came")) {
            while (rows.next()) {
                there.add(rows.getLong(1));
            }
        }
        read(server, there.size());
        assertEquals(there, heard, "heard, " + seed);
    }

    /** Until so many rows were heard. */
    private void read(ServerProcess server, int enough) throws IOException {
        before = heard.size();
        if (heard.size() >= enough) {
            return;
        }
        HttpURLConnection connection =
                (HttpURLConnection) URI.create("http://localhost:" + server.httpPort() + "/api/v1/subscribe?to=heard")
                        .toURL()
                        .openConnection();
        connection.setRequestProperty("accept", "text/event-stream");
        connection.setReadTimeout(PATIENCE_MILLIS);
        if (!lastId.isEmpty()) {
            connection.setRequestProperty("Last-Event-ID", lastId);
        }
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
            String id = "";
            String data = "";
            for (String line = lines.readLine(); line != null && heard.size() < enough; line = lines.readLine()) {
                if (line.startsWith("id: ")) {
                    id = line.substring(4);
                } else if (line.startsWith("data: ")) {
                    data = line.substring(6);
                } else if (line.isEmpty() && !data.isEmpty()) {
                    take(JSON.readTree(data));
                    lastId = id;
                    data = "";
                }
            }
        } finally {
            connection.disconnect();
        }
    }

    private void take(JsonNode row) {
        assertEquals("+", row.path("op").asText(), row::toString);
        assertTrue(heard.add(row.path("n").asLong()), () -> "twice: " + row);
    }
}
