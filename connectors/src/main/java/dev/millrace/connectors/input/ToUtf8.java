package dev.millrace.connectors.input;

import dev.millrace.memory.Memory;

/**
 * Makes UTF-8 of a file's bytes as they are read. The beginning of a character is held back until the rest comes; half a surrogate pair
 * becomes U+FFFD. Owned by one thread.
 */
final class ToUtf8 {
    private static final int REPLACEMENT = 0xfffd;
    private static final int NONE = -1;

    /** What windows-1252 has at 0x80 to 0x9f; its five gaps are control characters, as in Latin-1. */
    private static final char[] WINDOWS =
            ("\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f"
                            + "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178")
                    .toCharArray();

    private final Encoding encoding;
    private int firstByte = NONE; // of a unit of UTF-16
    private int high = NONE; // the first half of a surrogate pair

    ToUtf8(Encoding encoding) {
        this.encoding = encoding;
    }

    /** How many bytes are held back. */
    int heldBytes() {
        return (firstByte == NONE ? 0 : 1) + (high == NONE ? 0 : 2);
    }

    /** Writes the characters at {@code address}, where there is room as {@link Encoding#growth} says and for four bytes more; returns their bytes. */
    int write(byte[] bytes, int length, long address) {
        long to = address;
        for (int i = 0; i < length; i++) {
            int b = bytes[i] & 0xff;
            if (encoding.hasLineBytes()) {
                boolean isWindows = encoding == Encoding.WINDOWS_1252 && b >= 0x80 && b < 0xa0;
                to = put(to, isWindows ? WINDOWS[b - 0x80] : b);
            } else if (firstByte == NONE) {
                firstByte = b;
            } else {
                int unit = encoding == Encoding.UTF_16BE ? firstByte << 8 | b : b << 8 | firstByte;
                firstByte = NONE;
                to = unit(to, unit);
            }
        }
        return (int) (to - address);
    }

    private long unit(long address, int unit) {
        long to = address;
        if (high != NONE) {
            boolean isPair = Character.isLowSurrogate((char) unit);
            to = put(to, isPair ? Character.toCodePoint((char) high, (char) unit) : REPLACEMENT);
            high = NONE;
            if (isPair) {
                return to;
            }
        }
        if (Character.isHighSurrogate((char) unit)) {
            high = unit;
            return to;
        }
        return put(to, Character.isLowSurrogate((char) unit) ? REPLACEMENT : unit);
    }

    private static long put(long address, int character) {
        if (character < 0x80) {
            Memory.putByte(address, (byte) character);
            return address + 1;
        }
        int continued = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
        int mark = 0xff00 >>> continued + 1 & 0xff; // 110, 1110 or 11110 in the high bits
        Memory.putByte(address, (byte) (mark | character >>> 6 * continued));
        for (int i = 1; i <= continued; i++) {
            Memory.putByte(address + i, (byte) (0x80 | character >>> 6 * (continued - i) & 0x3f));
        }
        return address + 1 + continued;
    }
}
