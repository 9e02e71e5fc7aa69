package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.Output;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Keys with many rows under a condition that few pairs pass. */
@Tag("long")
class HotKeyJoinTest {
    private static final DataType NUMBER = DataType.BIGINT;
    private static final Schema SIDE = Schema.of(
            new Field("k", NUMBER, true),
            new Field("v", DataType.INTEGER, true),
            new Field("lo", NUMBER, false),
            new Field("hi", NUMBER, false),
            new Field("d", DataType.DOUBLE, true),
            new Field("s", DataType.TEXT, true),
            new Field("ts", DataType.TIMESTAMP, false));
    private static final int WIDTH = SIDE.size();

    /** A condition and what it means. */
    private record Condition(Expression expression, BiPredicate<Row, Row> meaning) {}

    private static Column column(int side, int column) {
        return new Column(
                side * WIDTH + column, SIDE.type(column), SIDE.field(column).nullable());
    }

    private static Expression call(String function, DataType type, Expression... arguments) {
        return new Call(function, List.of(arguments), type, true);
    }

    private static Expression test(String function, Expression... arguments) {
        return call(function, DataType.BOOLEAN, arguments);
    }

    private static Expression number(long value, DataType type) {
        return new Literal(value, type);
    }

    private static List<Condition> conditions() {
        Expression v = column(0, 1);
        Expression w = column(1, 1);
        Expression difference = call("subtract", DataType.INTEGER, v, w);
        return List.of(
                new Condition(test("lt", v, w), numbers((a, b) -> a < b)),
                new Condition(
                        test("and", test("ge", v, w), test("le", v, plus(w, 2))),
                        numbers((a, b) -> a >= b && a <= b + 2)),
                new Condition(
                        test(
                                "and",
                                test("lt", difference, number(2, DataType.INTEGER)),
                                test("lt", number(-3, DataType.INTEGER), difference)),
                        numbers((a, b) -> a - b < 2 && a - b > -3)),
                new Condition(
                        test(
                                "and",
                                test("gt", new Cast(v, NUMBER), column(1, 2)),
                                test("lt", new Cast(v, NUMBER), column(1, 3))),
                        (a, b) -> a.get(1) != null && number(a, 1) > number(b, 2) && number(a, 1) < number(b, 3)),
                new Condition(
                        test("and", test("lt", column(0, 2), column(1, 3)), test("lt", column(1, 2), column(0, 3))),
                        (a, b) -> number(a, 2) < number(b, 3) && number(b, 2) < number(a, 3)),
                new Condition(
                        test("and", test("lt", v, w), test("le", column(0, 2), column(1, 2))),
                        (a, b) -> a.get(1) != null
                                && b.get(1) != null
                                && number(a, 1) < number(b, 1)
                                && number(a, 2) <= number(b, 2)),
                new Condition(
                        test("ge", column(0, 4), column(1, 4)),
                        (a, b) -> a.get(4) != null
                                && b.get(4) != null
                                && compare((Double) a.get(4), (Double) b.get(4)) >= 0),
                new Condition(
                        test("and", test("le", column(0, 5), column(1, 5)), test("ne", v, w)),
                        (a, b) -> a.get(5) != null
                                && b.get(5) != null
                                && ((String) a.get(5)).compareTo((String) b.get(5)) <= 0
                                && a.get(1) != null
                                && b.get(1) != null
                                && number(a, 1) != number(b, 1)));
    }

    private static Expression plus(Expression value, long more) {
        return call("add", DataType.INTEGER, value, number(more, DataType.INTEGER));
    }

    private static long number(Row row, int column) {
        return (Long) row.get(column);
    }

    private interface Numbers {
        boolean test(long a, long b);
    }

    private static BiPredicate<Row, Row> numbers(Numbers test) {
        return (a, b) -> a.get(1) != null && b.get(1) != null && test.test(number(a, 1), number(b, 1));
    }

    /** PostgreSQL's order. */
    private static int compare(double a, double b) {
        return a == b ? 0 : Double.compare(a, b);
    }

    private static Join node(JoinKind kind, Expression residual, Optional<JoinTime> time, boolean hasKey) {
        boolean isHalf = kind == JoinKind.SEMI || kind == JoinKind.ANTI;
        List<Field> fields = new ArrayList<>();
        for (int side = 0; side < (isHalf ? 1 : 2); side++) {
            SIDE.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        }
        List<Integer> keys = hasKey ? List.of(0) : List.of();
        return new Join(
                AggregateTests.scan(SIDE),
                AggregateTests.scan(SIDE),
                kind,
                keys,
                keys,
                Optional.of(residual),
                time,
                new Schema(fields));
    }

    private static Row row(RandomGenerator random, long ts) {
        double[] doubles = {0.0, -0.0, Double.NaN, -1.5, 2.25, Double.POSITIVE_INFINITY};
        String[] texts = {"", "a", "b", "a longer text", "a longer test", "a longer", "\u00e9"};
        long low = random.nextInt(40);
        return TestBatches.canonical(
                SIDE,
                Row.of(
                        random.nextInt(20) == 0 ? null : (long) random.nextInt(30) / 29,
                        random.nextInt(12) == 0 ? null : random.nextInt(40),
                        low,
                        low + random.nextInt(6),
                        random.nextInt(12) == 0 ? null : doubles[random.nextInt(doubles.length)],
                        random.nextInt(12) == 0 ? null : texts[random.nextInt(texts.length)],
                        ts));
    }

    private static ZSet expected(
            JoinKind kind, boolean hasKey, BiPredicate<Row, Row> condition, List<List<Row>> sides) {
        BiPredicate<Row, Row> hasSameKey =
                (left, right) -> !hasKey || left.get(0) != null && left.get(0).equals(right.get(0));
        return new ReferenceJoin(kind, WIDTH, WIDTH, hasSameKey.and(condition)).answer(sides.get(0), sides.get(1));
    }

    private static void check(
            Supplier<Operator> factory,
            JoinKind kind,
            boolean hasKey,
            BiPredicate<Row, Row> meaning,
            int takenBack,
            Schema schema,
            long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = new OperatorHarness(factory, SIDE, SIDE)
                .output(schema)
                .partitionedBy((port, batch, row) ->
                        AggregateTests.keyGroup(hasKey ? List.of(0) : List.of()).keyGroup(port, batch, row));
        List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < 130; i++) {
            int port = random.nextInt(2);
            List<Row> side = sides.get(port);
            if (!side.isEmpty() && takenBack > 0 && random.nextInt(takenBack) == 0) {
                harness.weighted(port, side.remove(random.nextInt(side.size())), -1);
            } else {
                Row row = random.nextInt(10) == 0 && !side.isEmpty() ? side.get(0) : row(random, 1_000);
                side.add(row);
                harness.weighted(port, row, 1);
            }
            if (random.nextInt(30) == 0) {
                harness.epochEnd();
            }
        }
        harness.expect(expected(kind, hasKey, meaning, sides));
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void rowsMeetThoseInTheirRanges(JoinKind kind) {
        long seed = kind.ordinal();
        for (int i = kind.ordinal() % 3; i < conditions().size(); i += 3) {
            Condition condition = conditions().get(i);
            Join node = node(kind, condition.expression, Optional.empty(), true);
            assertTrue(RangeCondition.isIn(condition.expression, WIDTH));
            check(() -> new JoinOperator(node), kind, true, condition.meaning, 8, node.schema(), ++seed);
        }
    }

    @Test
    void rowsMeetThoseInTheirRangesWithoutAKey() {
        Condition condition = conditions().get(1);
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.FULL)) {
            Join node = node(kind, condition.expression, Optional.empty(), false);
            check(() -> new JoinOperator(node), kind, false, condition.meaning, 6, node.schema(), 3);
        }
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void orderedRowsGoWhenTheirTimeIsOver(JoinKind kind) {
        Condition condition = conditions().get(1);
        Join node = node(kind, condition.expression, Optional.of(new JoinTime.Bounds(6, 6, -200, 150)), true);
        RandomGenerator random = new SplittableRandom(11);
        OperatorHarness harness = new OperatorHarness(() -> new JoinOperator(node), SIDE, SIDE)
                .appendOnlyInput()
                .appendOnlyOutput()
                .output(node.schema());
        List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < 200; i++) {
            int port = random.nextInt(2);
            Row row = row(random, 1_000 + 2L * i + random.nextInt(10));
            sides.get(port).add(row);
            harness.rowsOf(port, List.of(row));
            if (random.nextInt(30) == 0) {
                harness.epochEnd();
                harness.watermark(1_000 + 2L * i);
            }
        }
        harness.endOfInput();
        BiPredicate<Row, Row> isNear =
                (a, b) -> number(b, 6) - number(a, 6) >= -200 && number(b, 6) - number(a, 6) <= 150;
        harness.expect(expected(kind, true, condition.meaning.and(isNear), sides));
    }

    // ---- what it costs

    private static Batch batch(BufferAllocator allocator, int from, int count, long[] values, long weight) {
        FieldVector[] columns = new FieldVector[WIDTH];
        for (int column = 0; column < WIDTH; column++) {
            FieldVector vector = Vectors.allocate(SIDE.field(column), count, 0, allocator);
            Memory.fill(
                    vector.getDataBufferAddress(), (long) count * (column == 5 ? 0 : column == 1 ? 4 : 8), (byte) 0);
            if (column == 5) {
                Memory.fill(vector.getOffsetBufferAddress(), 4L * count + 4, (byte) 0);
            }
            for (int row = 0; row < count; row++) {
                long value = values[from + row];
                if (column == 1) {
                    Memory.putInt(vector.getDataBufferAddress() + 4L * row, (int) value);
                } else if (column == 2 || column == 3 || column == 6) {
                    Memory.putLong(vector.getDataBufferAddress() + 8L * row, value + (column == 3 ? 2 : 0));
                }
            }
            Vectors.setAllValid(vector, count);
            Vectors.finish(vector, count);
            columns[column] = vector;
        }
        var weights = Vectors.allocateWeights(count, allocator);
        for (int row = 0; row < count; row++) {
            Memory.putLong(weights.getDataBufferAddress() + 8L * row, weight);
        }
        Vectors.finish(weights, count);
        return Batch.weighted(SIDE, columns, count, weights);
    }

    /** Feeds one key's rows on both sides, takes the right ones back, and returns the sum of all weights put out. */
    private static long[] run(Operator operator, int many) {
        long[] values = new long[many];
        SplittableRandom random = new SplittableRandom(9);
        for (int i = 0; i < many; i++) {
            values[i] = i;
            int other = random.nextInt(i + 1);
            values[i] = values[other];
            values[other] = i;
        }
        long[] sums = new long[2];
        Output output = new Output() {
            @Override
            public void emit(Batch batch) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    sums[0] += TestBatches.weight(batch, row);
                }
                batch.close();
            }

            @Override
            public boolean isFull() {
                return false;
            }
        };
        try (BufferAllocator allocator = new RootAllocator()) {
            operator.open(new TestContext(allocator));
            int step = 2_000;
            for (int from = 0; from < many; from += step) {
                operator.process(0, batch(allocator, from, step, values, 1), output);
                operator.process(1, batch(allocator, many - step - from, step, values, 1), output);
                operator.onEpochEnd(from, output);
            }
            sums[1] = sums[0];
            for (int from = 0; from < many; from += step) {
                operator.process(1, batch(allocator, from, step, values, -1), output);
            }
            operator.onEpochEnd(many, output);
            operator.close();
        }
        return sums;
    }

    private static <T extends Operator> void costsFewEvaluations(
            T operator, ToLongFunction<T> evaluated, int many, long pairs, long afterwards) {
        long[] sums = run(operator, many);
        assertEquals(pairs, sums[1]);
        assertEquals(afterwards, sums[0]);
        long evaluations = evaluated.applyAsLong(operator);
        assertTrue(evaluations < 100L * many, evaluations + " evaluations");
    }

    /** Of 40 thousand million pairs of one key 600 thousand meet. */
    @Test
    void aHotKeyEvaluatesAboutAsManyPairsAsMeet() {
        Join inner = node(JoinKind.INNER, conditions().get(1).expression, Optional.empty(), true);
        int many = 200_000;
        AppendedJoinOperator operator = new AppendedJoinOperator(inner); // and the general one that takes over from it
        costsFewEvaluations(operator, AppendedJoinOperator::evaluated, many, 3 * many - 3, 0);
    }

    /** One side is far ahead of the other, as a file that is read faster. */
    @Test
    void soDoesOneThatIsBoundByTimeAlone() {
        int many = 20_000;
        Optional<JoinTime> band = Optional.of(new JoinTime.Bounds(6, 6, -2, 0));
        Expression always = test("ge", column(0, 2), number(0, NUMBER));
        Join inner = node(JoinKind.INNER, always, band, true);
        costsFewEvaluations(new AppendedJoinOperator(inner), AppendedJoinOperator::evaluated, many, 3 * many - 3, 0);
        Join semi = node(
                JoinKind.SEMI, always, Optional.of(new JoinTime.Kept(OptionalInt.of(6), OptionalInt.of(6), 1)), true);
        costsFewEvaluations(new JoinOperator(semi), JoinOperator::evaluated, many, many, 0);
    }

    /** Partners that come and go, a value between two columns, and two intervals that overlap. */
    @Test
    void soDoAllKindsOfJoinsAndRanges() {
        int many = 20_000;
        Expression band = conditions().get(1).expression;
        Join left = node(JoinKind.LEFT, band, Optional.empty(), true);
        costsFewEvaluations(new JoinOperator(left), JoinOperator::evaluated, many, 3 * many - 3, many);
        Join anti = node(JoinKind.ANTI, band, Optional.empty(), true);
        costsFewEvaluations(new JoinOperator(anti), JoinOperator::evaluated, many, 0, many);
        Join between = node(JoinKind.INNER, conditions().get(3).expression, Optional.empty(), true);
        costsFewEvaluations(new JoinOperator(between), JoinOperator::evaluated, many, many - 1, 0);
        Join overlap = node(JoinKind.SEMI, conditions().get(4).expression, Optional.empty(), true);
        costsFewEvaluations(new JoinOperator(overlap), JoinOperator::evaluated, many, many, 0);
    }
}
