package dev.millrace.connectors.http;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * What is answered, as far as anybody looks at it: there may be no end to it. A shorter answer is read to its end, which leaves its
 * connection to the next request. Called by one thread at a time.
 */
final class AnswerBeginning implements HttpResponse.BodySubscriber<String> {
    private static final int MOST_BYTES = 16 << 10;

    private final CompletableFuture<String> text = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private Optional<Flow.Subscription> subscription = Optional.empty(); // from the beginning on

    @Override
    public void onSubscribe(Flow.Subscription begun) {
        subscription = Optional.of(begun);
        begun.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> parts) {
        for (ByteBuffer part : parts) {
            byte[] next = new byte[Math.min(part.remaining(), MOST_BYTES - bytes.size())];
            part.get(next);
            bytes.writeBytes(next);
        }
        Flow.Subscription from = subscription.orElseThrow();
        if (bytes.size() == MOST_BYTES) {
            from.cancel();
            onComplete();
        } else {
            from.request(1);
        }
    }

    @Override
    public void onError(Throwable failure) {
        text.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        text.complete(bytes.toString(StandardCharsets.UTF_8));
    }

    @Override
    public CompletionStage<String> getBody() {
        return text;
    }
}
