package dev.millrace.engine.aggregate.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.math.BigInteger;
import java.nio.ByteBuffer;

/** Exact sums at addresses: 128 bits, or 320 bits for squares, two's complement, least significant word first. */
public final class Wide {
    /** Words of a sum of squares. */
    static final int SQUARES_WORDS = 5;

    private static final BigInteger WORD = BigInteger.ONE.shiftLeft(64);

    private Wide() {}

    /** Adds a 64-bit number. */
    public static void add(long sum, long value) {
        long low = Memory.getLong(sum) + value;
        Memory.putLong(sum, low);
        Memory.putLong(
                sum + 8, Memory.getLong(sum + 8) + (value >> 63) + (Long.compareUnsigned(low, value) < 0 ? 1 : 0));
    }

    /** Adds {@code value * weight}. */
    public static void add(long sum, long value, long weight) {
        add128(sum, value * weight, Math.multiplyHigh(value, weight));
    }

    /** Adds a 128-bit number. */
    public static void add128(long sum, long low, long high) {
        long before = Memory.getLong(sum + 8);
        long newLow = Memory.getLong(sum) + low;
        long newHigh = before + high + (Long.compareUnsigned(newLow, low) < 0 ? 1 : 0);
        if (((before ^ newHigh) & (high ^ newHigh)) < 0) {
            throw outOfRange();
        }
        Memory.putLong(sum, newLow);
        Memory.putLong(sum + 8, newHigh);
    }

    /** Adds a 128-bit number {@code weight} times. */
    public static void add128(long sum, long low, long high, long weight) {
        if (weight == 1) {
            add128(sum, low, high);
        } else if (weight == -1 && (low != 0 || high != Long.MIN_VALUE)) {
            add128(sum, -low, ~high + (low == 0 ? 1 : 0));
        } else {
            BigInteger product = toBigInteger(low, high).multiply(BigInteger.valueOf(weight));
            if (product.bitLength() > 127) {
                throw outOfRange();
            }
            add128(sum, product.longValue(), product.shiftRight(64).longValue());
        }
    }

    /** Adds a 128-bit number to a sum whose third word counts how often 128 bits overflowed, upwards less downwards. */
    public static void addCarried(long sum, long low, long high) {
        long before = Memory.getLong(sum + 8);
        long newLow = Memory.getLong(sum) + low;
        long newHigh = before + high + (Long.compareUnsigned(newLow, low) < 0 ? 1 : 0);
        Memory.putLong(sum, newLow);
        Memory.putLong(sum + 8, newHigh);
        if (((before ^ newHigh) & (high ^ newHigh)) < 0) {
            carry(sum, before < 0 ? -1 : 1);
        }
    }

    /** Adds a number of at most 38 digits {@code weight} times to such a sum. */
    public static void addCarried(long sum, long low, long high, long weight) {
        if (weight == 1) {
            addCarried(sum, low, high);
        } else if (weight == -1) {
            addCarried(sum, -low, ~high + (low == 0 ? 1 : 0));
        } else {
            BigInteger product = toBigInteger(low, high).multiply(BigInteger.valueOf(weight));
            long productLow = product.longValue();
            long productHigh = product.shiftRight(64).longValue();
            addCarried(sum, productLow, productHigh);
            carry(
                    sum,
                    product.subtract(toBigInteger(productLow, productHigh))
                            .shiftRight(128)
                            .longValue());
        }
    }

    private static void carry(long sum, long by) {
        Memory.putLong(sum + 16, Memory.getLong(sum + 16) + by);
    }

    /** Such a sum. */
    public static BigInteger carried(long sum) {
        BigInteger value = toBigInteger(Memory.getLong(sum), Memory.getLong(sum + 8));
        long carries = Memory.getLong(sum + 16);
        return carries == 0 ? value : value.add(BigInteger.valueOf(carries).shiftLeft(128));
    }

    /** Adds {@code value * value * weight} to a sum of squares. */
    public static void addSquare(long sum, long value, long weight) {
        long high = Math.multiplyHigh(value, value); // at most 2^62: the square has 126 bits
        long low = value * value;
        if (weight == 1) {
            addWords(sum, low, high, 0, 0, 0);
        } else {
            addProduct(sum, toBigInteger(low, high).multiply(BigInteger.valueOf(weight)));
        }
    }

    /** Adds the square of a 128-bit number {@code weight} times. */
    public static void addSquare128(long sum, long low, long high, long weight) {
        if (high == low >> 63) {
            addSquare(sum, low, weight);
        } else {
            BigInteger value = toBigInteger(low, high);
            addProduct(sum, value.multiply(value).multiply(BigInteger.valueOf(weight)));
        }
    }

    private static void addProduct(long sum, BigInteger product) {
        addWords(
                sum,
                product.longValue(),
                product.shiftRight(64).longValue(),
                product.shiftRight(128).longValue(),
                product.shiftRight(192).longValue(),
                product.shiftRight(256).longValue());
    }

    /** Adds the words of another such sum. */
    public static void addWords(long sum, long w0, long w1, long w2, long w3, long w4) {
        long carry = addWord(sum, w0, 0);
        carry = addWord(sum + 8, w1, carry);
        carry = addWord(sum + 16, w2, carry);
        carry = addWord(sum + 24, w3, carry);
        addWord(sum + 32, w4, carry);
    }

    private static long addWord(long address, long value, long carry) {
        long before = Memory.getLong(address);
        long sum = before + value;
        long withCarry = sum + carry;
        Memory.putLong(address, withCarry);
        return (Long.compareUnsigned(sum, value) < 0 ? 1 : 0) | (Long.compareUnsigned(withCarry, sum) < 0 ? 1 : 0);
    }

    /** Adds an interval, given as the 16 bytes of its vector, to sums of months, days and microseconds. */
    public static void addInterval(long sum, long monthsDays, long nanos, long weight) {
        long micros = nanos / 1_000;
        addParts(
                sum,
                (int) monthsDays * weight,
                (int) (monthsDays >> 32) * weight,
                micros * weight,
                Math.multiplyHigh(micros, weight));
    }

    /** Adds sums of months, days and microseconds, those of 128 bits. */
    public static void addParts(long sum, long months, long days, long microsLow, long microsHigh) {
        Memory.putLong(sum, Math.addExact(Memory.getLong(sum), months));
        Memory.putLong(sum + 8, Math.addExact(Memory.getLong(sum + 8), days));
        add128(sum + 16, microsLow, microsHigh);
    }

    /** Keeps the lesser of two 128-bit numbers. */
    public static void min(long at, long low, long high) {
        if (less(low, high, Memory.getLong(at), Memory.getLong(at + 8))) {
            Memory.putLong(at, low);
            Memory.putLong(at + 8, high);
        }
    }

    /** Keeps the greater of two 128-bit numbers. */
    public static void max(long at, long low, long high) {
        if (less(Memory.getLong(at), Memory.getLong(at + 8), low, high)) {
            Memory.putLong(at, low);
            Memory.putLong(at + 8, high);
        }
    }

    static boolean less(long low, long high, long otherLow, long otherHigh) {
        return high != otherHigh ? high < otherHigh : Long.compareUnsigned(low, otherLow) < 0;
    }

    public static BigInteger toBigInteger(long low, long high) {
        if (high == low >> 63) {
            return BigInteger.valueOf(low);
        }
        return new BigInteger(ByteBuffer.allocate(16).putLong(high).putLong(low).array());
    }

    /** A sum of squares. */
    public static BigInteger squares(long sum) {
        BigInteger value = BigInteger.valueOf(Memory.getLong(sum + 8L * (SQUARES_WORDS - 1)));
        for (int word = SQUARES_WORDS - 2; word >= 0; word--) {
            BigInteger unsigned = BigInteger.valueOf(Memory.getLong(sum + 8L * word));
            value = value.shiftLeft(64).add(unsigned.signum() < 0 ? unsigned.add(WORD) : unsigned);
        }
        return value;
    }

    /** The failure of a sum that does not fit its type. */
    public static MillraceException outOfRange() {
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "numeric value out of range");
    }
}
