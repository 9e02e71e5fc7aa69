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
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.memory.BufferAllocator;

/**
 * POSTs the rows of an epoch, as many in a request as the sink's options say, one request after the other. Those that were not taken for a
 * reason that passes are tried again with the same {@code Idempotency-Key}: the sink's own name, the number of the epoch's request since the sink was opened, and when that was.
 */
final class HttpSink implements Sink {
    private static final long FIRST_MILLIS = 200;
    private static final long MOST_MILLIS = 30_000;
    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final long MOST_BODY_BYTES = 8 << 20;
    private static final int SHOWN_CHARS = 200;

    /**
     * Where rows go.
     *
     * @param headers may have references, as the url may
     * @param answerMillis how long a try may take, to the end of its answer
     * @param timeoutMillis how long a request is tried
     */
    record Target(
            String url,
            Map<String, String> headers,
            String type,
            Options.References references,
            long answerMillis,
            long timeoutMillis) {}

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
                HttpResponse<String> response = exchange(request(bytes, idempotency));
                int status = response.statusCode();
                if (status / 100 == 2) {
                    break;
                }
                String reason = "status " + status + ": " + shown(response.body());
                lastError = Optional.of(reason);
                if (!passes(status)) {
                    throw failure(reason);
                }
                wait = Math.max(backoff.nextMillis(), wished(response));
            } catch (IOException e) {
                lastError = Optional.of(HttpReason.of(e));
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

    /** One try. An answer that does not come to its end in time is none, and its connection is given up. */
    private HttpResponse<String> exchange(HttpRequest request) throws IOException, InterruptedException {
        long mostMillis = target.answerMillis();
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request, about -> new AnswerBeginning());
        try {
            return answer.get(mostMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IOException("no whole answer within " + mostMillis + " ms", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
        } finally {
            answer.cancel(true); // ends what is under way
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
