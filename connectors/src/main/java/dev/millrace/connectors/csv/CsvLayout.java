package dev.millrace.connectors.csv;

import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where the columns are in a file: its fields' names and, per column, the field that holds it.
 *
 * @param names of the fields; those of the columns when there is no header
 * @param fieldOf the place of each column; {@value #ABSENT} if the file does not have it
 */
record CsvLayout(List<String> names, List<Integer> fieldOf) {
    static final int ABSENT = -1;

    static final int MOST_PREAMBLE_LINES = 100;

    private static final String BYTE_ORDER_MARK = "\ufeff";

    /** What precedes the first record of a file, and the layout that follows from it. */
    record Start(CsvLayout layout, int position, long line) {}

    /**
     * Reads what precedes the first record; empty when the window has not enough of it and more may come.
     *
     * @throws MillraceException when the header lacks a column
     */
    static Optional<Start> read(
            ByteWindow window, boolean atEnd, CsvDialect dialect, List<CsvColumn> columns, FileInput input) {
        int at = window.start();
        long base = window.address();
        if (window.length() >= 3 && (Memory.getInt(base + at) & 0xffffff) == 0xbfbbef) {
            at += 3;
        }
        long line = 1;
        for (int toSkip = dialect.skipLines(); toSkip > 0 && at < window.end(); toSkip--) {
            at = lineEnd(base, at, window.end());
            line++;
        }
        while (at < window.end() && isSkipped(base, at, window.end(), dialect)) {
            at = lineEnd(base, at, window.end());
            line++;
        }
        boolean inLine = at > window.start() && Memory.getByte(base + at - 1) != '\n' && line > 1;
        if (inLine && !atEnd) {
            return Optional.empty(); // a line to be skipped has not ended yet
        }
        if (dialect.header() == CsvDialect.Header.FALSE) {
            return Optional.of(new Start(byPosition(columns), at, line));
        }
        RecordText.Split first = RecordText.split(base, at, window.end(), dialect);
        if (dialect.skipLines() == CsvDialect.UP_TO_HEADER) {
            int start = at;
            RecordText.Split tried = first;
            long lines = 0;
            while (tried.complete() && !isHeader(tried, columns) && lines < MOST_PREAMBLE_LINES) {
                start = tried.end();
                lines += tried.lines();
                tried = RecordText.split(base, start, window.end(), dialect);
            }
            if (!tried.complete() && !atEnd && lines < MOST_PREAMBLE_LINES) {
                return Optional.empty();
            }
            if (isHeader(tried, columns)) {
                first = tried;
                at = start;
                line += lines;
            }
        }
        if (!first.complete() && !atEnd) {
            return Optional.empty();
        }
        List<String> names = first.fields().stream()
                .map(name -> name.replace(BYTE_ORDER_MARK, "").trim())
                .toList();
        boolean header = at < window.end()
                && (dialect.header() == CsvDialect.Header.TRUE || new HeaderPlaces(names).namesAny(columns));
        if (!header) {
            return Optional.of(new Start(byPosition(columns), at, line));
        }
        at = first.end();
        line += first.lines();
        for (int toSkip = dialect.skipAfterHeader(); toSkip > 0 && at < window.end(); toSkip--) {
            at = lineEnd(base, at, window.end());
            line++;
        }
        boolean isCut = at == window.end() && dialect.skipAfterHeader() > 0;
        if (isCut && !atEnd) {
            return Optional.empty(); // a line behind the header has not come or not ended yet
        }
        return Optional.of(new Start(byName(names, columns, dialect.unionByName(), input), at, line));
    }

    /** Whether most of its fields name columns. */
    private static boolean isHeader(RecordText.Split record, List<CsvColumn> columns) {
        List<String> fields = record.fields().stream().map(String::trim).toList();
        HeaderPlaces places = new HeaderPlaces(fields);
        long named = columns.stream()
                .filter(column -> places.of(column.field().name()) >= 0)
                .count();
        return 2 * named > fields.stream().filter(field -> !field.isEmpty()).count();
    }

    private static CsvLayout byPosition(List<CsvColumn> columns) {
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            places.add(i);
        }
        return new CsvLayout(
                columns.stream().map(column -> column.field().name()).toList(), places);
    }

    private static CsvLayout byName(List<String> names, List<CsvColumn> columns, boolean mayLackSome, FileInput input) {
        HeaderPlaces header = new HeaderPlaces(names);
        boolean hasAny = header.namesAny(columns);
        List<Integer> places = new ArrayList<>();
        for (CsvColumn column : columns) {
            String name = column.field().name();
            int place = header.of(name);
            if (place < 0 && !(mayLackSome && hasAny)) {
                MillraceException error = MillraceException.user(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + name + "\" is not in the header of file \"" + input.file() + "\"");
                throw Suggestion.nearest(name, names)
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElseGet(() -> error.withHint("its columns are: " + String.join(", ", names)));
            }
            places.add(place < 0 ? ABSENT : place);
        }
        return new CsvLayout(names, places);
    }

    private static boolean isSkipped(long base, int at, int end, CsvDialect dialect) {
        byte c = Memory.getByte(base + at);
        return c == '\n'
                || (c == '\r' && at + 1 < end && Memory.getByte(base + at + 1) == '\n')
                || (c == dialect.comment() && c != 0);
    }

    private static int lineEnd(long base, int from, int end) {
        int at = from;
        while (at < end && Memory.getByte(base + at) != '\n') {
            at++;
        }
        return Math.min(end, at + 1);
    }
}
