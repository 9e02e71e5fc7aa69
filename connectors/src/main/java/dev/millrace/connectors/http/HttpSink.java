package dev.millrace.connectors.http;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkStatus;
import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordEncoder;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.memory.BufferAllocator;

/**
 * POSTs the rows of an epoch, as many in a request as the sink's options say, one request after the other. Those that were not taken for a
 * reason that passes are tried again with the same {@code Idempotency-Key}: the sink's own name, the number of the epoch's request since the sink was opened, and when that was.
 */
final class HttpSink implements Sink {
    private static final long FIRST_MILLIS = 200;
    private static final long MOST_MILLIS = 30_000;
    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration ANSWER = Duration.ofSeconds(60);
    private static final long MOST_BODY_BYTES = 8 << 20;
    private static final int SHOWN_CHARS = 200;
    private static final int MOST_ANSWER_BYTES = 16 << 10; // a shorter one leaves the connection to the next request

    /** @param headers may have references, as the url may */
    record Target(
            String url, Map<String, String> headers, String type, Options.References references, long timeoutMillis) {}

    private final Target target;
    private final String key;
    private final int mostRows;
    private final RecordEncoder encoder;
    private final TextBuffer body;
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(CONNECT).build();
    private final long openedMillis = System.currentTimeMillis();
    private int rows; // in the body
    private long requests;
    private boolean closed;
    private volatile long taken; // rows; written by the thread that calls
    private volatile long waiting; // likewise
    private volatile long sinceNanos; // since when the request under way is tried; likewise
    private volatile Optional<String> lastError = Optional.empty(); // likewise

    HttpSink(Target target, String key, int mostRows, RecordEncoder encoder, BufferAllocator allocator) {
        this.target = target;
        this.key = key;
        this.mostRows = mostRows;
        this.encoder = encoder;
        this.body = new TextBuffer(allocator, 4096);
    }

    @Override
    public void write(Batch batch) {
        long weights = batch.weightsAddress();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            for (long times = weight; times > 0; times--) {
                encoder.encode(batch, row, body);
                body.append('\n');
                rows++;
                if (rows == mostRows || body.length() >= MOST_BODY_BYTES) {
                    send();
                }
            }
        }
    }

    @Override
    public void commit(long epoch) {
        if (rows > 0) {
            send();
        }
    }

    private void send() {
        byte[] bytes = body.toBytes();
        String idempotency = key + "-" + openedMillis + "-" + ++requests;
        Backoff backoff = new Backoff(FIRST_MILLIS, MOST_MILLIS, requests);
        waiting = rows;
        sinceNanos = System.nanoTime();
        while (true) {
            long wait;
            try {
                HttpResponse<InputStream> response =
                        client.send(request(bytes, idempotency), HttpResponse.BodyHandlers.ofInputStream());
                String answer = beginning(response);
                int status = response.statusCode();
                if (status / 100 == 2) {
                    break;
                }
                String reason = "status " + status + ": " + shown(answer);
                lastError = Optional.of(reason);
                if (!passes(status)) {
                    throw failure(reason);
                }
                wait = Math.max(backoff.nextMillis(), wished(response));
            } catch (IOException e) {
                lastError = Optional.of(reason(e));
                wait = backoff.nextMillis();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw interrupted();
            }
            long left = target.timeoutMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
            if (left <= 0) {
                throw failure(lastError.orElse("no answer"));
            }
            pause(Math.min(wait, left));
        }
        taken += rows;
        waiting = 0;
        rows = 0;
        body.clear();
    }

    private HttpRequest request(byte[] bytes, String idempotency) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(
                            URI.create(target.references().resolve(target.url())))
                    .timeout(ANSWER)
                    .setHeader("content-type", target.type())
                    .setHeader("idempotency-key", idempotency)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(bytes));
            target.headers()
                    .forEach((name, value) ->
                            request.setHeader(name, target.references().resolve(value)));
            return request.build();
        } catch (IllegalArgumentException e) { // whose message may have a secret
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "options url or header.* of the sink make no request");
        }
    }

    /** What is answered, as far as anybody looks at it: there may be no end to it. */
    private static String beginning(HttpResponse<InputStream> response) throws IOException {
        try (InputStream body = response.body()) {
            return new String(body.readNBytes(MOST_ANSWER_BYTES), StandardCharsets.UTF_8);
        }
    }

    /** Whether it is worth asking again. */
    private static boolean passes(int status) {
        return status >= 500 || status == 408 || status == 409 || status == 425 || status == 429;
    }

    /** Until when the other side does not want to be asked, within bounds. */
    private static long wished(HttpResponse<?> response) {
        String text = response.headers().firstValue("retry-after").orElse("");
        return text.matches("[0-9]{1,4}") ? Math.min(MOST_MILLIS, 1_000L * Integer.parseInt(text)) : 0;
    }

    private static String shown(String text) {
        String line = text.replaceAll("\\s+", " ").strip();
        return line.length() <= SHOWN_CHARS ? line : line.substring(0, SHOWN_CHARS) + "...";
    }

    private static String reason(IOException e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    private MillraceException failure(String reason) {
        return MillraceException.external(SqlState.CONNECTION_FAILURE, "POST " + target.url() + ": " + reason);
    }

    private static MillraceException interrupted() {
        return MillraceException.user(SqlState.QUERY_CANCELED, "the sink is closed while it writes");
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(Math.max(1, millis));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted();
        }
    }

    @Override
    public Optional<SinkStatus> status() {
        long now = waiting;
        long silentMicros = now > 0 ? TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - sinceNanos) : 0;
        return Optional.of(new SinkStatus(
                "POST " + target.url(),
                taken,
                now,
                silentMicros,
                lastError,
                silentMicros > TimeUnit.SECONDS.toMicros(5) ? Optional.of(target.url()) : Optional.empty()));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try (TextBuffer text = body) {
                encoder.close();
            }
        }
    }
}
