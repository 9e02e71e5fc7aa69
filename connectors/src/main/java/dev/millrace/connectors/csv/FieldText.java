package dev.millrace.connectors.csv;

import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The texts of one column in an indexed block, as they are to be parsed: without the blanks, quotes and escapes around
 * and in them, numbers in their plain form. Not thread-safe.
 */
final class FieldText implements AutoCloseable {
    /** The length of NULL. */
    static final int NULL_VALUE = -1;

    private static final byte[] NO_BYTES = {};

    private final CsvDialect dialect;
    private final int field;
    private final byte[][] nulls;
    private final boolean[] startsNull = new boolean[256];
    private final boolean emptyIsNull;
    private final boolean text;
    private final boolean normalises;
    private final byte[] thousands;
    private final TextBuffer scratch; // of values that are not in the block as they are parsed

    // Of the block under way.
    @SuppressWarnings("NullAway.Init") // by start, with the first block
    private CsvIndex index;

    private long base;

    /** Address of the value located last, with slack behind it; valid until the next is located. */
    long at;

    /** @param field which of a record; {@link CsvLayout#ABSENT} for one that is always NULL */
    FieldText(DataType type, int field, CsvDialect dialect, BufferAllocator allocator) {
        this.dialect = dialect;
        this.field = field;
        this.text = type.isText() || type.kind() == DataType.Kind.BYTEA;
        this.nulls = dialect.nulls().stream()
                .filter(word -> !word.isEmpty())
                .map(word -> word.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        for (byte[] word : nulls) {
            startsNull[word[0] & 0xff] = true;
        }
        this.emptyIsNull = !text || dialect.nulls().contains("");
        this.normalises = dialect.normalisesNumbers() && type.isNumber();
        this.thousands = normalises ? dialect.thousands().getBytes(StandardCharsets.UTF_8) : NO_BYTES;
        this.scratch = new TextBuffer(allocator, 64);
    }

    /** Goes to another block, which begins at {@code newBase}. */
    void start(CsvIndex newIndex, long newBase) {
        index = newIndex;
        base = newBase;
    }

    /** At least the bytes that the column's text takes. */
    long rawBytes() {
        if (field == CsvLayout.ABSENT) {
            return 0;
        }
        long bytes = 0;
        for (int row = 0; row < index.rows; row++) {
            int end = index.ends[row * index.fields() + field];
            if ((end & CsvIndex.ABSENT) == 0) { // what is absent has no place
                bytes += (end & CsvIndex.POSITION) - index.start(row, field);
            }
        }
        return bytes;
    }

    /** Sets {@link #at} to the text of a row's value and returns its length, or {@link #NULL_VALUE}. */
    int locate(int row) {
        if (field == CsvLayout.ABSENT) {
            return NULL_VALUE;
        }
        int end = index.ends[row * index.fields() + field];
        int start = index.start(row, field);
        if ((end & ~CsvIndex.POSITION) != 0) {
            return locateFlagged(start, end);
        }
        int length = end - start;
        at = base + start;
        if (length == 0) {
            return emptyIsNull ? NULL_VALUE : 0;
        }
        int first = Memory.getByte(at);
        if (first <= ' ' && first >= 0 || Memory.getByte(at + length - 1) == ' ') {
            length = trimmed(length);
            if (length == 0) {
                return emptyIsNull ? NULL_VALUE : 0;
            }
            first = Memory.getByte(at);
        }
        if (startsNull[first & 0xff] && isNullText(length)) {
            return NULL_VALUE;
        }
        return normalises ? normalised(length) : length;
    }

    private int trimmed(int length) {
        if (text && !dialect.trim()) {
            return length;
        }
        int kept = length;
        while (kept > 0 && isBlank(Memory.getByte(at + kept - 1))) {
            kept--;
        }
        while (kept > 0 && isBlank(Memory.getByte(at))) {
            at++;
            kept--;
        }
        return kept;
    }

    private static boolean isBlank(byte c) {
        return c == ' ' || c == '\t';
    }

    private boolean isNullText(int length) {
        for (byte[] word : nulls) {
            if (word.length == length) {
                int same = 0;
                while (same < length && Memory.getByte(at + same) == word[same]) {
                    same++;
                }
                if (same == length) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A quoted value, never NULL, its quotes and escapes removed; or one that the record does not have. */
    private int locateFlagged(int start, int end) {
        if ((end & CsvIndex.ABSENT) != 0) {
            return NULL_VALUE;
        }
        long from = base + start;
        long to = base + (end & CsvIndex.POSITION);
        while (Memory.getByte(from) != dialect.quote()) {
            from++; // blanks before the quote
        }
        from++;
        do {
            to--; // blanks behind the quote, and the quote
        } while (Memory.getByte(to) != dialect.quote());
        at = from;
        int length = (int) (to - from);
        if ((end & CsvIndex.ESCAPED) != 0) {
            length = unescaped(from, to);
        }
        return normalises ? normalised(length) : length;
    }

    private int unescaped(long from, long to) {
        scratch.clear();
        long target = scratch.room(to - from + ByteWindow.SLACK_BYTES);
        long next = target;
        for (long source = from; source < to; source++) {
            byte c = Memory.getByte(source);
            if (c == dialect.escape() && source + 1 < to) {
                byte following = Memory.getByte(source + 1);
                if (following == dialect.quote() || following == dialect.escape()) {
                    c = following;
                    source++;
                }
            }
            Memory.putByte(next++, c);
        }
        at = target;
        return (int) (next - target);
    }

    /** A number with a point for its comma and without thousands marks, in the scratch buffer. */
    private int normalised(int length) {
        boolean inScratch = at >= scratch.address() && at < scratch.address() + 8;
        if (!inScratch) {
            scratch.clear();
            scratch.room(length + ByteWindow.SLACK_BYTES);
        }
        long source = at;
        long end = at + length;
        long target = scratch.address();
        long next = target; // never ahead of the source when both are the scratch buffer
        while (source < end) {
            if (thousands.length > 0 && isThousands(source, end)) {
                source += thousands.length;
                continue;
            }
            byte c = Memory.getByte(source++);
            Memory.putByte(next++, c == ',' && dialect.decimalComma() ? (byte) '.' : c);
        }
        at = target;
        return (int) (next - target);
    }

    private boolean isThousands(long source, long end) {
        if (end - source < thousands.length) {
            return false;
        }
        for (int i = 0; i < thousands.length; i++) {
            if (Memory.getByte(source + i) != thousands[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        scratch.close();
    }
}
