package dev.millrace.nested;

import dev.millrace.memory.Memory;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.TextBuffer;

/**
 * Appends parts of images to a buffer: {@link #nothing} for a NULL element, or {@link #some} and its value by type. An
 * array begins with {@link #int32}, its count.
 */
public final class ImageWriter {
    private ImageWriter() {}

    /** A NULL. */
    public static void nothing(TextBuffer out) {
        out.append((byte) 0);
    }

    /** What goes in front of a value that is not NULL. */
    public static void some(TextBuffer out) {
        out.append((byte) 1);
    }

    public static void bool(TextBuffer out, boolean value) {
        out.append((byte) (value ? 1 : 0));
    }

    public static void int16(TextBuffer out, int value) {
        long at = out.room(2);
        Memory.putShort(at, (short) value);
        out.end(at + 2);
    }

    public static void int32(TextBuffer out, int value) {
        long at = out.room(4);
        Memory.putInt(at, value);
        out.end(at + 4);
    }

    public static void int64(TextBuffer out, long value) {
        long at = out.room(8);
        Memory.putLong(at, value);
        out.end(at + 8);
    }

    public static void float4(TextBuffer out, float value) {
        int32(out, Float.floatToIntBits(value + 0.0f)); // equal values have equal images: no -0, one NaN
    }

    public static void float8(TextBuffer out, double value) {
        int64(out, Double.doubleToLongBits(value + 0.0));
    }

    /** The halves of a NUMERIC's unscaled value. */
    public static void numeric(TextBuffer out, long high, long low) {
        int64(out, low);
        int64(out, high);
    }

    public static void interval(TextBuffer out, int months, int days, long micros) {
        int32(out, months);
        int32(out, days);
        int64(out, Math.multiplyExact(micros, 1000L));
    }

    public static void uuid(TextBuffer out, long high, long low) {
        int64(out, Long.reverseBytes(high));
        int64(out, Long.reverseBytes(low));
    }

    /** Text or bytes, with their length. */
    public static void bytes(TextBuffer out, long address, int length) {
        int32(out, length);
        out.append(address, length);
    }

    /** A number of any size, as {@link BignumBytes}. */
    public static void bignum(TextBuffer out, long address, int length) {
        bytes(out, address, BignumBytes.keyLength(length));
    }

    /** A value that is an image already. */
    public static void image(TextBuffer out, long address, int length) {
        out.append(address, length);
    }

    /** Writes a number over the one at {@code offset}, as when a count is known at last. */
    public static void patchInt32(TextBuffer out, long offset, int value) {
        Memory.putInt(out.address() + offset, value);
    }
}
