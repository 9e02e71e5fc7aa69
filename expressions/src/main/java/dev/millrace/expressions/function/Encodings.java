package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** Bytes as text and back. */
public final class Encodings {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final int BASE64_LINE = 76;

    private Encodings() {}

    private static byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return bytes;
    }

    private static void appendHex(TextBuffer buffer, byte value) {
        buffer.append(HEX[value >> 4 & 15]);
        buffer.append(HEX[value & 15]);
    }

    public static void md5(long address, int length, Text out) {
        digest("MD5", address, length, out);
    }

    public static void sha1(long address, int length, Text out) {
        digest("SHA-1", address, length, out);
    }

    private static void digest(String algorithm, long address, int length, Text out) {
        TextBuffer buffer = out.begin();
        try {
            for (byte b : MessageDigest.getInstance(algorithm).digest(bytes(address, length))) {
                appendHex(buffer, b);
            }
        } catch (NoSuchAlgorithmException e) {
            throw MillraceException.internal("this JVM has no " + algorithm, e);
        }
        out.written();
    }

    public static void toHex(int value, Text out) {
        toHex(value & 0xffffffffL, out);
    }

    public static void toHex(long value, Text out) {
        digits(value, 4, out);
    }

    public static void toOct(int value, Text out) {
        digits(value & 0xffffffffL, 3, out);
    }

    public static void toOct(long value, Text out) {
        digits(value, 3, out);
    }

    public static void toBin(int value, Text out) {
        digits(value & 0xffffffffL, 1, out);
    }

    public static void toBin(long value, Text out) {
        digits(value, 1, out);
    }

    /** A number without sign, in digits of so many bits. */
    private static void digits(long value, int bits, Text out) {
        TextBuffer buffer = out.begin();
        int digits = Math.max(1, (63 + bits - Long.numberOfLeadingZeros(value)) / bits);
        for (int shift = bits * (digits - 1); shift >= 0; shift -= bits) {
            buffer.append(HEX[(int) (value >>> shift) & (1 << bits) - 1]);
        }
        out.written();
    }

    /** To {@code hex}, {@code base64} or {@code escape}. */
    public static void encode(long address, int length, long format, int formatLength, Text out) {
        String name = name(format, formatLength);
        TextBuffer buffer = out.begin();
        switch (name) {
            case "hex" -> {
                for (int at = 0; at < length; at++) {
                    appendHex(buffer, Memory.getByte(address + at));
                }
            }
            case "base64" ->
                buffer.append(
                        Base64.getMimeEncoder(BASE64_LINE, new byte[] {'\n'}).encode(bytes(address, length)));
            case "escape" -> {
                for (int at = 0; at < length; at++) {
                    escape(buffer, Memory.getByte(address + at));
                }
            }
            default -> throw unknown(name);
        }
        out.written();
    }

    private static void escape(TextBuffer buffer, byte value) {
        if (value == '\\') {
            buffer.appendAscii("\\\\");
        } else if (value > 0) {
            buffer.append(value);
        } else {
            buffer.append('\\');
            buffer.append((byte) ('0' + (value >> 6 & 3)));
            buffer.append((byte) ('0' + (value >> 3 & 7)));
            buffer.append((byte) ('0' + (value & 7)));
        }
    }

    /** From {@code hex}, {@code base64} or {@code escape}. */
    public static void decode(long address, int length, long format, int formatLength, Text out) {
        String name = name(format, formatLength);
        String text = new String(bytes(address, length), StandardCharsets.UTF_8);
        TextBuffer buffer = out.begin();
        switch (name) {
            case "hex" -> decodeHex(text, buffer);
            case "base64" -> {
                try {
                    buffer.append(Base64.getDecoder().decode(text.replaceAll("[ \t\r\n]", "")));
                } catch (IllegalArgumentException e) {
                    throw invalid("invalid base64 end sequence");
                }
            }
            case "escape" -> unescape(bytes(address, length), buffer);
            default -> throw unknown(name);
        }
        out.written();
    }

    private static void decodeHex(String text, TextBuffer buffer) {
        String digits = text.replaceAll("[ \t\r\n]", "");
        for (int i = 0; i < digits.length(); i++) {
            if (Character.digit(digits.charAt(i), 16) < 0) {
                throw invalid("invalid hexadecimal digit: \"" + digits.charAt(i) + "\"");
            }
        }
        if (digits.length() % 2 != 0) {
            throw invalid("invalid hexadecimal data: odd number of digits");
        }
        for (int i = 0; i < digits.length(); i += 2) {
            buffer.append((byte) Integer.parseInt(digits.substring(i, i + 2), 16));
        }
    }

    private static void unescape(byte[] text, TextBuffer buffer) {
        for (int i = 0; i < text.length; i++) {
            if (text[i] != '\\') {
                buffer.append(text[i]);
            } else if (i + 1 < text.length && text[i + 1] == '\\') {
                buffer.append(text[++i]);
            } else if (i + 3 < text.length
                    && text[i + 1] >= '0'
                    && text[i + 1] <= '3'
                    && isOctal(text[i + 2])
                    && isOctal(text[i + 3])) {
                buffer.append((byte) (text[i + 1] - '0' << 6 | text[i + 2] - '0' << 3 | text[i + 3] - '0'));
                i += 3;
            } else {
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea");
            }
        }
    }

    private static boolean isOctal(byte b) {
        return b >= '0' && b <= '7';
    }

    private static String name(long address, int length) {
        return new String(bytes(address, length), StandardCharsets.UTF_8).toLowerCase(java.util.Locale.ROOT);
    }

    private static MillraceException unknown(String name) {
        return invalid("unrecognized encoding: \"" + name + "\"");
    }

    private static MillraceException invalid(String message) {
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, message);
    }
}
