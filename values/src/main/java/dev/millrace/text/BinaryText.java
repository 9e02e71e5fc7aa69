package dev.millrace.text;

import dev.millrace.memory.Memory;

/** UUIDs and byte strings. */
final class BinaryText {
    private static final String HEX = "0123456789abcdef";

    private BinaryText() {}

    /** 32 hexadecimal digits, a hyphen allowed after each four, the whole in braces or not. */
    static int parseUuid(long address, long limit, ValueParser out) {
        long at = Blanks.skip(address, limit);
        long end = Blanks.trimEnd(at, limit);
        if (end - at > 2 && Memory.getByte(at) == '{' && Memory.getByte(end - 1) == '}') {
            at++;
            end--;
        }
        long high = 0;
        long low = 0;
        int digits = 0;
        for (; at < end; at++) {
            byte c = Memory.getByte(at);
            if (c == '-' && digits > 0 && digits < 32 && digits % 4 == 0 && Memory.getByte(at - 1) != '-') {
                continue;
            }
            int digit = hexDigit(c);
            if (digit < 0 || digits == 32) {
                return ValueParser.SYNTAX;
            }
            high = high << 4 | low >>> 60;
            low = low << 4 | digit;
            digits++;
        }
        out.high = high;
        out.low = low;
        return digits == 32 && Memory.getByte(end - 1) != '-' ? ValueParser.OK : ValueParser.SYNTAX;
    }

    static int parseBytea(long address, long end, long target, ValueParser out) {
        boolean hex = end - address >= 2 && Memory.getByte(address) == '\\' && Memory.getByte(address + 1) == 'x';
        long written = hex ? parseHex(address + 2, end, target) : parseEscapes(address, end, target);
        out.low = written - target;
        return written == 0 ? ValueParser.SYNTAX : written < 0 ? ValueParser.ODD_HEX : ValueParser.OK;
    }

    private static long parseHex(long address, long end, long target) {
        long to = target;
        long at = address;
        while (at < end) {
            if (Blanks.isBlank(Memory.getByte(at))) {
                at++;
                continue;
            }
            int upper = hexDigit(Memory.getByte(at));
            if (upper < 0) {
                return 0;
            }
            if (at + 1 == end) {
                return -1;
            }
            int lower = hexDigit(Memory.getByte(at + 1));
            if (lower < 0) {
                return 0;
            }
            Memory.putByte(to++, (byte) (upper << 4 | lower));
            at += 2;
        }
        return to;
    }

    /** A backslash doubled stands for itself, or comes before three octal digits. */
    private static long parseEscapes(long address, long end, long target) {
        long to = target;
        long at = address;
        while (at < end) {
            byte c = Memory.getByte(at++);
            if (c == '\\') {
                if (at < end && Memory.getByte(at) == '\\') {
                    at++;
                } else {
                    if (end - at < 3 || Memory.getByte(at) < '0' || Memory.getByte(at) > '3') {
                        return 0;
                    }
                    int value = 0;
                    for (int i = 0; i < 3; i++) {
                        int digit = Memory.getByte(at++) - '0';
                        if (digit < 0 || digit > 7) {
                            return 0;
                        }
                        value = value << 3 | digit;
                    }
                    c = (byte) value;
                }
            }
            Memory.putByte(to++, c);
        }
        return to;
    }

    static void writeUuid(TextBuffer out, long address) {
        long at = out.room(36);
        for (int i = 0; i < 16; i++) {
            if (i == 4 || i == 6 || i == 8 || i == 10) {
                Memory.putByte(at++, (byte) '-');
            }
            at = writeHex(at, Memory.getByte(address + i));
        }
        out.end(at);
    }

    static void writeBytea(TextBuffer out, long address, int length) {
        long at = out.room(2 + 2L * length);
        Memory.putByte(at++, (byte) '\\');
        Memory.putByte(at++, (byte) 'x');
        for (int i = 0; i < length; i++) {
            at = writeHex(at, Memory.getByte(address + i));
        }
        out.end(at);
    }

    /** What is printable ASCII as it is, a backslash doubled, other bytes as a backslash and three octal digits. */
    static void writeEscapes(TextBuffer out, long address, int length) {
        long at = out.room(4L * length);
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(address + i);
            if (c >= ' ' && c < 127 && c != '\\') {
                Memory.putByte(at++, c);
                continue;
            }
            Memory.putByte(at++, (byte) '\\');
            if (c == '\\') {
                Memory.putByte(at++, c);
            } else {
                for (int shift = 6; shift >= 0; shift -= 3) {
                    Memory.putByte(at++, (byte) ('0' + (c >> shift & (shift == 6 ? 3 : 7))));
                }
            }
        }
        out.end(at);
    }

    private static long writeHex(long at, byte value) {
        Memory.putByte(at, (byte) HEX.charAt(value >> 4 & 15));
        Memory.putByte(at + 1, (byte) HEX.charAt(value & 15));
        return at + 2;
    }

    private static int hexDigit(byte c) {
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        int letter = c | 0x20;
        return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
    }
}
