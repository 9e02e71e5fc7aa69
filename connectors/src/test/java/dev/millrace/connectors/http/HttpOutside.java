package dev.millrace.connectors.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.net.Wire;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A server that takes rows, and a wire to it. */
final class HttpOutside implements AtLeastOnceOutside, AutoCloseable {
    private static final String REFUSED = "refused";
    private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");

    private final List<Long> came = new CopyOnWriteArrayList<>();
    private final AtomicReference<Stumble> next = new AtomicReference<>(Stumble.NONE);
    private final HttpServer server;
    private final Wire wire;

    /** What goes wrong with a request. */
    private enum Stumble {
        NONE,
        IS_BUSY,
        FAILS_WHEN_IT_HAS_ALL,
        GIVES_NO_ANSWER,
        LOSES_ITS_ANSWER
    }

    HttpOutside() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", this::take);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.start();
        wire = new Wire("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void take(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        Stumble stumble = next.getAndSet(Stumble.NONE);
        boolean isRefused = body.contains(REFUSED);
        if (stumble != Stumble.IS_BUSY && stumble != Stumble.GIVES_NO_ANSWER && !isRefused) {
            came.addAll(ID.matcher(body)
                    .results()
                    .map((MatchResult row) -> Long.valueOf(row.group(1)))
                    .toList());
        }
        switch (stumble) {
            case NONE -> exchange.sendResponseHeaders(isRefused ? 422 : 204, -1);
            case IS_BUSY -> exchange.sendResponseHeaders(429, -1);
            case FAILS_WHEN_IT_HAS_ALL -> exchange.sendResponseHeaders(500, -1);
            case GIVES_NO_ANSWER, LOSES_ITS_ANSWER -> {}
        }
        exchange.close();
    }

    @Override
    public Sink open(SinkContext context) {
        return new HttpSinkFactory(Connectors.formats())
                .open(SCHEMA, true, new Options(Map.of("url", wire.url(), "max_batch_rows", "7")), context);
    }

    @Override
    public List<Long> came() {
        return List.copyOf(came);
    }

    @Override
    public void stumbles(int how) {
        Stumble[] all = Stumble.values();
        next.set(all[how % all.length]);
    }

    @Override
    public boolean goes() {
        wire.cut();
        return true;
    }

    @Override
    public void comes() {
        wire.mend();
    }

    @Override
    public Optional<String> refused() {
        return Optional.of(REFUSED);
    }

    @Override
    public void close() {
        wire.close();
        server.stop(0);
    }
}
