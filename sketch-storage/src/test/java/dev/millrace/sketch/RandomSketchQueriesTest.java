package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.query.Aggregate;
import dev.millrace.sketch.query.Condition;
import dev.millrace.sketch.query.Estimate;
import dev.millrace.sketch.query.Estimate.Presence;
import dev.millrace.sketch.query.PartialAnswer;
import dev.millrace.sketch.query.SketchQuery;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.SketchSealer;
import dev.millrace.sketch.transform.SketchTransform;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random questions about random streams: whatever became of the encoders, of some segments on their way and of the sketches
 * afterwards, the answer computed from the rows that went in lies within the bounds that are given.
 */
@Tag("long")
class RandomSketchQueriesTest {
    private static final int QUERIES = Integer.getInteger("millrace.sketch.queries", 300);
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);
    private static final int QUERIES_OF_A_STREAM = 4;
    private static final MathContext DIGITS = new MathContext(100);

    private long estimates;
    private long empty;

    /** A condition, and what it is for a row: true, false or, with NULL, neither. */
    private record Question(
            Condition condition, Function<RandomLife.Row, Optional<Boolean>> truth, Set<Integer> features) {}

    private record Key(long window, List<Optional<Object>> keys) {}

    @Test
    void trueAnswersLieWithinTheirBounds() {
        System.out.println("sketch queries: " + QUERIES + " random ones, seed " + SEED);
        for (int q = 0; q < QUERIES; q += QUERIES_OF_A_STREAM) {
            long seed = SEED + q;
            try {
                stream(new Random(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "with -Dmillrace.sketch.queries=1 -Dmillrace.sketch.seed=" + seed + ": " + e.getMessage(), e);
            }
        }
        System.out.println("sketch queries: " + estimates + " estimates held, " + empty + " of them of no rows");
        assertTrue(QUERIES < 300 || estimates > 10L * QUERIES, "only " + estimates + " estimates were compared");
    }

    private void stream(Random random) {
        RandomLife life = new RandomLife(random);
        SketchSchema schema = life.schema();
        List<Sketch> sketches = new ArrayList<>();
        List<RandomLife.Row> rows = new ArrayList<>();
        for (int s = 0; s < life.sketches().size(); s++) {
            Sketch sketch = life.sketches().get(s);
            sketches.add(SketchTransform.conform(sketch, schema));
            for (RandomLife.Row row : life.rows().get(s)) {
                rows.add(new RandomLife.Row(row.time(), conform(row.values(), sketch.schema(), schema)));
            }
        }
        if (sketches.isEmpty()) {
            return;
        }
        sketches = transformed(random, sketches);
        for (int q = 0; q < QUERIES_OF_A_STREAM; q++) {
            query(random, schema, sketches, rows);
        }
    }

    private static Object[] conform(Object[] values, SketchSchema from, SketchSchema to) {
        Object[] conformed = new Object[to.size()];
        for (int f = 0; f < conformed.length; f++) {
            for (int old = 0; old < values.length; old++) {
                Feature feature = from.feature(old);
                if (feature.name().equals(to.feature(f).name())
                        && feature.type().equals(to.feature(f).type())) {
                    conformed[f] = values[old];
                }
            }
        }
        return conformed;
    }

    /** As they are, merged, or merged and stored again. */
    private static List<Sketch> transformed(Random random, List<Sketch> sketches) {
        if (random.nextInt(3) == 0) {
            return sketches;
        }
        List<Sketch> merged = new ArrayList<>();
        int from = 0;
        while (from < sketches.size()) {
            int to = Math.min(sketches.size(), from + 1 + random.nextInt(6));
            Sketch sketch = SketchTransform.merge(sketches.subList(from, to));
            if (random.nextBoolean()) {
                int before = merged.size();
                SketchSealer.seal(sketch, random.nextBoolean() ? Keep.QUERYABLE : Keep.ARCHIVAL)
                        .forEach(bytes -> merged.add(SegmentCodec.read(bytes, new Versions())));
                same(sketch, merged.subList(before, merged.size()));
            } else {
                merged.add(sketch);
            }
            from = to;
        }
        return merged;
    }

    /** What is stored again has the same numbers, and says of none that it is less far off than it was. */
    private static void same(Sketch sketch, List<Sketch> stored) {
        for (int f = 0; f < sketch.schema().size(); f++) {
            if (sketch.schema().feature(f).kind() != Feature.Kind.NUMBER) {
                continue;
            }
            NumberSymbols numbers = sketch.column(f).numbers();
            int[] ranks = sketch.column(f).sequence().ranks();
            int row = 0;
            for (Sketch part : stored) {
                NumberSymbols again = part.column(f).numbers();
                for (int rank : part.column(f).sequence().ranks()) {
                    int was = ranks[row++];
                    assertEquals(was == numbers.size(), rank == again.size());
                    if (rank < again.size()) {
                        assertEquals(numbers.value(was), again.value(rank));
                        assertTrue(again.error(rank) >= numbers.error(was), "the error of row " + row);
                    }
                }
            }
            assertEquals(sketch.rows(), row);
        }
    }

    private void query(Random random, SketchSchema schema, List<Sketch> sketches, List<RandomLife.Row> rows) {
        List<Question> questions = new ArrayList<>();
        for (int n = random.nextInt(3); n > 0; n--) {
            questions.add(question(random, schema, rows, 3));
        }
        List<Aggregate> aggregates = new ArrayList<>();
        aggregates.add(Aggregate.count());
        for (int n = 1 + random.nextInt(6); n > 0; n--) {
            aggregates.add(aggregate(random, schema));
        }
        List<Integer> keys = keys(random, schema, sketches);
        long size = random.nextInt(3) == 0 ? 1 + random.nextInt(200_000) : 0;
        long slide = random.nextBoolean() ? size : Math.max(1, size / (1 + random.nextInt(4)));
        SketchQuery query = SketchQuery.select(aggregates.toArray(new Aggregate[0]))
                .where(questions.stream().map(Question::condition).toArray(Condition[]::new))
                .groupBy(keys.stream().map(f -> schema.feature(f).name()).toArray(String[]::new));
        query = size == 0 ? query : query.sliding(size, slide);
        List<SketchQuery.Row> answers;
        Map<Key, List<RandomLife.Row>> groups = new HashMap<>();
        try {
            answers = answer(random, query, sketches);
            for (RandomLife.Row row : rows) {
                if (questions.stream().allMatch(q -> q.truth().apply(row).equals(Optional.of(true)))) {
                    group(groups, row, keys, size, slide);
                }
            }
        } catch (MillraceException e) {
            boolean atTheEnds = rows.stream().anyMatch(row -> Math.abs(row.time() / 2) > Long.MAX_VALUE / 4);
            assertTrue(size > 0 && atTheEnds && e.sqlState() == SqlState.DATETIME_FIELD_OVERFLOW, e.toString());
            return;
        }
        if (keys.isEmpty() && size == 0) {
            groups.computeIfAbsent(new Key(0, List.of()), k -> new ArrayList<>());
        }
        boolean exactRows = sketches.stream()
                .allMatch(sketch -> (size == 0
                                        && questions.stream()
                                                .noneMatch(q -> q.features().contains(-1))
                                || sketch.timeErrorTicks() == 0)
                        && questions.stream()
                                .flatMap(q -> q.features().stream())
                                .allMatch(f -> f < 0 || isExact(sketch, f)));
        Set<Key> answered = new HashSet<>();
        for (SketchQuery.Row answer : answers) {
            Key key = new Key(answer.windowStart(), answer.keys());
            assertTrue(answered.add(key), () -> "a group is answered twice: " + key);
            List<RandomLife.Row> truth = groups.getOrDefault(key, List.of());
            assertTrue(
                    !truth.isEmpty() || answer.presence() != Presence.CERTAIN || keys.isEmpty() && size == 0,
                    () -> "there is no row in " + key + ", which is said to be certain");
            for (int a = 0; a < aggregates.size(); a++) {
                Estimate estimate = answer.estimates().get(a);
                Aggregate aggregate = aggregates.get(a);
                String what = aggregate + " " + estimate + " of " + truth.size() + " rows, where "
                        + questions.stream().map(Question::condition).toList() + " group " + key;
                compare(schema, aggregate, estimate, truth, what);
                if (exactRows && a == 0) {
                    assertTrue(estimate.isExact(), () -> "nothing is off, and yet not exact: " + what);
                }
            }
        }
        groups.keySet().forEach(key -> assertTrue(answered.contains(key), () -> "a group is missing: " + key));
    }

    private static boolean isExact(Sketch sketch, int feature) {
        Feature.Kind kind = sketch.schema().feature(feature).kind();
        return kind == Feature.Kind.TEXT || sketch.column(feature).numbers().error() == 0;
    }

    private static List<SketchQuery.Row> answer(Random random, SketchQuery query, List<Sketch> sketches) {
        PartialAnswer first = query.begin();
        PartialAnswer second = query.begin();
        boolean split = random.nextBoolean();
        for (Sketch sketch : sketches) {
            (split && random.nextBoolean() ? second : first).add(sketch);
        }
        return first.combine(second).rows();
    }

    /** Features that came back as they were, so that rows are in the groups in which they are. */
    private static List<Integer> keys(Random random, SketchSchema schema, List<Sketch> sketches) {
        List<Integer> keys = new ArrayList<>();
        for (int f = 0; f < schema.size(); f++) {
            int feature = f;
            if (random.nextInt(4) == 0 && sketches.stream().allMatch(sketch -> isExact(sketch, feature))) {
                keys.add(f);
            }
        }
        return keys;
    }

    private static void group(
            Map<Key, List<RandomLife.Row>> groups, RandomLife.Row row, List<Integer> keys, long size, long slide) {
        List<Optional<Object>> values = new ArrayList<>();
        for (int f : keys) {
            Object value = row.values()[f];
            values.add(Optional.ofNullable(value instanceof Double number ? (Object) (number + 0.0) : value));
        }
        if (size == 0) {
            groups.computeIfAbsent(new Key(0, values), k -> new ArrayList<>()).add(row);
            return;
        }
        BigInteger time = BigInteger.valueOf(row.time());
        BigInteger step = BigInteger.valueOf(slide);
        BigInteger last = time.subtract(time.mod(step));
        for (BigInteger start = last;
                start.add(BigInteger.valueOf(size)).compareTo(time) > 0;
                start = start.subtract(step)) {
            groups.computeIfAbsent(new Key(start.longValueExact(), values), k -> new ArrayList<>())
                    .add(row);
        }
    }

    private static Aggregate aggregate(Random random, SketchSchema schema) {
        Feature feature = schema.feature(random.nextInt(schema.size()));
        String name = feature.name();
        if (feature.kind() == Feature.Kind.TEXT) {
            return random.nextBoolean() ? Aggregate.count(name) : Aggregate.distinct(name);
        }
        return switch (random.nextInt(8)) {
            case 0 -> Aggregate.count(name);
            case 1 -> Aggregate.sum(name);
            case 2 -> Aggregate.avg(name);
            case 3 -> Aggregate.min(name);
            case 4 -> Aggregate.max(name);
            case 5 -> Aggregate.variance(name);
            case 6 -> Aggregate.distinct(name);
            default -> Aggregate.percentile(name, random.nextBoolean() ? random.nextInt(5) / 4.0 : random.nextDouble());
        };
    }

    private static Question question(Random random, SketchSchema schema, List<RandomLife.Row> rows, int depth) {
        if (depth > 0 && random.nextInt(3) == 0) {
            Question a = question(random, schema, rows, depth - 1);
            Question b = question(random, schema, rows, depth - 1);
            Set<Integer> features = new TreeSet<>(a.features());
            switch (random.nextInt(3)) {
                case 0 -> {
                    return new Question(
                            Condition.not(a.condition()),
                            row -> a.truth().apply(row).map(t -> !t),
                            features);
                }
                case 1 -> {
                    features.addAll(b.features());
                    return new Question(
                            Condition.and(a.condition(), b.condition()),
                            row -> junction(a.truth().apply(row), b.truth().apply(row), false),
                            features);
                }
                default -> {
                    features.addAll(b.features());
                    return new Question(
                            Condition.or(a.condition(), b.condition()),
                            row -> junction(a.truth().apply(row), b.truth().apply(row), true),
                            features);
                }
            }
        }
        RandomLife.Row sample = rows.get(random.nextInt(rows.size()));
        if (random.nextInt(5) == 0) {
            long from = sample.time();
            long to = rows.get(random.nextInt(rows.size())).time();
            return new Question(
                    Condition.during(from, to), row -> Optional.of(row.time() >= from && row.time() < to), Set.of(-1));
        }
        int f = random.nextInt(schema.size());
        Object value = sample.values()[f];
        String name = schema.feature(f).name();
        if (value == null || random.nextInt(8) == 0) {
            boolean isNull = random.nextBoolean();
            return new Question(
                    isNull ? Condition.isNull(name) : Condition.isNotNull(name),
                    row -> Optional.of((row.values()[f] == null) == isNull),
                    Set.of(f));
        }
        return onValue(random, schema.feature(f), f, value);
    }

    private static Optional<Boolean> junction(Optional<Boolean> a, Optional<Boolean> b, boolean decides) {
        return a.equals(Optional.of(decides)) || b.equals(Optional.of(decides))
                ? Optional.of(decides)
                : a.isEmpty() || b.isEmpty() ? Optional.empty() : Optional.of(!decides);
    }

    private static Question onValue(Random random, Feature feature, int f, Object value) {
        String name = feature.name();
        if (value instanceof Boolean bool) {
            return new Question(
                    bool ? Condition.isTrue(name) : Condition.isFalse(name), on(f, value::equals), Set.of(f));
        }
        if (value instanceof String text) {
            return random.nextBoolean()
                    ? new Question(Condition.in(name, text, "c0" + text), on(f, text::equals), Set.of(f))
                    : new Question(
                            Condition.between(name, text, "c3"),
                            on(f, v -> bytes(v).compareTo(bytes(text)) >= 0 && bytes(v).compareTo(bytes("c3")) <= 0),
                            Set.of(f));
        }
        if (value instanceof Long whole && random.nextBoolean()) {
            long high = random.nextBoolean() ? whole : whole + Math.abs(random.nextLong() % (1L << random.nextInt(62)));
            return new Question(
                    Condition.between(name, whole.longValue(), high),
                    on(f, v -> (Long) v >= whole && (Long) v <= high),
                    Set.of(f));
        }
        double near = value instanceof Long whole ? (double) whole : (Double) value;
        double limit = random.nextInt(3) == 0 ? near : near + random.nextGaussian() * 5;
        return switch (random.nextInt(5)) {
            case 0 -> new Question(Condition.atLeast(name, limit), on(f, v -> order(v, limit) >= 0), Set.of(f));
            case 1 -> new Question(Condition.above(name, limit), on(f, v -> order(v, limit) > 0), Set.of(f));
            case 2 -> new Question(Condition.atMost(name, limit), on(f, v -> order(v, limit) <= 0), Set.of(f));
            case 3 -> new Question(Condition.below(name, limit), on(f, v -> order(v, limit) < 0), Set.of(f));
            default -> {
                double high = limit + Math.abs(random.nextGaussian()) * 20;
                yield new Question(
                        Condition.between(name, limit, high),
                        on(f, v -> order(v, limit) >= 0 && order(v, high) <= 0),
                        Set.of(f));
            }
        };
    }

    private static String bytes(Object text) {
        StringBuilder hex = new StringBuilder();
        ((String) text).codePoints().forEach(c -> hex.append("%06x".formatted(c)));
        return hex.toString();
    }

    private static Function<RandomLife.Row, Optional<Boolean>> on(int feature, Function<Object, Boolean> holds) {
        return row -> Optional.ofNullable(row.values()[feature]).map(holds);
    }

    /** SQL's order of numbers, exactly. */
    private static int order(Object value, double limit) {
        if (value instanceof Long whole && Double.isFinite(limit)) {
            return BigDecimal.valueOf(whole).compareTo(new BigDecimal(limit));
        }
        return Double.compare(((Number) value).doubleValue() + 0.0, limit + 0.0);
    }

    private void compare(
            SketchSchema schema, Aggregate aggregate, Estimate estimate, List<RandomLife.Row> rows, String what) {
        estimates++;
        if (aggregate.feature().isEmpty()) {
            holds(BigDecimal.valueOf(rows.size()), estimate, what);
            return;
        }
        int f = schema.indexOf(aggregate.feature());
        List<Object> values = new ArrayList<>();
        for (RandomLife.Row row : rows) {
            Object value = row.values()[f];
            if (value != null) {
                values.add(value instanceof Boolean bool ? (Object) (bool ? 1L : 0L) : value);
            }
        }
        switch (aggregate.function()) {
            case COUNT -> holds(BigDecimal.valueOf(values.size()), estimate, what);
            case DISTINCT -> {
                Set<Object> distinct = new HashSet<>();
                values.forEach(v -> distinct.add(v instanceof Double d ? (Object) (d + 0.0) : v));
                holds(BigDecimal.valueOf(distinct.size()), estimate, what);
            }
            default -> {
                if (values.isEmpty()) {
                    empty++;
                    assertTrue(estimate.allowsNull(), () -> "it is NULL: " + what);
                    return;
                }
                assertTrue(estimate.presence() != Presence.NONE, () -> "it is not NULL: " + what);
                if (!estimate.isNull()) {
                    assertTrue(
                            Double.compare(estimate.low() + 0.0, estimate.value() + 0.0) <= 0
                                    && Double.compare(estimate.value() + 0.0, estimate.high() + 0.0) <= 0,
                            () -> "outside of its own bounds: " + what);
                }
                number(aggregate, values, estimate, what);
            }
        }
    }

    private static void number(Aggregate aggregate, List<Object> values, Estimate estimate, String what) {
        List<Object> sorted = new ArrayList<>(values);
        sorted.sort(Comparator.comparing(
                v -> v, (a, b) -> a instanceof Long x ? x.compareTo((Long) b) : order(a, (Double) b)));
        int place = Math.max(0, (int) Math.ceil(aggregate.fraction() * sorted.size()) - 1);
        switch (aggregate.function()) {
            case MIN -> holds(sorted.get(0), estimate, what);
            case MAX -> holds(sorted.get(sorted.size() - 1), estimate, what);
            case PERCENTILE -> holds(sorted.get(place), estimate, what);
            default -> {
                double[] specials = values.stream()
                        .mapToDouble(v -> ((Number) v).doubleValue())
                        .filter(v -> !Double.isFinite(v))
                        .toArray();
                if (specials.length > 0) {
                    double special = aggregate.function() == Aggregate.Function.VARIANCE
                            ? Double.NaN
                            : Arrays.stream(specials).sum();
                    holds((Object) special, estimate, what);
                    return;
                }
                BigDecimal sum = BigDecimal.ZERO;
                BigDecimal squares = BigDecimal.ZERO;
                for (Object value : values) {
                    BigDecimal exact =
                            value instanceof Long whole ? BigDecimal.valueOf(whole) : new BigDecimal((Double) value);
                    sum = sum.add(exact);
                    squares = squares.add(exact.multiply(exact));
                }
                BigDecimal count = BigDecimal.valueOf(values.size());
                BigDecimal truth = switch (aggregate.function()) {
                    case SUM -> sum;
                    case AVG -> sum.divide(count, DIGITS);
                    default ->
                        squares.multiply(count).subtract(sum.multiply(sum)).divide(count.multiply(count), DIGITS);
                };
                holds(truth, estimate, what);
            }
        }
    }

    private static void holds(Object truth, Estimate estimate, String what) {
        if (truth instanceof Long whole) {
            holds(BigDecimal.valueOf(whole), estimate, what);
        } else if (truth instanceof BigDecimal number) {
            holds(number, estimate, what);
        } else if (Double.isFinite((Double) truth)) {
            holds(new BigDecimal((Double) truth), estimate, what);
        } else {
            assertTrue(estimate.allows((Double) truth), () -> "it is " + truth + ": " + what);
        }
    }

    private static void holds(BigDecimal truth, Estimate estimate, String what) {
        boolean above = estimate.low() == Double.NEGATIVE_INFINITY
                || Double.isFinite(estimate.low()) && new BigDecimal(estimate.low()).compareTo(truth) <= 0;
        boolean below = !Double.isFinite(estimate.high())
                ? !(estimate.high() < 0)
                : new BigDecimal(estimate.high()).compareTo(truth) >= 0;
        assertTrue(above && below, () -> "it is " + truth.round(new MathContext(20)) + ": " + what);
    }
}
