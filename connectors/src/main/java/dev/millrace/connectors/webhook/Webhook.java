package dev.millrace.connectors.webhook;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedContext;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Consignment;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Takes what is POSTed to one stream. Who posts waits: first until there is room, then until its records are kept. Safe on any thread.
 */
public final class Webhook implements RecordReceiver.Transport {
    private static final JsonFactory JSON = new JsonFactory();
    private static final long ROOM_MILLIS = 10_000;
    private static final int MOST_KEY_CHARS = 256;

    private final WebhookSource source;
    private final PushedContext context;
    private final ArrivalQueue inbox;
    private final RememberedKeys keys;

    /**
     * What became of a request.
     *
     * @param isRepeated whether another with the same key was kept before; then nothing was taken of this one
     */
    public record Outcome(int accepted, int rejected, boolean isRepeated) {}

    Webhook(WebhookSource source, PushedContext context, ArrivalQueue inbox) {
        this.source = source;
        this.context = context;
        this.inbox = inbox;
        this.keys = new RememberedKeys(context.memory(), source.mostKeys());
        source.webhooks().add(source.path(), this);
    }

    /** The stream that it feeds. */
    public String stream() {
        return context.stream();
    }

    /** Whether requests show by a signature that they may come; else whoever has the server must ask. */
    public boolean isSigned() {
        return source.signature().isPresent();
    }

    /**
     * Takes a request, and waits until its records are kept: on disk, where there is one. Records that become no rows are in {@code millrace.rejected_rows}; where none does,
     * the key is not remembered.
     *
     * @throws MillraceException 28000 if it is not signed as it should be; 22023 if it has no records, or no good key; 55006 if one with the same key is
     *     under way; 53300 if there is no room or it takes too long: then it is to be sent again, and with a key that can do no harm
     */
    public Outcome take(PostedRequest request) {
        source.signature().ifPresent(signature -> signature.require(request));
        Optional<String> key = request.header(source.keyHeader());
        if (key.isPresent() && (key.get().isBlank() || key.get().length() > MOST_KEY_CHARS)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "header " + source.keyHeader() + " must have from 1 to " + MOST_KEY_CHARS + " characters");
        }
        List<byte[]> records = records(request);
        if (records.isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "the body has no records");
        }
        if (key.isEmpty()) {
            return take(records, request, key, MemoryChange.NONE);
        }
        return switch (keys.begin(key.get())) {
            case KEPT -> new Outcome(0, 0, true);
            case UNDER_WAY ->
                throw MillraceException.user(
                        SqlState.OBJECT_IN_USE, "a request with the same " + source.keyHeader() + " is under way");
            case NEW -> take(records, request, key, keys.change(key.get()));
        };
    }

    private Outcome take(List<byte[]> records, PostedRequest request, Optional<String> key, MemoryChange change) {
        CompletableFuture<Integer> kept = new CompletableFuture<>();
        PostedRequest.About about = new PostedRequest.About(key, request.receivedMicros());
        Consignment delivery = new Consignment(records, about, target(), change, new Consignment.Receipt() {
            @Override
            public void kept(int rejected) {
                if (rejected == records.size() && key.isPresent()) {
                    forget(key.get(), () -> kept.complete(rejected));
                } else {
                    key.ifPresent(keys::end);
                    kept.complete(rejected);
                }
            }

            @Override
            public void dropped() {
                kept.completeExceptionally(
                        MillraceException.user(SqlState.UNDEFINED_OBJECT, "the stream was dropped meanwhile"));
            }
        });
        try {
            if (!inbox.offer(delivery, ROOM_MILLIS)) {
                key.ifPresent(keys::undo);
                throw busy("has no room");
            }
            int rejected = kept.get(source.timeoutMillis(), TimeUnit.MILLISECONDS);
            return new Outcome(records.size() - rejected, rejected, false);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw busy("is being closed");
        } catch (TimeoutException e) {
            throw busy("has not kept it yet");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof MillraceException known
                    ? known
                    : MillraceException.internal("nobody completes it so", e);
        }
    }

    /** A request of which nothing became a row is answered when it may come again with its key: once it, or the stream, was put right. */
    private void forget(String key, Runnable then) {
        inbox.force(new Consignment(List.of(), key, target(), keys.forgotten(key), rejected -> {
            keys.undo(key);
            then.run();
        }));
    }

    private MillraceException busy(String why) {
        return MillraceException.resources(SqlState.TOO_MANY_CONNECTIONS, "stream \"" + stream() + "\" " + why)
                .withHint("send it again, with the same " + source.keyHeader() + " as before");
    }

    /** The body as a whole, or each element of a JSON array, or each line. */
    private List<byte[]> records(PostedRequest request) {
        byte[] body = request.body();
        String type =
                request.header("content-type").orElse("").replaceAll(";.*", "").strip();
        boolean isDocument = type.isEmpty() || type.equals("application/json") || type.endsWith("+json");
        if (!isDocument || !source.isJson()) {
            return lines(body);
        }
        int first = 0;
        while (first < body.length && body[first] <= ' ' && body[first] >= 0) {
            first++;
        }
        if (first == body.length) {
            return List.of();
        }
        return body[first] == '[' ? elements(body) : List.of(body);
    }

    private static List<byte[]> lines(byte[] body) {
        List<byte[]> lines = new ArrayList<>();
        int from = 0;
        for (int i = 0; i <= body.length; i++) {
            if (i == body.length || body[i] == '\n') {
                int to = i > from && body[i - 1] == '\r' ? i - 1 : i;
                if (to > from) {
                    lines.add(Arrays.copyOfRange(body, from, to));
                }
                from = i + 1;
            }
        }
        return lines;
    }

    /** What is in an array; the body as a whole if it is no array, which then becomes no row. */
    private static List<byte[]> elements(byte[] body) {
        List<byte[]> elements = new ArrayList<>();
        try (JsonParser parser = JSON.createParser(body)) {
            parser.nextToken();
            for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                if (next == null) {
                    return List.of(body);
                }
                int from = (int) parser.currentTokenLocation().getByteOffset();
                parser.skipChildren();
                parser.finishToken();
                elements.add(Arrays.copyOfRange(
                        body, from, (int) parser.currentLocation().getByteOffset()));
            }
            return parser.nextToken() == null ? elements : List.of(body);
        } catch (IOException e) {
            return List.of(body);
        }
    }

    @Override
    public String target() {
        return "POST " + WebhookSource.PREFIX + source.path();
    }

    @Override
    public void close() {
        source.webhooks().remove(source.path(), this);
    }
}
