package dev.millrace.server.http;

import static dev.millrace.server.http.TestHttp.MAPPER;
import static dev.millrace.server.http.TestHttp.sqlState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.time.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Subscriptions over HTTP: as lines, as events, and going on where a client was. */
@Timeout(120)
class HttpSubscribeTest {
    private final TestHttp http = new TestHttp();

    @AfterEach
    void stop() {
        http.close();
    }

    @Test
    void subscriptionsGiveChangesAsTheyComeAndEndWithTheirClient() throws Exception {
        http.run("CREATE STREAM s (k TEXT, v BIGINT); CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM s;"
                + "INSERT INTO s VALUES ('a', 1)");
        HttpResponse<InputStream> response =
                http.send(http.request("/api/v1/subscribe?to=n&snapshot=true").build(), BodyHandlers.ofInputStream());
        BufferedReader lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        assertEquals(1, MAPPER.readTree(lines.readLine()).path("n").asInt());
        http.run("INSERT INTO s VALUES ('b', 1)");
        JsonNode one = MAPPER.readTree(lines.readLine());
        JsonNode other = MAPPER.readTree(lines.readLine());
        assertEquals(
                "+-",
                one.path("op").asText().equals("+")
                        ? one.path("op").asText() + other.path("op").asText()
                        : "+-");
        assertEquals(3, one.path("n").asInt() + other.path("n").asInt());
        assertEquals(1, http.database().sessionCount());
        lines.close();
        Eventually.holds(
                "a subscription ends when its client is gone",
                () -> http.database().sessionCount() == 0);
        assertEquals("404 42P01", sqlState(http.get("/api/v1/subscribe?to=nowhere")));
    }

    @Test
    void serverSentEventsHaveIds() throws Exception {
        http.run("CREATE STREAM s (v BIGINT)");
        HttpResponse<InputStream> response = http.send(
                http.request("/api/v1/subscribe", "accept", "text/event-stream")
                        .POST(BodyPublishers.ofString("SUBSCRIBE TO s"))
                        .build(),
                BodyHandlers.ofInputStream());
        assertEquals(
                "text/event-stream",
                response.headers().firstValue("content-type").orElse(""));
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            http.run("INSERT INTO s VALUES (7)");
            assertTrue(lines.readLine().matches("id: \\d{16}"));
            String data = lines.readLine();
            assertTrue(data.startsWith("data: {\"op\":\"+\",\"epoch_time\":\"") && data.endsWith(",\"v\":7}"), data);
            assertEquals("", lines.readLine());
        }
    }

    /** Reads so many events: the last id that was given, as a browser keeps it, and the data. */
    private List<String[]> events(String path, int many, String... headers) throws Exception {
        return events(http, path, many, headers);
    }

    private static List<String[]> events(TestHttp http, String path, int many, String... headers) throws Exception {
        HttpRequest.Builder request = http.request(path, "accept", "text/event-stream");
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        HttpResponse<InputStream> response = http.send(request.build(), BodyHandlers.ofInputStream());
        assertEquals(200, response.statusCode());
        List<String[]> events = new ArrayList<>();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            String id = "";
            while (events.size() < many) {
                String line = lines.readLine();
                if (line.startsWith("id: ")) {
                    id = line.substring(4);
                } else if (line.startsWith("data: ")) {
                    events.add(new String[] {id, line.substring(6)});
                }
            }
        }
        return events;
    }

    @Test
    void whoComesAgainGoesOnBehindTheLastEventAlsoInAnotherProcess(@TempDir Path folder) throws Exception {
        String path = "/api/v1/subscribe?to=";
        String seen;
        try (TestHttp first = new TestHttp(folder.resolve("data"))) {
            first.run("CREATE TABLE t (v BIGINT); CREATE MATERIALIZED VIEW w AS SELECT v FROM t;"
                    + " CREATE SUBSCRIPTION s FROM w; INSERT INTO t VALUES (1), (2), (3)");
            List<String[]> events = events(first, path + "s", 3);
            seen = events.get(0)[0];
            assertTrue(seen.endsWith("-1"), seen);
            assertEquals(List.of(1, 2, 3), values(events));
        }
        try (TestHttp second = new TestHttp(folder.resolve("data"))) {
            second.run("INSERT INTO t VALUES (4)");
            List<String[]> rest = events(second, path + "s", 3, "last-event-id", seen);
            assertEquals(List.of(2, 3, 4), values(rest));
            assertEquals(List.of(2, 3, 4), values(events(second, path + "w", 3, "last-event-id", seen)));
            second.run("INSERT INTO t VALUES (5)");
            assertEquals(List.of(5), values(events(second, path + "s", 1, "last-event-id", rest.get(2)[0])));
            assertEquals(List.of(5), values(events(second, path + "s", 1)), "what came before is acknowledged");
        }
    }

    @Test
    void whoComesAgainGoesOnBehindTheLastEventAlsoWithinAnEpoch() throws Exception {
        http.run(
                "CREATE STREAM s (v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT v FROM s; INSERT INTO s VALUES (1), (2)");
        List<String[]> first = events("/api/v1/subscribe?to=t&snapshot=true", 2);
        assertEquals("", first.get(0)[0], "a snapshot cannot be gone on with in its middle");
        assertTrue(first.get(1)[0].matches("\\d{16}"), first.get(1)[0]);
        http.run("INSERT INTO s VALUES (3), (4), (5)");
        http.run("INSERT INTO s VALUES (6)");
        String again = "/api/v1/subscribe?to=t&snapshot=true"; // as EventSource asks again
        List<String[]> all = events(again, 4, "last-event-id", first.get(1)[0]);
        assertEquals(List.of(3, 4, 5, 6), values(all), "once and in order");
        String epoch = all.get(2)[0];
        assertEquals(
                List.of(epoch + "-1", epoch + "-2", epoch),
                all.subList(0, 3).stream().map(event -> event[0]).toList());
        for (int seen = 0; seen < 3; seen++) {
            assertEquals(
                    List.of(3, 4, 5, 6).subList(seen + 1, 4),
                    values(events(again, 3 - seen, "last-event-id", all.get(seen)[0])));
        }
        String time = MAPPER.readTree(all.get(1)[1]).path("epoch_time").asText();
        for (String asOf : List.of(epoch, time)) {
            HttpResponse<InputStream> lines = http.send(
                    http.request("/api/v1/subscribe?to=t&as_of=" + URLEncoder.encode(asOf, StandardCharsets.UTF_8))
                            .build(),
                    BodyHandlers.ofInputStream());
            try (BufferedReader reader =
                    new BufferedReader(new InputStreamReader(lines.body(), StandardCharsets.UTF_8))) {
                assertEquals(6, MAPPER.readTree(reader.readLine()).path("v").asInt());
            }
        }
        assertEquals("410 72000", sqlState(http.get("/api/v1/subscribe?to=t&as_of=2020-01-01T00:00:00Z")));
        assertEquals("410 72000", sqlState(http.get("/api/v1/subscribe?to=t", "last-event-id", "1500000000000000-7")));
        assertEquals("400 22023", sqlState(http.get("/api/v1/subscribe?to=t&as_of=then")));
        assertEquals("501 0A000", sqlState(http.get("/api/v1/subscribe?to=s&as_of=" + epoch)));
        assertEquals("400 42601", sqlState(http.post("/api/v1/subscribe", "SELECT 1")));
    }

    @Test
    void progressIsToldToWhoAsksAndCanBeGoneOnBehind() throws Exception {
        http.run("CREATE STREAM s (v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT v FROM s");
        HttpResponse<InputStream> response = http.send(
                http.request("/api/v1/subscribe", "accept", "text/event-stream")
                        .POST(BodyPublishers.ofString("SUBSCRIBE TO t WITH (PROGRESS)"))
                        .build(),
                BodyHandlers.ofInputStream());
        String id = "";
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            http.run("INSERT INTO s VALUES (7)");
            String line = lines.readLine();
            while (!line.contains("\"op\":\"+\"")) {
                id = line;
                line = lines.readLine();
            }
            assertTrue(id.matches("id: \\d{16}-1"), "the epoch is not over: " + id);
            assertTrue(line.endsWith("\"v\":7}"), line);
            lines.readLine();
            String over = lines.readLine();
            assertEquals(id.substring(0, id.length() - 2), over);
            line = lines.readLine();
            assertTrue(line.contains("\"op\":\"=\"") && line.endsWith("\"v\":null}"), line);
            id = over.substring(4);
        }
        http.run("INSERT INTO s VALUES (8)");
        assertEquals(List.of(8), values(events("/api/v1/subscribe?to=t", 1, "last-event-id", id)));
    }

    private static List<Integer> values(List<String[]> events) throws IOException {
        List<Integer> values = new ArrayList<>();
        for (String[] event : events) {
            values.add(MAPPER.readTree(event[1]).path("v").asInt());
        }
        return values;
    }
}
