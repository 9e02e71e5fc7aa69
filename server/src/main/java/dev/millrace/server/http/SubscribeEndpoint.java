package dev.millrace.server.http;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.session.Session;
import dev.millrace.server.session.StatementResult;
import dev.millrace.server.session.StatementResults;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.text.JsonRows;
import dev.millrace.text.TextBuffer;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * {@code /api/v1/subscribe}: the changes of an answer as they come, as JSON lines or server-sent events, for as long as the
 * client reads. With GET by name ({@code ?to=v&snapshot=true}), with POST by a SUBSCRIBE statement.
 */
final class SubscribeEndpoint {
    private static final String EVENTS = "text/event-stream";
    private static final int ENOUGH = 32 << 10;
    private static final long BEAT_MICROS = 10_000_000;

    private final Session session;

    SubscribeEndpoint(Session session) {
        this.session = session;
    }

    void answer(FullHttpRequest request, QueryStringDecoder target, HttpReply reply) {
        boolean events = request.headers().get(HttpHeaderNames.ACCEPT, "").contains(EVENTS);
        try (StatementResults results = session.execute(statement(request, target))) {
            if (!results.hasNext()
                    || !(results.next() instanceof StatementResult.Changes changes)
                    || results.hasNext()) {
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "one SUBSCRIBE statement is needed");
            }
            send(changes, events, reply);
        }
    }

    private static String statement(FullHttpRequest request, QueryStringDecoder target) {
        if (request.method().equals(HttpMethod.POST)) {
            return request.content().toString(StandardCharsets.UTF_8);
        }
        String name = target.parameters().getOrDefault("to", List.of("")).get(0);
        if (name.isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "?to=NAME says what to subscribe to")
                    .withHint("or POST a SUBSCRIBE statement");
        }
        String snapshot =
                target.parameters().getOrDefault("snapshot", List.of("false")).get(0);
        return "SUBSCRIBE TO " + Identifiers.quote(name) + (snapshot.equals("true") ? " WITH (SNAPSHOT)" : "");
    }

    private void send(StatementResult.Changes changes, boolean events, HttpReply reply) {
        JsonRows json = new JsonRows(ChangeRows.PREFIX.concat(changes.schema()));
        reply.begin(events ? EVENTS : QueryEndpoint.JSON_LINES);
        try (TextBuffer text = new TextBuffer(session.allocator(), ENOUGH)) {
            while (!changes.isFinished() && !reply.isGone()) {
                Optional<EpochChanges> next = changes.next(BEAT_MICROS);
                if (next.isPresent()) {
                    try (EpochChanges epoch = next.get()) {
                        for (Batch batch : epoch.batches()) {
                            write(batch, epoch.epochMicros(), json, events, text, reply);
                        }
                    }
                } else if (events) {
                    text.appendAscii(":\n\n"); // proxies close what is silent
                }
                reply.write(text);
            }
        }
        reply.end();
    }

    private void write(
            Batch changes, long epochMicros, JsonRows json, boolean events, TextBuffer text, HttpReply reply) {
        if (changes.rowCount() == 0) {
            return;
        }
        byte[] id = ("id: " + epochMicros + "\ndata: ").getBytes(StandardCharsets.US_ASCII);
        try (Batch rows = ChangeRows.of(changes, epochMicros, session.allocator())) {
            for (int row = 0; row < rows.rowCount(); row++) {
                if (events) {
                    text.append(id);
                }
                json.row(text, rows, row);
                text.appendAscii(events ? "\n\n" : "\n");
                if (text.length() >= ENOUGH) {
                    reply.write(text);
                }
            }
        }
    }
}
