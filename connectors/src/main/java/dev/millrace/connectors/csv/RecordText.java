package dev.millrace.connectors.csv;

import dev.millrace.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Splits single records into strings: slow and plain, for headers and samples. */
final class RecordText {
    private RecordText() {}

    /**
     * A record's fields and what is around it.
     *
     * @param quoted per field, whether it was in quotes
     * @param end where the next record begins
     * @param lines that it took
     * @param complete whether its line end was found
     */
    record Split(List<String> fields, List<Boolean> quoted, int end, int lines, boolean complete) {}

    static Split split(long base, int from, int to, CsvDialect dialect) {
        List<String> fields = new ArrayList<>();
        List<Boolean> quotes = new ArrayList<>();
        StringBuilder bytes = new StringBuilder(); // of Latin-1 characters, one per byte
        boolean inQuotes = false;
        boolean wasQuoted = false;
        boolean complete = false;
        int lines = 0;
        int at = from;
        while (at < to && !complete) {
            byte c = Memory.getByte(base + at++);
            byte following = at < to ? Memory.getByte(base + at) : 0;
            if (inQuotes) {
                if (c == dialect.escape()
                        && at < to
                        && (following == dialect.quote() || following == dialect.escape())) {
                    bytes.append((char) (following & 0xff));
                    at++;
                } else if (c == dialect.quote()) {
                    inQuotes = false;
                } else {
                    lines += c == '\n' ? 1 : 0;
                    bytes.append((char) (c & 0xff));
                }
            } else if (c == dialect.delimiter()) {
                add(fields, quotes, bytes, wasQuoted);
                wasQuoted = false;
            } else if (c == '\n') {
                complete = true;
            } else if (c == dialect.quote() && c != 0 && bytes.toString().isBlank() && !wasQuoted) {
                bytes.setLength(0);
                inQuotes = true;
                wasQuoted = true;
            } else if (c != '\r' || following != '\n') {
                bytes.append((char) (c & 0xff));
            }
        }
        add(fields, quotes, bytes, wasQuoted);
        return new Split(fields, quotes, at, lines + 1, complete && !inQuotes);
    }

    private static void add(List<String> fields, List<Boolean> quotes, StringBuilder bytes, boolean quoted) {
        fields.add(new String(bytes.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
        quotes.add(quoted);
        bytes.setLength(0);
    }
}
