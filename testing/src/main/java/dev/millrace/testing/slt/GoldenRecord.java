package dev.millrace.testing.slt;

import java.util.ArrayList;
import java.util.List;

/**
 * One record of a golden file.
 *
 * @param lead the comments and blank lines before it, as they are
 * @param line where its first line is, from 1
 * @param header its first line
 * @param sql the statement
 * @param expected the lines after {@code ----}, for a query
 */
record GoldenRecord(List<String> lead, int line, String header, String sql, List<String> expected) {
    private static final String SEPARATOR = "----";

    boolean isQuery() {
        return header.startsWith("query");
    }

    boolean expectsError() {
        return header.matches("(statement|query) error.*");
    }

    boolean sortsRows() {
        return header.endsWith("rowsort");
    }

    GoldenRecord withHeader(String newHeader) {
        return new GoldenRecord(lead, line, newHeader, sql, expected);
    }

    GoldenRecord withExpected(List<String> newExpected) {
        return new GoldenRecord(lead, line, header, sql, newExpected);
    }

    void appendTo(List<String> lines) {
        lines.addAll(lead);
        if (!header.isEmpty()) {
            lines.add(header);
            lines.addAll(sql.lines().toList());
            if (isQuery() && !expectsError()) {
                lines.add(SEPARATOR);
                lines.addAll(expected);
            }
        }
    }

    /** The records of a file; what follows the last is a record with an empty header. */
    static List<GoldenRecord> parse(List<String> lines) {
        List<GoldenRecord> records = new ArrayList<>();
        int at = 0;
        while (at < lines.size()) {
            int from = at;
            while (at < lines.size() && isBetweenRecords(lines.get(at))) {
                at++;
            }
            List<String> lead = lines.subList(from, at);
            if (at == lines.size()) {
                records.add(new GoldenRecord(lead, at, "", "", List.of()));
                break;
            }
            int header = at++;
            int sql = at;
            while (at < lines.size()
                    && !lines.get(at).isBlank()
                    && !lines.get(at).equals(SEPARATOR)) {
                at++;
            }
            String text = String.join("\n", lines.subList(sql, at));
            int expected = at;
            if (at < lines.size() && lines.get(at).equals(SEPARATOR)) {
                expected = ++at;
                while (at < lines.size() && !lines.get(at).isBlank()) {
                    at++;
                }
            }
            records.add(
                    new GoldenRecord(lead, header + 1, lines.get(header).strip(), text, lines.subList(expected, at)));
        }
        return records;
    }

    private static boolean isBetweenRecords(String line) {
        return line.isBlank() || line.startsWith("#");
    }
}
