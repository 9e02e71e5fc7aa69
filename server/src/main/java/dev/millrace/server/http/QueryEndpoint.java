package dev.millrace.server.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.batch.text.JsonRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Session;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8Text;
import dev.millrace.type.Schema;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code POST /api/v1/query}: runs statements; the answer is that of the last one. */
final class QueryEndpoint {
    static final String JSON_LINES = "application/x-ndjson";
    static final String CSV = "text/csv";
    private static final int ENOUGH = 32 << 10;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Session session;
    private final long mostRows;

    QueryEndpoint(Session session, long mostRows) {
        this.session = session;
        this.mostRows = mostRows;
    }

    /** Statements as they were sent. */
    private record Asked(String sql, List<Object> parameters) {}

    void answer(FullHttpRequest request, HttpReply reply) {
        Asked asked = read(request);
        String accepted = request.headers().get(HttpHeaderNames.ACCEPT, "");
        boolean arrow = accepted.contains(ArrowResponse.TYPE);
        boolean csv = accepted.contains(CSV);
        try (StatementResults results = session.execute(asked.sql, asked.parameters)) {
            if (!results.hasNext()) {
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "there is no statement");
            }
            while (results.hasNext()) {
                StatementResult result = results.next();
                if (result instanceof StatementResult.Changes) {
                    throw MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "a subscription has no end")
                            .withHint("/api/v1/subscribe");
                } else if (!(result instanceof StatementResult.Rows || result instanceof StatementResult.Command)) {
                    throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "COPY is not for HTTP")
                            .withHint("POST rows to /api/v1/streams/NAME/rows; SELECT with Accept: text/csv gives CSV");
                }
                boolean last = !results.hasNext();
                if (result instanceof StatementResult.Rows rows && arrow && last) {
                    sendArrow(rows, reply);
                } else if (result instanceof StatementResult.Rows rows) {
                    send(rows, csv, last, reply);
                } else if (last) {
                    session.awaitOwnWrites(); // the client's next request is of another session
                    ObjectNode command = MAPPER.createObjectNode().put("command", result.toString());
                    reply.send(HttpResponseStatus.OK, HttpReply.JSON, command + "\n");
                }
            }
        }
    }

    private static Asked read(FullHttpRequest request) {
        String body = Utf8Text.decode(request.content().nioBuffer());
        if (!request.headers().get(HttpHeaderNames.CONTENT_TYPE, "").startsWith(HttpReply.JSON)) {
            return new Asked(body, List.of());
        }
        try {
            JsonNode root = MAPPER.readTree(body);
            if (!root.path("sql").isTextual()) {
                throw MillraceException.user(
                        SqlState.INVALID_JSON_TEXT, "the body is an object with the member \"sql\", a text");
            }
            List<Object> parameters = new ArrayList<>();
            root.path("parameters").forEach(value -> parameters.add(value(value)));
            return new Asked(root.path("sql").asText(), parameters);
        } catch (JsonProcessingException e) {
            throw MillraceException.user(SqlState.INVALID_JSON_TEXT, "the body is not JSON: " + e.getOriginalMessage());
        }
    }

    private static Object value(JsonNode value) {
        if (value.isNull()) {
            return Optional.empty();
        } else if (value.isBoolean()) {
            return value.booleanValue();
        } else if (value.canConvertToLong() && value.isIntegralNumber()) {
            return value.longValue();
        } else if (value.isNumber()) {
            return value.decimalValue();
        }
        return value.isTextual() ? value.textValue() : value.toString();
    }

    private void send(StatementResult.Rows rows, boolean csv, boolean shown, HttpReply reply) {
        Schema schema = rows.schema();
        JsonRows json = new JsonRows(schema);
        CsvRows lines = new CsvRows((byte) ',');
        long sent = 0;
        try (TextBuffer text = new TextBuffer(session.allocator(), ENOUGH)) {
            if (csv) {
                lines.header(text, schema, "");
            }
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount() && shown; row++) {
                        requireRoom(++sent);
                        if (csv) {
                            lines.row(text, batch, row);
                        } else {
                            json.row(text, batch, row);
                            text.append('\n');
                        }
                        if (text.length() >= ENOUGH) {
                            begin(reply, csv);
                            write(reply, text);
                        }
                    }
                }
            }
            if (shown) {
                begin(reply, csv);
                write(reply, text);
                reply.end();
            }
        }
    }

    /** A client that does not read is waited for as long as its statement may last. */
    private void write(HttpReply reply, TextBuffer text) {
        session.goOn(() -> {
            reply.write(text);
            return true;
        });
    }

    private void sendArrow(StatementResult.Rows rows, HttpReply reply) {
        ArrowResponse arrow = new ArrowResponse();
        long sent = 0;
        for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
            try (Batch batch = next.get()) {
                sent += batch.rowCount();
                requireRoom(sent);
                begin(reply, arrow, rows.schema());
                byte[] bytes = arrow.rows(batch);
                session.goOn(() -> {
                    reply.write(bytes);
                    return true;
                });
            }
        }
        begin(reply, arrow, rows.schema());
        reply.write(arrow.end());
        reply.end();
    }

    private static void begin(HttpReply reply, ArrowResponse arrow, Schema schema) {
        if (!reply.isBegun()) {
            reply.begin(ArrowResponse.TYPE);
            reply.write(arrow.begin(schema));
        }
    }

    private void requireRoom(long rows) {
        if (mostRows > 0 && rows > mostRows) {
            throw MillraceException.resources(
                            SqlState.PROGRAM_LIMIT_EXCEEDED, "the answer has more than " + mostRows + " rows")
                    .withHint("LIMIT, or http.max-rows of the server");
        }
    }

    private static void begin(HttpReply reply, boolean csv) {
        if (!reply.isBegun()) {
            reply.begin(csv ? CSV + "; charset=utf-8" : JSON_LINES);
        }
    }
}
