package dev.millrace.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.Millrace;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import dev.millrace.server.session.StatementResult;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.server.tls.TlsOptions;
import dev.millrace.testing.time.Eventually;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The second port with the JDK's client, and with sockets where that is too well-behaved. Long because all of its endpoints share
 * one server and one way to ask it.
 */
@Timeout(120)
class HttpServerTest {
    private static final String ARROW = "application/vnd.apache.arrow.stream";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private Database database;
    private HttpServer server;

    @BeforeEach
    void start() {
        database = Millrace.open();
        server = HttpServer.listen(database, HttpOptions.local(0));
    }

    @AfterEach
    void stop() {
        server.close();
        database.close();
    }

    private void restart(HttpOptions options) {
        server.close();
        server = HttpServer.listen(database, options);
    }

    private void run(String sql) {
        try (Session session = database.session()) {
            session.execute(sql).drain();
        }
    }

    private HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
                .timeout(Duration.ofSeconds(60));
        return headers.length == 0 ? request : request.headers(headers);
    }

    private HttpResponse<String> post(String path, String body, String... headers) throws Exception {
        return client.send(
                request(path, headers).POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path, String... headers) throws Exception {
        return client.send(request(path, headers).build(), BodyHandlers.ofString());
    }

    private static String sqlState(HttpResponse<String> response) throws IOException {
        return response.statusCode() + " "
                + MAPPER.readTree(response.body())
                        .path("error")
                        .path("sqlstate")
                        .asText();
    }

    @Test
    void queriesAreAnsweredInLinesOfJsonOrCsv() throws Exception {
        HttpResponse<String> rows = post(
                "/api/v1/query",
                "CREATE STREAM s (k TEXT, v BIGINT); INSERT INTO s VALUES ('a', 1);"
                        + "SELECT * FROM (VALUES (1, 'x', NULL), (2, 'y\"', 1.5)) AS t(n, w, d) ORDER BY n");
        assertEquals(200, rows.statusCode());
        assertEquals(
                "application/x-ndjson",
                rows.headers().firstValue("content-type").orElse(""));
        assertEquals("{\"n\":1,\"w\":\"x\",\"d\":null}\n{\"n\":2,\"w\":\"y\\\"\",\"d\":1.5}\n", rows.body());
        assertEquals(
                "n\n1\n2\n",
                post("/api/v1/query", "SELECT * FROM (VALUES (1), (2)) AS t(n) ORDER BY n", "accept", "text/csv")
                        .body());
        assertEquals(
                "{\"command\":\"INSERT 0 2\"}\n",
                post("/api/v1/query", "INSERT INTO s VALUES ('b', 1), ('c', 2)").body());
        assertEquals(
                "{\"n\":42,\"w\":\"x\"}\n",
                post(
                                "/api/v1/query",
                                "{\"sql\": \"SELECT $1::bigint + 1 AS n, $2::text AS w\", \"parameters\": [41, \"x\"]}",
                                "content-type",
                                "application/json")
                        .body());
    }

    /** The answer as lines of text, as Arrow's own reader takes it. */
    private List<String> arrowRows(String sql) throws Exception {
        HttpResponse<byte[]> response = client.send(
                request("/api/v1/query", "accept", ARROW)
                        .POST(BodyPublishers.ofString(sql))
                        .build(),
                BodyHandlers.ofByteArray());
        assertEquals(ARROW, response.headers().firstValue("content-type").orElse(""));
        List<String> rows = new ArrayList<>();
        try (RootAllocator allocator = new RootAllocator();
                ArrowStreamReader reader =
                        new ArrowStreamReader(new ByteArrayInputStream(response.body()), allocator)) {
            VectorSchemaRoot root = reader.getVectorSchemaRoot();
            rows.add(root.getSchema().getFields().stream()
                    .map(field -> field.getName() + " " + field.getType())
                    .collect(Collectors.joining(", ")));
            while (reader.loadNextBatch()) {
                for (int row = 0; row < root.getRowCount(); row++) {
                    int at = row;
                    rows.add(root.getFieldVectors().stream()
                            .map(vector -> "" + vector.getObject(at))
                            .collect(Collectors.joining(", ")));
                }
            }
        }
        return rows;
    }

    @Test
    void queriesAreAnsweredInArrowsStreamFormat() throws Exception {
        assertEquals(
                List.of(
                        "n Int(32, true), w Utf8, d Decimal(2, 1, 128), b Bool, t Timestamp(MICROSECOND, UTC)",
                        "1, x, null, true, 1000000",
                        "2, y\u00e9, 1.5, null, 2000001"),
                arrowRows(
                        "CREATE STREAM s (v INT); SELECT n, w, d::numeric(2,1) AS d, b, t::timestamptz AS t FROM (VALUES"
                                + " (1, 'x', NULL, true, '1970-01-01 00:00:01+00'),"
                                + " (2, 'y\u00e9', 1.5, NULL, '1970-01-01 00:00:02.000001+00')) AS v(n, w, d, b, t) ORDER BY n"));
        List<String> none = arrowRows("SELECT g FROM generate_series(1, 0) AS g");
        assertEquals(1, none.size(), "the columns are told also if there are no rows: " + none);
        List<String> many = arrowRows("SELECT g FROM generate_series(1, 300000) AS g");
        for (int row = 1; row <= 300_000; row++) {
            assertEquals("" + row, many.get(row));
        }
        assertEquals(300_001, many.size());
        assertEquals(
                "{\"command\":\"INSERT 0 1\"}\n",
                post("/api/v1/query", "INSERT INTO s VALUES (1)", "accept", ARROW)
                        .body());
        assertEquals("400 22012", sqlState(post("/api/v1/query", "SELECT 1 / 0", "accept", ARROW)));
        String failing = "SELECT 1 / (200000 - g) AS x FROM generate_series(1, 200000) AS g";
        try {
            assertEquals(
                    "400 22012", sqlState(post("/api/v1/query", failing, "accept", ARROW)), "nothing was sent yet");
        } catch (IOException e) {
            // rows were sent: what is cut off is not taken for whole
        }
        restart(HttpOptions.local(0).withLimits(1000, 10));
        assertEquals(11, arrowRows("SELECT * FROM generate_series(1, 10) AS g").size());
        assertEquals(
                "413 54000",
                sqlState(post("/api/v1/query", "SELECT * FROM generate_series(1, 11) AS g", "accept", ARROW)));
    }

    @Test
    void longAnswersAreStreamedAndBoundedOnlyIfAsked() throws Exception {
        String sql = "SELECT g FROM generate_series(1, 300000) AS g";
        assertEquals(300_000, post("/api/v1/query", sql).body().lines().count());
        restart(HttpOptions.local(0).withLimits(1000, 10));
        String ten = post("/api/v1/query", "SELECT * FROM generate_series(1, 10) AS g")
                .body();
        assertEquals(10, ten.lines().count(), ten);
        assertEquals("413 54000", sqlState(post("/api/v1/query", sql)));
        assertEquals(
                413, post("/api/v1/query", "SELECT '" + "x".repeat(2000) + "'").statusCode());
    }

    @Test
    void errorsHaveAStatusAndSayWhatAndWhere() throws Exception {
        HttpResponse<String> typo = post("/api/v1/query", "SELECT nope FROM (VALUES (1)) AS t(x)");
        JsonNode error = MAPPER.readTree(typo.body()).path("error");
        assertEquals(400, typo.statusCode());
        assertEquals("42703", error.path("sqlstate").asText());
        assertEquals("column \"nope\" does not exist", error.path("message").asText());
        assertEquals(8, error.path("position").asInt());
        assertEquals("404 42P01", sqlState(post("/api/v1/query", "SELECT * FROM nowhere")));
        assertEquals("400 42601", sqlState(post("/api/v1/query", "")));
        assertEquals("400 42809", sqlState(post("/api/v1/query", "CREATE STREAM s (v INT); SUBSCRIBE TO s")));
        assertEquals("501 0A000", sqlState(post("/api/v1/query", "COPY s FROM STDIN")));
        assertEquals("400 22032", sqlState(post("/api/v1/query", "{", "content-type", "application/json")));
        assertEquals("404 42704", sqlState(get("/api/v2/query")));
        assertEquals("405 08P01", sqlState(get("/api/v1/query")));
        String late = post("/api/v1/query", "SELECT 1 / (200000 - g) AS x FROM generate_series(1, 200000) AS g")
                .body();
        String last = late.substring(late.lastIndexOf('\n', late.length() - 2) + 1);
        assertEquals(
                "22012", MAPPER.readTree(last).path("error").path("sqlstate").asText(), last);
    }

    @Test
    void subscriptionsGiveChangesAsTheyComeAndEndWithTheirClient() throws Exception {
        run("CREATE STREAM s (k TEXT, v BIGINT); CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n FROM s;"
                + "INSERT INTO s VALUES ('a', 1)");
        HttpResponse<InputStream> response =
                client.send(request("/api/v1/subscribe?to=n&snapshot=true").build(), BodyHandlers.ofInputStream());
        BufferedReader lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        assertEquals(1, MAPPER.readTree(lines.readLine()).path("n").asInt());
        run("INSERT INTO s VALUES ('b', 1)");
        JsonNode one = MAPPER.readTree(lines.readLine());
        JsonNode other = MAPPER.readTree(lines.readLine());
        assertEquals(
                "+-",
                one.path("op").asText().equals("+")
                        ? one.path("op").asText() + other.path("op").asText()
                        : "+-");
        assertEquals(3, one.path("n").asInt() + other.path("n").asInt());
        assertEquals(1, database.sessionCount());
        lines.close();
        Eventually.holds("a subscription ends when its client is gone", () -> database.sessionCount() == 0);
        assertEquals("404 42P01", sqlState(get("/api/v1/subscribe?to=nowhere")));
    }

    @Test
    void serverSentEventsHaveIds() throws Exception {
        run("CREATE STREAM s (v BIGINT)");
        HttpResponse<InputStream> response = client.send(
                request("/api/v1/subscribe", "accept", "text/event-stream")
                        .POST(BodyPublishers.ofString("SUBSCRIBE TO s"))
                        .build(),
                BodyHandlers.ofInputStream());
        assertEquals(
                "text/event-stream",
                response.headers().firstValue("content-type").orElse(""));
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            run("INSERT INTO s VALUES (7)");
            assertTrue(lines.readLine().matches("id: \\d{16}"));
            String data = lines.readLine();
            assertTrue(data.startsWith("data: {\"op\":\"+\",\"epoch_time\":\"") && data.endsWith(",\"v\":7}"), data);
            assertEquals("", lines.readLine());
        }
    }

    /** Reads so many events: the last id that was given, as a browser keeps it, and the data. */
    private List<String[]> events(String path, int many, String... headers) throws Exception {
        HttpRequest.Builder request = request(path, "accept", "text/event-stream");
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        HttpResponse<InputStream> response = client.send(request.build(), BodyHandlers.ofInputStream());
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
    void whoComesAgainGoesOnBehindTheLastEventAlsoWithinAnEpoch() throws Exception {
        run("CREATE STREAM s (v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT v FROM s; INSERT INTO s VALUES (1), (2)");
        List<String[]> first = events("/api/v1/subscribe?to=t&snapshot=true", 2);
        assertEquals("", first.get(0)[0], "a snapshot cannot be gone on with in its middle");
        assertTrue(first.get(1)[0].matches("\\d{16}"), first.get(1)[0]);
        run("INSERT INTO s VALUES (3), (4), (5)");
        run("INSERT INTO s VALUES (6)");
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
            HttpResponse<InputStream> lines = client.send(
                    request("/api/v1/subscribe?to=t&as_of=" + URLEncoder.encode(asOf, StandardCharsets.UTF_8))
                            .build(),
                    BodyHandlers.ofInputStream());
            try (BufferedReader reader =
                    new BufferedReader(new InputStreamReader(lines.body(), StandardCharsets.UTF_8))) {
                assertEquals(6, MAPPER.readTree(reader.readLine()).path("v").asInt());
            }
        }
        assertEquals("410 72000", sqlState(get("/api/v1/subscribe?to=t&as_of=2020-01-01T00:00:00Z")));
        assertEquals("410 72000", sqlState(get("/api/v1/subscribe?to=t", "last-event-id", "1500000000000000-7")));
        assertEquals("400 22023", sqlState(get("/api/v1/subscribe?to=t&as_of=then")));
        assertEquals("501 0A000", sqlState(get("/api/v1/subscribe?to=s&as_of=" + epoch)));
        assertEquals("400 42601", sqlState(post("/api/v1/subscribe", "SELECT 1")));
    }

    @Test
    void progressIsToldToWhoAsksAndCanBeGoneOnBehind() throws Exception {
        run("CREATE STREAM s (v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT v FROM s");
        HttpResponse<InputStream> response = client.send(
                request("/api/v1/subscribe", "accept", "text/event-stream")
                        .POST(BodyPublishers.ofString("SUBSCRIBE TO t WITH (PROGRESS)"))
                        .build(),
                BodyHandlers.ofInputStream());
        String id = "";
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            run("INSERT INTO s VALUES (7)");
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
        run("INSERT INTO s VALUES (8)");
        assertEquals(List.of(8), values(events("/api/v1/subscribe?to=t", 1, "last-event-id", id)));
    }

    private static List<Integer> values(List<String[]> events) throws IOException {
        List<Integer> values = new ArrayList<>();
        for (String[] event : events) {
            values.add(MAPPER.readTree(event[1]).path("v").asInt());
        }
        return values;
    }

    @Test
    void rowsAreInsertedAndWhatIsNoneIsCountedWithItsReason() throws Exception {
        run(
                "CREATE STREAM s (k TEXT, v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT count(*) AS n, sum(v) AS v FROM s");
        JsonNode lines = MAPPER.readTree(post(
                        "/api/v1/streams/s/rows",
                        "{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\",\"v\":\"many\"}\nnot json\n{\"v\":3}\n")
                .body());
        assertEquals("2 2", lines.path("accepted") + " " + lines.path("rejected"), lines.toString());
        assertEquals(2, lines.path("reasons").get(0).path("line").asInt(), lines.toString());
        assertEquals("v", lines.path("reasons").get(0).path("column").asText(), lines.toString());
        assertEquals("22P02", lines.path("reasons").get(0).path("sqlstate").asText(), lines.toString());
        JsonNode csv = MAPPER.readTree(
                post("/api/v1/streams/s/rows?delimiter=%3B", "k;v\nc;10\nd;x\n", "content-type", "text/csv")
                        .body());
        assertEquals("1 1", csv.path("accepted") + " " + csv.path("rejected"), csv.toString());
        HttpResponse<String> arrow = client.send(
                request("/api/v1/streams/s/rows", "content-type", "application/vnd.apache.arrow.stream")
                        .POST(BodyPublishers.ofByteArray(arrow()))
                        .build(),
                BodyHandlers.ofString());
        assertEquals("{\"accepted\":2,\"rejected\":0,\"reasons\":[]}\n", arrow.body());
        assertEquals(
                "{\"n\":5,\"v\":314}\n",
                post("/api/v1/query", "SELECT n, v FROM t").body());
        assertEquals("404 42P01", sqlState(post("/api/v1/streams/nowhere/rows", "{}")));
        assertEquals("400 22023", sqlState(post("/api/v1/streams/s/rows", "", "content-type", "image/png")));
        assertEquals(
                4,
                sqlState(post("/api/v1/streams/s/rows?delimitr=x", "k,v\n", "content-type", "text/csv"))
                                .charAt(0)
                        - '0');
    }

    private static byte[] arrow() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RootAllocator allocator = new RootAllocator();
                BigIntVector values = new BigIntVector("v", allocator)) {
            values.allocateNew(2);
            values.set(0, 100);
            values.set(1, 200);
            values.setValueCount(2);
            try (VectorSchemaRoot root = VectorSchemaRoot.of(values);
                    ArrowStreamWriter writer = new ArrowStreamWriter(root, null, Channels.newChannel(out))) {
                writer.writeBatch();
            }
        }
        return out.toByteArray();
    }

    @Test
    void metricsAreThoseOfTheSystemRelations() throws Exception {
        run("CREATE STREAM s (k TEXT, v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT k, sum(v) AS v FROM s GROUP BY k;"
                + "INSERT INTO s VALUES ('a', 1), ('b', 2); SELECT * FROM t");
        get("/health");
        String metrics = get("/metrics").body();
        assertTrue(metrics.contains("millrace_query_rows_in_total{query=\"t\"} 2.0\n"), metrics);
        assertTrue(metrics.contains("millrace_query_view_rows{query=\"t\"} 2.0\n"), metrics);
        assertTrue(metrics.contains("# TYPE millrace_operator_cpu_seconds_total counter\n"), metrics);
        assertTrue(metrics.contains("millrace_statement_seconds_bucket{le=\"+Inf\"} "), metrics);
        assertTrue(metrics.contains("millrace_http_request_seconds_count{endpoint=\"/health\"} 1\n"), metrics);
        assertTrue(metrics.contains("jvm_memory_used_bytes"), metrics);
        for (String line : metrics.split("\n")) {
            assertTrue(line.matches("#.*|[a-z_0-9]+(\\{.*})? [-+.0-9EINaf]+"), line);
        }
    }

    @Test
    void metricsTellHowLongEpochsTakeAndHowFarSubscribersAreBehind() throws Exception {
        run("CREATE STREAM s (v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT v FROM s");
        long start = System.nanoTime();
        long before = Math.round(metric("millrace_query_latency_seconds_count{query=\"t\"}"));
        for (int i = 0; i < 5; i++) {
            run("INSERT INTO s VALUES (1); SELECT * FROM t");
        }
        double epochs = metric("millrace_query_latency_seconds_count{query=\"t\"}") - before;
        assertTrue(epochs >= 5 && epochs < 10, "an epoch may be cut in two, but none is counted twice: " + epochs);
        double seconds = metric("millrace_query_latency_seconds_sum{query=\"t\"}");
        assertTrue(seconds > 0 && seconds < (System.nanoTime() - start) / 1e9, "" + seconds);
        assertEquals(
                metric("millrace_query_latency_seconds_count{query=\"t\"}"),
                metric("millrace_query_latency_seconds_bucket{query=\"t\",le=\"+Inf\"}"));
        try (Session session = database.session();
                StatementResult.Changes changes = session.subscribe("SUBSCRIBE TO t", OptionalLong.empty())) {
            assertEquals(1, metric("millrace_query_subscribers{query=\"t\"}"));
            assertEquals(0, metric("millrace_query_subscriber_queue_rows{query=\"t\"}"));
            assertEquals(0, metric("millrace_query_subscriber_lag_seconds{query=\"t\"}"));
            run("INSERT INTO s VALUES (2), (3); SELECT * FROM t");
            run("INSERT INTO s VALUES (4); SELECT * FROM t");
            assertEquals(3, metric("millrace_query_subscriber_queue_rows{query=\"t\"}"));
            double bytes = metric("millrace_query_subscriber_queue_bytes{query=\"t\"}");
            assertTrue(bytes >= 24, "" + bytes);
            assertEquals(bytes, metric("millrace_query_subscriber_queue_max_bytes{query=\"t\"}"));
            double lag = metric("millrace_query_subscriber_lag_seconds{query=\"t\"}");
            assertTrue(lag > 0 && lag < 60, "" + lag);
            changes.next(60_000_000).orElseThrow().close();
            assertEquals(1, metric("millrace_query_subscriber_queue_rows{query=\"t\"}"));
        }
        assertEquals(0, metric("millrace_query_subscribers{query=\"t\"}"));
    }

    private double metric(String series) throws Exception {
        String metrics = get("/metrics").body();
        return metrics.lines()
                .filter(line -> line.startsWith(series + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError(series + " in " + metrics));
    }

    @Test
    void healthIsAnsweredUntilTheServerStops() throws Exception {
        assertEquals("{\"live\":true,\"ready\":true}\n", get("/health").body());
        assertEquals(200, get("/health/live").statusCode());
        assertEquals(200, get("/health/ready").statusCode());
        String description = get("/openapi.yaml").body();
        for (String path : List.of(
                "/api/v1/query",
                "/api/v1/subscribe",
                "/api/v1/streams/{name}/rows",
                "/metrics",
                "/health",
                "/health/live",
                "/health/ready",
                "/openapi.yaml")) {
            assertTrue(description.contains("\n  " + path + ":\n"), path);
        }
        // a connection that was open when the stop began is told
        try (Socket socket = new Socket("localhost", server.port())) {
            socket.getOutputStream()
                    .write("GET /health HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String ready = "\"ready\":true}\n";
            StringBuilder before = new StringBuilder();
            while (before.indexOf(ready) < 0) {
                before.append((char) socket.getInputStream().read());
            }
            server.stop(Duration.ofMillis(100));
            socket.getOutputStream().write("GET /health HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(answer.startsWith("HTTP/1.1 503 ") && answer.contains("\"ready\":false"), answer);
        }
        assertThrows(IOException.class, () -> new Socket("localhost", server.port()).close());
    }

    private static String basic(String role, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((role + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void rolesPasswordsAndPrivilegesAreThoseOfTheDatabase() throws Exception {
        run("CREATE STREAM s (v BIGINT); CREATE ROLE ann LOGIN PASSWORD 'pw'; CREATE ROLE bob PASSWORD 'pw'");
        restart(HttpOptions.local(0).withAuthentication(new Authentication.Scram(database::secretOf)));
        HttpResponse<String> nobody = post("/api/v1/query", "SELECT 1 AS n");
        assertEquals("401 28000", sqlState(nobody));
        assertTrue(nobody.headers().firstValue("www-authenticate").orElse("").startsWith("Basic "));
        assertEquals("401 28P01", sqlState(post("/api/v1/query", "SELECT 1", "authorization", basic("ann", "no"))));
        assertEquals("401 28P01", sqlState(post("/api/v1/query", "SELECT 1", "authorization", basic("eve", "pw"))));
        assertEquals("401 28000", sqlState(post("/api/v1/query", "SELECT 1", "authorization", basic("bob", "pw"))));
        String ann = basic("ann", "pw");
        assertEquals(
                "{\"who\":\"ann\"}\n",
                post("/api/v1/query", "SELECT current_user AS who", "authorization", ann)
                        .body());
        assertEquals("403 42501", sqlState(post("/api/v1/query", "DROP STREAM s", "authorization", ann)));
        assertEquals("403 42501", sqlState(post("/api/v1/streams/s/rows", "{\"v\":1}", "authorization", ann)));
        assertEquals("401 28000", sqlState(get("/metrics")));
        assertEquals(200, get("/metrics", "authorization", ann).statusCode());
        assertEquals(200, get("/health").statusCode());
    }

    @Test
    void pagesOfOthersMayNotSendStatements() throws Exception {
        String page = "https://evil.example.org";
        assertEquals("403 42501", sqlState(post("/api/v1/query", "SELECT 1 AS n", "origin", page)));
        assertEquals(
                200,
                post("/api/v1/query", "SELECT 1 AS n", "origin", "http://localhost:" + server.port())
                        .statusCode());
        try (Socket socket = new Socket("localhost", server.port())) {
            socket.getOutputStream()
                    .write("GET /metrics HTTP/1.1\r\nHost: rebound.example.org\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            assertTrue(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .startsWith("HTTP/1.1 403 "));
        }
        restart(HttpOptions.local(0).withCorsOrigin(page));
        HttpResponse<String> allowed = post("/api/v1/query", "SELECT 1 AS n", "origin", page);
        assertEquals(
                page,
                allowed.headers().firstValue("access-control-allow-origin").orElse(""));
        assertEquals("{\"n\":1}\n", allowed.body());
        assertEquals("403 42501", sqlState(post("/api/v1/query", "SELECT 1", "origin", "https://other.example.org")));
        assertFalse(get("/health")
                .headers()
                .firstValue("access-control-allow-origin")
                .isPresent());
    }

    @Test
    void onePortAnswersInTheClearAndEncryptedOrEncryptedOnly() throws Exception {
        for (TlsMode mode : List.of(TlsMode.ALLOW, TlsMode.REQUIRE)) {
            Tls tls = Tls.open(TlsOptions.own(mode), List.of("localhost"));
            restart(HttpOptions.local(0).withTls(tls));
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            trusted.setCertificateEntry("server", tls.certificate());
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            HttpClient encrypted = HttpClient.newBuilder().sslContext(context).build();
            HttpRequest query = HttpRequest.newBuilder(
                            URI.create("https://localhost:" + server.port() + "/api/v1/query"))
                    .POST(BodyPublishers.ofString("SELECT g FROM generate_series(1, 50000) AS g"))
                    .build();
            assertEquals(
                    50_000,
                    encrypted
                            .send(query, BodyHandlers.ofString())
                            .body()
                            .lines()
                            .count());
            if (mode == TlsMode.ALLOW) {
                assertEquals(200, get("/health").statusCode());
            } else {
                assertThrows(IOException.class, () -> get("/health"));
            }
        }
    }

    @Test
    void requestsOfOneConnectionAreAnsweredInTheirOrder() throws Exception {
        try (Socket socket = new Socket("localhost", server.port())) {
            StringBuilder requests = new StringBuilder();
            for (int i = 0; i < 20; i++) {
                String sql = "SELECT " + i + " AS n";
                requests.append("POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + sql.length()
                        + (i == 19 ? "\r\nConnection: close" : "") + "\r\n\r\n" + sql);
            }
            socket.getOutputStream().write(requests.toString().getBytes(StandardCharsets.US_ASCII));
            String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            int at = -1;
            for (int i = 0; i < 20; i++) {
                int found = answers.indexOf("{\"n\":" + i + "}");
                assertTrue(found > at, answers);
                at = found;
            }
        }
    }

    @Test
    void aClientThatDoesNotReadDelaysNobodyElse() throws Exception {
        try (Socket deaf = new Socket("localhost", server.port())) {
            String sql = "SELECT g, repeat('x', 100) FROM generate_series(1, 2000000) AS g";
            deaf.getOutputStream()
                    .write(("POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + sql.length()
                                    + "\r\n\r\n" + sql)
                            .getBytes(StandardCharsets.US_ASCII));
            Eventually.holds("it is being answered", () -> database.sessionCount() > 0);
            assertEquals("{\"n\":1}\n", post("/api/v1/query", "SELECT 1 AS n").body());
        }
        Eventually.holds("its session ends with it", () -> database.sessionCount() == 0);
    }
}
