package dev.millrace.engine.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.datasketches.hll.HllRegisters;
import org.apache.datasketches.hll.HllSketch;
import org.apache.datasketches.hll.TgtHllType;
import org.apache.datasketches.hll.Union;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A sketch goes on from its serial form as if nothing had happened, in each of the forms that it has as it fills. */
class SketchSnapshotTest {
    private static final int LG_REGISTERS = 12;

    /** Three standard errors of 2^12 registers. */
    private static final double ERROR = 3 * 1.04 / 64;

    private static HllSketch of(long from, long to) {
        HllSketch sketch = new HllSketch(LG_REGISTERS, TgtHllType.HLL_8);
        for (long value = from; value < to; value++) {
            sketch.update(value);
        }
        return sketch;
    }

    private static byte[] written(HllSketch sketch) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        HllRegisters.write(sketch, new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private static HllSketch restored(HllSketch sketch) throws IOException {
        return HllRegisters.read(LG_REGISTERS, new DataInputStream(new ByteArrayInputStream(written(sketch))));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 9, 300, 384, 385, 400, 5_000, 300_000})
    void aRestoredSketchEstimatesAsBefore(int values) throws IOException {
        HllSketch sketch = of(0, values);
        HllSketch restored = restored(sketch);
        assertEquals(sketch.getCompositeEstimate(), restored.getCompositeEstimate());
        assertEquals(values, restored.getCompositeEstimate(), Math.max(0.01, values * ERROR));
        assertEquals(written(sketch).length, written(restored).length);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 200, 390, 40_000})
    void aRestoredSketchTakesMoreValuesAsBefore(int values) throws IOException {
        HllSketch whole = of(0, 2 * values);
        HllSketch halves = restored(of(0, values));
        for (long value = values; value < 2L * values; value++) {
            halves.update(value);
        }
        assertEquals(whole.getCompositeEstimate(), halves.getCompositeEstimate());
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 200, 390, 40_000})
    void aRestoredSketchMergesAsBefore(int values) throws IOException {
        Union union = new Union(LG_REGISTERS);
        union.update(restored(of(0, values)));
        union.update(restored(of(values / 2, values + values / 2)));
        HllSketch merged = restored(union.getResult(TgtHllType.HLL_8));
        assertEquals(of(0, values + values / 2).getCompositeEstimate(), merged.getCompositeEstimate());
    }
}
