package dev.millrace.number;

import dev.millrace.memory.Memory;

/**
 * A number as bytes at an address, such that the order of bytes is that of numbers:
 *
 * <pre>
 *   header  2 bytes, big endian: 0000 -Infinity, 8000 zero, F000 Infinity, F001 NaN; A000 + e of a positive number,
 *           5FFF - e of a negative one, e being the exponent of its first digit
 *   digits  to the base 10^9, 4 bytes each, big endian: 40000000 + digit, neither the first nor the last being zero; of a
 *           negative number with all bits inverted
 *   end     FF, of a negative number alone, which comes behind what other digits would be
 *   scale   2 bytes, big endian: how many digits after the point are shown, if these are more than there are
 * </pre>
 *
 * All but the scale is the number's <i>key</i>: numbers are equal when their keys are, byte by byte, and a key is by itself a
 * number that shows no zeros it does not need. Where it ends follows from the length alone, of which two bits say whether
 * there is a scale. Numbers whose unscaled value fits 64 bits are read and written without allocating.
 */
public final class BignumBytes {
    /** The most bytes of a number whose unscaled value fits 128 bits. */
    public static final int MOST_FIXED_BYTES = 2 + 4 * 6 + 1 + 2;

    /** What {@link #mantissa} gives for numbers that do not fit. */
    public static final long UNFIT = Long.MIN_VALUE;

    static final int NEGATIVE_INFINITY = 0;
    static final int ZERO = 0x8000;
    static final int INFINITY = 0xF000;
    static final int NAN = 0xF001;
    static final int DIGIT = 0x40000000;
    static final int BASE = 1_000_000_000;

    /** Decimal digits of one to the base. */
    static final int DIGITS = 9;

    private static final int POSITIVE_HEADER = 0xA000;
    private static final int NEGATIVE_HEADER = 0x5FFF;
    private static final int HEADER_BYTES = 2;
    private static final int SCALE_BYTES = 2;
    private static final int LONG_DIGITS = 18;
    private static final int MOST_DIGITS = (Bignum.MOST_WHOLE_DIGITS + Bignum.MOST_SCALE) / DIGITS + 2;
    private static final long LOWER = 0xFFFFFFFFL;
    private static final long[] TEN_TO = new long[LONG_DIGITS + 1];

    static {
        TEN_TO[0] = 1;
        for (int i = 1; i < TEN_TO.length; i++) {
            TEN_TO[i] = 10 * TEN_TO[i - 1];
        }
    }

    private BignumBytes() {}

    /** Whether bytes from elsewhere are what is written of a number. */
    public static boolean isNumber(long address, int length) {
        if (length < HEADER_BYTES) {
            return false;
        }
        int header = header(address);
        int key = keyLength(length);
        if (header == ZERO) {
            return key == HEADER_BYTES && isShown(address, length, 0);
        }
        boolean isNegative = header < ZERO;
        if (!isFinite(address) || key < HEADER_BYTES) {
            return length == HEADER_BYTES && (header == NEGATIVE_INFINITY || header == INFINITY || header == NAN);
        }
        int digits = digits(length);
        boolean isWhole = digits > 0
                && digits <= MOST_DIGITS
                && key == HEADER_BYTES + 4 * digits + (isNegative ? 1 : 0)
                && (!isNegative || Memory.getByte(address + key - 1) == -1)
                && Math.abs(exponent(header)) <= MOST_DIGITS;
        for (int i = 0; isWhole && i < digits; i++) {
            int digit = digit(address, header, i);
            isWhole = digit >= (i == 0 || i == digits - 1 ? 1 : 0) && digit < BASE;
        }
        return isWhole && isShown(address, length, leastScale(address, length));
    }

    private static boolean isShown(long address, int length, int least) {
        int shown = shownScale(address, length);
        return least <= Bignum.MOST_SCALE && (shown < 0 || shown > least && shown <= Bignum.MOST_SCALE);
    }

    /** How many of a number's bytes are its key; 0 of 0, which a NULL has. */
    public static int keyLength(int length) {
        return Math.max(0, length - (~length & SCALE_BYTES));
    }

    /** The scale behind the key; -1 if there is none. */
    public static int shownScale(long address, int length) {
        int key = keyLength(length);
        return key == length ? -1 : Short.toUnsignedInt(Short.reverseBytes(Memory.getShort(address + key)));
    }

    /** Writes what {@link #shownScale} gave behind a key, and returns how many bytes that takes. */
    public static int putShownScale(long address, int scale) {
        if (scale < 0) {
            return 0;
        }
        Memory.putShort(address, Short.reverseBytes((short) scale));
        return SCALE_BYTES;
    }

    /** NaN is equal to itself and greater than all others. */
    public static int compare(long a, int aLength, long b, int bLength) {
        return Memory.compare(a, keyLength(aLength), b, keyLength(bLength));
    }

    public static boolean equal(long a, int aLength, long b, int bLength) {
        int length = keyLength(aLength);
        return length == keyLength(bLength) && Memory.equal(a, b, length);
    }

    /** -1, 0 or 1; 1 for NaN. */
    public static int sign(long address) {
        return Integer.signum(header(address) - ZERO);
    }

    /** Whether it is neither NaN nor infinite. */
    public static boolean isFinite(long address) {
        int header = header(address);
        return header != NEGATIVE_INFINITY && header < INFINITY;
    }

    public static boolean isNan(long address) {
        return header(address) == NAN;
    }

    /** Digits after the point that are shown; 0 for what is not finite. */
    public static int scale(long address, int length) {
        int shown = shownScale(address, length);
        return shown < 0 ? leastScale(address, length) : shown;
    }

    /** Digits after the point up to the last that is not zero; 0 for what is not finite. */
    public static int leastScale(long address, int length) {
        int digits = digits(length);
        int header = header(address);
        int behind = digits - 1 - exponent(header);
        return digits == 0 || behind <= 0 ? 0 : DIGITS * behind - trailingZeros(digit(address, header, digits - 1));
    }

    /** The value without its point, at its {@link #scale}; {@link #UNFIT} if that takes more than 63 bits, or is none. */
    public static long mantissa(long address, int length) {
        int header = header(address);
        int digits = digits(length);
        if (digits == 0) {
            return header == ZERO ? 0 : UNFIT;
        }
        if (digits > 3) {
            return UNFIT;
        }
        long value = 0;
        for (int i = 0; i < digits - 1; i++) {
            value = value * BASE + digit(address, header, i);
        }
        int last = digit(address, header, digits - 1);
        int more =
                scale(address, length) - DIGITS * (digits - 1 - exponent(header)); // negative: zeros of the last digit
        if (more < 0) {
            value = scaledUp(value, DIGITS + more);
            value = value == UNFIT ? UNFIT : value + last / TEN_TO[-more];
        } else {
            value = scaledUp(value, DIGITS);
            value = value == UNFIT || value + last < 0 ? UNFIT : scaledUp(value + last, more);
        }
        return value < 0 ? UNFIT : header < ZERO ? -value : value;
    }

    /** A value, not negative, times ten to the {@code digits}, not negative; {@link #UNFIT} if that takes more than 63 bits. */
    public static long scaledUp(long value, int digits) {
        if (value == 0 || digits == 0) {
            return value;
        }
        if (digits > LONG_DIGITS) {
            return UNFIT;
        }
        long scaled = value * TEN_TO[digits];
        return scaled < 0 || Math.multiplyHigh(value, TEN_TO[digits]) != 0 ? UNFIT : scaled;
    }

    /**
     * Writes {@code mantissa} / 10^{@code scale}.
     *
     * @param address room for {@link #MOST_FIXED_BYTES}
     * @param scale not negative, and shown
     * @return how many bytes it takes
     */
    public static int write(long address, long mantissa, int scale) {
        return write(address, mantissa < 0, 0, Math.abs(mantissa), scale);
    }

    /** The same of 128 bits. */
    public static int write(long address, long high, long low, int scale) {
        return high < 0
                ? write(address, true, ~high + (low == 0 ? 1 : 0), -low, scale)
                : write(address, false, high, low, scale);
    }

    /** The digits are found from the last to the first, and moved to where they belong when it is known how many they are. */
    private static int write(long address, boolean negative, long high, long low, int scale) {
        int behind = (scale + DIGITS - 1) / DIGITS;
        long end = address + MOST_FIXED_BYTES - 1 - SCALE_BYTES;
        long at = end;
        long unit = behind == 0 ? BASE : TEN_TO[DIGITS - (DIGITS * behind - scale)];
        long upper = high;
        long lower = low;
        int passed = 0; // zeros at the end
        boolean shorter = false; // whether its last decimal digit is not zero
        while ((upper | lower) != 0) {
            long rest;
            if (upper == 0 && lower > 0) {
                rest = lower % unit;
                lower /= unit;
            } else {
                long first = upper >>> 32;
                long second = (first % unit) << 32 | upper & LOWER;
                long third = (second % unit) << 32 | lower >>> 32;
                long fourth = (third % unit) << 32 | lower & LOWER;
                upper = first / unit << 32 | second / unit;
                lower = third / unit << 32 | fourth / unit;
                rest = fourth % unit;
            }
            if (at == end && rest == 0) {
                passed++;
            } else {
                shorter |= at == end && passed == 0 && rest % 10 != 0;
                at -= 4;
                long digit = rest * (BASE / unit) + DIGIT;
                Memory.putInt(at, Integer.reverseBytes((int) (negative ? ~digit : digit)));
            }
            unit = BASE;
        }
        int digits = (int) (end - at) >> 2;
        int exponent = digits + passed - 1 - behind;
        Memory.copy(at, address + HEADER_BYTES, end - at);
        return finish(address, digits == 0 ? ZERO : header(negative, exponent), digits, scale, scale > 0 && !shorter);
    }

    /** Writes what is around digits that are there. */
    static int finish(long address, int header, int digits, int scale, boolean withScale) {
        Memory.putShort(address, Short.reverseBytes((short) header));
        int length = HEADER_BYTES + 4 * digits;
        if (digits > 0 && header < ZERO) {
            Memory.putByte(address + length++, (byte) -1);
        }
        return length + putShownScale(address + length, withScale ? scale : -1);
    }

    static int header(long address) {
        return Short.toUnsignedInt(Short.reverseBytes(Memory.getShort(address)));
    }

    static int header(boolean negative, int exponent) {
        return negative ? NEGATIVE_HEADER - exponent : POSITIVE_HEADER + exponent;
    }

    /** Of the first digit; of a number that has some. */
    static int exponent(int header) {
        return header < ZERO ? NEGATIVE_HEADER - header : header - POSITIVE_HEADER;
    }

    /** Digits to the base that a number of so many bytes has. */
    static int digits(int length) {
        return keyLength(length) - HEADER_BYTES >> 2;
    }

    static int digit(long address, int header, int index) {
        int digit = Integer.reverseBytes(Memory.getInt(address + HEADER_BYTES + 4L * index));
        return (header < ZERO ? ~digit : digit) - DIGIT;
    }

    static void putDigit(long address, boolean negative, int index, int digit) {
        int word = DIGIT + digit;
        Memory.putInt(address + HEADER_BYTES + 4L * index, Integer.reverseBytes(negative ? ~word : word));
    }

    /** Decimal zeros at the end of a digit, which is not zero. */
    static int trailingZeros(int digit) {
        int zeros = 0;
        int left = digit;
        while (left % 1000 == 0) {
            left /= 1000;
            zeros += 3;
        }
        while (left % 10 == 0) {
            left /= 10;
            zeros++;
        }
        return zeros;
    }
}
