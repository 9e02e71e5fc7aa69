package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.sketch.bins.ProbabilityBins;
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
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A day of a stream whose values wander off and jump, one reading a second. */
@Tag("long")
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
        follow(EncoderOptions.Refit.BETWEEN_SEGMENTS, () -> {});
    }

    @Test
    void aSampleThatFadesWithTimeFollowsTheStreamToo() {
        follow(new EncoderOptions.Refit(Runnable::run, 600 * 1_000_000L), () -> {});
    }

    @Test
    void anotherThreadMayFitWhileSegmentsClose() {
        List<Runnable> waiting = new ArrayList<>();
        int[] segments = {0};
        // A thread that takes as long as three segments do for each review.
        int late = follow(new EncoderOptions.Refit(waiting::add, 0), () -> {
            if (++segments[0] % 3 == 0 && !waiting.isEmpty()) {
                waiting.remove(0).run();
            }
            assertTrue(waiting.size() <= 1, "one review at a time");
        });
        assertTrue(late < follow(EncoderOptions.Refit.BETWEEN_SEGMENTS, () -> {}));
    }

    @Test
    void binsAreLookedAtNoMoreOftenThanIsAskedFor() {
        EncoderOptions.Refit each = EncoderOptions.Refit.BETWEEN_SEGMENTS;
        int hourly = follow(each.withReviews(OptionalLong.of(3600 * 1_000_000L)), () -> {}, false);
        assertTrue(hourly > 1 && hourly <= 25, "a day has 24 hours: " + hourly);
        assertEquals(1, follow(each.withReviews(OptionalLong.empty()), () -> {}, false), "only the first");
    }

    private static int follow(EncoderOptions.Refit refit, Runnable afterSegment) {
        return follow(refit, afterSegment, true);
    }

    /** Encodes the day, checking each value against its bound; returns how often bins were fitted. */
    private static int follow(EncoderOptions.Refit refit, Runnable afterSegment, boolean isOften) {
        SketchSchema schema =
                SketchSchema.of(Feature.number("v", Bound.absolute(BOUND)).withBinning(Binning.EQUAL_PROBABILITY));
        Random random = new Random(11);
        double[] values = new double[SECONDS];
        Versions versions = new Versions();
        List<Integer> numbers = new ArrayList<>();
        int[] checked = {0};
        int mostBins = 0;
        StreamEncoder encoder = new StreamEncoder(
                schema, EncoderOptions.defaults().withSegmentRows(256).withRefit(refit), segment -> {
                    numbers.add(segment.version());
                    check(SegmentCodec.read(segment.bytes(), versions), values, BOUND, checked);
                    afterSegment.run();
                });
        for (int second = 0; second < SECONDS; second++) {
            // An anomaly of three seconds each hour, far outside.
            boolean odd = second % 3600 >= 1800 && second % 3600 < 1803;
            values[second] = odd ? 500 + second / 100.0 : value(random, second);
            encoder.row(second * 1_000_000L).number(0, values[second]);
            mostBins = Math.max(mostBins, encoder.density(0).orElseThrow().size());
        }
        encoder.flush();
        assertEquals(SECONDS, checked[0]);
        assertTrue(!isOften || mostBins < MOST_BINS, "bins: " + mostBins);
        int fits = encoder.density(0).orElseThrow().fits();
        assertTrue(!isOften || fits > 1, "the bins were never fitted again");
        for (int i = 1; i < numbers.size(); i++) {
            assertTrue(numbers.get(i) >= numbers.get(i - 1), "versions rise");
        }
        return fits;
    }

    private static void check(Sketch sketch, double[] values, double bound, int[] checked) {
        NumberSymbols symbols = sketch.column(0).numbers();
        for (int rank : sketch.column(0).sequence().ranks()) {
            assertTrue(Math.abs(symbols.value(rank) - values[checked[0]++]) <= bound);
        }
    }

    @Test
    void boundsAndBinsSetByHandHoldFromTheNextSegmentOn() {
        SketchSchema schema =
                SketchSchema.of(Feature.number("v", Bound.absolute(5)).withBinning(Binning.EQUAL_PROBABILITY));
        Random random = new Random(3);
        double[] values = new double[4000];
        Versions versions = new Versions();
        int[] checked = {0};
        double[] bound = {5};
        List<Double> worst = new ArrayList<>();
        List<List<Double>> centres = new ArrayList<>();
        StreamEncoder encoder =
                new StreamEncoder(schema, EncoderOptions.defaults().withSegmentRows(1000), segment -> {
                    int from = checked[0];
                    Sketch sketch = SegmentCodec.read(segment.bytes(), versions);
                    check(sketch, values, bound[0], checked);
                    NumberSymbols symbols = sketch.column(0).numbers();
                    int[] ranks = sketch.column(0).sequence().ranks();
                    double most = 0;
                    for (int i = 0; i < ranks.length; i++) {
                        most = Math.max(most, Math.abs(symbols.value(ranks[i]) - values[from + i]));
                    }
                    worst.add(most);
                    centres.add(versions.find(segment.incarnation(), segment.version())
                            .orElseThrow()
                            .bins()
                            .get(0)
                            .centres());
                });
        for (int i = 0; i < values.length; i++) {
            if (i == 1000) {
                encoder.flush();
                bound[0] = .01;
                encoder.override(0, Bound.absolute(.01));
            } else if (i == 2000) {
                encoder.flush();
                bound[0] = 5;
                encoder.override(0, Bound.absolute(5));
                encoder.density(0).orElseThrow().updating(false);
                encoder.density(0).orElseThrow().override(new ProbabilityBins(List.of(0.0, 40.0, 44.0, 100.0)));
            }
            values[i] = random.nextInt(2) == 0 ? 42 : 100 * random.nextDouble();
            encoder.row(i).number(0, values[i]);
        }
        encoder.flush();
        assertTrue(worst.get(0) > .01, "the wide bound is made use of: " + worst);
        assertEquals(List.of(20.0, 42.0, 72.0), centres.get(2).subList(0, 3));
        assertEquals(List.of(20.0, 42.0, 72.0), centres.get(3).subList(0, 3), "they stay, as fitting is off");
        assertEquals(values.length, checked[0]);
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
