package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.sketch.query.Aggregate;
import dev.millrace.sketch.query.Condition;
import dev.millrace.sketch.query.Estimate;
import dev.millrace.sketch.query.SketchQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** True answers, computed from what went in, always lie within the bounds that a sketch gives. */
class QueryTest {
    private static final int TRIALS = Integer.getInteger("millrace.sketch.queries", 130);
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);

    @Test
    void boundsHoldForEveryAggregateConditionWindowAndGroup() {
        System.out.println("sketch queries: " + TRIALS + " streams, seed " + SEED);
        for (int trial = 0; trial < TRIALS; trial++) {
            long seed = SEED + trial;
            try {
                trial(new Random(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("with -Dmillrace.sketch.seed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private static void trial(Random random) {
        RandomStreams stream = RandomStreams.make(random);
        double low = stream.a()[random.nextInt(stream.rows())];
        double high = low + Math.abs(random.nextGaussian()) * 20;
        boolean onA = random.nextBoolean() && low == low;
        boolean onB = random.nextInt(3) == 0;
        boolean onC = random.nextInt(3) == 0;
        List<Condition> conditions = new ArrayList<>();
        if (onA) {
            conditions.add(Condition.between("a", low, high));
        }
        if (onB) {
            conditions.add(Condition.above("b", 0));
        }
        if (onC) {
            conditions.add(Condition.in("c", "c0", "c2"));
        }
        boolean grouped = random.nextInt(3) == 0;
        long size = random.nextInt(3) == 0 ? 1000L * (1 + random.nextInt(400)) : 0;
        long slide = size == 0 ? 0 : random.nextBoolean() ? size : Math.max(1, size / (1 + random.nextInt(3)));
        double fraction = random.nextInt(5) / 4.0;
        SketchQuery query = SketchQuery.select(
                        Aggregate.count(),
                        Aggregate.count("a"),
                        Aggregate.sum("a"),
                        Aggregate.avg("a"),
                        Aggregate.min("a"),
                        Aggregate.max("a"),
                        Aggregate.variance("a"),
                        Aggregate.percentile("a", fraction),
                        Aggregate.distinct("a"),
                        Aggregate.sum("n"),
                        Aggregate.distinct("c"))
                .where(conditions.toArray(new Condition[0]));
        query = grouped ? query.groupBy("c") : query;
        query = size == 0 ? query : size == slide ? query.tumbling(size) : query.sliding(size, slide);
        for (SketchQuery.Row row : query.run(stream.sketch())) {
            List<Double> a = new ArrayList<>();
            List<Long> n = new ArrayList<>();
            TreeMap<String, Integer> c = new TreeMap<>();
            long count = 0;
            for (int i = 0; i < stream.rows(); i++) {
                boolean in = size == 0 || stream.ticks()[i] >= row.windowStart() && stream.ticks()[i] < row.windowEnd();
                in &= !onA || stream.a()[i] >= low && stream.a()[i] <= high;
                in &= !onB || stream.b()[i] > 0;
                in &= !onC || stream.category()[i].equals("c0") || stream.category()[i].equals("c2");
                in &= !grouped || row.keys().get(0).equals(key(stream.category()[i]));
                if (in) {
                    count++;
                    if (stream.a()[i] == stream.a()[i]) {
                        a.add(stream.a()[i]);
                    }
                    if (stream.whole()[i] != Long.MIN_VALUE) {
                        n.add(stream.whole()[i]);
                    }
                    if (!stream.category()[i].isEmpty()) {
                        c.merge(stream.category()[i], 1, Integer::sum);
                    }
                }
            }
            compare(row, count, a, n, c.size(), fraction);
        }
    }

    private static Optional<Object> key(String category) {
        return category.isEmpty() ? Optional.empty() : Optional.of(category);
    }

    private static void compare(
            SketchQuery.Row row, long count, List<Double> a, List<Long> n, int categories, double fraction) {
        List<Estimate> e = row.estimates();
        holds("count", e.get(0), count);
        holds("count(a)", e.get(1), a.size());
        double[] sorted = a.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        if (!a.isEmpty()) {
            double sum = java.util.stream.DoubleStream.of(sorted).sum();
            holds("sum", e.get(2), sum);
            holds("avg", e.get(3), sum / a.size());
            holds("min", e.get(4), sorted[0]);
            holds("max", e.get(5), sorted[sorted.length - 1]);
            double mean = sum / a.size();
            double variance = java.util.stream.DoubleStream.of(sorted)
                            .map(v -> (v - mean) * (v - mean))
                            .sum()
                    / a.size();
            holds("variance", e.get(6), variance);
            int place = Math.max(0, (int) Math.ceil(fraction * sorted.length) - 1);
            holds("percentile " + fraction, e.get(7), sorted[place]);
        }
        holds(
                "distinct(a)",
                e.get(8),
                java.util.stream.DoubleStream.of(sorted).distinct().count());
        if (!n.isEmpty()) {
            holds("sum(n)", e.get(9), n.stream().mapToLong(Long::longValue).sum());
        }
        holds("distinct(c)", e.get(10), categories);
    }

    private static void holds(String what, Estimate estimate, double truth) {
        if (estimate.value() != estimate.value()) {
            return; // no row is seen in the sketch, though some may be there
        }
        double slack = 1e-9 * Math.max(1, Math.abs(truth)); // of this test's own sums
        assertTrue(
                estimate.low() <= truth + slack && estimate.high() >= truth - slack,
                what + " is " + truth + ", outside of " + estimate);
        assertTrue(estimate.low() <= estimate.value() && estimate.value() <= estimate.high(), what + ": " + estimate);
    }

    @Test
    void exactFeaturesHaveExactAnswers() {
        RandomStreams stream = RandomStreams.make(new Random(7));
        List<Estimate> answers = SketchQuery.select(Aggregate.count(), Aggregate.distinct("c"))
                .run(stream.sketch())
                .get(0)
                .estimates();
        assertTrue(answers.get(0).isExact() && answers.get(1).isExact());
        assertEquals(stream.rows(), answers.get(0).value());
    }
}
