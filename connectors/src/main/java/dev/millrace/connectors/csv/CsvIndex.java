package dev.millrace.connectors.csv;

import dev.millrace.connectors.filter.Selection;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;

/**
 * Finds the fields of records in a block of bytes: where each ends, in one flat array, row after row.
 *
 * <pre>
 *   a,"b ""c""",d\r\n       ends:  1          11|QUOTED|ESCAPED   13
 *   ^ rowStarts             a field starts one after the end of the one before it
 * </pre>
 *
 * <p>Eight bytes are compared at once with the delimiter, the line end and the quote (the zero-byte test of H. Warren,
 * "Hacker's Delight", section 6-1, in its form without false hits). A quote counts only where a field begins. Records
 * with too few or too many fields, or with something behind a closing quote, never get into the index. Not thread-safe.
 */
final class CsvIndex {
    static final int QUOTED = 1 << 31;
    static final int ESCAPED = 1 << 30;
    static final int ABSENT = 1 << 29;
    static final int POSITION = ABSENT - 1;

    /** Told of records that cannot be split into fields. */
    interface Problems {
        void report(int from, int to, long line, SqlState state, String reason);
    }

    private static final long ONES = 0x0101010101010101L;
    private static final long LOW_BITS = 0x7f7f7f7f7f7f7f7fL;
    private static final int INCOMPLETE = -1;

    private final CsvDialect dialect;
    private final int fields;
    private final String[] names;
    private final byte delimiter;
    private final byte quote;
    private final long delimiters;
    private final long newlines;
    private final long quotes;
    private final Problems problems;

    int rows;
    final int[] ends;
    final int[] rowStarts;
    final long[] lines;

    private long line; // of the byte at which scanning goes on, from 1

    // Of the scan under way.
    private long base;
    private int limit;
    private boolean last;
    private int newlinesInQuotes;
    private int closeFlags;

    /** An index of up to {@code maxRows} records with fields of the given names; the names only serve messages. */
    CsvIndex(CsvDialect dialect, String[] names, int maxRows, Problems problems) {
        this.dialect = dialect;
        this.fields = names.length;
        this.names = names;
        this.problems = problems;
        this.ends = new int[Math.multiplyExact(maxRows, fields)];
        this.rowStarts = new int[maxRows];
        this.lines = new long[maxRows];
        this.delimiter = dialect.delimiter();
        this.quote = dialect.quote();
        this.delimiters = (delimiter & 0xffL) * ONES;
        this.newlines = '\n' * ONES;
        this.quotes = quote == 0 ? newlines : (quote & 0xffL) * ONES;
    }

    void startAtLine(long newLine) {
        line = newLine;
    }

    long line() {
        return line;
    }

    int fields() {
        return fields;
    }

    /**
     * Indexes records between {@code from} and {@code to}, as many as there is room for, and returns where the first
     * record begins that was not: it is incomplete, or the index is full.
     *
     * @param atEnd whether nothing follows, so that the last record needs no line end
     */
    int scan(long address, int from, int to, boolean atEnd) {
        rows = 0;
        return scanMore(address, from, to, atEnd);
    }

    /** The same, behind the records that are indexed already; the address is as it was. */
    int scanMore(long address, int from, int to, boolean atEnd) {
        base = address;
        limit = to;
        last = atEnd;
        int recordStart = from;
        int position = from;
        int next = rows * fields; // place of the next end
        int seen = 0; // fields of this record, those without a column included
        int fieldStart = from;
        int flags = 0;
        boolean junk = false;
        long recordLine = line;
        boolean comments = dialect.comment() != 0;
        if (comments) {
            position = skipComments(position);
            recordStart = position;
            fieldStart = position;
            recordLine = line;
        }
        while (position < to && rows < rowStarts.length) {
            long matches = matches(Memory.getLong(address + position));
            int word = position;
            position += 8;
            while (matches != 0) {
                int hit = word + (Long.numberOfTrailingZeros(matches) >>> 3);
                matches &= matches - 1;
                if (hit >= to) {
                    break;
                }
                byte c = Memory.getByte(address + hit);
                if (c == delimiter) {
                    if (seen < fields - 1) {
                        ends[next++] = hit | flags;
                    } else if (seen == fields - 1) {
                        ends[next] = hit | flags; // kept only if what follows may be ignored
                    }
                    seen++;
                    flags = 0;
                    fieldStart = hit + 1;
                } else if (c == '\n') {
                    int end = hit > recordStart && Memory.getByte(address + hit - 1) == '\r' ? hit - 1 : hit;
                    if (end > recordStart) {
                        next = endRecord(recordStart, end, next, seen, flags, junk, recordLine);
                    }
                    line++;
                    recordStart = hit + 1;
                    if (comments) {
                        recordStart = skipComments(recordStart);
                    }
                    fieldStart = recordStart;
                    recordLine = line;
                    seen = 0;
                    flags = 0;
                    junk = false;
                    if (rows == rowStarts.length) {
                        return recordStart;
                    }
                    if (comments && recordStart != hit + 1) {
                        position = recordStart;
                        break;
                    }
                } else if (startsField(fieldStart, hit)) {
                    int close = closingQuote(hit + 1);
                    if (close == INCOMPLETE) {
                        if (!last) {
                            line = recordLine;
                            return recordStart;
                        }
                        // Only its first line is lost: the quote was a slip more likely than the rest one field.
                        int lineEnd = endOfLine(recordStart);
                        problems.report(
                                recordStart,
                                lineEnd,
                                recordLine,
                                SqlState.BAD_COPY_FILE_FORMAT,
                                "unterminated CSV quoted field");
                        line = recordLine + 1;
                        return lineEnd;
                    }
                    line += newlinesInQuotes;
                    flags = closeFlags;
                    position = close + 1;
                    junk |= !endsField(position);
                    fieldStart = Integer.MAX_VALUE; // no other quote begins this field
                    break;
                }
            }
        }
        if (atEnd && recordStart < to && rows < rowStarts.length) {
            int end = Memory.getByte(address + to - 1) == '\r' && to - 1 > recordStart ? to - 1 : to;
            endRecord(recordStart, end, next, seen, flags, junk, recordLine);
            line++;
            return to;
        }
        line = recordLine;
        return recordStart;
    }

    /** High bits of the bytes that are a delimiter, line end or quote. */
    private long matches(long word) {
        long x = word ^ delimiters;
        long y = word ^ newlines;
        long z = word ^ quotes;
        long others = (((x & LOW_BITS) + LOW_BITS) | x)
                & (((y & LOW_BITS) + LOW_BITS) | y)
                & (((z & LOW_BITS) + LOW_BITS) | z);
        return ~(others | LOW_BITS);
    }

    /** Closes a record that is not empty; returns the place of the next end. */
    private int endRecord(int from, int end, int next, int seen, int flags, boolean junk, long recordLine) {
        int first = rows * fields;
        if (junk) {
            problems.report(
                    from, end, recordLine, SqlState.BAD_COPY_FILE_FORMAT, "data after the closing quote of a field");
            return first;
        }
        int place = next;
        if (seen < fields) {
            ends[place++] = end | flags;
        } else if (!dialect.ignoreExtra()) {
            problems.report(
                    from, end, recordLine, SqlState.BAD_COPY_FILE_FORMAT, "extra data after last expected column");
            return first;
        } else {
            place++;
        }
        if (seen < fields - 1) {
            if (!dialect.nullPadding()) {
                problems.report(
                        from,
                        end,
                        recordLine,
                        SqlState.BAD_COPY_FILE_FORMAT,
                        "missing data for column \"" + names[seen + 1] + "\"");
                return first;
            }
            while (place < first + fields) {
                ends[place++] = end | ABSENT;
            }
        }
        rowStarts[rows] = from;
        lines[rows] = recordLine;
        rows++;
        return place;
    }

    private boolean startsField(int fieldStart, int hit) {
        if (hit == fieldStart) {
            return true;
        }
        if (!dialect.trim() || fieldStart > hit) {
            return false;
        }
        for (int at = fieldStart; at < hit; at++) {
            byte c = Memory.getByte(base + at);
            if (c != ' ' && c != '\t') {
                return false;
            }
        }
        return true;
    }

    /** Whether a quoted field may end before {@code position}: blanks may follow it when trimming. */
    private boolean endsField(int position) {
        int at = position;
        while (dialect.trim() && at < limit && Memory.getByte(base + at) == ' ') {
            at++;
        }
        if (at >= limit) {
            return true;
        }
        byte c = Memory.getByte(base + at);
        return c == delimiter || c == '\n' || (c == '\r' && (at + 1 >= limit || Memory.getByte(base + at + 1) == '\n'));
    }

    /** Where the quote is that ends the field whose text starts at {@code from}, or INCOMPLETE. */
    private int closingQuote(int from) {
        byte escape = dialect.escape();
        newlinesInQuotes = 0;
        closeFlags = QUOTED;
        int at = from;
        while (at < limit) {
            byte c = Memory.getByte(base + at);
            if (c == quote || c == escape) {
                boolean lookAhead = at + 1 < limit;
                if (!lookAhead && !last) {
                    return INCOMPLETE;
                }
                byte following = lookAhead ? Memory.getByte(base + at + 1) : 0;
                boolean escapes = c == escape && lookAhead && (following == quote || following == escape);
                if (escapes) {
                    closeFlags |= ESCAPED;
                    at += 2;
                    continue;
                }
                if (c == quote) {
                    return at;
                }
            } else if (c == '\n') {
                newlinesInQuotes++;
            }
            at++;
        }
        return INCOMPLETE;
    }

    private int endOfLine(int from) {
        int at = from;
        while (at < limit && Memory.getByte(base + at) != '\n') {
            at++;
        }
        return Math.min(limit, at + 1);
    }

    private int skipComments(int from) {
        int at = from;
        while (at < limit && Memory.getByte(base + at) == dialect.comment()) {
            int end = at;
            while (end < limit && Memory.getByte(base + end) != '\n') {
                end++;
            }
            if (end == limit && !last) {
                return at;
            }
            line++;
            at = Math.min(limit, end + 1);
        }
        return at;
    }

    /** Where the field begins. */
    int start(int row, int field) {
        return field == 0 ? rowStarts[row] : (ends[row * fields + field - 1] & POSITION) + 1;
    }

    /** Keeps the selected rows only. */
    void keep(Selection selection) {
        for (int i = 0; i < selection.count(); i++) {
            int row = selection.row(i);
            if (i < row) {
                System.arraycopy(ends, row * fields, ends, i * fields, fields);
                rowStarts[i] = rowStarts[row];
                lines[i] = lines[row];
            }
        }
        rows = selection.count();
    }

    /** Where a record ends: its last field. */
    int recordEnd(int row) {
        return ends[row * fields + fields - 1] & POSITION;
    }
}
