package dev.millrace.connectors.csv;

import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.error.MillraceException;
import dev.millrace.format.EncodedRecords;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimestampFormat;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * Guesses columns from the beginning of a file: names from its header in lower case ({@code column1}, ... without one),
 * types from up to {@value #SAMPLE_ROWS} records: the first of boolean, bigint, double precision, date, timestamp,
 * timestamp with time zone and text that all values fit. Without being told, the first record is a header when none of
 * its fields looks like a value.
 */
public final class CsvInference {
    private static final int SAMPLE_ROWS = 20_000;
    private static final int SAMPLE_BYTES = 4 << 20;
    private static final List<DataType> CANDIDATES = List.of(
            DataType.BOOLEAN,
            DataType.BIGINT,
            DataType.DOUBLE,
            DataType.DATE,
            DataType.TIME,
            DataType.TIMESTAMP,
            DataType.TIMESTAMPTZ);

    private CsvInference() {}

    /** The columns and whether the first record names them. */
    public record Inferred(Schema schema, boolean header) {}

    /** Reads the beginning of a file; {@code timestampFormat} is how its timestamps look, if not as usual. */
    public static Inferred infer(Path file, CsvDialect dialect, Optional<TimestampFormat> timestampFormat) {
        try (BufferAllocator allocator = new RootAllocator();
                ByteWindow window = new ByteWindow(allocator, SAMPLE_BYTES);
                FileInput input = FileInput.open(file, dialect.encoding());
                TextBuffer text = new TextBuffer(allocator, 256)) {
            fill(window, input);
            return infer(records(window, dialect), dialect, timestampFormat, text);
        }
    }

    /** Looks at the lines of some records, none of which names the columns. */
    static Schema infer(EncodedRecords records, CsvDialect dialect, Optional<TimestampFormat> timestampFormat) {
        List<RecordText.Split> lines = new ArrayList<>();
        for (int i = 0; i < records.count() && lines.size() <= SAMPLE_ROWS; i++) {
            int at = records.isNull(i) ? records.to(i) : records.from(i);
            while (at < records.to(i)) {
                RecordText.Split line = RecordText.split(records.address(), at, records.to(i), dialect);
                lines.add(line);
                at = line.end();
            }
        }
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer text = new TextBuffer(allocator, 256)) {
            return infer(lines, dialect, timestampFormat, text).schema();
        }
    }

    /** What comes before the damaged part of a file is enough, if there is any. */
    private static void fill(ByteWindow window, FileInput input) {
        try {
            window.fill(input, SAMPLE_BYTES);
        } catch (MillraceException e) {
            if (window.length() == 0) {
                throw e;
            }
        }
    }

    private static List<RecordText.Split> records(ByteWindow window, CsvDialect dialect) {
        long base = window.address();
        int at = window.length() >= 3 && (Memory.getInt(base) & 0xffffff) == 0xbfbbef ? 3 : 0;
        for (int i = 0; i < dialect.skipLines() && at < window.end(); i++) {
            while (at < window.end() && Memory.getByte(base + at) != '\n') {
                at++;
            }
            at = Math.min(window.end(), at + 1);
        }
        List<RecordText.Split> records = new ArrayList<>();
        while (at < window.end() && records.size() <= SAMPLE_ROWS) {
            RecordText.Split record = RecordText.split(base, at, window.end(), dialect);
            boolean comment = dialect.comment() != 0 && Memory.getByte(base + at) == dialect.comment();
            boolean empty =
                    record.fields().size() == 1 && record.fields().get(0).isEmpty();
            at = record.end();
            if (!comment && !empty && (record.complete() || window.isDry())) {
                records.add(record);
            }
        }
        return records;
    }

    private static Inferred infer(
            List<RecordText.Split> records,
            CsvDialect dialect,
            Optional<TimestampFormat> timestampFormat,
            TextBuffer text) {
        if (records.isEmpty()) {
            return new Inferred(new Schema(List.of()), false);
        }
        ValueParser parser = new ValueParser();
        List<String> first = records.get(0).fields();
        boolean header = switch (dialect.header()) {
            case TRUE -> true;
            case FALSE -> false;
            case AUTO ->
                !first.stream().allMatch(String::isBlank)
                        && first.stream()
                                .allMatch(cell -> cell.isBlank()
                                        || typeOf(List.of(cell), timestampFormat, parser, text)
                                                .equals(DataType.TEXT));
        };
        List<String> names = names(header ? first : Collections.nCopies(first.size(), ""));
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < first.size(); i++) {
            List<String> values = new ArrayList<>();
            for (RecordText.Split record : records.subList(header ? 1 : 0, records.size())) {
                if (i < record.fields().size()) {
                    String value = record.fields().get(i);
                    boolean isNull = !record.quoted().get(i)
                            && (value.isBlank() || dialect.nulls().contains(value));
                    if (!isNull) {
                        values.add(dialect.normalisesNumbers() ? normalised(value, dialect) : value);
                    }
                }
            }
            fields.add(new Field(names.get(i), typeOf(values, timestampFormat, parser, text), true));
        }
        return new Inferred(new Schema(fields), header);
    }

    private static String normalised(String value, CsvDialect dialect) {
        String point = dialect.decimalComma() ? value.replace(',', '.') : value;
        String number = dialect.thousands().isEmpty() ? point : point.replace(dialect.thousands(), "");
        return number.matches("[-+0-9.eE ]+") ? number : value;
    }

    /** The names of the columns under a header: in lower case, each another, and none empty. */
    static List<String> names(List<String> header) {
        List<String> names = new ArrayList<>();
        for (String cell : header) {
            names.add(unique(cell.trim().toLowerCase(Locale.ROOT), names.size(), names));
        }
        return names;
    }

    private static String unique(String name, int place, List<String> taken) {
        String wanted = name.isEmpty() ? "column" + (place + 1) : name;
        String unique = wanted;
        for (int i = 1; Collections.frequency(taken, unique) > 0; i++) {
            unique = wanted + "_" + i;
        }
        return unique;
    }

    private static DataType typeOf(
            List<String> values, Optional<TimestampFormat> format, ValueParser parser, TextBuffer text) {
        if (values.isEmpty()) {
            return DataType.TEXT;
        }
        if (format.isPresent()
                && allMatch(values, text, (at, length) -> parser.tryTimestamp(format.get(), at, length))) {
            return DataType.TIMESTAMP;
        }
        for (DataType candidate : CANDIDATES) {
            if (allMatch(values, text, (at, length) -> fits(candidate, parser, at, length))) {
                return candidate;
            }
        }
        return DataType.TEXT;
    }

    private static boolean fits(DataType type, ValueParser parser, long at, int length) {
        if (!parser.tryParse(type, at, length)) {
            return false;
        }
        return switch (type.kind()) {
            case BOOLEAN -> length >= 4; // true and false; single letters and digits are more likely codes
            case DATE -> length <= 11; // no time behind it
            case TIMESTAMP -> !hasZone(at, length); // which a timestamp would drop
            default -> true;
        };
    }

    private static boolean hasZone(long at, int length) {
        byte last = Memory.getByte(at + length - 1);
        boolean sign = false;
        for (int i = Math.max(0, length - 6); i < length; i++) {
            byte c = Memory.getByte(at + i);
            sign |= (c == '+' || c == '-') && length > 16;
        }
        return sign || (last | 0x20) == 'z' || (last | 0x20) == 'c' || (last | 0x20) == 't';
    }

    private interface Test {
        boolean test(long address, int length);
    }

    private static boolean allMatch(List<String> values, TextBuffer text, Test test) {
        for (String value : values) {
            text.clear();
            text.append(value.getBytes(StandardCharsets.UTF_8));
            if (!test.test(text.address(), (int) text.length())) {
                return false;
            }
        }
        return true;
    }
}
