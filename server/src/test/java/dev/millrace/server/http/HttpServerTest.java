package dev.millrace.server.http;

import static dev.millrace.server.http.TestHttp.sqlState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.server.tls.TlsOptions;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The second port with the JDK's client, and with sockets where that is too well-behaved: who may come in, how long, how. */
@Timeout(120)
class HttpServerTest {
    private final TestHttp http = new TestHttp();

    @AfterEach
    void stop() {
        http.close();
    }

    @Test
    void healthIsToldWhileTheServerStarts() throws Exception {
        java.util.concurrent.atomic.AtomicInteger done = new java.util.concurrent.atomic.AtomicInteger();
        try (HttpServer starting = HttpServer.starting(
                HttpOptions.local(0), () -> "{\"definitions\":" + done.incrementAndGet() + ",\"of\":10}")) {
            URI at = URI.create("http://localhost:" + starting.port());
            HttpClient client = HttpClient.newHttpClient();
            HttpResponse<String> health =
                    client.send(HttpRequest.newBuilder(at.resolve("/health")).build(), BodyHandlers.ofString());
            assertEquals(503, health.statusCode());
            assertEquals("{\"live\":true,\"ready\":false,\"starting\":{\"definitions\":1,\"of\":10}}\n", health.body());
            assertEquals(
                    200,
                    client.send(
                                    HttpRequest.newBuilder(at.resolve("/health/live"))
                                            .build(),
                                    BodyHandlers.ofString())
                            .statusCode());
            assertEquals(
                    "503 57P03",
                    sqlState(client.send(
                            HttpRequest.newBuilder(at.resolve("/metrics")).build(), BodyHandlers.ofString())));
            starting.serve(http.database(), new Authentication.Trust());
            assertEquals(
                    "{\"live\":true,\"ready\":true}\n",
                    client.send(HttpRequest.newBuilder(at.resolve("/health")).build(), BodyHandlers.ofString())
                            .body());
        }
    }

    @Test
    void healthIsAnsweredUntilTheServerStops() throws Exception {
        assertEquals("{\"live\":true,\"ready\":true}\n", http.get("/health").body());
        assertEquals(200, http.get("/health/live").statusCode());
        assertEquals(200, http.get("/health/ready").statusCode());
        String description = http.get("/openapi.yaml").body();
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
        try (Socket socket = new Socket("localhost", http.port())) {
            socket.getOutputStream()
                    .write("GET /health HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String ready = "\"ready\":true}\n";
            StringBuilder before = new StringBuilder();
            while (before.indexOf(ready) < 0) {
                before.append((char) socket.getInputStream().read());
            }
            http.server().stop(Duration.ofMillis(100));
            socket.getOutputStream().write("GET /health HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(answer.startsWith("HTTP/1.1 503 ") && answer.contains("\"ready\":false"), answer);
        }
        assertThrows(IOException.class, () -> new Socket("localhost", http.port()).close());
    }

    private static String basic(String role, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((role + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void rolesPasswordsAndPrivilegesAreThoseOfTheDatabase() throws Exception {
        http.run("CREATE STREAM s (v BIGINT); CREATE ROLE ann LOGIN PASSWORD 'pw'; CREATE ROLE bob PASSWORD 'pw'");
        http.restart(HttpOptions.local(0).withAuthentication(new Authentication.Scram(http.database()::secretOf)));
        HttpResponse<String> nobody = http.post("/api/v1/query", "SELECT 1 AS n");
        assertEquals("401 28000", sqlState(nobody));
        assertTrue(nobody.headers().firstValue("www-authenticate").orElse("").startsWith("Basic "));
        assertEquals(
                "401 28P01", sqlState(http.post("/api/v1/query", "SELECT 1", "authorization", basic("ann", "no"))));
        assertEquals(
                "401 28P01", sqlState(http.post("/api/v1/query", "SELECT 1", "authorization", basic("eve", "pw"))));
        assertEquals(
                "401 28000", sqlState(http.post("/api/v1/query", "SELECT 1", "authorization", basic("bob", "pw"))));
        String ann = basic("ann", "pw");
        assertEquals(
                "{\"who\":\"ann\"}\n",
                http.post("/api/v1/query", "SELECT current_user AS who", "authorization", ann)
                        .body());
        assertEquals("403 42501", sqlState(http.post("/api/v1/query", "DROP STREAM s", "authorization", ann)));
        assertEquals("403 42501", sqlState(http.post("/api/v1/streams/s/rows", "{\"v\":1}", "authorization", ann)));
        assertEquals("401 28000", sqlState(http.get("/metrics")));
        assertEquals(200, http.get("/metrics", "authorization", ann).statusCode());
        assertEquals(200, http.get("/health").statusCode());
    }

    @Test
    void pagesOfOthersMayNotSendStatements() throws Exception {
        String page = "https://evil.example.org";
        assertEquals("403 42501", sqlState(http.post("/api/v1/query", "SELECT 1 AS n", "origin", page)));
        assertEquals(
                200,
                http.post("/api/v1/query", "SELECT 1 AS n", "origin", "http://localhost:" + http.port())
                        .statusCode());
        try (Socket socket = new Socket("localhost", http.port())) {
            socket.getOutputStream()
                    .write("GET /metrics HTTP/1.1\r\nHost: rebound.example.org\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            assertTrue(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .startsWith("HTTP/1.1 403 "));
        }
        http.restart(HttpOptions.local(0).withCorsOrigin(page));
        HttpResponse<String> allowed = http.post("/api/v1/query", "SELECT 1 AS n", "origin", page);
        assertEquals(
                page,
                allowed.headers().firstValue("access-control-allow-origin").orElse(""));
        assertEquals("{\"n\":1}\n", allowed.body());
        assertEquals(
                "403 42501", sqlState(http.post("/api/v1/query", "SELECT 1", "origin", "https://other.example.org")));
        assertFalse(http.get("/health")
                .headers()
                .firstValue("access-control-allow-origin")
                .isPresent());
    }

    @Test
    void onePortAnswersInTheClearAndEncryptedOrEncryptedOnly() throws Exception {
        for (TlsMode mode : List.of(TlsMode.ALLOW, TlsMode.REQUIRE)) {
            Tls tls = Tls.open(TlsOptions.own(mode), List.of("localhost"));
            http.restart(HttpOptions.local(0).withTls(tls));
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            trusted.setCertificateEntry("server", tls.certificate());
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            HttpClient encrypted = HttpClient.newBuilder().sslContext(context).build();
            HttpRequest query = HttpRequest.newBuilder(URI.create("https://localhost:" + http.port() + "/api/v1/query"))
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
                assertEquals(200, http.get("/health").statusCode());
            } else {
                assertThrows(IOException.class, () -> http.get("/health"));
            }
        }
    }

    @Test
    void requestsOfOneConnectionAreAnsweredInTheirOrder() throws Exception {
        try (Socket socket = new Socket("localhost", http.port())) {
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
        try (Socket deaf = new Socket("localhost", http.port())) {
            String sql = "SELECT g, repeat('x', 100) FROM generate_series(1, 2000000) AS g";
            deaf.getOutputStream()
                    .write(("POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + sql.length()
                                    + "\r\n\r\n" + sql)
                            .getBytes(StandardCharsets.US_ASCII));
            Eventually.holds("it is being answered", () -> http.database().sessionCount() > 0);
            assertEquals(
                    "{\"n\":1}\n", http.post("/api/v1/query", "SELECT 1 AS n").body());
        }
        Eventually.holds("its session ends with it", () -> http.database().sessionCount() == 0);
    }
}
