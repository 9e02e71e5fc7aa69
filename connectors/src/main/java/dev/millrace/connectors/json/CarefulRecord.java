package dev.millrace.connectors.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.io.IOException;
import java.util.List;

/** Reads a record by a parser that says what is wrong with it: all that {@link QuickRecord} does not read. Not thread-safe. */
final class CarefulRecord {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build();

    private final List<JsonValues> values;
    private final Members members;
    private byte[] line = new byte[1024];
    private String failedColumn = ""; // whose value is being read

    CarefulRecord(List<JsonValues> values, Members members) {
        this.values = values;
        this.members = members;
    }

    /**
     * Reads an object into a row.
     *
     * @throws MillraceException if it is none, or a value in it does not fit: then {@link #failedColumn} says which
     */
    void read(long address, int length, int row) {
        if (length > line.length) {
            line = new byte[Math.max(length, Math.min(2 * line.length, 1 << 20))];
        }
        Memory.copyOut(address, line, 0, length);
        failedColumn = "";
        try (JsonParser json = FACTORY.createParser(line, 0, length)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw notAnObject(json);
            }
            readMembers(json, members, row, 0);
            if (json.nextToken() != null) {
                throw MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "data after the JSON object");
            }
        } catch (JsonProcessingException e) {
            failedColumn = "";
            throw MillraceException.user(
                    SqlState.INVALID_TEXT_REPRESENTATION,
                    "invalid input syntax for type json: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw MillraceException.internal("reading from memory failed", e);
        }
    }

    /** The column whose value did not fit; empty if the record as a whole did not. */
    String failedColumn() {
        return failedColumn;
    }

    private void readMembers(JsonParser json, Members of, int row, int lineStart) throws IOException {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            Members member = of.find(json.currentName());
            json.nextToken();
            readValue(json, member, row, lineStart);
        }
    }

    /** Reads the value that the parser is at into the columns that it is, or that are within it. */
    private void readValue(JsonParser json, Members value, int row, int lineStart) throws IOException {
        JsonToken token = json.currentToken();
        boolean descends = token == JsonToken.START_OBJECT && value.hasMembers()
                || token == JsonToken.START_ARRAY && value.hasElements();
        if (value.columns().size() + (descends ? 1 : 0) > 1 && token.isStructStart()) {
            readAgain(json, value, descends, row, lineStart);
        } else if (descends) {
            readWithin(json, value, row, lineStart);
        } else if (value.columns().isEmpty()) {
            json.skipChildren();
        } else {
            for (int column : value.columns()) {
                put(json, column, row, lineStart);
            }
        }
    }

    /** Reads an object or array once for each column that it is, and for those within it. */
    private void readAgain(JsonParser json, Members value, boolean descends, int row, int lineStart)
            throws IOException {
        int from = lineStart + (int) json.currentTokenLocation().getByteOffset();
        json.skipChildren();
        int length = lineStart + (int) json.currentLocation().getByteOffset() - from;
        for (int column : value.columns()) {
            try (JsonParser again = FACTORY.createParser(line, from, length)) {
                again.nextToken();
                put(again, column, row, from);
            }
        }
        if (descends) {
            try (JsonParser again = FACTORY.createParser(line, from, length)) {
                again.nextToken();
                readWithin(again, value, row, from);
            }
        }
    }

    private void readWithin(JsonParser json, Members value, int row, int lineStart) throws IOException {
        if (json.currentToken() == JsonToken.START_OBJECT) {
            readMembers(json, value, row, lineStart);
            return;
        }
        for (int number = 0; json.nextToken() != JsonToken.END_ARRAY; number++) {
            readValue(json, value.element(number), row, lineStart);
        }
    }

    private void put(JsonParser json, int column, int row, int lineStart) throws IOException {
        JsonValues value = values.get(column);
        failedColumn = value.name();
        value.put(row, json, json.currentToken(), line, lineStart);
        failedColumn = "";
    }

    private static MillraceException notAnObject(JsonParser json) throws IOException {
        MillraceException error =
                MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "a line must hold one JSON object");
        return json.currentToken() == JsonToken.START_ARRAY
                ? error.withHint("a file that is one array can be split into lines by jq -c '.[]'")
                : error;
    }
}
