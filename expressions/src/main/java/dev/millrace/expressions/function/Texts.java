package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;

/**
 * Functions of UTF-8 texts. Positions are characters counted from 1; where a text is ASCII they are bytes, which is
 * looked at first. A part of an argument is returned as a slice of it, without copying.
 */
public final class Texts {
    private static final int MOST_BYTES = 1 << 30;
    private static final int CHECKED_BYTES = 1 << 20;

    private Texts() {}

    static MillraceException tooLong() {
        return MillraceException.resources(SqlState.PROGRAM_LIMIT_EXCEEDED, "requested length too large");
    }

    public static void checkLength(long bytes) {
        if (bytes > MOST_BYTES) {
            throw tooLong();
        }
    }

    /** Bytes of the character that begins with this byte. */
    public static int characterBytes(byte first) {
        return first >= 0 ? 1 : (first & 0xe0) == 0xc0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : 4;
    }

    /** The byte where character {@code index}, counted from 0, begins, or {@code length} when there are not so many. */
    public static int offsetOf(long address, int length, long index) {
        if (index >= length) {
            return length;
        }
        int at = 0;
        long left = index;
        while (left >= 8 && at + 8 <= length && (Memory.getLong(address + at) & 0x8080808080808080L) == 0) {
            at += 8;
            left -= 8;
        }
        while (left > 0 && at < length) {
            at += characterBytes(Memory.getByte(address + at));
            left--;
        }
        return Math.min(at, length);
    }

    public static int length(long address, int length) {
        return Utf8.characters(address, length);
    }

    public static int octetLength(long address, int length) {
        return length;
    }

    public static int bitLength(long address, int length) {
        return Math.multiplyExact(length, 8);
    }

    public static void concat(long a, int aLength, long b, int bLength, Text out) {
        checkLength((long) aLength + bLength);
        long at = out.begin().room((long) aLength + bLength);
        Bytes.copy(a, at, aLength);
        Bytes.copy(b, at + aLength, bLength);
        out.slice(at, aLength + bLength);
    }

    /** Cuts to so many characters. */
    public static void truncate(long address, int length, int characters, Text out) {
        out.slice(address, offsetOf(address, length, characters));
    }

    /** A CHAR(n): cut to its length, without trailing blanks, which its text form adds. */
    public static void character(long address, int length, int characters, Text out) {
        int cut = offsetOf(address, length, characters);
        while (cut > 0 && Memory.getByte(address + cut - 1) == ' ') {
            cut--;
        }
        out.slice(address, cut);
    }

    public static void substring(long address, int length, int from, Text out) {
        int start = offsetOf(address, length, Math.max(0L, from - 1L));
        out.slice(address + start, length - start);
    }

    public static void substring(long address, int length, int from, int count, Text out) {
        if (count < 0) {
            throw MillraceException.user(SqlState.SUBSTRING_ERROR, "negative substring length not allowed");
        }
        long end = (long) from + count; // exclusive
        int start = offsetOf(address, length, Math.max(0L, from - 1L));
        long characters = end - Math.max(1L, from);
        int bytes = characters <= 0 ? 0 : offsetOf(address + start, length - start, characters);
        out.slice(address + start, bytes);
    }

    public static void overlay(long address, int length, long with, int withLength, int from, Text out) {
        overlay(address, length, with, withLength, from, Utf8.characters(with, withLength), out);
    }

    public static void overlay(long address, int length, long with, int withLength, int from, int count, Text out) {
        if (from <= 0) {
            throw MillraceException.user(SqlState.SUBSTRING_ERROR, "negative substring length not allowed");
        }
        int start = offsetOf(address, length, from - 1L);
        int end = offsetOf(address, length, Math.max(0L, (long) from + count - 1));
        TextBuffer buffer = out.begin();
        buffer.append(address, start);
        buffer.append(with, withLength);
        buffer.append(address + end, length - end);
        out.written();
    }

    /** The first characters; a negative count leaves out that many at the end. */
    public static void left(long address, int length, int count, Text out) {
        long characters = count >= 0 ? count : Utf8.characters(address, length) + (long) count;
        out.slice(address, characters <= 0 ? 0 : offsetOf(address, length, characters));
    }

    /** The last characters; a negative count leaves out that many at the start. */
    public static void right(long address, int length, int count, Text out) {
        long skipped = count >= 0 ? Utf8.characters(address, length) - (long) count : -(long) count;
        int start = skipped <= 0 ? 0 : offsetOf(address, length, skipped);
        out.slice(address + start, length - start);
    }

    public static int strpos(long address, int length, long part, int partLength) {
        int at = Bytes.indexOf(address, length, part, partLength, 0);
        return at < 0 ? 0 : Utf8.characters(address, at) + 1;
    }

    public static boolean startsWith(long address, int length, long prefix, int prefixLength) {
        return prefixLength <= length && Memory.equal(address, prefix, prefixLength);
    }

    public static void replace(long address, int length, long from, int fromLength, long to, int toLength, Text out) {
        int at = fromLength == 0 ? -1 : Bytes.indexOf(address, length, from, fromLength, 0);
        if (at < 0) {
            out.slice(address, length);
            return;
        }
        TextBuffer buffer = out.begin();
        int done = 0;
        long checked = 0;
        while (at >= 0) {
            if (buffer.length() - checked > CHECKED_BYTES) {
                checked = buffer.length();
                checkLength(checked);
                Interrupt.checkCurrent();
            }
            buffer.append(address + done, at - done);
            buffer.append(to, toLength);
            done = at + fromLength;
            at = Bytes.indexOf(address, length, from, fromLength, done);
        }
        buffer.append(address + done, length - done);
        checkLength(buffer.length());
        out.written();
    }

    /** Each character that is in {@code from} becomes the one at its place in {@code to}, or nothing. */
    public static void translate(long address, int length, long from, int fromLength, long to, int toLength, Text out) {
        TextBuffer buffer = out.begin();
        for (int at = 0; at < length; ) {
            int bytes = characterBytes(Memory.getByte(address + at));
            lookSometimes(at);
            int found = Bytes.indexOf(from, fromLength, address + at, bytes, 0);
            if (found < 0) {
                buffer.append(address + at, bytes);
            } else {
                int target = offsetOf(to, toLength, Utf8.characters(from, found));
                if (target < toLength) {
                    buffer.append(to + target, characterBytes(Memory.getByte(to + target)));
                }
            }
            at += bytes;
        }
        out.written();
    }

    public static void reverse(long address, int length, Text out) {
        long start = out.begin().room(length);
        long to = start + length;
        for (int at = 0; at < length; ) {
            int bytes = characterBytes(Memory.getByte(address + at));
            lookSometimes(at);
            to -= bytes;
            Bytes.copy(address + at, to, bytes);
            at += bytes;
        }
        out.slice(start, length);
    }

    public static void repeat(long address, int length, int times, Text out) {
        long total = Math.max(0L, times) * length;
        checkLength(total);
        long start = out.begin().room(total);
        fill(start, total, address, length);
        out.slice(start, (int) total);
    }

    /** For loops over the characters of a text that may be long. */
    private static void lookSometimes(int at) {
        if ((at & 0xffff) == 0xffff) { // not each time where characters have several bytes
            Interrupt.checkCurrent();
        }
    }

    /** Fills memory with a text again and again. */
    static void fill(long start, long total, long address, int length) {
        long checked = start;
        for (long at = start; at < start + total; at += length) {
            Bytes.copy(address, at, length);
            if (at - checked > CHECKED_BYTES) {
                checked = at;
                Interrupt.checkCurrent();
            }
        }
    }

    /** Part {@code index}, from 1 or from the end when negative; empty when there is none. */
    public static void splitPart(long address, int length, long delimiter, int delimiterLength, int index, Text out) {
        if (index == 0) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "field position must not be zero");
        }
        long wanted = index > 0 ? index - 1L : parts(address, length, delimiter, delimiterLength) + (long) index;
        if (wanted < 0 || !part(address, length, delimiter, delimiterLength, wanted, out)) {
            out.slice(address, 0);
        }
    }

    /** Part {@code index}, from 0; NULL when there is none. */
    public static boolean splitIndex(
            long address, int length, long delimiter, int delimiterLength, int index, Text out) {
        return index >= 0 && length > 0 && part(address, length, delimiter, delimiterLength, index, out);
    }

    private static int parts(long address, int length, long delimiter, int delimiterLength) {
        if (length == 0) {
            return 0;
        }
        int parts = 1;
        int at = delimiterLength == 0 ? -1 : Bytes.indexOf(address, length, delimiter, delimiterLength, 0);
        while (at >= 0) {
            parts++;
            at = Bytes.indexOf(address, length, delimiter, delimiterLength, at + delimiterLength);
        }
        return parts;
    }

    private static boolean part(long address, int length, long delimiter, int delimiterLength, long index, Text out) {
        if (delimiterLength == 1) {
            return part(address, length, Memory.getByte(delimiter), index, out);
        }
        int start = 0;
        for (long left = index; left > 0; left--) {
            int at = delimiterLength == 0 ? -1 : Bytes.indexOf(address, length, delimiter, delimiterLength, start);
            if (at < 0) {
                return false;
            }
            start = at + delimiterLength;
        }
        int end = delimiterLength == 0 ? -1 : Bytes.indexOf(address, length, delimiter, delimiterLength, start);
        out.slice(address + start, (end < 0 ? length : end) - start);
        return true;
    }

    private static boolean part(long address, int length, byte delimiter, long index, Text out) {
        int start = 0;
        for (long left = index; left > 0; left--) {
            int at = Bytes.indexOf(address, length, delimiter, start);
            if (at < 0) {
                return false;
            }
            start = at + 1;
        }
        int end = Bytes.indexOf(address, length, delimiter, start);
        out.slice(address + start, (end < 0 ? length : end) - start);
        return true;
    }

    /** How often a text of one character (or more) occurs. */
    public static long countChar(long address, int length, long part, int partLength) {
        if (partLength == 1) {
            return Bytes.count(address, length, Memory.getByte(part));
        }
        long count = 0;
        int at = partLength == 0 ? -1 : Bytes.indexOf(address, length, part, partLength, 0);
        while (at >= 0) {
            count++;
            at = Bytes.indexOf(address, length, part, partLength, at + partLength);
        }
        return count;
    }

    /** The code point of the first character, 0 of the empty text. */
    public static int ascii(long address, int length) {
        return length == 0 ? 0 : codePoint(address);
    }

    static int codePoint(long address) {
        byte first = Memory.getByte(address);
        int bytes = characterBytes(first);
        if (bytes == 1) {
            return first;
        }
        int codePoint = first & (0xff >> (bytes + 1));
        for (int i = 1; i < bytes; i++) {
            codePoint = codePoint << 6 | (Memory.getByte(address + i) & 0x3f);
        }
        return codePoint;
    }

    public static void chr(int codePoint, Text out) {
        if (codePoint == 0) {
            throw MillraceException.user(SqlState.PROGRAM_LIMIT_EXCEEDED, "null character not permitted");
        }
        if (codePoint < 0) {
            throw MillraceException.user(SqlState.PROGRAM_LIMIT_EXCEEDED, "character number must be positive");
        }
        if (codePoint > Character.MAX_CODE_POINT || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "requested character too large for encoding: " + codePoint);
        }
        append(out.begin(), codePoint);
        out.written();
    }

    public static void append(TextBuffer buffer, int codePoint) {
        if (codePoint < 0x80) {
            buffer.append((byte) codePoint);
        } else if (codePoint < 0x800) {
            buffer.append((byte) (0xc0 | codePoint >> 6));
            buffer.append((byte) (0x80 | codePoint & 0x3f));
        } else if (codePoint < 0x10000) {
            buffer.append((byte) (0xe0 | codePoint >> 12));
            buffer.append((byte) (0x80 | codePoint >> 6 & 0x3f));
            buffer.append((byte) (0x80 | codePoint & 0x3f));
        } else {
            buffer.append((byte) (0xf0 | codePoint >> 18));
            buffer.append((byte) (0x80 | codePoint >> 12 & 0x3f));
            buffer.append((byte) (0x80 | codePoint >> 6 & 0x3f));
            buffer.append((byte) (0x80 | codePoint & 0x3f));
        }
    }
}
