package dev.millrace.connectors.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.filter.ColumnTest;
import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.connectors.input.FilePlace;
import dev.millrace.connectors.input.RecordFiles;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.arrow.vector.FieldVector;

/** Reads files of JSON lines one after another. Each line is validated, then kept if it passes the filter. */
final class JsonReader implements SourceReader, RecordFiles.Records {
    private static final String FORM = "json";
    private static final int VERSION = 2;
    private static final int LEAST_PLACE_BYTES = 51; // in a position
    private static final int WINDOW_BYTES = 256 << 10;
    private static final int SHOWN_CHARS = 300;
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build();

    private final Schema schema;
    private final List<Integer> requested;
    private final RowFilter filter;
    private final List<JsonValues> values = new ArrayList<>();
    private final Members members;
    private final int maxRecordBytes;
    private final SourceContext context;
    private final Queue<FilePlace> waiting;
    private final RecordFiles files;
    private final ByteWindow window;

    private byte[] line = new byte[1024];
    private String failedColumn = ""; // whose value is being read
    private long lineNumber;
    private boolean skippingLine;

    JsonReader(
            List<JsonColumn> columns,
            ScanRequest request,
            int maxRecordBytes,
            List<FilePlace> places,
            boolean follow,
            SourceContext context) {
        Schema relation = new Schema(columns.stream().map(JsonColumn::field).toList());
        this.requested = request.columns();
        this.schema = relation.select(requested);
        this.filter = RowFilter.of(request.predicates(), relation);
        for (int i = 0; i < columns.size(); i++) {
            boolean kept = requested.contains(i) || filter.tests(i);
            values.add(new JsonValues(columns.get(i), kept, context.allocator()));
        }
        this.members = Members.of(columns);
        this.maxRecordBytes = maxRecordBytes;
        this.context = context;
        this.waiting = new ArrayDeque<>(places);
        long totalBytes =
                places.stream().map(FilePlace::file).mapToLong(JsonReader::size).sum();
        this.files = new RecordFiles(this, totalBytes, WINDOW_BYTES, maxRecordBytes, follow, context.allocator());
        this.window = files.window();
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return 0; // opening it will tell
        }
    }

    @Override
    public Optional<Batch> poll() {
        return files.poll();
    }

    @Override
    public Optional<RecordFiles.Opened> open() {
        FilePlace next = waiting.poll();
        if (next == null) {
            return Optional.empty();
        }
        lineNumber = next.line();
        skippingLine = next.inRecord();
        FileInput input = FileInput.open(next.file(), Encoding.UTF_8, next.from(), next.to());
        return Optional.of(new RecordFiles.Opened(input, next.from(), size(next.file())));
    }

    /** How many files are left, 4 bytes, then the place in each. */
    @Override
    public Optional<SourcePosition> position() {
        List<FilePlace> left = new ArrayList<>();
        if (files.isOpen()) {
            Path file = files.input().file();
            left.add(new FilePlace(file, files.offset(), Long.MAX_VALUE, lineNumber, skippingLine));
        }
        left.addAll(waiting);
        return Optional.of(SourcePosition.of(FORM, VERSION, out -> {
            out.writeInt(left.size());
            for (FilePlace place : left) {
                place.write(out);
            }
        }));
    }

    static List<FilePlace> places(SourcePosition position) {
        return position.read(FORM, VERSION, in -> {
            List<FilePlace> places = new ArrayList<>();
            for (int left = SourcePosition.count(in, LEAST_PLACE_BYTES); left > 0; left--) {
                places.add(FilePlace.read(in));
            }
            return places;
        });
    }

    @Override
    public Optional<Batch> read(boolean atEnd) {
        int before = window.start();
        int rows = readLines(atEnd);
        if (rows > 0 || window.start() > before) {
            return Optional.of(batch(rows)); // without rows rather than blocking until there are some
        }
        values.forEach(JsonValues::abandon);
        return Optional.empty();
    }

    @Override
    public long line() {
        return lineNumber;
    }

    @Override
    public void giveUp() {
        if (!skippingLine) {
            reject(
                    "",
                    MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED, "record is longer than " + maxRecordBytes + " bytes"),
                    "");
        }
        skippingLine = true;
        window.consumeTo(window.end());
    }

    /** Reads the lines in the window, up to a batch of rows; returns how many rows they gave. */
    private int readLines(boolean atEnd) {
        int capacity = context.batchRows();
        values.forEach(column -> column.begin(capacity));
        int rows = 0;
        while (rows < capacity) {
            int from = window.start();
            int end = lineEnd(from);
            boolean complete = end < window.end();
            if (!complete && (!atEnd || from == window.end())) {
                break;
            }
            if (skippingLine) {
                skippingLine = false;
            } else if (readLine(from, end, rows)) {
                rows++;
            }
            lineNumber++;
            window.consumeTo(Math.min(window.end(), end + 1));
        }
        return rows;
    }

    private int lineEnd(int from) {
        int at = from;
        while (at < window.end() && Memory.getByte(window.address() + at) != '\n') {
            at++;
        }
        return at;
    }

    /** Reads a line as a row; false when it is blank or was rejected. */
    private boolean readLine(int from, int end, int row) {
        int length = end - from;
        if (length > line.length) {
            line = new byte[Math.max(length, 2 * line.length)];
        }
        Memory.copyOut(window.address() + from, line, 0, length);
        int start = lineNumber == 1 && length >= 3 && line[0] == (byte) 0xef && line[1] == (byte) 0xbb ? 3 : 0;
        if (isBlank(start, length)) {
            return false;
        }
        String column = "";
        try (JsonParser json = FACTORY.createParser(line, start, length - start)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw notAnObject(json);
            }
            readMembers(json, members, row, start);
            if (json.nextToken() != null) {
                throw MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "data after the JSON object");
            }
            for (JsonValues value : values) {
                column = value.name();
                value.checkPresent(row);
            }
        } catch (JsonProcessingException e) {
            reject(
                    row,
                    "",
                    MillraceException.user(
                            SqlState.INVALID_TEXT_REPRESENTATION,
                            "invalid input syntax for type json: " + e.getOriginalMessage()),
                    length);
            return false;
        } catch (MillraceException e) {
            reject(row, column.isEmpty() ? failedColumn : column, e, length);
            return false;
        } catch (IOException e) {
            throw MillraceException.internal("reading from memory failed", e);
        }
        if (!passes(row)) {
            values.forEach(value -> value.drop(row));
            return false;
        }
        for (JsonValues value : values) {
            value.keep(row);
        }
        return true;
    }

    private boolean passes(int row) {
        for (ColumnTest test : filter.tests()) {
            if (!values.get(test.column()).passes(test, row)) {
                return false;
            }
        }
        return true;
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

    private boolean isBlank(int from, int length) {
        for (int i = from; i < length; i++) {
            if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
                return false;
            }
        }
        return true;
    }

    private void reject(int row, String column, MillraceException reason, int length) {
        failedColumn = "";
        values.forEach(value -> value.drop(row));
        reject(column, reason, new String(line, 0, Math.min(length, 4 * SHOWN_CHARS), StandardCharsets.UTF_8));
    }

    private void reject(String column, MillraceException reason, String text) {
        String printable = text.replaceAll("[\\p{Cntrl}&&[^\\t]]", "\ufffd");
        String shown = printable.length() > SHOWN_CHARS ? printable.substring(0, SHOWN_CHARS) + "..." : printable;
        context.reject(new RejectedRecord(
                files.input().file().toString(), lineNumber, column, reason.getMessage(), reason.sqlState(), shown));
    }

    private Batch batch(int rows) {
        FieldVector[] vectors = new FieldVector[requested.size()];
        for (int i = 0; i < vectors.length; i++) {
            vectors[i] = values.get(requested.get(i)).finish(rows);
        }
        values.forEach(JsonValues::abandon); // of columns that were only tested
        return Batch.of(schema, vectors, rows);
    }

    @Override
    public boolean isFinished() {
        return files.isFinished();
    }

    @Override
    public long retryAfterMicros() {
        return files.retryAfterMicros();
    }

    @Override
    public double progress() {
        return files.progress();
    }

    @Override
    public void close() {
        values.forEach(JsonValues::close);
        files.close();
    }
}
