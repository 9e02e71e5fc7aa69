package dev.millrace.storage.column;

import dev.millrace.memory.Memory;

/** Floating-point numbers as decimals of few digits, or by their bits. For one thread. */
final class FloatEncoding {
    static final int BITS = 0;
    static final int DECIMALS = 1;
    static final int MOST_EXPONENT = 18;

    private static final double[] POWERS = new double[MOST_EXPONENT + 1];
    private static final double MOST_EXACT = 1L << 53;
    private static final int SAMPLE = 256;
    private static final int EXCEPTION_BITS = 96; // its bits and its place, about

    static {
        for (int exponent = 0; exponent <= MOST_EXPONENT; exponent++) {
            POWERS[exponent] = Double.parseDouble("1e" + exponent); // exact
        }
    }

    private FloatEncoding() {}

    /** Writes the first so many numbers, given by their bits: those of a float in the lower half where they are single. */
    static void write(long[] bits, int count, boolean single, ByteOutput out) {
        int exponent = bestExponent(bits, count, single);
        if (exponent >= 0) {
            long[] decimals = new long[count];
            long[] places = new long[count];
            long[] exceptions = new long[count];
            int missed = 0;
            for (int i = 0; i < count; i++) {
                long decimal = decimal(number(bits[i], single), exponent);
                if (bits(decimal, exponent, single) == bits[i]) {
                    decimals[i] = decimal;
                } else {
                    decimals[i] = i > 0 ? decimals[i - 1] : 0;
                    places[missed] = i;
                    exceptions[missed++] = bits[i];
                }
            }
            if (missed <= count / 4 && missed <= IntegerEncoding.MOST_ENTRIES) {
                out.putByte(DECIMALS);
                out.putByte(exponent);
                out.putInt(missed);
                IntegerEncoding.write(places, missed, out);
                IntegerEncoding.write(exceptions, missed, out);
                IntegerEncoding.write(decimals, count, out);
                return;
            }
        }
        out.putByte(BITS);
        IntegerEncoding.write(bits, count, out);
    }

    private static double number(long bits, boolean single) {
        return single ? Float.intBitsToFloat((int) bits) : Double.longBitsToDouble(bits);
    }

    private static long decimal(double number, int exponent) {
        double scaled = Math.rint(number * POWERS[exponent]);
        return Math.abs(scaled) <= MOST_EXACT ? (long) scaled : 0; // 0 for NaN as well
    }

    private static long bits(long decimal, int exponent, boolean single) {
        double number = decimal / POWERS[exponent];
        return single ? Float.floatToRawIntBits((float) number) : Double.doubleToRawLongBits(number);
    }

    /** That by which a sample takes the fewest bits; negative if it takes no fewer than as it is. */
    private static int bestExponent(long[] bits, int count, boolean single) {
        int size = Math.min(count, SAMPLE);
        int best = -1;
        long bestBits = (long) size * (single ? 30 : 60); // near to that, what else there is wins nothing
        for (int exponent = 0; exponent <= MOST_EXPONENT; exponent++) {
            long min = Long.MAX_VALUE;
            long max = Long.MIN_VALUE;
            long missed = 0;
            for (int i = 0; i < size; i++) {
                long each = bits[(int) ((long) i * count / size)];
                long decimal = decimal(number(each, single), exponent);
                if (bits(decimal, exponent, single) == each) {
                    min = Math.min(min, decimal);
                    max = Math.max(max, decimal);
                } else {
                    missed++;
                }
            }
            long total =
                    missed * EXCEPTION_BITS + (missed == size ? 0 : (size - missed) * IntegerEncoding.width(max - min));
            if (total < bestBits) {
                bestBits = total;
                best = exponent;
            }
        }
        return best;
    }

    /** Reads so many numbers to an address, 8 bytes each, or 4 where they are single. */
    static void read(ByteInput in, int count, boolean single, long to) {
        int form = in.getByte();
        if (form == BITS) {
            FixedWidth.read(in, count, single ? 4 : 8, to);
            return;
        }
        int exponent = form == DECIMALS ? in.getByte() : -1;
        if (exponent < 0 || exponent > MOST_EXPONENT) {
            throw new EncodingException("there is no form " + form + " of numbers by the exponent " + exponent);
        }
        int missed = in.getCount(Math.min(count, IntegerEncoding.MOST_ENTRIES));
        long[] places = IntegerCursor.readAll(in, missed);
        long[] exceptions = IntegerCursor.readAll(in, missed);
        readDecimals(IntegerCursor.open(in, count), count, single, POWERS[exponent], to);
        for (int i = 0; i < missed; i++) {
            if (places[i] < 0 || places[i] >= count) {
                throw new EncodingException("an exception is at " + places[i] + " of " + count);
            }
            if (single) {
                Memory.putInt(to + 4 * places[i], (int) exceptions[i]);
            } else {
                Memory.putLong(to + 8 * places[i], exceptions[i]);
            }
        }
    }

    private static void readDecimals(IntegerCursor decimals, int count, boolean single, double power, long to) {
        long[] group = new long[Math.min(count, IntegerEncoding.GROUP)];
        for (int from = 0; from < count; from += IntegerEncoding.GROUP) {
            int size = Math.min(IntegerEncoding.GROUP, count - from);
            decimals.next(group, size);
            if (single) {
                for (int i = 0; i < size; i++) {
                    Memory.putFloat(to + 4L * (from + i), (float) (group[i] / power));
                }
            } else {
                for (int i = 0; i < size; i++) {
                    Memory.putDouble(to + 8L * (from + i), group[i] / power);
                }
            }
        }
        decimals.end();
    }
}
