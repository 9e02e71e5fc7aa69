package dev.millrace.engine.statistic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

class ColumnSketchTest {
    /** A sketch of each {@code every}-th of some values. */
    private static ColumnSketch sketch(DataType type, int rows, int every, IntFunction<Object> value) {
        Schema schema = Schema.of(new Field("c", type, true));
        ColumnSketch sketch = new ColumnSketch(type);
        try (RootAllocator allocator = new RootAllocator()) {
            List<Row> all = IntStream.range(0, rows)
                    .mapToObj(i -> Row.of(value.apply(i)))
                    .toList();
            try (Batch batch = TestBatches.of(schema, allocator, all)) {
                sketch.add(batch, 0, 0, every);
            }
        }
        return sketch;
    }

    private static void assertNear(double expected, double actual, double part) {
        assertTrue(Math.abs(actual - expected) <= part * expected, expected + " expected, not " + actual);
    }

    @Test
    void countsDifferentValuesOfAllRows() {
        assertNear(100, sketch(DataType.BIGINT, 5000, 1, i -> (long) i % 100).distinct(5000), 0.05);
        assertNear(5000, sketch(DataType.BIGINT, 5000, 1, i -> (long) i).distinct(5000), 0.05);
        assertEquals(1, sketch(DataType.TEXT, 50, 1, i -> "same").distinct(50), 0.01);
    }

    @Test
    void neverCountsMoreThanThereAreRows() {
        assertTrue(sketch(DataType.BIGINT, 3000, 1, i -> (long) i).distinct(3000) <= 3000);
        assertEquals(1, sketch(DataType.BIGINT, 10, 1, i -> null).distinct(10));
        assertEquals(1, sketch(DataType.BIGINT, 0, 1, i -> null).distinct(0));
    }

    @Test
    void guessesTheDifferentValuesOfAllRowsFromASample() {
        Random random = new Random(3);
        assertNear(
                100,
                sketch(DataType.BIGINT, 10_000, 10, i -> (long) random.nextInt(100))
                        .distinct(10_000),
                0.1);
        assertNear(
                3000,
                sketch(DataType.BIGINT, 12_000, 4, i -> (long) random.nextInt(3000))
                        .distinct(12_000),
                0.3);
        // what never came twice is taken for a key
        assertEquals(40_000, sketch(DataType.BIGINT, 4000, 1, i -> (long) i).distinct(40_000));
    }

    @Test
    void frequentValuesAreKnownAndOthersShareTheRest() {
        ColumnSketch sketch = sketch(DataType.TEXT, 4000, 1, i -> i % 4 == 0 ? "often" : "v" + i);
        assertNear(0.25, sketch.equalTo("often", 4000).getAsDouble(), 0.1);
        assertTrue(sketch.equalTo("never", 4000).getAsDouble() < 0.01);
        assertTrue(sketch.equalTo("never", 4000).getAsDouble() > 0);
    }

    @Test
    void boundsAreFractionsInOrder() {
        ColumnSketch sketch = sketch(DataType.INTEGER, 1000, 1, i -> i);
        double before = 0;
        for (long value = -10; value <= 1010; value += 30) {
            double below = sketch.below(value).getAsDouble();
            assertTrue(below >= before && below <= 1, value + ": " + below);
            before = below;
        }
        assertEquals(0, sketch.below(-1L).getAsDouble());
        assertEquals(1, sketch.below(5000L).getAsDouble());
        assertEquals(0.5, sketch.below(500L).getAsDouble(), 0.05);
    }

    @Test
    void nullsAreNoValues() {
        ColumnSketch sketch = sketch(DataType.DOUBLE, 1000, 1, i -> i % 4 == 0 ? null : (double) i);
        assertEquals(0.25, sketch.nullFraction(), 1e-9);
        assertEquals(0.75, sketch.below(1e9).getAsDouble(), 1e-9);
        ColumnSketch none = sketch(DataType.DOUBLE, 10, 1, i -> null);
        assertEquals(1, none.nullFraction());
        assertTrue(none.below(1.0).isEmpty());
        assertTrue(none.equalTo(1.0, 10).isEmpty());
    }

    @Test
    void zerosAreOneValueAndNaNHasNoPlace() {
        ColumnSketch sketch = sketch(DataType.DOUBLE, 900, 1, i -> i % 3 == 0 ? -0.0 : i % 3 == 1 ? 0.0 : Double.NaN);
        assertNear(2, sketch.distinct(900), 0.01);
        assertNear(2.0 / 3, sketch.equalTo(0.0, 900).getAsDouble(), 0.01);
        assertTrue(Double.isFinite(sketch.below(1.0).getAsDouble()));
        assertTrue(sketch.below(Double.NaN).isEmpty());
        assertTrue(sketch.below(Float.NaN).isEmpty());
        assertNear(1.0 / 3, sketch.equalTo(Double.NaN, 900).getAsDouble(), 0.01);
    }

    @Test
    void valuesOfEveryTypeAreRead() {
        assertNear(
                1,
                sketch(DataType.numeric(38, 2), 10, 1, i -> new BigDecimal("-123456789012345678901234567890.12"))
                        .distinct(10),
                0.01);
        assertNear(
                0.5,
                sketch(DataType.BOOLEAN, 10, 1, i -> i % 2 == 0)
                        .equalTo(true, 10)
                        .getAsDouble(),
                0.01);
        assertNear(10, sketch(DataType.SMALLINT, 100, 1, i -> i % 10).distinct(100), 0.05);
        assertNear(10, sketch(DataType.REAL, 100, 1, i -> i % 10 / 2.0).distinct(100), 0.05);
        assertNear(10, sketch(DataType.DATE, 100, 1, i -> (long) i % 10).distinct(100), 0.05);
        assertNear(
                10, sketch(DataType.TIMESTAMP, 100, 1, i -> i % 10 * 1_000_000L).distinct(100), 0.05);
        assertFalse(ColumnSketch.takes(DataType.array(DataType.BIGINT)));
    }

    @Test
    void whatIsOfAnotherKindIsNotCompared() {
        ColumnSketch numbers = sketch(DataType.BIGINT, 10, 1, i -> (long) i);
        assertTrue(numbers.below("text").isEmpty());
        ColumnSketch texts = sketch(DataType.TEXT, 10, 1, i -> "t" + i);
        assertTrue(texts.below("t5").isEmpty());
        assertTrue(texts.equalTo(List.of(), 10).isEmpty());
    }
}
