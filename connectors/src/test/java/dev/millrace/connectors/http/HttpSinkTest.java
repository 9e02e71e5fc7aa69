package dev.millrace.connectors.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connectors.Connectors;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows that are POSTed to a server, which answers as it is told: one status for each request, and 200 when there are no more. */
@Timeout(60)
class HttpSinkTest {
    private static final Schema SCHEMA = Schema.of(new Field("id", DataType.BIGINT, false));
    private static final String SECRET = "Bearer 42";

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final List<Posted> posted = Collections.synchronizedList(new ArrayList<>());
    private final Queue<Integer> statuses = new ConcurrentLinkedQueue<>();
    private HttpServer server;

    private record Posted(Headers headers, String body) {
        String key() {
            return headers.getFirst("Idempotency-Key");
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/rows", exchange -> {
            take(exchange);
            int status = statuses.isEmpty() ? 200 : statuses.remove();
            if (status == 429) {
                exchange.getResponseHeaders().set("Retry-After", "1");
            }
            byte[] answer = "so it\n is".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.createContext("/endless", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream answer = exchange.getResponseBody()) {
                while (true) { // until nobody is there any more
                    answer.write(new byte[8192]);
                }
            }
        });
        server.createContext("/stalls", exchange -> {
            take(exchange);
            if (posted.size() > 2) {
                exchange.sendResponseHeaders(200, -1);
                exchange.close();
                return;
            }
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write('1');
            exchange.getResponseBody().flush(); // and it is never closed
        });
        server.start();
    }

    private void take(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        posted.add(new Posted(exchange.getRequestHeaders(), body));
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private String url() {
        return "http://localhost:" + server.getAddress().getPort() + "/rows";
    }

    private Sink open(String... more) {
        Map<String, String> options = new HashMap<>(Map.of("url", url()));
        for (int i = 0; i < more.length; i += 2) {
            options.put(more[i], more[i + 1]);
        }
        return new HttpSinkFactory(Connectors.formats())
                .open(
                        SCHEMA,
                        true,
                        new Options(options, text -> text.replace("${secret:token}", SECRET)),
                        new TestSinkContext(memory.allocator()));
    }

    private void write(Sink sink, long from, long to) {
        List<Row> rows = new ArrayList<>();
        for (long id = from; id < to; id++) {
            rows.add(Row.of(id));
        }
        try (Batch batch = TestBatches.of(SCHEMA, memory.allocator(), rows)) {
            sink.write(batch);
        }
    }

    private List<String> bodies() {
        return posted.stream().map(Posted::body).toList();
    }

    @Test
    void anEpochIsRequestsOfAtMostSoManyRowsWithTheirHeaders() {
        try (Sink sink =
                open("max_batch_rows", "2", "header.authorization", "${secret:token}", "header.x-plant", "north")) {
            write(sink, 0, 5);
            sink.commit(1);
            sink.commit(2); // of no rows
            assertEquals(5, sink.status().orElseThrow().records());
        }
        assertEquals(List.of("{\"id\":0}\n{\"id\":1}\n", "{\"id\":2}\n{\"id\":3}\n", "{\"id\":4}\n"), bodies());
        assertEquals(3, new HashSet<>(posted.stream().map(Posted::key).toList()).size());
        for (Posted each : posted) {
            assertEquals(SECRET, each.headers().getFirst("Authorization"));
            assertEquals("north", each.headers().getFirst("X-Plant"));
            assertEquals("application/x-ndjson", each.headers().getFirst("Content-Type"));
        }
    }

    @Test
    void whatPassesIsTriedAgainWithTheSameKeyWhenTheServerWishes() {
        statuses.addAll(List.of(503, 429));
        long since = System.nanoTime();
        try (Sink sink = open("format", "csv")) {
            write(sink, 7, 9);
            sink.commit(1);
        }
        assertTrue(System.nanoTime() - since >= TimeUnit.SECONDS.toNanos(1), "it comes again after Retry-After");
        assertEquals(List.of("7\n8\n", "7\n8\n", "7\n8\n"), bodies());
        assertEquals(1, new HashSet<>(posted.stream().map(Posted::key).toList()).size());
        assertEquals("text/csv", posted.get(0).headers().getFirst("Content-Type"));
    }

    @Test
    void anotherStatusFailsTheSinkAtOnceAndSoDoesWhatDoesNotPassInTime() {
        statuses.add(400);
        try (Sink sink = open()) {
            write(sink, 0, 1);
            MillraceException refused = assertThrows(MillraceException.class, () -> sink.commit(1));
            assertEquals("POST " + url() + ": status 400: so it is", refused.getMessage());
        }
        assertEquals(1, posted.size());
        statuses.addAll(Collections.nCopies(100, 503));
        try (Sink sink = open("timeout", "300 ms")) {
            write(sink, 0, 1);
            MillraceException late = assertThrows(MillraceException.class, () -> sink.commit(1));
            assertEquals("POST " + url() + ": status 503: so it is", late.getMessage());
        }
        assertTrue(posted.size() > 2, "it was tried again");
    }

    @Test
    void whoIsNotThereIsSaidInWords() {
        server.stop(0);
        try (Sink sink = open("timeout", "300 ms")) {
            write(sink, 0, 1);
            MillraceException away = assertThrows(MillraceException.class, () -> sink.commit(1));
            assertEquals("POST " + url() + ": connection refused", away.getMessage());
        }
        try (Sink sink = open("timeout", "300 ms", "url", "http://nowhere.invalid/rows")) {
            write(sink, 0, 1);
            MillraceException away = assertThrows(MillraceException.class, () -> sink.commit(1));
            assertEquals("POST http://nowhere.invalid/rows: unknown host", away.getMessage());
        }
    }

    @Test
    void anAnswerIsNotReadFurtherThanAnybodyLooks() {
        try (Sink sink = open("url", url().replace("/rows", "/endless"))) {
            write(sink, 0, 1);
            sink.commit(1);
            assertEquals(1, sink.status().orElseThrow().records());
        }
    }

    /** An answer that begins and does not end holds nobody longer than it may take. */
    @Test
    void anAnswerThatStallsIsGivenUpAndTheRequestTriedAgain() {
        try (Sink sink = open("url", url().replace("/rows", "/stalls"), "answer_timeout", "100 ms")) {
            write(sink, 0, 1);
            sink.commit(1);
            assertEquals(
                    "no whole answer within 100 ms",
                    sink.status().orElseThrow().lastError().orElseThrow());
        }
        assertEquals(List.of("{\"id\":0}\n", "{\"id\":0}\n", "{\"id\":0}\n"), bodies());
        assertEquals(1, new HashSet<>(posted.stream().map(Posted::key).toList()).size());
        posted.clear();
        try (Sink sink = open("url", url().replace("/rows", "/stalls"), "timeout", "200 ms")) {
            write(sink, 0, 1);
            MillraceException late = assertThrows(MillraceException.class, () -> sink.commit(1));
            assertTrue(String.valueOf(late.getMessage()).endsWith(": no whole answer within 200 ms"), late::toString);
        }
    }

    @Test
    void whatCannotBeIsSaid() {
        assertTrue(refused("header.authorization", SECRET).contains("is a secret"));
        assertTrue(refused("url", "ftp://x").contains("http://.. or https://.."));
        assertTrue(refused("max_batch_rows", "0").contains("max_batch_rows"));
        assertTrue(refused("headr.x", "1").contains("headr.x"));
    }

    private String refused(String... more) {
        return String.valueOf(
                assertThrows(MillraceException.class, () -> open(more).close()).getMessage());
    }
}
