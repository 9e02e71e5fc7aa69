package dev.millrace.storage.column;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import java.util.Random;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

class IntegerEncodingTest {
    private static final int ENCODING_AT = 4; // behind the length of the section

    /** Writes, reads, and gives which encoding it was. */
    private static int roundTrip(long[] values, int mostBytes) {
        ByteOutput out = new ByteOutput();
        IntegerEncoding.write(values, values.length, out);
        assertTrue(out.size() <= mostBytes, out.size() + " bytes, not " + mostBytes);
        long address = Memory.allocate(out.size() + ByteInput.SLACK);
        try {
            Memory.copyIn(out.array(), 0, address, out.size());
            ByteInput in = new ByteInput(address, out.size());
            assertArrayEquals(values, IntegerCursor.readAll(in, values.length));
            in.end();
        } finally {
            Memory.free(address);
        }
        return out.array()[ENCODING_AT];
    }

    private static long[] values(int count, IntToLongFunction value) {
        long[] values = new long[count];
        for (int i = 0; i < count; i++) {
            values[i] = value.applyAsLong(i);
        }
        return values;
    }

    @Test
    void eachFormIsTakenWhereItIsShortest() {
        Random random = new Random(1);
        assertEquals(IntegerEncoding.CONSTANT, roundTrip(values(5000, i -> -7), 13));
        assertEquals(IntegerEncoding.PACKED, roundTrip(values(5000, i -> 1_000_000_007L + random.nextInt(1000)), 6400));
        assertEquals(
                IntegerEncoding.DIFFERENCES | IntegerEncoding.SCALED,
                roundTrip(values(5000, i -> 1_700_000_000_000_000L + 250_000L * i), 100));
        assertEquals(
                IntegerEncoding.DIFFERENCES,
                roundTrip(values(5000, i -> 1_700_000_000_000_000L + 1_000L * i + random.nextInt(30)), 5000));
        assertEquals(IntegerEncoding.RUNS, roundTrip(values(5000, i -> (i / 100) * 1234567L % 1009), 300));
        long[] few = values(40, i -> random.nextLong());
        assertEquals(IntegerEncoding.DICTIONARY, roundTrip(values(5000, i -> few[random.nextInt(few.length)]), 4200));
        assertEquals(
                IntegerEncoding.PACKED | IntegerEncoding.SCALED,
                roundTrip(values(5000, i -> 1_000_000L * random.nextInt(200)), 5100));
    }

    @Test
    void everyWidthAndTheEndsOfTheRangeComeBack() {
        Random random = new Random(2);
        for (int width = 0; width <= 64; width++) {
            for (int count : new int[] {1, 2, 7, 1023, 1024, 1025, 3000}) {
                int bits = width;
                roundTrip(values(count, i -> bits == 0 ? 0 : random.nextLong() >>> (64 - bits)), Integer.MAX_VALUE);
                roundTrip(values(count, i -> bits == 0 ? 0 : random.nextLong() >> (64 - bits)), Integer.MAX_VALUE);
            }
        }
        long[] ends = {Long.MIN_VALUE, Long.MAX_VALUE, 0, -1, 1};
        for (int count = 1; count < 2500; count += 97) {
            roundTrip(values(count, i -> ends[random.nextInt(5)]), Integer.MAX_VALUE);
            roundTrip(values(count, i -> (i & 1) == 0 ? Long.MIN_VALUE : Long.MAX_VALUE), Integer.MAX_VALUE);
        }
    }

    @Test
    void noneAreNone() {
        assertEquals(IntegerEncoding.CONSTANT, roundTrip(new long[0], 13));
    }
}
