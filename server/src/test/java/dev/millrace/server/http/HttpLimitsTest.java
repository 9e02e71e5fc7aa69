package dev.millrace.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.config.HttpLimits;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that hold connections and send next to nothing: they hold nobody else up, and lose what they hold. */
@Timeout(120)
class HttpLimitsTest {
    private static final Duration EVER = Duration.ZERO;

    private final TestHttp http = new TestHttp();
    private final List<Socket> sockets = new ArrayList<>();

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        http.close();
    }

    private void restart(int connections, HttpLimits limits) {
        http.restart(HttpOptions.local(0).withLimits(connections, limits));
    }

    private Socket open(String text) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.port());
        sockets.add(socket);
        socket.setSoTimeout(60_000);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String post(String body, int length) {
        return "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length + "\r\n\r\n" + body;
    }

    private static String read(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void healthIsToldWhileOthersHoldAllPlacesWithHalfSentRequests() throws Exception {
        restart(1000, new HttpLimits(EVER, EVER, EVER, 1000));
        for (int i = 0; i < 1100; i++) {
            open(i % 2 == 0 ? "GET /health HTTP/1.1\r\nHost: loc" : post("{\"query\": \"SEL", 100));
        }
        for (int i = 0; i < 100; i++) {
            assertEquals(200, http.get("/health").statusCode());
        }
        HttpResponse<String> other = http.get("/metrics");
        assertEquals("503 53300", TestHttp.sqlState(other));
        for (Socket socket : sockets.subList(0, 1000)) {
            socket.close();
        }
        Eventually.holds("a place is free", () -> http.get("/metrics").statusCode() == 200);
    }

    @Test
    void oneAddressHoldsNoMoreThanItsShare() throws Exception {
        restart(1000, new HttpLimits(EVER, EVER, EVER, 3));
        for (int i = 0; i < 3; i++) {
            open("GET / HTTP/1.1\r\n");
        }
        String answer = read(open("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        assertTrue(answer.startsWith("HTTP/1.1 503 ") && answer.contains("connection: close"), answer);
        sockets.get(0).close();
        Eventually.holds("a place is free", () -> http.get("/metrics").statusCode() == 200);
    }

    @Test
    void headersThatDoNotEndAreNotWaitedFor() throws Exception {
        restart(1000, new HttpLimits(Duration.ofMillis(200), EVER, EVER, 1000));
        assertEquals("", read(open("GET /health HTTP/1.1\r\nX-Slow: ")));
        assertEquals("", read(open("")));
    }

    @Test
    void aBodyThatDoesNotComeIsNotWaitedFor() throws Exception {
        restart(1000, new HttpLimits(EVER, Duration.ofMillis(200), EVER, 1000));
        String answer = read(open(post("{", 100)));
        assertTrue(answer.startsWith("HTTP/1.1 408 "), answer);
        String chunked = read(
                open("POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"));
        assertTrue(chunked.startsWith("HTTP/1.1 408 "), chunked);
    }

    @Test
    void aConnectionWithoutRequestsEndsAndOneThatAsksGoesOn() throws Exception {
        restart(1000, new HttpLimits(Duration.ofMillis(500), EVER, Duration.ofMillis(1500), 1000));
        String request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
        Socket socket = open(request + request);
        String answers = read(socket); // until the server closes
        assertEquals(2, answers.split("HTTP/1.1 200 OK", -1).length - 1, answers);
    }

    @Test
    void anAnswerThatTakesLongIsNotTakenForAnIdleConnection() throws Exception {
        restart(1000, new HttpLimits(Duration.ofMillis(100), Duration.ofMillis(100), Duration.ofMillis(100), 1000));
        http.run("CREATE STREAM s (v BIGINT)");
        Socket socket = open("GET /api/v1/subscribe?to=s HTTP/1.1\r\nHost: localhost\r\n\r\n");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 10; i++) {
            Thread.onSpinWait();
            http.run("SELECT count(*) FROM generate_series(1, 300000)");
        }
        http.run("INSERT INTO s VALUES (4711)");
        while (text.indexOf("4711") < 0) {
            int c = socket.getInputStream().read();
            assertTrue(c >= 0, "ended with " + text);
            text.append((char) c);
        }
    }

    @Test
    void bodiesOfAllClientsTogetherAreBounded() throws Exception {
        http.restart(HttpOptions.local(0)
                .withLimits(1000, new HttpLimits(EVER, EVER, EVER, 1000))
                .withLimits(1 << 20, 0));
        String half = "x".repeat(700_000);
        Set<Socket> cutOff = new HashSet<>();
        for (int i = 0; i < 14; i++) {
            try {
                open(post(half, 1 << 20));
            } catch (SocketException e) { // refused before it had sent all
                cutOff.add(sockets.get(sockets.size() - 1));
            }
        }
        Eventually.holds("what is too much is refused", () -> {
            int refused = 0;
            for (Socket socket : sockets) {
                refused += cutOff.contains(socket) || socket.getInputStream().available() > 0 ? 1 : 0;
            }
            return refused >= 3; // eleven are eight megabytes
        });
        for (Socket socket : List.copyOf(sockets)) {
            socket.close();
        }
        Eventually.holds(
                "requests are taken again",
                () -> http.post("/api/v1/query", "SELECT 1").statusCode() == 200);
    }

    @Test
    void whoDoesNotReadAnAnswerLosesTheConnection() throws Exception {
        restart(1000, new HttpLimits(EVER, EVER, Duration.ofMillis(300), 1000));
        String query = "SELECT repeat('x', 1000) FROM generate_series(1, 100000000) AS g(i)";
        open(post(query, query.length()));
        Eventually.holds(
                "the request ends",
                () -> http.get("/metrics")
                        .body()
                        .contains("millrace_http_request_seconds_count{endpoint=\"/api/v1/query\"} 1"));
    }

    @Test
    void aStatementWhoseClientDoesNotReadEndsWithItsTimeout() throws Exception {
        restart(1000, new HttpLimits(EVER, EVER, EVER, 1000));
        String sql =
                "SET statement_timeout = '1s'; SELECT n, repeat('x', 1000) FROM generate_series(1, 100000000) AS t(n)";
        open(post(sql, sql.length()));
        Eventually.holds("it is under way", () -> http.database().sessionCount() == 1);
        Eventually.holds("it has ended", () -> http.database().sessionCount() == 0);
    }
}
