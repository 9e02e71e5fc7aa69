package dev.millrace.expressions.function;

import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;

/** Takes characters off the ends of texts, or fills them up. */
public final class Trimming {
    private Trimming() {}

    public static void btrim(long address, int length, Text out) {
        int start = blanksAtStart(address, length);
        out.slice(address + start, withoutBlanksAtEnd(address + start, length - start));
    }

    public static void ltrim(long address, int length, Text out) {
        int start = blanksAtStart(address, length);
        out.slice(address + start, length - start);
    }

    public static void rtrim(long address, int length, Text out) {
        out.slice(address, withoutBlanksAtEnd(address, length));
    }

    private static int blanksAtStart(long address, int length) {
        int start = 0;
        while (start < length && Memory.getByte(address + start) == ' ') {
            start++;
        }
        return start;
    }

    private static int withoutBlanksAtEnd(long address, int length) {
        int end = length;
        while (end > 0 && Memory.getByte(address + end - 1) == ' ') {
            end--;
        }
        return end;
    }

    public static void btrim(long address, int length, long set, int setLength, Text out) {
        int start = inSetAtStart(address, length, set, setLength);
        out.slice(address + start, withoutSetAtEnd(address + start, length - start, set, setLength));
    }

    public static void ltrim(long address, int length, long set, int setLength, Text out) {
        int start = inSetAtStart(address, length, set, setLength);
        out.slice(address + start, length - start);
    }

    public static void rtrim(long address, int length, long set, int setLength, Text out) {
        out.slice(address, withoutSetAtEnd(address, length, set, setLength));
    }

    private static boolean inSet(long character, int bytes, long set, int setLength) {
        // UTF-8 synchronises itself: a character's bytes occur only where that character is.
        return Bytes.indexOf(set, setLength, character, bytes, 0) >= 0;
    }

    private static int inSetAtStart(long address, int length, long set, int setLength) {
        int start = 0;
        while (start < length) {
            int bytes = Texts.characterBytes(Memory.getByte(address + start));
            if (!inSet(address + start, bytes, set, setLength)) {
                break;
            }
            start += bytes;
        }
        return start;
    }

    private static int withoutSetAtEnd(long address, int length, long set, int setLength) {
        int end = length;
        while (end > 0) {
            int last = end - 1;
            while (last > 0 && (Memory.getByte(address + last) & 0xc0) == 0x80) {
                last--;
            }
            if (!inSet(address + last, end - last, set, setLength)) {
                break;
            }
            end = last;
        }
        return end;
    }

    public static void lpad(long address, int length, int characters, Text out) {
        pad(address, length, characters, 0, -1, true, out);
    }

    public static void rpad(long address, int length, int characters, Text out) {
        pad(address, length, characters, 0, -1, false, out);
    }

    public static void lpad(long address, int length, int characters, long fill, int fillLength, Text out) {
        pad(address, length, characters, fill, fillLength, true, out);
    }

    public static void rpad(long address, int length, int characters, long fill, int fillLength, Text out) {
        pad(address, length, characters, fill, fillLength, false, out);
    }

    /** Fills up with a text, or with blanks where {@code fillLength} is negative, or cuts at the end. */
    private static void pad(
            long address, int length, int characters, long fill, int fillLength, boolean left, Text out) {
        int missing = Math.max(0, characters) - Utf8.characters(address, length);
        if (missing <= 0 || fillLength == 0) {
            out.slice(address, Texts.offsetOf(address, length, Math.max(0, characters)));
            return;
        }
        Texts.checkLength(length + (long) missing);
        TextBuffer buffer = out.begin();
        if (!left) {
            buffer.append(address, length);
        }
        if (fillLength < 0) {
            long at = buffer.room(missing);
            Memory.fill(at, missing, (byte) ' ');
            buffer.end(at + missing);
        } else {
            int fillCharacters = Utf8.characters(fill, fillLength);
            long bytes = (long) (missing / fillCharacters) * fillLength;
            Texts.checkLength(length + bytes);
            long at = buffer.room(bytes);
            Texts.fill(at, bytes, fill, fillLength);
            buffer.end(at + bytes);
            buffer.append(fill, Texts.offsetOf(fill, fillLength, missing % fillCharacters));
        }
        if (left) {
            buffer.append(address, length);
        }
        out.written();
    }
}
