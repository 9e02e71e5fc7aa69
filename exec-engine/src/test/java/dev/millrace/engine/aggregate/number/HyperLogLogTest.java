package dev.millrace.engine.aggregate.number;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HyperLogLogTest {
    private static final int MOST_COUPONS = 384;
    private static final double STANDARD_ERROR = 1.04 / 64;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private StateMemory memory;
    private HyperLogLog sketches;

    @BeforeEach
    void open() {
        memory = new StateMemory(leaks.allocator());
        sketches = new HyperLogLog(memory);
    }

    @AfterEach
    void close() {
        memory.close();
    }

    private long newSlot() {
        long slot = memory.allocate(8);
        Memory.putLong(slot, 0);
        return slot;
    }

    /** A sketch that has seen a range of numbers. */
    private long of(long from, long to) {
        long slot = newSlot();
        addAll(slot, from, to);
        return slot;
    }

    private void addAll(long slot, long from, long to) {
        for (long value = from; value < to; value++) {
            sketches.add(slot, HyperLogLog.hash(value));
        }
    }

    private static byte[] written(long slot) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        HyperLogLog.write(slot, new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private long restored(long slot) throws IOException {
        long restored = newSlot();
        sketches.read(restored, new DataInputStream(new ByteArrayInputStream(written(slot))));
        return restored;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 6, 7, 8, 300, MOST_COUPONS})
    void fewValuesAreCounted(int values) {
        long slot = of(1_000, 1_000 + values);
        addAll(slot, 1_000, 1_000 + values); // which it has seen
        assertEquals(values, HyperLogLog.estimate(slot));
    }

    /** The mean of errors shows a bias that the error of one sketch would hide; their square, one that is too large. */
    @ParameterizedTest
    @ValueSource(ints = {MOST_COUPONS + 1, 1_000, 4_096, 12_000, 20_000, 100_000, 1_000_000})
    void manyValuesAreEstimatedWithoutBias(int values) {
        int sketchesMade = values > 100_000 ? 30 : 200;
        SplittableRandom random = new SplittableRandom(values);
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < sketchesMade; i++) {
            long first = random.nextLong();
            long slot = of(first, first + values);
            double error = HyperLogLog.estimate(slot) / values - 1;
            sum += error;
            squares += error * error;
            sketches.remove(slot);
        }
        double mean = sum / sketchesMade;
        double deviation = Math.sqrt(squares / sketchesMade);
        assertEquals(0, mean, 4 * STANDARD_ERROR / Math.sqrt(sketchesMade), "bias of " + values);
        assertTrue(deviation < 1.4 * STANDARD_ERROR, "standard error of " + values + ": " + deviation);
    }

    @Test
    void hashesAreSpreadWhateverTellsValuesApart() {
        int values = 50_000;
        LongUnaryOperator[] ways = {
            value -> value,
            value -> -value,
            value -> value << 44,
            value -> value * 1_000_000,
            value -> Double.doubleToLongBits(value),
            value -> Double.doubleToLongBits(value / 8.0),
            value -> Long.reverse(value)
        };
        for (int way = 0; way < ways.length; way++) {
            long slot = newSlot();
            for (long value = 1; value <= values; value++) {
                sketches.add(slot, HyperLogLog.hash(ways[way].applyAsLong(value)));
            }
            assertEquals(values, HyperLogLog.estimate(slot), 4 * STANDARD_ERROR * values, "way " + way);
        }
    }

    @Test
    void aRegisterKeepsTheGreatestRankToTheLast() {
        long slot = of(0, 100_000);
        long before = Math.round(HyperLogLog.estimate(slot));
        for (long register = 0; register < 1 << 12; register++) {
            sketches.add(slot, register << 52 | 1L << 51); // of rank 1, which all registers have seen by now
        }
        assertEquals(before, Math.round(HyperLogLog.estimate(slot)));
        for (long register = 0; register < 1 << 12; register++) {
            sketches.add(slot, register << 52); // no bit is set behind it
        }
        assertEquals(Double.POSITIVE_INFINITY, HyperLogLog.estimate(slot));
    }

    /** Registers have the ranks that so many hashes would give them, each register its quantile: up to as many as there are. */
    @ParameterizedTest
    @ValueSource(doubles = {1e6, 1e12, 1e17, 0x1p62, 0x1p63, 0x1p64, 0x1p66})
    void estimatesHoldUpToTheLastHash(double values) {
        long slot = newSlot();
        for (long register = 0; register < 1 << 12; register++) {
            double quantile = (register + .5) / (1 << 12);
            int rank = 1;
            while (rank <= 52 && Math.exp(-values / (1 << 12) * Math.pow(2, -rank)) < quantile) {
                rank++;
            }
            sketches.add(slot, register << 52 | (rank <= 52 ? 1L << 52 - rank : 0));
        }
        assertEquals(values, HyperLogLog.estimate(slot), .01 * values);
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 100, MOST_COUPONS, MOST_COUPONS + 1, 5_000, 200_000})
    void theOrderOfValuesDoesNotCount(int values) {
        long backward = newSlot();
        for (long value = values - 1; value >= 0; value--) {
            sketches.add(backward, HyperLogLog.hash(value));
        }
        assertEquals(HyperLogLog.estimate(of(0, values)), HyperLogLog.estimate(backward));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 6, 7, 300, MOST_COUPONS, MOST_COUPONS + 1, 5_000, 300_000})
    void aRestoredSketchEstimatesAsBefore(int values) throws IOException {
        long slot = of(0, values);
        long restored = restored(slot);
        assertEquals(HyperLogLog.estimate(slot), HyperLogLog.estimate(restored));
        assertEquals(written(slot).length, written(restored).length);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 200, 390, 40_000})
    void aRestoredSketchTakesMoreValuesAsBefore(int values) throws IOException {
        long halves = restored(of(0, values));
        addAll(halves, values, 2L * values);
        assertEquals(HyperLogLog.estimate(of(0, 2L * values)), HyperLogLog.estimate(halves));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 200, 300, 390, 40_000})
    void sketchesMergeToThatOfAllTheirValues(int values) throws IOException {
        long whole = of(0, values + values / 2);
        long to = of(0, values);
        sketches.merge(of(values / 2, values + values / 2), to);
        assertEquals(HyperLogLog.estimate(whole), HyperLogLog.estimate(to));
        long manyFromFew = of(0, 10);
        sketches.merge(whole, manyFromFew);
        assertEquals(HyperLogLog.estimate(of(0, Math.max(10, values + values / 2))), HyperLogLog.estimate(manyFromFew));
        if (values > MOST_COUPONS) {
            assertArrayEquals(written(whole), written(to));
        }
    }

    @Test
    void aSketchThatIsRemovedGivesItsMemoryBack() {
        long slot = newSlot();
        addAll(slot, 0, 1_000);
        sketches.remove(slot);
        long bytes = memory.bytes();
        for (int i = 0; i < 1_000; i++) {
            addAll(slot, 0, 1_000);
            sketches.remove(slot);
        }
        assertEquals(bytes, memory.bytes());
        assertEquals(0, HyperLogLog.estimate(slot));
    }
}
