package dev.millrace.server.names;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.server.result.StatementResult;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** What one session has prepared and opened, by SQL and by its protocol, as both see it. Belongs to the session's thread. */
public final class SessionObjects {
    /** What {@code pg_catalog.pg_prepared_statements} and {@code pg_catalog.pg_cursors} are made of. */
    static final String FUNCTION = "millrace_session_objects";

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** An open cursor or portal. */
    public record OpenCursor(
            String name, String statement, boolean holdable, boolean binary, boolean scrollable, long epochMicros) {}

    private final PreparedTexts prepared;
    private Supplier<Collection<OpenCursor>> cursors = List::of;
    private ProtocolPortals portals = new NoPortals();
    private Supplier<String> activity = () -> "[]";

    public SessionObjects(PreparedTexts prepared) {
        this.prepared = prepared;
    }

    public PreparedTexts prepared() {
        return prepared;
    }

    public ProtocolPortals portals() {
        return portals;
    }

    public void portals(ProtocolPortals newPortals) {
        portals = newPortals;
    }

    public void cursors(Supplier<Collection<OpenCursor>> newCursors) {
        cursors = newCursors;
    }

    public void activity(Supplier<String> newActivity) {
        activity = newActivity;
    }

    /** An array of JSON objects, one for each thing of a kind: {@code prepared}, {@code cursors}, or {@code activity} of all. */
    public String json(String kind) {
        if (kind.equals("activity")) {
            return activity.get();
        }
        ArrayNode all = MAPPER.createArrayNode();
        if (kind.equals("prepared")) {
            prepared.all()
                    .forEach((name, one) -> all.addObject()
                            .put("name", name)
                            .put("statement", one.text())
                            .put("at", time(one.epochMicros()))
                            .put("types", types(one.types()))
                            .put("from_sql", one.fromSql()));
        } else {
            cursors.get().forEach(cursor -> put(all, cursor));
            portals.all().forEach(cursor -> put(all, cursor));
        }
        return all.toString();
    }

    private static void put(ArrayNode all, OpenCursor cursor) {
        all.addObject()
                .put("name", cursor.name())
                .put("statement", cursor.statement())
                .put("holdable", cursor.holdable())
                .put("binary", cursor.binary())
                .put("scrollable", cursor.scrollable())
                .put("at", time(cursor.epochMicros()));
    }

    public static String time(long epochMicros) {
        return Instant.EPOCH
                .plusSeconds(Math.floorDiv(epochMicros, 1_000_000))
                .plusNanos(1_000 * Math.floorMod(epochMicros, 1_000_000))
                .toString();
    }

    private static String types(List<DataType> types) {
        return types.stream()
                .map(type -> type.toString().toLowerCase(java.util.Locale.ROOT))
                .map(type -> type.contains(" ") ? '"' + type + '"' : type)
                .collect(Collectors.joining(",", "{", "}"));
    }

    /** Of a session without a protocol. */
    private static final class NoPortals implements ProtocolPortals {
        @Override
        public boolean contains(String name) {
            return false;
        }

        @Override
        public Schema schema(String name) {
            throw new IllegalArgumentException(name);
        }

        @Override
        public StatementResult.Rows fetch(String name, long count) {
            throw new IllegalArgumentException(name);
        }

        @Override
        public void close(String name) {}

        @Override
        public void closeAll() {}

        @Override
        public Collection<OpenCursor> all() {
            return List.of();
        }
    }
}
