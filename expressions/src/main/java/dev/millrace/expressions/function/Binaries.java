package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8Text;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** Functions of BYTEA. Positions of bytes count from 1 as in texts, numbers of bytes and bits from 0, as in PostgreSQL. */
public final class Binaries {
    private Binaries() {}

    private static byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return bytes;
    }

    // Hashes.

    public static void sha224(long address, int length, Text out) {
        digest("SHA-224", address, length, out);
    }

    public static void sha256(long address, int length, Text out) {
        digest("SHA-256", address, length, out);
    }

    public static void sha384(long address, int length, Text out) {
        digest("SHA-384", address, length, out);
    }

    public static void sha512(long address, int length, Text out) {
        digest("SHA-512", address, length, out);
    }

    private static void digest(String algorithm, long address, int length, Text out) {
        try {
            TextBuffer buffer = out.begin();
            buffer.append(MessageDigest.getInstance(algorithm).digest(bytes(address, length)));
            out.written();
        } catch (NoSuchAlgorithmException e) {
            throw MillraceException.internal("this JVM has no " + algorithm, e);
        }
    }

    // Parts.

    public static void substring(long address, int length, int from, Text out) {
        int start = (int) Math.min(length, Math.max(0L, from - 1L));
        out.slice(address + start, length - start);
    }

    public static void substring(long address, int length, int from, int count, Text out) {
        if (count < 0) {
            throw MillraceException.user(SqlState.SUBSTRING_ERROR, "negative substring length not allowed");
        }
        long end = Math.min(length, (long) from + count - 1);
        long start = Math.min(length, Math.max(0L, from - 1L));
        out.slice(address + start, (int) Math.max(0, end - start));
    }

    public static void overlay(long address, int length, long with, int withLength, int from, Text out) {
        overlay(address, length, with, withLength, from, withLength, out);
    }

    public static void overlay(long address, int length, long with, int withLength, int from, int count, Text out) {
        if (from <= 0) {
            throw MillraceException.user(SqlState.SUBSTRING_ERROR, "negative substring length not allowed");
        }
        int start = (int) Math.min(length, from - 1L);
        int rest = (int) Math.min(length, Math.max(0L, from - 1L + count));
        TextBuffer buffer = out.begin();
        buffer.append(address, start);
        buffer.append(with, withLength);
        buffer.append(address + rest, length - rest);
        out.written();
    }

    /** Where one begins in the other, 0 when it does not. */
    public static int position(long address, int length, long part, int partLength) {
        for (int at = 0; at + partLength <= length; at++) {
            if (Memory.equal(address + at, part, partLength)) {
                return at + 1;
            }
        }
        return 0;
    }

    public static void btrim(long address, int length, long set, int setLength, Text out) {
        trim(address, length, set, setLength, true, true, out);
    }

    public static void ltrim(long address, int length, long set, int setLength, Text out) {
        trim(address, length, set, setLength, true, false, out);
    }

    public static void rtrim(long address, int length, long set, int setLength, Text out) {
        trim(address, length, set, setLength, false, true, out);
    }

    private static void trim(long address, int length, long set, int setLength, boolean left, boolean right, Text out) {
        int from = 0;
        int to = length;
        while (left && from < to && contains(set, setLength, Memory.getByte(address + from))) {
            from++;
        }
        while (right && to > from && contains(set, setLength, Memory.getByte(address + to - 1))) {
            to--;
        }
        out.slice(address + from, to - from);
    }

    private static boolean contains(long set, int length, byte value) {
        for (int i = 0; i < length; i++) {
            if (Memory.getByte(set + i) == value) {
                return true;
            }
        }
        return false;
    }

    public static void reverse(long address, int length, Text out) {
        TextBuffer buffer = out.begin();
        for (int at = length - 1; at >= 0; at--) {
            buffer.append(Memory.getByte(address + at));
        }
        out.written();
    }

    // Bits and bytes.

    public static long bitCount(long address, int length) {
        long count = 0;
        for (int at = 0; at < length; at++) {
            count += Integer.bitCount(Memory.getByte(address + at) & 255);
        }
        return count;
    }

    public static long crc32(long address, int length) {
        return checksum(new CRC32(), address, length);
    }

    public static long crc32c(long address, int length) {
        return checksum(new CRC32C(), address, length);
    }

    private static long checksum(Checksum sum, long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        sum.update(bytes, 0, length);
        return sum.getValue();
    }

    public static int getByte(long address, int length, int index) {
        check(index, length);
        return Memory.getByte(address + index) & 255;
    }

    /** The lowest bit of the first byte is bit 0. */
    public static int getBit(long address, int length, long index) {
        check(index, 8L * length);
        return Memory.getByte(address + index / 8) >> (index % 8) & 1;
    }

    public static void setByte(long address, int length, int index, int value, Text out) {
        check(index, length);
        Memory.putByte(copy(address, length, out) + index, (byte) value);
    }

    public static void setBit(long address, int length, long index, int value, Text out) {
        check(index, 8L * length);
        if (value != 0 && value != 1) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "new bit must be 0 or 1");
        }
        long at = copy(address, length, out) + index / 8;
        int mask = 1 << (index % 8);
        int old = Memory.getByte(at);
        Memory.putByte(at, (byte) (value == 1 ? old | mask : old & ~mask));
    }

    private static long copy(long address, int length, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(length);
        Bytes.copy(address, at, length);
        out.slice(at, length);
        return at;
    }

    private static void check(long index, long count) {
        if (index < 0 || index >= count) {
            throw MillraceException.user(
                    SqlState.ARRAY_SUBSCRIPT_ERROR, "index " + index + " out of valid range, 0.." + (count - 1));
        }
    }

    // Encodings of characters.

    public static void convertFrom(long address, int length, long encoding, int encodingLength, Text out) {
        Charset charset = charset(encoding, encodingLength, "source");
        TextBuffer buffer = out.begin();
        try {
            String text = Utf8Text.checked(charset.newDecoder()
                    .decode(java.nio.ByteBuffer.wrap(bytes(address, length)))
                    .toString());
            buffer.append(text.getBytes(StandardCharsets.UTF_8));
        } catch (CharacterCodingException e) {
            throw MillraceException.user(
                    SqlState.CHARACTER_NOT_IN_REPERTOIRE,
                    "invalid byte sequence for encoding \"" + charset.name() + "\"");
        }
        out.written();
    }

    public static void convertTo(long address, int length, long encoding, int encodingLength, Text out) {
        Charset charset = charset(encoding, encodingLength, "destination");
        String text = new String(bytes(address, length), StandardCharsets.UTF_8);
        if (!charset.newEncoder().canEncode(text)) {
            throw MillraceException.user(
                    SqlState.UNTRANSLATABLE_CHARACTER,
                    "a character of the text has no equivalent in encoding \"" + charset.name() + "\"");
        }
        out.begin().append(text.getBytes(charset));
        out.written();
    }

    private static Charset charset(long address, int length, String side) {
        String name = new String(bytes(address, length), StandardCharsets.UTF_8);
        String known =
                name.toUpperCase(Locale.ROOT).replace("WIN", "windows-").replaceAll("^LATIN(\\d)$", "ISO-8859-$1");
        try {
            return known.equals("SQL_ASCII") ? StandardCharsets.US_ASCII : Charset.forName(known);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "invalid " + side + " encoding name \"" + name + "\"");
        }
    }
}
