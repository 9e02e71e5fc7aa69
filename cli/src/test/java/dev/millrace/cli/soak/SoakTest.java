package dev.millrace.cli.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.cli.ServerProcess;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server that has done all that clients ask for is as it was: no session, thread or byte is left of it, and money neither
 * came nor went. {@code -Dmillrace.soak.seconds=N} sets for how long (6), {@code -Dmillrace.soak.seed=S} the seed.
 */
@Tag("long")
class SoakTest {
    private static final long SECONDS = Long.getLong("millrace.soak.seconds", 6);
    private static final long SEED = Long.getLong("millrace.soak.seed", 1);
    private static final int ROUNDS = 6;
    private static final int CLIENTS = 4;
    private static final int STANDING = 5; // queries of the set-up
    private static final double SLACK_BYTES = 32e6; // a subscribed query remembers 16 MB of changes, caches fill

    /** What a server holds while nobody uses it, after garbage was collected. */
    private record Held(double heapBytes, double engineBytes, double threads, double files) {}

    private final HttpClient http = HttpClient.newHttpClient();
    private ServerProcess server;

    @Test
    void nothingIsLeftOfWhatClientsDid() throws Exception {
        AtomicLong clock = new AtomicLong();
        List<Held> held = new ArrayList<>();
        try (ServerProcess started = ServerProcess.start("--port", "0", "--http-port", "0", "--tls", "off")) {
            server = started;
            try (Connection connection = server.connect();
                    Statement statement = connection.createStatement()) {
                for (String sql : SoakClient.SETUP) {
                    statement.execute(sql);
                }
            }
            for (int round = 0; round < ROUNDS; round++) {
                long actions = run(round, clock);
                held.add(held());
                if (SECONDS > 10) {
                    System.out.printf("soak: %,d actions, then %s, seed %d%n", actions, held.get(round), SEED);
                }
            }
            Held first = held.get(1); // by then everything has been done once
            Held last = held.get(ROUNDS - 1);
            assertTrue(last.threads <= first.threads + 2, "threads " + held);
            assertTrue(last.files <= first.files + 5, "files " + held);
            assertTrue(last.engineBytes <= 1.2 * first.engineBytes + SLACK_BYTES, "memory of the engine " + held);
            assertTrue(last.heapBytes <= 1.2 * first.heapBytes + SLACK_BYTES, "heap " + held);
            server.terminate();
            server.awaitExit();
        }
    }

    /** One round of all clients; returns how much they did. */
    private long run(int round, AtomicLong clock) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SECONDS * 1_000 / ROUNDS);
        List<CompletableFuture<Long>> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            long seed = SEED + 1_000L * round + i;
            SoakClient client = new SoakClient(server::connect, "client" + i, clock, seed);
            clients.add(CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return client.workUntil(end);
                        } catch (Exception e) {
                            throw new CompletionException("seed " + seed, e);
                        }
                    },
                    OwnThread.EACH));
        }
        return clients.stream().mapToLong(CompletableFuture::join).sum();
    }

    private Held held() throws Exception {
        Eventually.holds("no session is left without its client", () -> metric("millrace_sessions") <= 1);
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery(
                        "SELECT count(*), count(*) FILTER (WHERE state = 'running')" + " FROM millrace.query_stats")) {
            rows.next();
            assertEquals(STANDING, rows.getInt(1), "queries that stand");
            assertEquals(STANDING, rows.getInt(2), "queries that run");
        }
        server.collectGarbage();
        return new Held(
                metric("jvm_memory_used_bytes{area=\"heap\"}"),
                metric("millrace_memory_bytes"),
                metric("jvm_threads_current"),
                metric("process_open_fds"));
    }

    private double metric(String name) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.httpPort() + "/metrics"))
                .build();
        String all = http.send(request, BodyHandlers.ofString()).body();
        Matcher matcher = Pattern.compile("^" + Pattern.quote(name) + " (\\S+)$", Pattern.MULTILINE)
                .matcher(all);
        assertTrue(matcher.find(), "no metric " + name + " in\n" + all);
        return Double.parseDouble(matcher.group(1));
    }
}
