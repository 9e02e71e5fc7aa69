package dev.millrace.connectors.webhook;

import dev.millrace.connector.Options;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.Connectors;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.connector.PushedOutside;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A sender of requests, one after the other, each with a key of its own: one that is not answered, or whose answer was lost with the connection, it sends
 * again until it is told that it was taken. It does not know when the database is another one.
 */
final class WebhookOutside implements PushedOutside, AutoCloseable {
    private static final int MOST_RECORDS = 4; // of a request
    private static final int KEYS = 20;
    private static final long PAUSE_MILLIS = 2;

    private final Webhooks webhooks = new Webhooks();
    private final BlockingQueue<PostedRequest> unsent = new LinkedBlockingQueue<>();
    private final Thread sender = new Thread(this::send, "sender of requests");
    private final AtomicInteger connections = new AtomicInteger(); // another number with each
    private volatile boolean isCut; // written by the test, read by the sender
    private int requests;

    WebhookOutside() {
        sender.start();
    }

    @Override
    public PushedSource source() {
        Map<String, String> options = Map.of("path", "in", "timeout", "50ms", "idempotency.keys", "" + KEYS);
        return (PushedSource)
                new WebhookSourceFactory(Connectors.formats(), webhooks).create(SCHEMA, new Options(options));
    }

    private void post(String body) {
        unsent.add(new PostedRequest(
                Map.of("idempotency-key", "request " + requests++), body.getBytes(StandardCharsets.UTF_8), 0));
    }

    @Override
    public void bring(long from, long to) {
        for (long first = from; first < to; first += MOST_RECORDS) {
            post(LongStream.range(first, Math.min(to, first + MOST_RECORDS))
                    .mapToObj(id -> "{\"id\": " + id + "}")
                    .collect(Collectors.joining(", ", "[", "]")));
        }
    }

    @Override
    public void poison() {
        post("no JSON");
    }

    private void send() {
        try {
            while (true) {
                PostedRequest next = unsent.take();
                while (!isTaken(next)) {
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            // the test is over
        }
    }

    private boolean isTaken(PostedRequest request) throws InterruptedException {
        int by = connections.get();
        Optional<Webhook> webhook = webhooks.at("in");
        if (isCut || webhook.isEmpty()) {
            return false;
        }
        try {
            webhook.get().take(request);
            return by == connections.get(); // else the answer was on its way
        } catch (MillraceException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return false; // busy, or under way
        }
    }

    @Override
    public boolean isExactlyOnce() {
        return true;
    }

    /** A source listens, and has nobody to subscribe to. */
    @Override
    public boolean knows(SplitStatus split) {
        return true;
    }

    /** Its newest keys, and one that is under way. */
    @Override
    public int mostRemembered() {
        return KEYS + 1;
    }

    @Override
    public void cut() {
        isCut = true;
        connections.incrementAndGet();
    }

    @Override
    public void mend() {
        isCut = false;
    }

    @Override
    public boolean goes() {
        cut();
        return true;
    }

    @Override
    public void comes() {
        mend();
    }

    @Override
    public void close() {
        sender.interrupt();
    }
}
