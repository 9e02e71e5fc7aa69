package dev.millrace.connectors.json;

import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Reads a record straight from memory: names by guessing that they come in the order of the record before, strings eight bytes at a
 * time, what is no column only as far as it takes to know that it is JSON. It reads what it is sure of and gives up on all else, be it
 * wrong or only rare (a string with half a surrogate pair, hundreds of digits, deep nesting): {@link CarefulRecord} then reads the
 * record anew and has the last word. So a record means the same however it is read. Not thread-safe.
 *
 * <p>Long because it is one pass over a record, whose steps share where they are and what they may read.
 */
final class QuickRecord implements AutoCloseable {
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = ONES << 7;
    private static final long QUOTES = ONES * '"';
    private static final long BACKSLASHES = ONES * '\\';
    private static final long BLANKS = ONES * ' ';
    private static final long ZEROS = ONES * '0';
    private static final long SIXES = ONES * 6;
    private static final long HIGH_NIBBLES = 0xf0f0f0f0f0f0f0f0L;
    private static final int TRUE = word("true");
    private static final int NULL = word("null");
    private static final int ALSE = word("alse");
    private static final int DEEPEST = 64;
    private static final int LONGEST_STRING = 1 << 20;
    private static final int LONGEST_NAME = 1 << 12;
    private static final int LONGEST_NUMBER = 256;

    private final JsonValues[] values;
    private final Members members;
    private final TextBuffer unescaped;

    private long at;
    private long end;
    private int row;

    // Of the string that was read last, between its quotes.
    private long stringFrom;
    private long stringTo;
    private boolean escaped;
    private boolean ascii;

    QuickRecord(List<JsonValues> values, Members members, BufferAllocator allocator) {
        this.values = values.toArray(JsonValues[]::new);
        this.members = members;
        this.unescaped = new TextBuffer(allocator, 256);
    }

    private static int word(String four) {
        return four.charAt(0) | four.charAt(1) << 8 | four.charAt(2) << 16 | four.charAt(3) << 24;
    }

    /** Reads an object into a row; false if it gives up, and what is in the row is undefined. Eight bytes behind the end are readable. */
    boolean read(long address, int length, int newRow) {
        at = address;
        end = address + length;
        row = newRow;
        try {
            skipBlanks();
            if (!isAt('{') || !object(members, 0)) {
                return false;
            }
            skipBlanks();
            return at == end;
        } catch (MillraceException e) {
            return false; // of a value that is made of others
        }
    }

    private boolean isAt(char c) {
        return at < end && Memory.getByte(at) == c;
    }

    private void skipBlanks() {
        while (at < end) {
            byte c = Memory.getByte(at);
            if (c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t') {
                return;
            }
            at++;
        }
    }

    // ---- what columns are made of ----------------------------------------------------------------------------------

    /** Reads the object that begins here; what it holds are members of {@code of}. */
    private boolean object(Members of, int depth) {
        at++;
        skipBlanks();
        if (isAt('}')) {
            at++;
            return depth <= DEEPEST;
        }
        int expected = 0;
        while (true) {
            if (!isAt('"')) {
                return false;
            }
            Members member;
            int spelling = of.spelling(at, end, expected);
            if (spelling >= 0) {
                member = of.spelled(spelling);
                expected = spelling + 1;
                at += of.spelledLength(spelling);
            } else {
                Optional<Members> named = named(of);
                if (named.isEmpty()) {
                    return false;
                }
                member = named.get();
            }
            skipBlanks();
            if (!isAt(':')) {
                return false;
            }
            at++;
            skipBlanks();
            if (!value(member, depth + 1)) {
                return false;
            }
            skipBlanks();
            if (isAt(',')) {
                at++;
                skipBlanks();
            } else if (isAt('}')) {
                at++;
                return true;
            } else {
                return false;
            }
        }
    }

    /** The member whose name, which is new, stands here. */
    private Optional<Members> named(Members of) {
        long from = at;
        if (!string() || stringTo - stringFrom > LONGEST_NAME || escaped && !unescape()) {
            return Optional.empty();
        }
        byte[] name;
        if (escaped) {
            name = unescaped.toBytes();
        } else {
            name = new byte[(int) (stringTo - stringFrom)];
            Memory.copyOut(stringFrom, name, 0, name.length);
        }
        Members member = of.find(new String(name, StandardCharsets.UTF_8));
        of.met(from, (int) (at - from), member);
        return Optional.of(member);
    }

    private boolean array(Members of, int depth) {
        at++;
        skipBlanks();
        if (isAt(']')) {
            at++;
            return depth <= DEEPEST;
        }
        for (int number = 0; ; number++) {
            if (!value(of.element(number), depth + 1)) {
                return false;
            }
            skipBlanks();
            if (isAt(',')) {
                at++;
                skipBlanks();
            } else if (isAt(']')) {
                at++;
                return true;
            } else {
                return false;
            }
        }
    }

    /** Reads the value that begins here into the columns that it is, or that are within it. */
    private boolean value(Members value, int depth) {
        if (value.isUnread()) {
            return skip(depth);
        }
        if (at >= end || depth > DEEPEST) {
            return false;
        }
        byte c = Memory.getByte(at);
        List<Integer> columns = value.columns();
        if (c == '{' || c == '[') {
            boolean descends = c == '{' ? value.hasMembers() : value.hasElements();
            long from = at;
            if (!columns.isEmpty() || !descends) {
                if (!skip(depth) || !takeStructure(columns, from)) {
                    return false;
                }
                at = descends ? from : at;
            }
            return !descends || (c == '{' ? object(value, depth) : array(value, depth));
        }
        long from = at;
        if (c == '"') {
            return string() && takeString(columns, from);
        }
        if (!scalar(c)) {
            return false;
        }
        int length = (int) (at - from);
        for (int i = 0; i < columns.size(); i++) {
            JsonValues column = values[columns.get(i)];
            if (c == 'n') {
                column.takeNull(row);
            } else if (!column.take(row, from, length, true)) {
                return false;
            }
        }
        return true;
    }

    private boolean takeStructure(List<Integer> columns, long from) {
        for (int i = 0; i < columns.size(); i++) {
            JsonValues column = values[columns.get(i)];
            if (!column.takesStructures() || !column.take(row, from, (int) (at - from), false)) {
                return false;
            }
        }
        return true;
    }

    private boolean takeString(List<Integer> columns, long from) {
        if (escaped && !unescape()) {
            return false;
        }
        for (int i = 0; i < columns.size(); i++) {
            JsonValues column = values[columns.get(i)];
            boolean taken;
            if (column.takesRawStrings()) {
                taken = column.take(row, from, (int) (at - from), false);
            } else if (escaped) {
                taken = column.take(row, unescaped.address(), (int) unescaped.length(), false);
            } else {
                taken = column.take(row, stringFrom, (int) (stringTo - stringFrom), ascii);
            }
            if (!taken) {
                return false;
            }
        }
        return true;
    }

    // ---- JSON ------------------------------------------------------------------------------------------------------

    /** Passes over any value. */
    private boolean skip(int depth) {
        if (at >= end || depth > DEEPEST) {
            return false;
        }
        byte c = Memory.getByte(at);
        if (c == '"') {
            return string();
        }
        if (c != '{' && c != '[') {
            return scalar(c);
        }
        byte close = (byte) (c + 2);
        at++;
        skipBlanks();
        if (at < end && Memory.getByte(at) == close) {
            at++;
            return true;
        }
        while (true) {
            if (c == '{') {
                if (!isAt('"') || !string() || stringTo - stringFrom > LONGEST_NAME) {
                    return false;
                }
                skipBlanks();
                if (!isAt(':')) {
                    return false;
                }
                at++;
                skipBlanks();
            }
            if (!skip(depth + 1)) {
                return false;
            }
            skipBlanks();
            if (at >= end) {
                return false;
            }
            byte next = Memory.getByte(at++);
            if (next == close) {
                return true;
            }
            if (next != ',') {
                return false;
            }
            skipBlanks();
        }
    }

    /** Passes over a number or a word. */
    private boolean scalar(byte first) {
        long from = at;
        switch (first) {
            case 't', 'n' -> {
                at += 4;
                return at <= end && Memory.getInt(from) == (first == 't' ? TRUE : NULL);
            }
            case 'f' -> {
                at += 5;
                return at <= end && Memory.getInt(from + 1) == ALSE;
            }
            default -> {
                return number() && at - from <= LONGEST_NUMBER;
            }
        }
    }

    private boolean number() {
        if (Memory.getByte(at) == '-') {
            at++;
        }
        long from = at;
        if (!digits() || at - from > 1 && Memory.getByte(from) == '0') {
            return false;
        }
        if (isAt('.')) {
            at++;
            if (!digits()) {
                return false;
            }
        }
        if (at < end && (Memory.getByte(at) | 0x20) == 'e') {
            at++;
            if (at < end && (Memory.getByte(at) == '+' || Memory.getByte(at) == '-')) {
                at++;
            }
            return digits();
        }
        return true;
    }

    /** Passes over digits, at least one. */
    private boolean digits() {
        long from = at;
        while (at < end) {
            long word = Memory.getLong(at) ^ ZEROS;
            long others = (word | word + SIXES) & HIGH_NIBBLES; // a carry only reaches bytes behind what is no digit
            at += others == 0 ? 8 : Long.numberOfTrailingZeros(others) >>> 3;
            if (others != 0) {
                break;
            }
        }
        at = Math.min(at, end);
        return at > from;
    }

    /** Passes over a string, at whose quote it is, and says in the fields what it is like. */
    private boolean string() {
        long from = at + 1;
        long high = 0;
        escaped = false;
        at = from;
        while (at < end) {
            long word = Memory.getLong(at);
            long quote = word ^ QUOTES;
            long backslash = word ^ BACKSLASHES;
            // Below the first byte that is meant no bit is set: a borrow only reaches bytes above.
            long special =
                    ((quote - ONES & ~quote) | (backslash - ONES & ~backslash) | (word - BLANKS & ~word)) & HIGH_BITS;
            if (special == 0) {
                high |= word;
                at += 8;
                continue;
            }
            int bits = Long.numberOfTrailingZeros(special) & ~7;
            high |= word & (1L << bits) - 1;
            at += bits >>> 3;
            if (at >= end) {
                return false;
            }
            byte c = Memory.getByte(at++);
            if (c == '"') {
                stringFrom = from;
                stringTo = at - 1;
                ascii = (high & HIGH_BITS) == 0;
                int length = (int) (stringTo - from);
                return length <= LONGEST_STRING && (ascii || Utf8.isValid(from, length));
            }
            if (c != '\\' || !passEscape()) {
                return false;
            }
            escaped = true;
        }
        return false;
    }

    private boolean passEscape() {
        if (at >= end) {
            return false;
        }
        switch (Memory.getByte(at++)) {
            case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> {
                return true;
            }
            case 'u' -> {
                if (end - at < 4 || hex(at) < 0) {
                    return false;
                }
                at += 4;
                return true;
            }
            default -> {
                return false;
            }
        }
    }

    /** The number that four digits are; negative if they are none. */
    private static int hex(long digits) {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            byte c = Memory.getByte(digits + i);
            int digit = c < 0 ? -1 : Character.digit((char) c, 16);
            if (digit < 0) {
                return -1;
            }
            code = 16 * code + digit;
        }
        return code;
    }

    /** Writes the string that was read last without its escapes; false if half a surrogate pair is in it. */
    private boolean unescape() {
        unescaped.clear();
        long to = unescaped.room(stringTo - stringFrom + 8); // no escape is shorter than what it means
        for (long from = stringFrom; from < stringTo; from++) {
            byte c = Memory.getByte(from);
            if (c == '\\') {
                c = Memory.getByte(++from);
                if (c == 'u') {
                    int code = hex(from + 1);
                    from += 4;
                    if (Character.isSurrogate((char) code)) {
                        boolean pair = Character.isHighSurrogate((char) code)
                                && from + 6 < stringTo
                                && Memory.getByte(from + 1) == '\\'
                                && Memory.getByte(from + 2) == 'u';
                        int low = pair ? hex(from + 3) : 0;
                        if (!Character.isLowSurrogate((char) low)) {
                            return false;
                        }
                        code = Character.toCodePoint((char) code, (char) low);
                        from += 6;
                    }
                    to = putCharacter(to, code);
                    continue;
                }
                c = meant(c);
            }
            Memory.putByte(to++, c);
        }
        unescaped.end(to);
        return true;
    }

    private static byte meant(byte escape) {
        return switch (escape) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> escape;
        };
    }

    private static long putCharacter(long to, int code) {
        long at = to;
        if (code < 0x80) {
            Memory.putByte(at++, (byte) code);
            return at;
        }
        if (code < 0x800) {
            Memory.putByte(at++, (byte) (0xc0 | code >> 6));
        } else {
            if (code < 0x10000) {
                Memory.putByte(at++, (byte) (0xe0 | code >> 12));
            } else {
                Memory.putByte(at++, (byte) (0xf0 | code >> 18));
                Memory.putByte(at++, (byte) (0x80 | code >> 12 & 0x3f));
            }
            Memory.putByte(at++, (byte) (0x80 | code >> 6 & 0x3f));
        }
        Memory.putByte(at++, (byte) (0x80 | code & 0x3f));
        return at;
    }

    @Override
    public void close() {
        unescaped.close();
    }
}
