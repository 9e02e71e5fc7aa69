package dev.millrace.json;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads any JSON text and writes its normal form. Members are written as they come; only where their keys turn out not to
 * be in order is the object put together anew.
 */
public final class JsonNormalizer {
    private static final int DEEPEST = 1000;
    private static final int MOST_DIGITS = 131_072;
    private static final int SHOWN_BYTES = 100;

    private long at;
    private long end;
    private long start;
    // One entry per member of the objects under way: where it begins, where its key ends, where it ends, in the output.
    private long[] members = new long[3 * 16];
    private int memberCount;

    /**
     * Appends the normal form of a text.
     *
     * @throws MillraceException 22P02 when it is not JSON, 22021 when it is not UTF-8, 22P05 for a NUL character
     */
    public void normalize(TextBuffer out, long address, int length) {
        if (!Utf8.isPlain(address, length) && !Utf8.isValid(address, length)) {
            throw MillraceException.user(
                    SqlState.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\" in json");
        }
        start = address;
        at = address;
        end = address + length;
        memberCount = 0;
        value(out, 0);
        skipBlanks();
        if (at < end) {
            throw invalid("Expected end of input, but found " + token() + ".");
        }
    }

    /** The normal form of a text. */
    public static String normalize(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long copy = Memory.allocate(Math.max(1, bytes.length));
        try (var root = new org.apache.arrow.memory.RootAllocator();
                TextBuffer out = new TextBuffer(root, Math.max(16, bytes.length))) {
            Memory.copyIn(bytes, 0, copy, bytes.length);
            new JsonNormalizer().normalize(out, copy, bytes.length);
            return out.toString();
        } finally {
            Memory.free(copy);
        }
    }

    private void skipBlanks() {
        while (at < end) {
            byte c = Memory.getByte(at);
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
                return;
            }
            at++;
        }
    }

    private byte peek() {
        return at < end ? Memory.getByte(at) : 0;
    }

    private void value(TextBuffer out, int depth) {
        if (depth > DEEPEST) {
            throw MillraceException.user(
                    SqlState.STATEMENT_TOO_COMPLEX, "json is nested more than " + DEEPEST + " levels deep");
        }
        skipBlanks();
        byte c = peek();
        switch (c) {
            case '{' -> object(out, depth);
            case '[' -> array(out, depth);
            case '"' -> string(out);
            case 't' -> word(out, "true");
            case 'f' -> word(out, "false");
            case 'n' -> word(out, "null");
            default -> {
                if (c != '-' && (c < '0' || c > '9')) {
                    throw at >= end
                            ? invalid("The input string ended unexpectedly.")
                            : invalid("Token " + token() + " is invalid.");
                }
                number(out);
            }
        }
    }

    private void word(TextBuffer out, String word) {
        long from = at;
        for (int i = 0; i < word.length(); i++, at++) {
            if (peek() != word.charAt(i)) {
                at = from;
                throw invalid("Token " + token() + " is invalid.");
            }
        }
        if (isWordByte(peek())) {
            at = from;
            throw invalid("Token " + token() + " is invalid.");
        }
        out.appendAscii(word);
    }

    private static boolean isWordByte(byte c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c < 0;
    }

    // ---- numbers ---------------------------------------------------------------------------------------------------

    private void number(TextBuffer out) {
        long from = at;
        boolean negative = peek() == '-';
        if (negative) {
            at++;
        }
        long digits = at;
        boolean zero = true;
        if (peek() == '0') {
            at++;
        } else {
            zero = digits(zero);
        }
        if (peek() == '.') {
            at++;
            zero = digits(zero);
        }
        boolean exponent = peek() == 'e' || peek() == 'E';
        if (exponent) {
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            digits(true);
        }
        if (isWordByte(peek()) || peek() == '.') {
            at = from;
            throw invalid("Token " + token() + " is invalid.");
        }
        if (exponent) {
            plain(out, from);
        } else {
            long first = zero ? digits : from; // there is no negative zero
            out.append(first, (int) (at - first));
        }
    }

    /** At least one digit; whether all digits so far are 0. */
    private boolean digits(boolean zeroSoFar) {
        boolean zero = zeroSoFar;
        long from = at;
        while (peek() >= '0' && peek() <= '9') {
            zero &= peek() == '0';
            at++;
        }
        if (at == from) {
            throw invalid("Token " + token() + " is invalid.");
        }
        return zero;
    }

    private void plain(TextBuffer out, long from) {
        byte[] bytes = new byte[(int) (at - from)];
        Memory.copyOut(from, bytes, 0, bytes.length);
        BigDecimal value;
        try {
            value = new BigDecimal(new String(bytes, StandardCharsets.US_ASCII));
        } catch (NumberFormatException e) {
            throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format");
        }
        if (Math.abs((long) value.scale()) > MOST_DIGITS) {
            throw MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format");
        }
        out.appendAscii(value.toPlainString());
    }

    // ---- strings ---------------------------------------------------------------------------------------------------

    private void string(TextBuffer out) {
        at++;
        long from = at;
        while (true) { // the usual case: nothing to escape or to unescape
            if (at >= end) {
                throw invalid("The input string ended unexpectedly.");
            }
            byte c = Memory.getByte(at);
            if (c == '"') {
                out.append((byte) '"');
                out.append(from, (int) (at - from));
                out.append((byte) '"');
                at++;
                return;
            }
            if (c == '\\') {
                break;
            }
            if (c >= 0 && c < ' ') {
                throw invalid("Character with value 0x" + String.format("%02x", c) + " must be escaped.");
            }
            at++;
        }
        long begin = out.length();
        out.append(from, (int) (at - from));
        while (true) {
            if (at >= end) {
                throw invalid("The input string ended unexpectedly.");
            }
            byte c = Memory.getByte(at++);
            if (c == '"') {
                JsonStrings.quoteFrom(out, begin);
                return;
            }
            if (c == '\\') {
                escape(out);
            } else if (c >= 0 && c < ' ') {
                throw invalid("Character with value 0x" + String.format("%02x", c) + " must be escaped.");
            } else {
                out.append(c);
            }
        }
    }

    private void escape(TextBuffer out) {
        byte c = peek();
        at++;
        switch (c) {
            case '"', '\\', '/' -> out.append(c);
            case 'b' -> out.append((byte) '\b');
            case 'f' -> out.append((byte) '\f');
            case 'n' -> out.append((byte) '\n');
            case 'r' -> out.append((byte) '\r');
            case 't' -> out.append((byte) '\t');
            case 'u' -> unicode(out);
            default -> throw invalid("Escape sequence \"\\" + (char) c + "\" is invalid.");
        }
    }

    private void unicode(TextBuffer out) {
        int code = hex();
        if (code == 0) {
            throw MillraceException.user(SqlState.UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
                    .withHint("\\u0000 cannot be converted to text");
        }
        if (Character.isHighSurrogate((char) code)) {
            boolean pair = at + 1 < end && Memory.getByte(at) == '\\' && Memory.getByte(at + 1) == 'u';
            at += pair ? 2 : 0;
            int low = pair ? hex() : 0;
            if (!Character.isLowSurrogate((char) low)) {
                throw invalid("Unicode high surrogate must be followed by a low surrogate.");
            }
            code = Character.toCodePoint((char) code, (char) low);
        } else if (Character.isLowSurrogate((char) code)) {
            throw invalid("Unicode low surrogate must follow a high surrogate.");
        }
        out.append(new String(Character.toChars(code)).getBytes(StandardCharsets.UTF_8));
    }

    private int hex() {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit((char) peek(), 16);
            if (digit < 0) {
                throw invalid("\"\\u\" must be followed by four hexadecimal digits.");
            }
            code = 16 * code + digit;
            at++;
        }
        return code;
    }

    // ---- arrays and objects ----------------------------------------------------------------------------------------

    private void array(TextBuffer out, int depth) {
        at++;
        out.append((byte) '[');
        skipBlanks();
        if (peek() == ']') {
            at++;
            out.append((byte) ']');
            return;
        }
        while (true) {
            value(out, depth + 1);
            skipBlanks();
            byte c = peek();
            if (c == ']') {
                at++;
                out.append((byte) ']');
                return;
            }
            if (c != ',') {
                throw invalid("Expected \",\" or \"]\", but found " + token() + ".");
            }
            at++;
            out.appendAscii(", ");
        }
    }

    private void object(TextBuffer out, int depth) {
        at++;
        int firstMember = memberCount;
        long begin = out.length();
        out.append((byte) '{');
        skipBlanks();
        if (peek() == '}') {
            at++;
            out.append((byte) '}');
            return;
        }
        boolean ordered = true;
        while (true) {
            skipBlanks();
            if (peek() != '"') {
                throw invalid("Expected string, but found " + token() + ".");
            }
            int member = 3 * memberCount;
            if (member + 3 > members.length) {
                members = Arrays.copyOf(members, 2 * members.length);
            }
            memberCount++;
            members[member] = out.length();
            string(out);
            members[member + 1] = out.length();
            if (memberCount - 1 > firstMember) {
                ordered &= compareKeys(out.address(), member - 3, member) < 0;
            }
            skipBlanks();
            if (peek() != ':') {
                throw invalid("Expected \":\", but found " + token() + ".");
            }
            at++;
            out.appendAscii(": ");
            value(out, depth + 1);
            members[member + 2] = out.length();
            skipBlanks();
            byte c = peek();
            at++;
            if (c == '}') {
                break;
            }
            if (c != ',') {
                at--;
                throw invalid("Expected \",\" or \"}\", but found " + token() + ".");
            }
            out.appendAscii(", ");
        }
        if (!ordered) {
            reorder(out, firstMember, begin);
        }
        memberCount = firstMember;
        out.append((byte) '}');
    }

    /** By length, then by bytes, of the keys without their escapes. */
    private int compareKeys(long text, int a, int b) {
        return JsonScan.compareKeys(
                text + members[a] + 1,
                (int) (members[a + 1] - members[a]) - 2,
                text + members[b] + 1,
                (int) (members[b + 1] - members[b]) - 2);
    }

    /** Puts the members of the object under way in order and leaves out all but the last of equal keys. */
    private void reorder(TextBuffer out, int firstMember, long begin) {
        int count = memberCount - firstMember;
        Integer[] order = new Integer[count];
        for (int i = 0; i < count; i++) {
            order[i] = 3 * (firstMember + i);
        }
        long text = out.address();
        Arrays.sort(order, (a, b) -> compareKeys(text, a, b)); // stable: of equal keys the last stays last
        byte[] old = new byte[(int) (out.length() - begin)];
        Memory.copyOut(text + begin, old, 0, old.length);
        byte[] ordered = new byte[old.length];
        int length = 0;
        ordered[length++] = '{';
        for (int i = 0; i < count; i++) {
            if (i + 1 < count && compareKeys(text, order[i], order[i + 1]) == 0) {
                continue;
            }
            if (length > 1) {
                ordered[length++] = ',';
                ordered[length++] = ' ';
            }
            int from = (int) (members[order[i]] - begin);
            int bytes = (int) (members[order[i] + 2] - begin) - from;
            System.arraycopy(old, from, ordered, length, bytes);
            length += bytes;
        }
        out.truncate(begin);
        out.append(Arrays.copyOf(ordered, length));
    }

    // ---- errors ----------------------------------------------------------------------------------------------------

    private String token() {
        if (at >= end) {
            return "the end of the input";
        }
        long to = at + 1;
        if (isWordByte(Memory.getByte(at))) {
            while (to < end && isWordByte(Memory.getByte(to)) && to - at < SHOWN_BYTES) {
                to++;
            }
        }
        byte[] bytes = new byte[(int) (to - at)];
        Memory.copyOut(at, bytes, 0, bytes.length);
        return "\"" + new String(bytes, StandardCharsets.UTF_8) + "\"";
    }

    private MillraceException invalid(String why) {
        byte[] bytes = new byte[(int) Math.min(end - start, SHOWN_BYTES)];
        Memory.copyOut(start, bytes, 0, bytes.length);
        String shown = new String(bytes, StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "\ufffd");
        return MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "invalid input syntax for type json: \"" + shown + (end - start > SHOWN_BYTES ? "..." : "")
                                + "\"")
                .withHint(why);
    }
}
