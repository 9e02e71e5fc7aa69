package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Form;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever goes in comes back within its bound, and everything else comes back as it was. */
class RoundTripTest {
    private static final long VALUES = Long.getLong("millrace.sketch.values", 250_000);
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);

    @Test
    void everyValueComesBackWithinItsBound() {
        System.out.println("sketch round trips: " + VALUES + " values, seed " + SEED);
        long done = 0;
        for (long trial = 0; done < VALUES; trial++) {
            long seed = SEED + trial;
            try {
                done += trial(new Random(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("with -Dmillrace.sketch.seed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private record Stream(SketchSchema schema, long[] ticks, List<Object[]> columns) {}

    private static long trial(Random random) {
        int rows = switch (random.nextInt(6)) {
            case 0 -> 1 + random.nextInt(4);
            case 1 -> 1 + random.nextInt(100);
            default -> 500 + random.nextInt(4000);
        };
        Stream stream = stream(random, rows);
        EncoderOptions options = new EncoderOptions(
                random.nextInt(4) == 0 ? 1 + random.nextInt(50) : 1024,
                0,
                random.nextInt(3) == 0 ? Keep.ARCHIVAL : Keep.QUERYABLE,
                random.nextInt(3) > 0 ? Form.SMALLEST : Form.values()[random.nextInt(4)],
                random.nextInt(4) == 0,
                EncoderOptions.Refit.BETWEEN_SEGMENTS,
                random.nextInt(4),
                random::nextLong);
        List<EncodedSegment> segments = new ArrayList<>();
        StreamEncoder encoder = new StreamEncoder(stream.schema, options, segments::add);
        for (int row = 0; row < rows; row++) {
            Observations to = encoder.row(stream.ticks[row]);
            for (int f = 0; f < stream.columns.size(); f++) {
                Object value = stream.columns.get(f)[row];
                if (value instanceof Double number) {
                    to.number(f, number);
                } else if (value instanceof Long whole) {
                    to.whole(f, whole);
                } else if (value instanceof Boolean bool) {
                    to.bool(f, bool);
                } else if (value instanceof String text) {
                    to.text(f, text);
                }
            }
        }
        encoder.flush();
        Versions versions = new Versions();
        int from = 0;
        for (EncodedSegment segment : segments) {
            Sketch sketch = SegmentCodec.read(segment.bytes(), options.selfContained() ? new Versions() : versions);
            check(stream, sketch, from);
            from += sketch.rows();
        }
        assertEquals(rows, from);
        return (long) rows * stream.columns.size();
    }

    private static Stream stream(Random random, int rows) {
        int size = 1 + random.nextInt(5);
        List<Feature> features = new ArrayList<>();
        List<Object[]> columns = new ArrayList<>();
        for (int f = 0; f < size; f++) {
            Object[] values = new Object[rows];
            features.add(feature(random, "f" + f, values));
            if (random.nextInt(3) == 0) {
                int often = 1 + random.nextInt(40);
                int burst = 0;
                for (int i = 0; i < rows; i++) {
                    burst = burst > 0 ? burst - 1 : random.nextInt(often) == 0 ? random.nextInt(20) : 0;
                    values[i] = burst > 0 ? null : values[i];
                }
            }
            columns.add(values);
        }
        long bound = random.nextInt(3) == 0 ? random.nextInt(2000) : 0;
        SketchSchema schema = SketchSchema.of(features.toArray(Feature[]::new)).withTimeBound(bound);
        return new Stream(schema, ticks(random, rows), columns);
    }

    private static Feature feature(Random random, String name, Object[] values) {
        Binning binning = Binning.values()[random.nextInt(4)];
        switch (random.nextInt(6)) {
            case 0 -> {
                int kinds = 1 + random.nextInt(random.nextBoolean() ? 5 : 2000);
                for (int i = 0; i < values.length; i++) {
                    values[i] = "é category " + random.nextInt(kinds);
                }
                return Feature.text(name);
            }
            case 1 -> {
                for (int i = 0; i < values.length; i++) {
                    values[i] = random.nextInt(9) < 2;
                }
                return Feature.bool(name);
            }
            case 2 -> {
                long spread = 1L << random.nextInt(63);
                for (int i = 0; i < values.length; i++) {
                    values[i] = random.nextInt(50) == 0 ? random.nextLong() : random.nextLong() % spread;
                }
                Bound bound = random.nextBoolean() ? Bound.exact() : Bound.absolute(random.nextInt(100));
                return Feature.whole(name, bound)
                        .withBinning(binning == Binning.EQUAL_PROBABILITY ? Binning.SMALLEST : binning);
            }
            default -> {
                Signals signal = Signals.values()[random.nextInt(Signals.values().length)];
                double[] made = signal.make(random, values.length);
                for (int i = 0; i < values.length; i++) {
                    values[i] = made[i];
                }
                Bound bound = switch (random.nextInt(5)) {
                    case 0 -> Bound.exact();
                    case 1 -> Bound.absolute(Math.pow(10, random.nextInt(9) - 5));
                    case 2 -> Bound.absolute(.1);
                    default -> Bound.ofRange(Math.pow(10, -random.nextInt(5)) * random.nextDouble());
                };
                return Feature.number(name, bound).withBinning(binning);
            }
        }
    }

    private static long[] ticks(Random random, int rows) {
        long[] ticks = new long[rows];
        long time = random.nextInt(3) == 0 ? random.nextLong() / 4 : 1_700_000_000_000_000L;
        int kind = random.nextInt(6);
        for (int i = 0; i < rows; i++) {
            ticks[i] = time;
            time += switch (kind) {
                case 0 -> 1_000_000;
                case 1 -> 10_000 + random.nextInt(500);
                case 2 -> random.nextInt(4) == 0 ? 0 : 1_000_000L * random.nextInt(5);
                case 3 -> random.nextInt(1_000_000) - 300_000;
                case 4 -> i % 3 == 0 ? 2778 : 2777 + (i % 9 < 7 ? 1 : 0);
                default -> 0;
            };
            if (kind == 4) {
                ticks[i] = Math.round(1_000_000.0 * i / 360);
            }
        }
        return ticks;
    }

    private static void check(Stream stream, Sketch sketch, int from) {
        long bound = stream.schema.timeBoundTicks();
        long before = Long.MIN_VALUE;
        for (int row = 0; row < sketch.rows(); row++) {
            long time = stream.ticks[from + row];
            long back = sketch.times().at(row);
            assertTrue(Math.abs(back - time) <= bound, "time of row " + row + ": " + back + " for " + time);
            if (row > 0 && time >= stream.ticks[from + row - 1]) {
                assertTrue(back >= before, "times in order come back in order");
            }
            before = back;
        }
        for (int f = 0; f < sketch.schema().size(); f++) {
            Feature feature = sketch.schema().feature(f);
            double low = Double.POSITIVE_INFINITY;
            double high = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < from + sketch.rows(); i++) {
                if (stream.columns.get(f)[i] instanceof Number number && Double.isFinite(number.doubleValue())) {
                    low = Math.min(low, number.doubleValue());
                    high = Math.max(high, number.doubleValue());
                }
            }
            double allowed = feature.bound().absolute(low, high);
            Column column = sketch.column(f);
            int[] counts = new int[column.symbols().size() + 1];
            for (int row = 0; row < sketch.rows(); row++) {
                Object value = stream.columns.get(f)[from + row];
                int rank = column.sequence().ranks()[row];
                counts[rank]++;
                String where = feature + " row " + (from + row);
                if (value == null) {
                    assertEquals(column.symbols().size(), rank, where);
                } else if (value instanceof Double number) {
                    checkNumber(number, column.numbers(), rank, allowed, where);
                } else if (value instanceof Long whole) {
                    long back = column.numbers().whole(rank);
                    assertTrue(
                            Math.abs(back - whole) <= allowed && back - whole != Long.MIN_VALUE,
                            () -> where + ": " + back + " for " + whole);
                } else if (value instanceof Boolean bool) {
                    assertEquals(bool ? 1 : 0, column.numbers().whole(rank), where);
                } else {
                    assertEquals(value, ((TextSymbols) column.symbols()).text(rank), where);
                }
            }
            org.junit.jupiter.api.Assertions.assertArrayEquals(counts, column.counts(), feature + ": counts");
        }
    }

    private static void checkNumber(double number, NumberSymbols symbols, int rank, double allowed, String where) {
        double back = symbols.value(rank);
        if (allowed == 0 || !Double.isFinite(number)) {
            boolean same = number != number
                    ? back != back
                    : Double.doubleToRawLongBits(number) == Double.doubleToRawLongBits(back);
            assertTrue(same, where + ": " + back + " for " + number + ", which was to be exact");
            return;
        }
        assertTrue(Double.isFinite(back), where + ": " + back + " for " + number);
        double told = symbols.error(rank);
        assertTrue(told <= allowed, where + ": it tells an error of " + told);
        double rounded = Math.abs(back - number);
        if (rounded < told * (1 - 1e-9)) {
            return; // the exact comparison below is slow
        }
        BigDecimal miss = new BigDecimal(back).subtract(new BigDecimal(number)).abs();
        assertTrue(
                miss.compareTo(new BigDecimal(told)) <= 0, where + ": " + back + " for " + number + " within " + told);
    }
}
