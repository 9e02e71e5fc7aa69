package dev.millrace.expressions.function.nested;

import dev.millrace.expressions.function.Text;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.text.TextBuffer;

/** Texts taken apart into arrays. */
public final class TextArrays {
    private TextArrays() {}

    public static boolean split(long text, int length, long separator, int separatorLength, Text out) {
        return split(text, length, separator, separatorLength, 0, 0, out);
    }

    /**
     * {@code string_to_array}: by a NULL separator into characters, by an empty one not at all; pieces equal to
     * {@code nothing} become NULL. An empty text has no pieces.
     */
    public static boolean split(
            long text, int length, long separator, int separatorLength, long nothing, int nothingLength, Text out) {
        if (text == 0) {
            return false;
        }
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, 0);
        int count = 0;
        long end = text + length;
        long from = text;
        while (length > 0 && (from < end || separator != 0)) {
            long to = separator == 0 ? behindCharacter(from, end) : find(from, end, separator, separatorLength);
            piece(buffer, from, (int) (to - from), nothing, nothingLength);
            Interrupt.checkSometimes(++count);
            if (separator != 0 && to >= end) {
                break;
            }
            from = separator == 0 ? to : to + separatorLength;
        }
        ImageWriter.patchInt32(buffer, 0, count);
        out.written();
        return true;
    }

    private static void piece(TextBuffer out, long from, int length, long nothing, int nothingLength) {
        if (nothing != 0 && length == nothingLength && Memory.equal(from, nothing, length)) {
            ImageWriter.nothing(out);
        } else {
            ImageWriter.some(out);
            ImageWriter.bytes(out, from, length);
        }
    }

    /** Where the separator begins; the end when it does not come, or is empty. */
    private static long find(long from, long end, long separator, int separatorLength) {
        if (separatorLength > 0) {
            for (long at = from; at + separatorLength <= end; at++) {
                if (Memory.equal(at, separator, separatorLength)) {
                    return at;
                }
            }
        }
        return end;
    }

    private static long behindCharacter(long from, long end) {
        long at = from + 1;
        while (at < end && (Memory.getByte(at) & 0xc0) == 0x80) {
            at++;
        }
        return at;
    }
}
