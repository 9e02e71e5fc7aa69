package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.SketchManager;
import dev.millrace.sketch.stream.StreamEncoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A day of a stream whose values wander off and jump, one reading a second. */
class DriftTest {
    private static final int SECONDS = 24 * 3600;
    private static final double BOUND = .5;
    private static final int MOST_BINS = 2048;

    private static double value(Random random, int second) {
        double wander = 20 * Math.sin(second / 9000.0) + second / 2000.0 + (second > 40_000 ? 30 : 0);
        return wander + random.nextGaussian() * (1 + second / 40_000.0);
    }

    @Test
    void equallyLikelyBinsFollowTheStreamAndStayBounded() {
        SketchSchema schema =
                SketchSchema.of(Feature.number("v", Bound.absolute(BOUND)).withBinning(Binning.EQUAL_PROBABILITY));
        Random random = new Random(11);
        double[] values = new double[SECONDS];
        Versions versions = new Versions();
        List<Integer> numbers = new ArrayList<>();
        int[] checked = {0};
        int[] mostBins = {0};
        StreamEncoder encoder = new StreamEncoder(schema, EncoderOptions.defaults(), segment -> {
            Sketch sketch = SegmentCodec.read(segment.bytes(), versions);
            numbers.add(segment.version());
            NumberSymbols symbols = sketch.column(0).numbers();
            int[] ranks = sketch.column(0).sequence().ranks();
            for (int rank : ranks) {
                assertTrue(Math.abs(symbols.value(rank) - values[checked[0]++]) <= BOUND);
            }
        });
        for (int second = 0; second < SECONDS; second++) {
            // An anomaly of three seconds each hour, far outside.
            boolean odd = second % 3600 >= 1800 && second % 3600 < 1803;
            values[second] = odd ? 500 + second / 100.0 : value(random, second);
            encoder.row(second * 1_000_000L).number(0, values[second]);
            mostBins[0] = Math.max(mostBins[0], encoder.density(0).orElseThrow().size());
        }
        encoder.flush();
        assertEquals(SECONDS, checked[0]);
        assertTrue(mostBins[0] < MOST_BINS, "bins: " + mostBins[0]);
        assertTrue(encoder.density(0).orElseThrow().fits() > 1, "the bins were never fitted again");
        for (int i = 1; i < numbers.size(); i++) {
            assertTrue(numbers.get(i) >= numbers.get(i - 1), "versions rise");
        }
    }

    @Test
    void aManagerKeepsManyKeysWithinItsBounds() {
        SketchSchema schema = SketchSchema.of(Feature.number("v", Bound.ofRange(.01)));
        Map<Integer, Versions> versions = new HashMap<>();
        long[] rows = {0};
        int mostRows = 20_000;
        SketchManager<Integer> manager = new SketchManager<>(
                schema, EncoderOptions.defaults().withSegmentTicks(600_000_000L), 200, mostRows, (key, segment) -> {
                    Sketch sketch =
                            SegmentCodec.read(segment.bytes(), versions.computeIfAbsent(key, k -> new Versions()));
                    rows[0] += sketch.rows();
                    long start = Math.floorDiv(segment.firstTicks(), 600_000_000L);
                    assertEquals(start, Math.floorDiv(segment.lastTicks(), 600_000_000L));
                });
        Random random = new Random(5);
        int written = 200_000;
        for (int i = 0; i < written; i++) {
            int key = random.nextInt(10) == 0 ? random.nextInt(1000) : random.nextInt(100);
            manager.row(key, i * 20_000L).number(0, key + random.nextGaussian());
            assertTrue(manager.waitingRows() <= mostRows && manager.keys() <= 200);
            if (i % 1000 == 0) {
                manager.advance(i * 20_000L);
            }
        }
        manager.flush();
        assertEquals(written, rows[0]);
        assertEquals(0, manager.waitingRows());
    }
}
