package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.query.Aggregate;
import dev.millrace.sketch.query.Certainty;
import dev.millrace.sketch.query.Condition;
import dev.millrace.sketch.query.Estimate;
import dev.millrace.sketch.query.Estimate.Presence;
import dev.millrace.sketch.query.SketchQuery;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.SketchSealer;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.sketch.transform.SketchTransform;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Answers that were wrong, or said to be exact when they were not. */
class AnswersTest {
    private static final SketchSchema EXACT = SketchSchema.of(Feature.number("v", Bound.exact()));

    private static Sketch sketch(
            SketchSchema schema,
            long[] ticks,
            java.util.function.BiConsumer<Integer, dev.millrace.sketch.stream.Observations> set) {
        List<Sketch> sketches = new ArrayList<>();
        StreamEncoder encoder = new StreamEncoder(
                schema,
                EncoderOptions.defaults().withSegmentRows(1 << 16),
                segment -> sketches.add(SegmentCodec.read(segment.bytes(), new Versions())));
        for (int i = 0; i < ticks.length; i++) {
            set.accept(i, encoder.row(ticks[i]));
        }
        encoder.flush();
        return sketches.get(0);
    }

    private static long[] ticks(int count) {
        long[] ticks = new long[count];
        for (int i = 0; i < count; i++) {
            ticks[i] = i;
        }
        return ticks;
    }

    private static Sketch numbers(SketchSchema schema, double... values) {
        return sketch(schema, ticks(values.length), (i, row) -> row.number(0, values[i]));
    }

    private static Sketch wholes(Bound bound, long... values) {
        return sketch(
                SketchSchema.of(Feature.whole("n", bound)), ticks(values.length), (i, row) -> row.whole(0, values[i]));
    }

    private static Estimate ask(Sketch sketch, Aggregate aggregate, Condition... conditions) {
        return SketchQuery.select(aggregate)
                .where(conditions)
                .run(sketch)
                .get(0)
                .estimates()
                .get(0);
    }

    @Test
    void wholeNumbersBeyondWhatADoubleHoldsAreToldApart() {
        long large = 1L << 53;
        Sketch sketch = wholes(Bound.exact(), large, large + 1, large + 1, large + 3);
        assertEquals(3, ask(sketch, Aggregate.distinct("n")).value());
        assertEquals(
                3,
                SketchQuery.select(Aggregate.count()).groupBy("n").run(sketch).size());
        assertEquals(
                2,
                ask(sketch, Aggregate.count(), Condition.equal("n", large + 1)).value());
        assertEquals(
                1,
                ask(sketch, Aggregate.count(), Condition.above("n", large + 2.0))
                        .value());
        assertEquals(
                3,
                ask(sketch, Aggregate.count(), Condition.above("n", (double) large))
                        .value());
        assertEquals(2, Materialisation.topK(1).stream(sketch).count());
        Estimate max = ask(sketch, Aggregate.max("n"));
        assertTrue(
                max.low() <= large + 2 && max.high() >= large + 4 && !max.isExact(), "a double cannot be it: " + max);
        Estimate sum = ask(wholes(Bound.exact(), Long.MAX_VALUE, Long.MAX_VALUE, -Long.MAX_VALUE), Aggregate.sum("n"));
        assertTrue(sum.low() < 0x1p63 && sum.high() == 0x1p63, "the sum is 2^63 - 1: " + sum);
    }

    @Test
    void whatCancelsOutLeavesTheBoundsRight() {
        Estimate average = ask(numbers(EXACT, 1e16, 1, -1e16), Aggregate.avg("v"));
        assertTrue(average.low() <= 1 / 3.0 && average.high() >= 1 / 3.0, "the average is 1/3: " + average);
        assertTrue(average.high() - average.low() < 1e-14, "and known to the last digits: " + average);
        Estimate variance = ask(numbers(EXACT, 1e15 + 1, 1e15 + 2, 1e15 + 3), Aggregate.variance("v"));
        assertTrue(variance.low() <= 2 / 3.0 && variance.high() >= 2 / 3.0, "the variance is 2/3: " + variance);
        assertTrue(variance.high() - variance.low() < 1e-9, "and known well: " + variance);
    }

    @Test
    void nanAndInfinityAreWhatTheyAreInSql() {
        Sketch sketch = numbers(EXACT, 1, Double.NaN, Double.NaN, 3);
        Estimate max = SketchQuery.select(Aggregate.max("v"))
                .tumbling(10)
                .run(sketch)
                .get(0)
                .estimates()
                .get(0);
        assertTrue(Double.isNaN(max.value()) && max.isExact() && !max.isNull(), max.toString());
        assertEquals(1, ask(sketch, Aggregate.min("v")).value());
        assertEquals(3, ask(sketch, Aggregate.distinct("v")).value());
        assertTrue(ask(sketch, Aggregate.distinct("v")).isExact());
        assertEquals(
                4, ask(sketch, Aggregate.count(), Condition.atLeast("v", 1)).value());
        Estimate sum = ask(numbers(EXACT, 1, Double.POSITIVE_INFINITY), Aggregate.sum("v"));
        assertTrue(sum.isExact() && sum.value() == Double.POSITIVE_INFINITY, sum.toString());
        Estimate none = ask(numbers(EXACT, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY), Aggregate.avg("v"));
        assertTrue(none.isExact() && Double.isNaN(none.value()), none.toString());
        assertEquals(1, ask(numbers(EXACT, 0.0, -0.0), Aggregate.distinct("v")).value());
    }

    @Test
    void anAggregateOverRowsThatMayPassSaysSo() {
        Sketch sketch = numbers(SketchSchema.of(Feature.number("v", Bound.absolute(1))), 10, 10, 30);
        double shown = ask(sketch, Aggregate.min("v")).value();
        Estimate average = ask(sketch, Aggregate.avg("v"), Condition.between("v", shown + .5, shown + 2));
        assertEquals(Presence.POSSIBLE, average.presence());
        assertTrue(average.isNull() && average.allowsNull() && average.low() <= 10.4 && average.high() >= 10.4);
        Estimate count = ask(sketch, Aggregate.count(), Condition.between("v", shown + .5, shown + 2));
        assertEquals(0, count.value());
        assertEquals(2, count.high());
        assertEquals(
                Presence.NONE,
                ask(sketch, Aggregate.avg("v"), Condition.atLeast("v", 100)).presence());
        Condition near = Condition.between("v", shown + .5, shown + 2);
        assertTrue(SketchTransform.filter(sketch, near).isEmpty());
        assertTrue(SketchTransform.filter(sketch, Certainty.CERTAIN, near).isEmpty());
        assertEquals(
                2,
                SketchTransform.filter(sketch, Certainty.POSSIBLE, near)
                        .orElseThrow()
                        .rows());
    }

    @Test
    void conditionsAreTrueFalseOrNeither() {
        Sketch sketch =
                sketch(SketchSchema.of(Feature.whole("n", Bound.exact()), Feature.text("t")), ticks(6), (i, row) -> {
                    if (i != 3) {
                        row.whole(0, i);
                    }
                    row.text(1, "t" + i % 2);
                });
        assertEquals(
                3,
                ask(sketch, Aggregate.count(), Condition.not(Condition.between("n", 2, 3)))
                                .value()
                        - 1);
        assertEquals(
                5,
                ask(
                                sketch,
                                Aggregate.count(),
                                Condition.or(Condition.equal("n", 2), Condition.not(Condition.equal("n", 2))))
                        .value());
        assertEquals(
                4,
                ask(sketch, Aggregate.count(), Condition.or(Condition.in("t", "t1"), Condition.equal("n", 4)))
                        .value());
        assertEquals(2, ask(sketch, Aggregate.count(), Condition.during(2, 4)).value());
        assertEquals(
                4,
                ask(sketch, Aggregate.count(), Condition.not(Condition.during(2, 4)))
                        .value());
        assertEquals(
                3,
                ask(sketch, Aggregate.count(), Condition.matches("t", text -> text.endsWith("0")))
                        .value());
        MillraceException error =
                assertThrows(MillraceException.class, () -> ask(sketch, Aggregate.count(), Condition.equal("t", 1)));
        assertEquals(SqlState.DATATYPE_MISMATCH, error.sqlState());
    }

    /** A key came twice. */
    @Test
    void mergedSegmentsOfDifferentScalesHaveEachKeyOnce() {
        Sketch a = numbers(SketchSchema.of(Feature.number("v", Bound.absolute(.5))), 0, 5, 10);
        Sketch b = numbers(EXACT, 0, 5.25, 10);
        Sketch merged = SketchTransform.merge(a, SketchTransform.merge(b, a));
        List<SketchQuery.Row> rows =
                SketchQuery.select(Aggregate.count()).groupBy("v").run(merged);
        assertEquals(
                rows.size(), rows.stream().map(SketchQuery.Row::keys).distinct().count());
        assertEquals(
                9,
                rows.stream().mapToDouble(row -> row.estimates().get(0).value()).sum());
    }

    /** The first one's bound on time was kept: "exact" 6 for 7. */
    @Test
    void aMergedSketchHasTheWiderErrorOfTime() {
        SketchSchema loose = EXACT.withTimeBound(50);
        long[] ticks = {0, 137, 191, 333, 402, 577, 641, 739, 871, 955, 1003, 1177, 1201, 1333, 1402, 1577};
        Sketch exact = numbers(EXACT, 1, 2);
        Sketch off = sketch(loose, ticks, (i, row) -> row.number(0, 1));
        assertEquals(50, off.timeErrorTicks());
        for (Sketch merged : List.of(SketchTransform.merge(exact, off), SketchTransform.merge(off, exact))) {
            assertEquals(50, merged.timeErrorTicks());
            for (SketchQuery.Row row :
                    SketchQuery.select(Aggregate.count()).tumbling(100).run(merged)) {
                long truth = row.windowStart() == 0 ? 2 : 0;
                for (long time : ticks) {
                    truth += time >= row.windowStart() && time < row.windowEnd() ? 1 : 0;
                }
                assertTrue(row.estimates().get(0).allows(truth), truth + " rows: " + row);
            }
            Sketch again =
                    SegmentCodec.read(SketchSealer.seal(merged, Keep.QUERYABLE).get(0), new Versions());
            assertEquals(50, again.timeErrorTicks());
        }
    }

    @Test
    void mergingGoesOnBeyondWhatASegmentHoldsAndIsStoredInSeveral() {
        Sketch part = sketch(EXACT, ticks(1 << 16), (i, row) -> row.number(0, i / 4096));
        List<Sketch> parts = new ArrayList<>();
        for (int p = 0; p < 20; p++) {
            parts.add(part);
        }
        Sketch merged = SketchTransform.merge(parts);
        assertEquals(20 << 16, merged.rows());
        assertEquals(
                20 << 12,
                ask(merged, Aggregate.count(), Condition.equal("v", 3)).value());
        List<byte[]> stored = SketchSealer.seal(merged, Keep.QUERYABLE);
        assertEquals(2, stored.size());
        assertEquals(
                20 << 12,
                SketchQuery.select(Aggregate.count())
                        .where(Condition.equal("v", 3))
                        .run(stored.stream()
                                .map(bytes -> SegmentCodec.read(bytes, new Versions()))
                                .toList())
                        .get(0)
                        .estimates()
                        .get(0)
                        .value());
    }

    @Test
    void realsComeWithinTheirBoundThroughArrow() {
        for (Binning binning : Binning.values()) {
            for (double bound : new double[] {1e-9, 1e-5, 4e-3, .01, .1}) {
                SketchSchema schema = SketchSchema.of(new Feature("v", DataType.REAL, Bound.absolute(bound), binning));
                double[] values = new double[3000];
                for (int i = 0; i < values.length; i++) {
                    values[i] = (float) (1000 * Math.sin(i) + 1e5);
                }
                Sketch sketch = numbers(schema, values);
                try (BufferAllocator allocator = new RootAllocator();
                        Batch batch = Materialisation.all().batch(sketch, allocator)) {
                    long data = batch.column(1).getDataBufferAddress();
                    for (int i = 0; i < values.length; i++) {
                        float back = Float.intBitsToFloat(Memory.getInt(data + 4L * i));
                        assertTrue(
                                Math.abs(back - values[i]) <= bound, back + " for " + values[i] + " within " + bound);
                    }
                }
            }
        }
    }

    @Test
    void smallIntegersAtTheirEndsDoNotWrapAroundInArrow() {
        SketchSchema schema =
                SketchSchema.of(new Feature("v", DataType.SMALLINT, Bound.absolute(3), Binning.EQUAL_WIDTH));
        short[] values = {32767, -32768, 32766, 5};
        Sketch sketch = sketch(schema, ticks(4), (i, row) -> row.whole(0, values[i]));
        try (BufferAllocator allocator = new RootAllocator();
                Batch batch = Materialisation.all().batch(sketch, allocator)) {
            long data = batch.column(1).getDataBufferAddress();
            for (int i = 0; i < values.length; i++) {
                assertEquals(values[i], Memory.getShort(data + 2L * i), 3.0);
            }
        }
    }

    @Test
    void timesAtTheEndsOfBigintComeBackAndWindowsEnd() {
        long[][] streams = {
            {Long.MIN_VALUE, Long.MAX_VALUE},
            {Long.MAX_VALUE - 1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1},
            {Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE - 7, 0},
            {Long.MAX_VALUE - 2000, Long.MAX_VALUE - 1001, Long.MAX_VALUE - 3},
        };
        for (long[] ticks : streams) {
            for (long bound : new long[] {0, 5}) {
                Sketch sketch = sketch(EXACT.withTimeBound(bound), ticks, (i, row) -> row.number(0, i));
                boolean ordered = true;
                for (int i = 0; i < ticks.length; i++) {
                    long back = sketch.times().at(i);
                    long miss = Math.max(back, ticks[i]) - Math.min(back, ticks[i]); // unsigned
                    assertTrue(Long.compareUnsigned(miss, bound) <= 0, back + " for " + ticks[i]);
                    ordered &= i == 0 || ticks[i] >= ticks[i - 1];
                }
                assertTrue(ordered || !sketch.times().ordered());
                try {
                    double rows = SketchQuery.select(Aggregate.count()).tumbling(1000).run(sketch).stream()
                            .mapToDouble(row -> row.estimates().get(0).value())
                            .sum();
                    assertEquals(ticks.length, rows);
                } catch (MillraceException e) {
                    assertEquals(SqlState.DATETIME_FIELD_OVERFLOW, e.sqlState());
                }
                try {
                    int rows = SketchTransform.partitionByTime(sketch, 1000).values().stream()
                            .mapToInt(Sketch::rows)
                            .sum();
                    assertEquals(ticks.length, rows);
                } catch (MillraceException e) {
                    assertEquals(SqlState.DATETIME_FIELD_OVERFLOW, e.sqlState());
                }
            }
        }
    }

    @Test
    void categoriesAreEnrichedAndSchemasConformed() {
        Sketch sketch = sketch(
                SketchSchema.of(Feature.text("room"), Feature.number("v", Bound.exact())),
                ticks(4),
                (i, row) -> row.text(0, i < 2 ? "kitchen" : "attic").number(1, i));
        Sketch enriched = SketchTransform.enrich(
                sketch, "room", "floor", room -> room.equals("attic") ? Optional.of("2nd") : Optional.empty());
        List<SketchQuery.Row> rows =
                SketchQuery.select(Aggregate.sum("v")).groupBy("floor").run(enriched);
        assertEquals(List.of(Optional.empty()), rows.get(0).keys());
        assertEquals(List.of(Optional.of("2nd")), rows.get(1).keys());
        assertEquals(5, rows.get(1).estimates().get(0).value());
        Sketch conformed = SketchTransform.conform(
                sketch, SketchSchema.of(Feature.number("v", Bound.exact()), Feature.whole("later", Bound.exact())));
        assertEquals(
                4, ask(conformed, Aggregate.count(), Condition.isNull("later")).value());
        assertEquals(6, ask(conformed, Aggregate.sum("v")).value());
        assertFalse(conformed.schema().features().stream()
                .anyMatch(feature -> feature.name().equals("room")));
    }
}
