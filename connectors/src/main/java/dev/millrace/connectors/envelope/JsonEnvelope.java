package dev.millrace.connectors.envelope;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.io.IOException;
import java.util.Set;

/**
 * Finds where in a JSON object the rows of an envelope are, without reading them. What Kafka Connect wrote together with its schema is
 * {@code {"schema": .., "payload": ..}}, of which the payload counts. Used again for every record; owned by one thread.
 */
final class JsonEnvelope {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build();

    private static final Set<String> ENDS = Set.of("BEGIN", "END");

    private byte[] bytes = new byte[1024];

    // Of the object that was read last; counted from its start.
    private int afterFrom;
    private int afterTo;
    private int beforeFrom;
    private int beforeTo;
    private int payloadFrom;
    private int payloadTo;
    private boolean hasSchema;
    private boolean isPayloadNull;
    private String op = "";
    private String status = "";
    private boolean hasId;
    private boolean hasTime;
    private boolean hasOther;

    /**
     * What a record of Debezium says. Where its rows are, the methods below tell.
     *
     * @throws MillraceException if it is no object, or has not what its kind must have
     */
    ChangeKind debezium(long address, int length) {
        load(address, length);
        read(0, length);
        int start = 0;
        if (op.isEmpty() && isPayloadNull) {
            return ChangeKind.TOMBSTONE;
        }
        if (op.isEmpty() && payloadTo > payloadFrom) {
            start = payloadFrom;
            read(payloadFrom, payloadTo - payloadFrom);
            afterFrom += start;
            afterTo += start;
            beforeFrom += start;
            beforeTo += start;
        }
        if (op.isEmpty() && ENDS.contains(status) && hasId) {
            return ChangeKind.TRANSACTION;
        }
        if (op.isEmpty() && hasTime && !hasOther) {
            return ChangeKind.HEARTBEAT;
        }
        return DebeziumOperation.kind(op, hasBefore(), hasAfter());
    }

    /**
     * Where the object is that counts: {@link #payloadFrom} and {@link #payloadTo}.
     *
     * @return false if it is null
     * @throws MillraceException if it is no JSON
     */
    boolean unwrap(long address, int length) {
        load(address, length);
        if (firstByte(length) == '{') {
            read(0, length);
            if (hasSchema && isPayloadNull) {
                return false;
            }
            if (hasSchema && payloadTo > payloadFrom) {
                return true;
            }
        }
        payloadFrom = 0;
        payloadTo = length;
        return true;
    }

    private int firstByte(int length) {
        for (int i = 0; i < length; i++) {
            if (bytes[i] > ' ') {
                return bytes[i];
            }
        }
        return 0;
    }

    boolean hasAfter() {
        return afterTo > afterFrom;
    }

    boolean hasBefore() {
        return beforeTo > beforeFrom;
    }

    int afterFrom() {
        return afterFrom;
    }

    int afterTo() {
        return afterTo;
    }

    int beforeFrom() {
        return beforeFrom;
    }

    int beforeTo() {
        return beforeTo;
    }

    int payloadFrom() {
        return payloadFrom;
    }

    int payloadTo() {
        return payloadTo;
    }

    private void load(long address, int length) {
        if (length > bytes.length) {
            bytes = new byte[Math.max(length, Math.min(2 * bytes.length, 1 << 20))];
        }
        Memory.copyOut(address, bytes, 0, length);
    }

    private void clear() {
        afterFrom = 0;
        afterTo = 0;
        beforeFrom = 0;
        beforeTo = 0;
        hasSchema = false;
        isPayloadNull = false;
        op = "";
        status = "";
        hasId = false;
        hasTime = false;
        hasOther = false;
    }

    private void read(int from, int length) {
        clear();
        int foundFrom = 0;
        int foundTo = 0;
        try (JsonParser json = FACTORY.createParser(bytes, from, length)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION, "a record of an envelope must be one JSON object");
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                JsonToken token = json.nextToken();
                int valueFrom = (int) json.currentTokenLocation().getByteOffset();
                String text = token == JsonToken.VALUE_STRING ? json.getText() : "";
                json.skipChildren();
                json.finishToken();
                int valueTo = (int) json.currentLocation().getByteOffset();
                boolean isObject = token == JsonToken.START_OBJECT;
                switch (name) {
                    case "after" -> {
                        afterFrom = isObject ? valueFrom : 0;
                        afterTo = isObject ? valueTo : 0;
                    }
                    case "before" -> {
                        beforeFrom = isObject ? valueFrom : 0;
                        beforeTo = isObject ? valueTo : 0;
                    }
                    case "payload" -> {
                        isPayloadNull = token == JsonToken.VALUE_NULL;
                        foundFrom = isPayloadNull ? 0 : valueFrom;
                        foundTo = isPayloadNull ? 0 : valueTo;
                    }
                    case "schema" -> hasSchema = true;
                    case "op" -> op = text;
                    case "status" -> status = text;
                    case "id" -> hasId = true;
                    case "ts_ms" -> hasTime = true;
                    default -> hasOther = true;
                }
            }
            if (json.nextToken() != null) {
                throw MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "data after the JSON object");
            }
        } catch (JsonProcessingException e) {
            throw MillraceException.user(
                    SqlState.INVALID_TEXT_REPRESENTATION,
                    "invalid input syntax for type json: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw MillraceException.internal("reading from memory failed", e);
        }
        payloadFrom = foundFrom;
        payloadTo = foundTo;
    }
}
