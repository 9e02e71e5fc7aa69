package dev.millrace.connectors.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.connectors.input.GuessedColumns;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * Guesses columns from the first lines: members by their names in lower case, in the order in which they appear; bigint,
 * double precision, boolean, timestamp with time zone, text, or jsonb for objects and arrays.
 */
public final class JsonInference {
    private static final int SAMPLE_BYTES = 8 << 20;
    private static final int LEAST_FILE_BYTES = 32 << 10;
    private static final int MOST_FILES = SAMPLE_BYTES / LEAST_FILE_BYTES;

    private JsonInference() {}

    /**
     * Reads the beginnings of files, of many of some only; lines that are no objects do not count.
     *
     * @throws MillraceException if none can be read
     */
    public static Schema ofFiles(List<Path> files) {
        int step = (files.size() + MOST_FILES - 1) / MOST_FILES;
        int bytes = Math.max(LEAST_FILE_BYTES, SAMPLE_BYTES / Math.min(files.size(), MOST_FILES));
        Map<String, DataType> types = new LinkedHashMap<>();
        Optional<MillraceException> failure = Optional.empty();
        boolean isAnyRead = false;
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer text = new TextBuffer(allocator, 64)) {
            for (int i = 0; i < files.size(); i += step) {
                Interrupt.checkCurrent();
                try {
                    lines(files.get(i), bytes, allocator).forEach(line -> readLine(line, types, text));
                    isAnyRead = true;
                } catch (MillraceException e) {
                    failure = failure.or(() -> Optional.of(e)); // reading it tells what is wrong with it
                }
            }
        }
        if (!isAnyRead && failure.isPresent()) {
            throw failure.get();
        }
        return schema(types);
    }

    private static List<String> lines(Path file, int most, BufferAllocator allocator) {
        try (ByteWindow window = new ByteWindow(allocator, most);
                FileInput input = FileInput.open(file, Encoding.UTF_8)) {
            window.fill(input, most);
            byte[] bytes = new byte[window.length()];
            Memory.copyOut(window.address() + window.start(), bytes, 0, bytes.length);
            String[] lines = new String(bytes, StandardCharsets.UTF_8)
                    .replace("\ufeff", "")
                    .split("\n");
            int whole = window.isDry() || lines.length == 1 ? lines.length : lines.length - 1;
            return List.of(lines).subList(0, whole);
        }
    }

    /** Looks at some records; those that are no objects do not count. */
    static Schema infer(List<String> records) {
        Map<String, DataType> types = new LinkedHashMap<>();
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer text = new TextBuffer(allocator, 64)) {
            records.forEach(record -> readLine(record, types, text));
        }
        return schema(types);
    }

    private static Schema schema(Map<String, DataType> types) {
        GuessedColumns.requireFew(types.size());
        List<Field> fields = new ArrayList<>();
        types.forEach((name, type) ->
                fields.add(new Field(name, type.kind() == DataType.Kind.NULL ? DataType.TEXT : type, true)));
        return new Schema(fields);
    }

    private static void readLine(String line, Map<String, DataType> types, TextBuffer text) {
        try (JsonParser json = new JsonFactory().createParser(line)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName().toLowerCase(Locale.ROOT);
                DataType type = typeOf(json.nextToken(), json, text);
                json.skipChildren();
                types.merge(name, type, JsonInference::common);
            }
        } catch (IOException e) {
            // reading it will reject it
        }
    }

    private static DataType typeOf(JsonToken token, JsonParser json, TextBuffer text) throws IOException {
        return switch (token) {
            case VALUE_TRUE, VALUE_FALSE -> DataType.BOOLEAN;
            case VALUE_NUMBER_INT ->
                json.getNumberType() == JsonParser.NumberType.BIG_INTEGER ? DataType.DOUBLE : DataType.BIGINT;
            case VALUE_NUMBER_FLOAT -> DataType.DOUBLE;
            case VALUE_STRING -> {
                text.clear();
                text.append(json.getText().getBytes(StandardCharsets.UTF_8));
                boolean time =
                        text.length() >= 16 && new ValueParser().tryTimestamptz(text.address(), (int) text.length());
                yield time ? DataType.TIMESTAMPTZ : DataType.TEXT;
            }
            case VALUE_NULL -> DataType.NULL;
            default -> DataType.JSONB;
        };
    }

    private static DataType common(DataType a, DataType b) {
        if (a.equals(b) || b.kind() == DataType.Kind.NULL) {
            return a;
        }
        if (a.kind() == DataType.Kind.NULL) {
            return b;
        }
        boolean numbers = a.isNumber() && b.isNumber();
        return numbers ? DataType.DOUBLE : DataType.TEXT;
    }
}
