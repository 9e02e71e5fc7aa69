package dev.millrace.server.http;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.text.JsonRows;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.session.Session;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8Text;
import dev.millrace.text.ValueParser;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code /api/v1/subscribe}: the changes of an answer as they come, as JSON lines or server-sent events, for as long as the
 * client reads. With GET by name ({@code ?to=v&snapshot=true}), with POST by a SUBSCRIBE statement.
 *
 * <p>The id of an event is its epoch's time in microseconds; of one that is not its epoch's last also how many came before
 * and with it: {@code 1763744400000000-3}. Who comes again with it goes on behind the event, also within an epoch, since the
 * history of an answer gives the rows of an epoch in the order they had. Rows of a snapshot are in no history: only the last
 * has an id, and who has not seen it begins anew.
 */
final class SubscribeEndpoint {
    private static final String EVENTS = "text/event-stream";
    private static final String LAST_EVENT_ID = "last-event-id";
    private static final int ENOUGH = 32 << 10;
    private static final long BEAT_MICROS = 10_000_000;
    private static final Pattern ID = Pattern.compile("(\\d{1,18})(?:-(\\d{1,9}))?");

    private final Session session;

    SubscribeEndpoint(Session session) {
        this.session = session;
    }

    /**
     * Where a subscriber goes on.
     *
     * @param micros all up to this epoch was seen
     * @param rows of the epoch that follows the microsecond, how many rows were seen
     */
    private record Place(OptionalLong micros, long rows) {}

    void answer(FullHttpRequest request, QueryStringDecoder target, HttpReply reply) {
        boolean events = request.headers().get(HttpHeaderNames.ACCEPT, "").contains(EVENTS);
        Place place = place(request, target);
        try (StatementResult.Changes changes = session.subscribe(statement(request, target), place.micros)) {
            send(changes, place, events, reply);
        }
    }

    private static String statement(FullHttpRequest request, QueryStringDecoder target) {
        if (request.method().equals(HttpMethod.POST)) {
            return Utf8Text.decode(request.content().nioBuffer());
        }
        String name = parameter(target, "to");
        if (name.isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "?to=NAME says what to subscribe to")
                    .withHint("or POST a SUBSCRIBE statement");
        }
        return "SUBSCRIBE TO " + RelationNames.quoted(name)
                + (parameter(target, "snapshot").equals("true") ? " WITH (SNAPSHOT)" : "");
    }

    private static String parameter(QueryStringDecoder target, String name) {
        return target.parameters().getOrDefault(name, List.of("")).get(0);
    }

    /** A browser that lost its connection repeats the request as it was and adds the header, which therefore comes first. */
    private Place place(FullHttpRequest request, QueryStringDecoder target) {
        String seen = request.headers().get(LAST_EVENT_ID, "");
        String from = seen.isEmpty() ? parameter(target, "as_of") : seen;
        if (from.isEmpty()) {
            return new Place(OptionalLong.empty(), 0);
        }
        Matcher id = ID.matcher(from);
        if (!id.matches()) {
            return new Place(OptionalLong.of(timeMicros(from)), 0);
        }
        long micros = Long.parseLong(id.group(1));
        return id.group(2) == null
                ? new Place(OptionalLong.of(micros), 0)
                : new Place(OptionalLong.of(micros - 1), Long.parseLong(id.group(2)));
    }

    private long timeMicros(String text) {
        try (TextBuffer buffer = new TextBuffer(session.allocator(), 64)) {
            buffer.append(text.getBytes(StandardCharsets.UTF_8));
            ValueParser parser = new ValueParser();
            if (parser.tryTimestamptz(buffer.address(), Math.toIntExact(buffer.length()))) {
                return parser.value();
            }
        }
        throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "\"" + text + "\" is no place to go on at")
                .withHint("the id of an event, or the epoch_time of a row (in a URL + is written %2B)");
    }

    private void send(StatementResult.Changes changes, Place place, boolean events, HttpReply reply) {
        JsonRows json = new JsonRows(changes.form().schema());
        long seen = place.rows;
        reply.begin(events ? EVENTS : QueryEndpoint.JSON_LINES);
        try (TextBuffer text = new TextBuffer(session.allocator(), ENOUGH)) {
            while (!changes.isFinished() && !reply.isGone()) {
                Optional<EpochChanges> next = changes.next(BEAT_MICROS);
                if (next.isPresent()) {
                    try (EpochChanges epoch = next.get()) {
                        boolean begun = seen > 0 && epoch.epochMicros() == place.micros.getAsLong() + 1;
                        write(epoch, changes.form(), begun ? seen : 0, json, events, text, reply);
                    }
                    seen = 0;
                } else if (events) {
                    text.appendAscii(":\n\n"); // proxies close what is silent
                }
                write(reply, text);
            }
        }
        reply.end();
    }

    /** Cancelling, and the server's stop, end also the wait for a client that does not read. */
    private void write(HttpReply reply, TextBuffer text) {
        session.goOn(() -> {
            reply.write(text);
            return true;
        });
    }

    private void write(
            EpochChanges epoch,
            ChangeRows.Form form,
            long seen,
            JsonRows json,
            boolean events,
            TextBuffer text,
            HttpReply reply) {
        List<Batch> batches = ChangeRows.of(epoch, form, session.allocator());
        try {
            long rows = batches.stream().mapToLong(Batch::rowCount).sum();
            long number = 0;
            for (Batch batch : batches) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    if (++number <= seen) {
                        continue;
                    }
                    if (events) {
                        id(text, epoch, number, number == rows);
                    }
                    json.row(text, batch, row);
                    text.appendAscii(events ? "\n\n" : "\n");
                    if (text.length() >= ENOUGH) {
                        write(reply, text);
                    }
                }
            }
        } finally {
            Closing.all(batches);
        }
    }

    private static void id(TextBuffer text, EpochChanges epoch, long number, boolean last) {
        if (last) {
            text.appendAscii("id: " + epoch.epochMicros() + "\n");
        } else if (!epoch.snapshot() && epoch.droppedRows() == 0) {
            text.appendAscii("id: " + epoch.epochMicros() + "-" + number + "\n");
        }
        text.appendAscii("data: ");
    }
}
