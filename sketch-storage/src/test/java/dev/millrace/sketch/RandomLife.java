package dev.millrace.sketch;

import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SketchReceiver;
import dev.millrace.sketch.segment.SketchReceiver.Outcome;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Form;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A stream that outlives its encoders: they restart with and without their state, its schema and its bounds change, and of its
 * segments some are lost, come twice or in another order. What is read is compared with what went in, value by value.
 */
final class RandomLife {
    private static final long END = Long.MAX_VALUE;

    /** A row as it went in; null is NULL. */
    record Row(long time, Object[] values) {}

    private record Sent(EncodedSegment segment, SketchSchema schema, List<Row> rows) {}

    private record Place(long incarnation, long sequence) {}

    private final Random random;
    private final List<Row> waiting = new ArrayList<>(); // in the open segment
    private final List<Sent> sent = new ArrayList<>();
    private final List<Sketch> sketches = new ArrayList<>();
    private final List<List<Row>> rows = new ArrayList<>(); // of each sketch
    private SketchSchema schema;
    private StreamEncoder encoder;
    private boolean alike; // whether incarnations have the same low bits, which are all that a segment shows

    RandomLife(Random random) {
        this.random = random;
        schema = schema(random);
        write();
        arrive();
    }

    /** As it was last. */
    SketchSchema schema() {
        return schema;
    }

    /** What could be read, each with the schema that it was written with. */
    List<Sketch> sketches() {
        return sketches;
    }

    /** What went into each of them. */
    List<List<Row>> rows() {
        return rows;
    }

    private static SketchSchema schema(Random random) {
        int size = 1 + random.nextInt(4);
        List<Feature> features = new ArrayList<>();
        for (int f = 0; f < size; f++) {
            features.add(feature(random, "f" + f));
        }
        long bound = random.nextInt(3) == 0 ? 1 + random.nextInt(3000) : 0;
        return SketchSchema.of(features.toArray(new Feature[0])).withTimeBound(bound);
    }

    private static Feature feature(Random random, String name) {
        Binning binning = Binning.values()[random.nextInt(Binning.values().length)];
        Binning ofWhole = binning == Binning.EQUAL_PROBABILITY ? Binning.SMALLEST : binning;
        return switch (random.nextInt(8)) {
            case 0 -> Feature.text(name);
            case 1 -> Feature.bool(name);
            case 2, 3 ->
                new Feature(name, random.nextInt(4) == 0 ? DataType.INTEGER : DataType.BIGINT, bound(random), ofWhole);
            case 4 -> new Feature(name, DataType.REAL, bound(random), binning);
            default -> new Feature(name, DataType.DOUBLE, bound(random), binning);
        };
    }

    private static Bound bound(Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> Bound.exact();
            case 1 -> Bound.absolute(Math.pow(10, random.nextInt(8) - 4));
            case 2 -> Bound.absolute(random.nextInt(40));
            default -> Bound.ofRange(Math.pow(10, -random.nextInt(4)) * random.nextDouble());
        };
    }

    private EncoderOptions options() {
        long[] drawn = {random.nextLong()};
        alike = random.nextBoolean();
        return new EncoderOptions(
                1 + random.nextInt(random.nextInt(4) == 0 ? 10 : 300),
                random.nextInt(4) == 0 ? 1 + random.nextInt(200_000) : 0,
                random.nextInt(3) == 0 ? Keep.ARCHIVAL : Keep.QUERYABLE,
                random.nextInt(3) > 0 ? Form.SMALLEST : Form.values()[random.nextInt(4)],
                random.nextInt(8) == 0,
                EncoderOptions.Refit.BETWEEN_SEGMENTS,
                random.nextInt(3) == 0 ? 1 + random.nextInt(8) : 0,
                () -> alike ? (drawn[0] += 1L << 16) : random.nextLong());
    }

    private void write() {
        EncoderOptions options = options();
        encoder = new StreamEncoder(schema, options, this::closed);
        int count = 1 + random.nextInt(random.nextInt(4) == 0 ? 20 : 1200);
        long[] ticks = ticks(count);
        Map<String, Values> values = new HashMap<>();
        int change = 20 + random.nextInt(400);
        for (int i = 0; i < count; i++) {
            if (random.nextInt(change) == 0) {
                change(options);
            }
            Object[] row = new Object[schema.size()];
            Observations to = encoder.row(ticks[i]);
            for (int f = 0; f < row.length; f++) {
                Feature feature = schema.feature(f);
                Object value = values.computeIfAbsent(
                                feature.name() + feature.type(), name -> new Values(random, feature))
                        .next();
                row[f] = value;
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
            waiting.add(new Row(ticks[i], row));
        }
        encoder.flush();
    }

    private void closed(EncodedSegment segment) {
        List<Row> mine = new ArrayList<>(waiting.subList(0, segment.rows()));
        waiting.subList(0, segment.rows()).clear();
        sent.add(new Sent(segment, encoder.schema(), mine));
    }

    /** The end of an encoder, or something else that happens once in a while. */
    private void change(EncoderOptions options) {
        switch (random.nextInt(6)) {
            case 0 -> { // killed: the open segment is gone
                waiting.clear();
                encoder = new StreamEncoder(schema, options, this::closed);
            }
            case 1 -> encoder = StreamEncoder.restore(encoder.state(), options, this::closed);
            case 2 -> {
                encoder.flush();
                encoder = new StreamEncoder(schema, options, this::closed);
            }
            case 3 -> {
                encoder.flush();
                List<Feature> features = new ArrayList<>(schema.features());
                if (features.size() > 1 && random.nextBoolean()) {
                    features.remove(random.nextInt(features.size()));
                } else {
                    features.add(random.nextInt(features.size() + 1), feature(random, "g" + features.size()));
                }
                SketchSchema altered;
                try {
                    altered = SketchSchema.of(features.toArray(new Feature[0]))
                            .withTimeBound(random.nextBoolean() ? schema.timeBoundTicks() : random.nextInt(500));
                } catch (RuntimeException e) {
                    return; // the same name twice
                }
                encoder.alter(altered);
                schema = altered;
            }
            case 4 -> {
                int feature = random.nextInt(schema.size());
                Feature.Kind kind = schema.feature(feature).kind();
                if (kind == Feature.Kind.NUMBER || kind == Feature.Kind.WHOLE) {
                    encoder.override(feature, bound(random));
                    schema = encoder.schema();
                }
            }
            default -> encoder.announce();
        }
    }

    private long[] ticks(int count) {
        long[] ticks = new long[count];
        int kind = random.nextInt(8);
        long time = switch (random.nextInt(8)) {
            case 0 -> -random.nextInt(5000);
            case 1 -> END - random.nextInt(5_000_000);
            case 2 -> Long.MIN_VALUE + random.nextInt(5000);
            default -> 1_700_000_000_000_000L;
        };
        for (int i = 0; i < count; i++) {
            ticks[i] = time;
            time += switch (kind) {
                case 0 -> 1000;
                case 1 -> 900 + random.nextInt(200);
                case 2 -> random.nextInt(1000) - 300;
                case 3 -> random.nextInt(3) == 0 ? 0 : 2000;
                case 4 -> random.nextInt(50) == 0 ? 10_000_000 : 1000;
                case 5 -> random.nextInt(20) == 0 ? random.nextLong() : 100;
                case 6 -> i % 3 == 0 ? 334 : 333;
                default -> random.nextInt(40) == 0 ? -20_000 : 1000;
            };
        }
        return ticks;
    }

    /** One feature's values one after the other. */
    private static final class Values {
        private final Random random;
        private final Feature feature;
        private final Signals signal;
        private final int nulls;
        private final int stays;
        private final long spread;
        private int at;
        private double number;
        private Object last = 0L;

        Values(Random random, Feature feature) {
            this.random = random;
            this.feature = feature;
            this.signal = Signals.values()[random.nextInt(Signals.values().length)];
            this.nulls = random.nextBoolean() ? 0 : 1 + random.nextInt(30);
            this.stays = 1 + random.nextInt(random.nextBoolean() ? 2 : 40);
            this.spread = 1L << random.nextInt(feature.type().kind() == DataType.Kind.INTEGER ? 31 : 64);
        }

        Object next() {
            number = signal.next(random, at++, number);
            if (nulls > 0 && random.nextInt(nulls) == 0) {
                return null;
            }
            return switch (feature.kind()) {
                case NUMBER -> feature.isReal() ? (Object) (double) (float) number : (Object) number;
                case BOOLEAN -> stay(random.nextBoolean());
                case WHOLE -> stay(whole());
                case TEXT -> stay(random.nextInt(50) == 0 ? "😀" + at : "c" + random.nextInt(5));
            };
        }

        private long whole() {
            if (feature.type().kind() == DataType.Kind.INTEGER) {
                return random.nextInt(20) == 0 ? Integer.MAX_VALUE - random.nextInt(3) : random.nextLong() % spread;
            }
            return switch (random.nextInt(20)) {
                case 0 -> random.nextLong();
                case 1 -> Long.MAX_VALUE - random.nextInt(3);
                case 2 -> (1L << 53) + random.nextInt(4);
                default -> spread == Long.MIN_VALUE ? random.nextLong() : random.nextLong() % spread;
            };
        }

        private Object stay(Object next) {
            last = last.getClass() == next.getClass() && random.nextInt(stays) > 0 ? last : next;
            return last;
        }
    }

    /** The segments as they come in: some lost, some twice, some late. */
    private void arrive() {
        Map<Place, Sent> places = new HashMap<>();
        sent.forEach(one ->
                places.put(new Place(one.segment().incarnation(), one.segment().sequence()), one));
        List<Sent> arriving = new ArrayList<>();
        int loss = random.nextInt(3) == 0 ? 0 : 2 + random.nextInt(20);
        for (Sent one : sent) {
            if (loss == 0 || random.nextInt(loss) > 0) {
                arriving.add(one);
                if (random.nextInt(20) == 0) {
                    arriving.add(one);
                }
            }
        }
        if (random.nextInt(3) == 0) {
            for (int i = 0; i + 1 < arriving.size(); i += 1 + random.nextInt(4)) {
                Collections.swap(arriving, i, Math.min(arriving.size() - 1, i + random.nextInt(6)));
            }
        }
        SketchReceiver reader = new SketchReceiver(new Versions(), 1 + random.nextInt(200), 1 << 24, received -> {
            Sent one = places.get(
                    new Place(received.incarnation(), received.header().sequence()));
            hold(one != null, "a segment was read as that of another encoder");
            check(one, received.sketch());
            sketches.add(received.sketch());
            rows.add(one.rows());
        });
        int twice = 0;
        for (Sent one : arriving) {
            Outcome outcome = reader.accept(one.segment().bytes());
            // With the bits of another one that is known a segment cannot be told from a damaged one.
            hold(alike || outcome != Outcome.DAMAGED, "a segment that nobody damaged is said to be");
            twice += outcome == Outcome.TWICE ? 1 : 0;
        }
        SketchReceiver.Counts counts = reader.counts();
        hold(
                counts.read() + counts.twice() + counts.waiting() + counts.unreadable() + counts.damaged()
                        == arriving.size(),
                arriving.size() + " came, and the reader tells " + counts);
        hold(counts.twice() >= twice && (alike || counts.damaged() == 0), "twice came " + twice + ": " + counts);
        boolean all = loss == 0 && new ArrayList<>(sent).equals(arriving);
        hold(!all || counts.read() == sent.size(), "nothing was lost, and some could not be read: " + counts);
    }

    private static void check(Sent one, Sketch sketch) {
        hold(sketch.rows() == one.rows().size(), "a segment has other rows than went in");
        hold(sketch.schema().equals(one.schema()), "a segment has the schema " + sketch.schema());
        long allowed = one.schema().timeBoundTicks();
        hold(
                sketch.timeErrorTicks() == 0 || sketch.timeErrorTicks() == allowed,
                "an error of time that nobody allowed");
        for (int row = 0; row < sketch.rows(); row++) {
            BigDecimal miss = BigDecimal.valueOf(sketch.times().at(row))
                    .subtract(BigDecimal.valueOf(one.rows().get(row).time()))
                    .abs();
            hold(
                    miss.compareTo(BigDecimal.valueOf(sketch.timeErrorTicks())) <= 0,
                    "the time " + one.rows().get(row).time() + " is off by " + miss);
            for (int f = 0; f < sketch.schema().size(); f++) {
                check(one.rows().get(row).values()[f], sketch.schema().feature(f), sketch.column(f), row);
            }
        }
    }

    private static void check(Object value, Feature feature, Column column, int row) {
        int rank = column.sequence().ranks()[row];
        boolean isNull = rank == column.symbols().size();
        hold(isNull == (value == null), feature + " NULL");
        if (isNull) {
            return;
        }
        if (value instanceof String text) {
            hold(text.equals(((TextSymbols) column.symbols()).text(rank)), feature + " text");
            return;
        }
        if (value instanceof Boolean bool) {
            hold(column.numbers().whole(rank) == (bool ? 1 : 0), feature + " truth");
            return;
        }
        double error = column.numbers().error(rank);
        hold(
                feature.bound().kind() != Bound.Kind.ABSOLUTE
                        || error <= feature.bound().amount(),
                feature + " bound");
        if (value instanceof Long whole) {
            BigDecimal miss = BigDecimal.valueOf(column.numbers().whole(rank))
                    .subtract(BigDecimal.valueOf(whole))
                    .abs();
            hold(miss.compareTo(new BigDecimal(error)) <= 0, feature + ": " + whole + " is off by " + miss);
            return;
        }
        double back = column.numbers().value(rank);
        double number = (Double) value;
        within(feature, number, back, error);
        if (feature.isReal()) {
            within(feature, number, (float) back, error);
        }
    }

    private static void within(Feature feature, double number, double back, double error) {
        hold(
                Double.compare(number, back) == 0
                        || Double.isFinite(number)
                                && Double.isFinite(back)
                                && new BigDecimal(back)
                                                .subtract(new BigDecimal(number))
                                                .abs()
                                                .compareTo(new BigDecimal(error))
                                        <= 0,
                feature + ": " + back + " for " + number + " within " + error);
    }

    private static void hold(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
