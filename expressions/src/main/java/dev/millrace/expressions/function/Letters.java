package dev.millrace.expressions.function;

import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;

/** Upper and lower case: eight ASCII bytes at a time, one character at a time beyond ASCII. */
public final class Letters {
    private static final long HIGH_BITS = 0x8080808080808080L;
    private static final long ONES = 0x0101010101010101L;

    private Letters() {}

    public static void lower(long address, int length, Text out) {
        convert(address, length, 'A', 'Z', out);
    }

    public static void upper(long address, int length, Text out) {
        convert(address, length, 'a', 'z', out);
    }

    /** Flips the case bit of the letters from {@code first} to {@code last}. */
    private static void convert(long address, int length, char first, char last, Text out) {
        TextBuffer buffer = out.begin();
        long to = buffer.room(length);
        long belowFirst = (0x80 - first) * ONES;
        long aboveLast = (0x7f - last) * ONES;
        int at = 0;
        for (; at + 8 <= length; at += 8) {
            long word = Memory.getLong(address + at);
            if ((word & HIGH_BITS) != 0) {
                convertCharacters(address, length, first == 'A', buffer);
                out.written();
                return;
            }
            // Per byte, the high bit: at least first, and not above last. No carry leaves a byte below 128.
            long isLetter = (word + belowFirst) & ~(word + aboveLast) & HIGH_BITS;
            Memory.putLong(to + at, word ^ isLetter >>> 2);
        }
        for (; at < length; at++) {
            byte b = Memory.getByte(address + at);
            if (b < 0) {
                convertCharacters(address, length, first == 'A', buffer);
                out.written();
                return;
            }
            Memory.putByte(to + at, (byte) (b >= first && b <= last ? b ^ 0x20 : b));
        }
        out.slice(to, length);
    }

    private static void convertCharacters(long address, int length, boolean lower, TextBuffer buffer) {
        for (int at = 0; at < length; ) {
            int codePoint = Texts.codePoint(address + at);
            at += Texts.characterBytes(Memory.getByte(address + at));
            Texts.append(buffer, lower ? Character.toLowerCase(codePoint) : Character.toUpperCase(codePoint));
        }
    }

    /** The first letter of each word in upper case, the others in lower; words are of letters and digits. */
    public static void initcap(long address, int length, Text out) {
        TextBuffer buffer = out.begin();
        boolean inWord = false;
        for (int at = 0; at < length; ) {
            int codePoint = Texts.codePoint(address + at);
            at += Texts.characterBytes(Memory.getByte(address + at));
            Texts.append(buffer, inWord ? Character.toLowerCase(codePoint) : Character.toUpperCase(codePoint));
            inWord = Character.isLetterOrDigit(codePoint);
        }
        out.written();
    }
}
