package dev.millrace.storage.column;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

class FloatEncodingTest {
    private static final int COUNT = 5000;

    /** Writes, reads, holds each bit to what it was, and gives which form it was. */
    private static int roundTrip(IntToDoubleFunction value, boolean single, int mostBytes) {
        long[] bits = new long[COUNT];
        for (int i = 0; i < COUNT; i++) {
            double number = value.applyAsDouble(i);
            bits[i] = single ? Float.floatToRawIntBits((float) number) : Double.doubleToRawLongBits(number);
        }
        ByteOutput out = new ByteOutput();
        FloatEncoding.write(bits, COUNT, single, out);
        assertTrue(out.size() <= mostBytes, out.size() + " bytes, not " + mostBytes);
        int width = single ? 4 : 8;
        long address = Memory.allocate(out.size() + ByteInput.SLACK);
        long read = Memory.allocate((long) COUNT * width);
        try {
            Memory.copyIn(out.array(), 0, address, out.size());
            ByteInput in = new ByteInput(address, out.size());
            FloatEncoding.read(in, COUNT, single, read);
            in.end();
            for (int i = 0; i < COUNT; i++) {
                assertEquals(bits[i], single ? Memory.getInt(read + 4L * i) : Memory.getLong(read + 8L * i));
            }
        } finally {
            Memory.free(address);
            Memory.free(read);
        }
        return out.array()[0];
    }

    @Test
    void readingsOfFewDigitsTakeFewBits() {
        Random random = new Random(1);
        for (int digits = 0; digits <= 6; digits++) {
            double power = Math.pow(10, digits);
            assertEquals(
                    FloatEncoding.DECIMALS, roundTrip(i -> random.nextInt(4000) / power, false, 12 * COUNT / 8 + 200));
            assertEquals(
                    FloatEncoding.DECIMALS, roundTrip(i -> random.nextInt(4000) / power, true, 12 * COUNT / 8 + 200));
        }
    }

    @Test
    void whatIsNoSuchReadingComesBackBitByBit() {
        Random random = new Random(2);
        double[] odd = {Double.NaN, -0.0, Double.POSITIVE_INFINITY, Double.MIN_VALUE, Double.MAX_VALUE, Math.PI};
        assertEquals(
                FloatEncoding.DECIMALS,
                roundTrip(i -> i % 100 == 0 ? odd[i / 100 % odd.length] : i / 10.0, false, COUNT * 2));
        assertEquals(FloatEncoding.BITS, roundTrip(i -> random.nextGaussian(), false, COUNT * 8 + 200));
        assertEquals(FloatEncoding.BITS, roundTrip(i -> random.nextGaussian(), true, COUNT * 4 + 200));
        assertEquals(
                FloatEncoding.BITS, roundTrip(i -> Double.longBitsToDouble(random.nextLong()), false, COUNT * 8 + 200));
        assertEquals(FloatEncoding.DECIMALS, roundTrip(i -> 1e15 + i, false, COUNT * 2));
    }
}
