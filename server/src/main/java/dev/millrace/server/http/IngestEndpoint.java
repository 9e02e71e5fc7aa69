package dev.millrace.server.http;

import dev.millrace.connectors.webhook.PostedRequest;
import dev.millrace.connectors.webhook.Webhook;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** {@code POST /ingest/PATH}: records for a stream of the connector {@code webhook}, answered when they are kept: 422 if none became a row. */
final class IngestEndpoint {
    /** What the paths begin with. */
    static final String PREFIX = "/ingest/";

    private final Webhook webhook;

    IngestEndpoint(Webhook webhook) {
        this.webhook = webhook;
    }

    void answer(FullHttpRequest request, long receivedMicros, HttpReply reply) {
        Map<String, String> headers = new HashMap<>();
        request.headers().forEach(header -> headers.put(header.getKey().toLowerCase(Locale.ROOT), header.getValue()));
        byte[] body = new byte[request.content().readableBytes()];
        request.content().getBytes(request.content().readerIndex(), body);
        Webhook.Outcome outcome = webhook.take(new PostedRequest(headers, body, receivedMicros));
        boolean isInVain = outcome.accepted() == 0 && outcome.rejected() > 0;
        reply.send(
                isInVain ? HttpResponseStatus.UNPROCESSABLE_ENTITY : HttpResponseStatus.OK,
                HttpReply.JSON,
                "{\"accepted\":" + outcome.accepted() + ",\"rejected\":" + outcome.rejected()
                        + (outcome.isRepeated() ? ",\"repeated\":true" : "") + "}\n");
    }
}
