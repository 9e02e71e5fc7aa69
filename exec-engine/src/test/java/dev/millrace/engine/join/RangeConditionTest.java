package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Ranges must hold for all pairs of rows that meet; where words are exact, for no others. */
class RangeConditionTest {
    private static final DataType DECIMAL = DataType.numeric(30, 2);
    private static final Schema SIDE = Schema.of(
            new Field("b", DataType.BIGINT, true),
            new Field("lo", DataType.BIGINT, false),
            new Field("hi", DataType.BIGINT, false),
            new Field("d", DataType.DOUBLE, true),
            new Field("n", DECIMAL, true),
            new Field("t", DataType.TEXT, true),
            new Field("i", DataType.INTEGER, false),
            new Field("ts", DataType.TIMESTAMP, false));
    private static final int WIDTH = SIDE.size();

    private static List<Row> rows() {
        Long[] numbers = {-7L, -1L, 0L, 1L, 4L, 5L, null, Long.MAX_VALUE, Long.MIN_VALUE};
        Double[] doubles = {
            Double.NEGATIVE_INFINITY, -1.5, -0.0, 0.0, 1.0, 4.5, Double.POSITIVE_INFINITY, Double.NaN, null
        };
        String[] decimals = {
            "-9.00", "-0.01", "0", "1", "5", "99999999999999999999.5", "-99999999999999999999.5", null, "4"
        };
        String[] texts = {"", "a", "b", "a longer text", "a longer test", "a longer", "\u00e9", null, "z"};
        int[] integers = {-7, -1, 0, 1, 4, 5, 9, Integer.MAX_VALUE, Integer.MIN_VALUE};
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            BigDecimal decimal = decimals[i] == null ? null : new BigDecimal(decimals[i]).setScale(2);
            long low = 3L * (i * 5 % 9);
            rows.add(TestBatches.canonical(
                    SIDE, Row.of(numbers[i], low, low + i, doubles[i], decimal, texts[i], integers[i], 100L * i)));
        }
        return rows;
    }

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

    private static Expression number(long value) {
        return new Literal(value, DataType.BIGINT);
    }

    private static BiPredicate<Row, Row> both(int left, int right, Meaning meaning) {
        return (a, b) -> a.get(left) != null && b.get(right) != null && meaning.holds(a.get(left), b.get(right));
    }

    private interface Meaning {
        boolean holds(Object a, Object b);
    }

    private static BigInteger big(Object value) {
        return BigInteger.valueOf((Long) value);
    }

    private static int compareDoubles(double a, double b) {
        return a == b ? 0 : Double.compare(a, b);
    }

    private void check(Expression condition, boolean isExact, BiPredicate<Row, Row> meaning) {
        assertTrue(RangeCondition.isIn(condition, WIDTH), condition.toString());
        check(Optional.of(condition), Optional.empty(), isExact, meaning);
    }

    private void check(
            Optional<Expression> condition,
            Optional<JoinTime.Bounds> time,
            boolean isExact,
            BiPredicate<Row, Row> meaning) {
        List<Row> rows = rows();
        int[] columns = IntStream.range(0, WIDTH).toArray();
        int[] all = IntStream.range(0, rows.size()).toArray();
        List<DataType> types = SIDE.fields().stream().map(Field::type).toList();
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                RowCodec left = new RowCodec(types, false, allocator);
                RowCodec right = new RowCodec(types, false, allocator);
                Batch batch = TestBatches.of(SIDE, allocator, rows)) {
            left.encode(batch, columns, all, rows.size());
            right.encode(batch, columns, all, rows.size());
            RangeCondition ranges =
                    RangeCondition.of(condition, time, left, right).orElseThrow();
            for (int a = 0; a < rows.size(); a++) {
                for (int b = 0; b < rows.size(); b++) {
                    boolean meets = meaning.test(rows.get(a), rows.get(b));
                    for (int asking = 0; asking < 2; asking++) {
                        long our = asking == 0 ? left.address(a) : right.address(b);
                        long their = asking == 0 ? right.address(b) : left.address(a);
                        boolean isFound = !ranges.meetsNone(asking, our)
                                && !ranges.meetsNone(1 - asking, their)
                                && ranges.word(1 - asking, their, 0) <= ranges.bound(asking, our, 0)
                                && ranges.word(1 - asking, their, 1) >= ranges.bound(asking, our, 1);
                        String what = condition + " " + time + " of " + rows.get(a) + " and " + rows.get(b);
                        if (isExact) {
                            assertEquals(meets, isFound, what);
                        } else {
                            assertTrue(isFound || !meets, what);
                        }
                    }
                }
            }
        }
    }

    @Test
    void comparisonsOfIntegersAreExact() {
        check(test("lt", column(0, 6), column(1, 6)), true, both(6, 6, (a, b) -> (Long) a < (Long) b));
        check(test("le", column(0, 6), column(1, 6)), true, both(6, 6, (a, b) -> (Long) a <= (Long) b));
        check(test("gt", column(0, 6), column(1, 6)), true, both(6, 6, (a, b) -> (Long) a > (Long) b));
        check(test("ge", column(0, 6), column(1, 6)), true, both(6, 6, (a, b) -> (Long) a >= (Long) b));
        check(test("lt", column(1, 6), column(0, 6)), true, both(6, 6, (a, b) -> (Long) b < (Long) a));
        check(test("ge", column(1, 6), column(0, 6)), true, both(6, 6, (a, b) -> (Long) b >= (Long) a));
        Cast wide = new Cast(column(0, 6), DataType.BIGINT);
        check(test("lt", wide, column(1, 1)), true, both(6, 1, (a, b) -> (Long) a < (Long) b));
        check(test("le", column(0, 0), column(1, 0)), true, both(0, 0, (a, b) -> (Long) a <= (Long) b));
        check(test("lt", column(0, 0), column(1, 0)), false, both(0, 0, (a, b) -> (Long) a < (Long) b));
    }

    @Test
    void constantsMayBeAddedAndTakenAway() {
        Expression more = call("add", DataType.BIGINT, column(0, 1), number(3));
        Expression moreTurned = call("add", DataType.BIGINT, number(3), column(0, 1));
        Expression less = call("subtract", DataType.BIGINT, column(1, 1), number(2));
        Expression difference = call("subtract", DataType.BIGINT, column(0, 1), column(1, 1));
        check(test("lt", more, column(1, 1)), true, both(1, 1, (a, b) -> (Long) a + 3 < (Long) b));
        check(test("gt", moreTurned, less), true, both(1, 1, (a, b) -> (Long) a + 3 > (Long) b - 2));
        check(test("le", difference, number(6)), true, both(1, 1, (a, b) -> (Long) a - (Long) b <= 6));
        check(test("lt", number(-6), difference), true, both(1, 1, (a, b) -> -6 < (Long) a - (Long) b));
        check(test("ge", number(6), difference), true, both(1, 1, (a, b) -> 6 >= (Long) a - (Long) b));
        Expression big = call("add", DataType.BIGINT, column(0, 0), number(5));
        check(
                test("le", big, column(1, 0)),
                false,
                both(0, 0, (a, b) -> big(a).add(BigInteger.valueOf(5)).compareTo(big(b)) <= 0));
        Expression small = call("subtract", DataType.BIGINT, column(0, 0), number(5));
        check(
                test("ge", small, column(1, 0)),
                false,
                both(0, 0, (a, b) -> big(a).subtract(BigInteger.valueOf(5)).compareTo(big(b)) >= 0));
    }

    @Test
    void zerosAreEqualAndNaNIsGreatest() {
        check(
                test("lt", column(0, 3), column(1, 3)),
                true,
                both(3, 3, (a, b) -> compareDoubles((Double) a, (Double) b) < 0));
        check(
                test("ge", column(0, 3), column(1, 3)),
                true,
                both(3, 3, (a, b) -> compareDoubles((Double) a, (Double) b) >= 0));
        Cast inexact = new Cast(column(0, 6), DataType.DOUBLE);
        check(test("le", inexact, column(1, 3)), true, both(6, 3, (a, b) -> compareDoubles((Long) a, (Double) b) <= 0));
    }

    @Test
    void decimalsAreExactWhileTheyFitAWord() {
        BiPredicate<Row, Row> less = both(4, 4, (a, b) -> ((BigDecimal) a).compareTo((BigDecimal) b) < 0);
        check(test("lt", column(0, 4), column(1, 4)), false, less);
        BiPredicate<Row, Row> atMost = both(4, 4, (a, b) -> ((BigDecimal) a).compareTo((BigDecimal) b) <= 0);
        check(test("le", column(0, 4), column(1, 4)), true, atMost);
        Cast decimal = new Cast(column(0, 6), DECIMAL);
        check(
                test("gt", decimal, column(1, 4)),
                true,
                both(6, 4, (a, b) -> BigDecimal.valueOf((Long) a).compareTo((BigDecimal) b) > 0));
        Cast large = new Cast(column(0, 0), DECIMAL);
        check(
                test("le", large, column(1, 4)),
                false,
                both(0, 4, (a, b) -> BigDecimal.valueOf((Long) a).compareTo((BigDecimal) b) <= 0));
    }

    @Test
    void textsAreComparedByTheirFirstBytes() {
        for (String function : List.of("lt", "le", "gt", "ge")) {
            check(test(function, column(0, 5), column(1, 5)), false, both(5, 5, (a, b) -> {
                int order = Arrays.compareUnsigned(
                        ((String) a).getBytes(java.nio.charset.StandardCharsets.UTF_8),
                        ((String) b).getBytes(java.nio.charset.StandardCharsets.UTF_8));
                return switch (function) {
                    case "lt" -> order < 0;
                    case "le" -> order <= 0;
                    case "gt" -> order > 0;
                    default -> order >= 0;
                };
            }));
        }
    }

    /** A value from both sides, a value between two columns, and intervals that overlap. */
    @Test
    void twoComparisonsNarrowMost() {
        Expression above = test("ge", column(0, 1), column(1, 1));
        Expression below = test("le", column(0, 1), call("add", DataType.BIGINT, column(1, 1), number(4)));
        check(test("and", above, below), true, both(1, 1, (a, b) -> (Long) a >= (Long) b && (Long) a <= (Long) b + 4));
        Expression overlap =
                test("and", test("lt", column(0, 1), column(1, 2)), test("lt", column(1, 1), column(0, 2)));
        check(overlap, true, (a, b) -> (Long) a.get(1) < (Long) b.get(2) && (Long) b.get(1) < (Long) a.get(2));
        Expression same = test("and", test("lt", column(0, 1), column(1, 1)), test("le", column(0, 2), column(1, 2)));
        check(same, true, (a, b) -> (Long) a.get(1) < (Long) b.get(1) && (Long) a.get(2) <= (Long) b.get(2));
        // of three the two that bound one value from both sides, so all that is left to be evaluated is the third
        Expression three = test("and", test("lt", column(0, 6), column(1, 6)), test("and", above, below));
        check(
                three,
                false,
                (a, b) -> (Long) a.get(6) < (Long) b.get(6)
                        && (Long) a.get(1) >= (Long) b.get(1)
                        && (Long) a.get(1) <= (Long) b.get(1) + 4);
    }

    @Test
    void boundsOfTimeAreRanges() {
        for (long[] bounds : new long[][] {{-150, 200}, {0, 0}, {100, 300}, {-300, -100}}) {
            check(
                    Optional.empty(),
                    Optional.of(new JoinTime.Bounds(7, 7, bounds[0], bounds[1])),
                    true,
                    both(7, 7, (a, b) -> (Long) b - (Long) a >= bounds[0] && (Long) b - (Long) a <= bounds[1]));
        }
    }

    @Test
    void otherConditionsHaveNoRanges() {
        assertFalse(RangeCondition.isIn(test("eq", column(0, 1), column(1, 1)), WIDTH));
        assertFalse(RangeCondition.isIn(test("lt", column(0, 1), column(0, 2)), WIDTH));
        assertFalse(RangeCondition.isIn(test("lt", column(1, 1), column(1, 2)), WIDTH));
        assertFalse(RangeCondition.isIn(test("lt", column(0, 1), column(1, 6)), WIDTH), "of different types");
        assertFalse(RangeCondition.isIn(test("lt", column(0, 1), number(5)), WIDTH));
        assertFalse(RangeCondition.isIn(test("lt", number(5), column(0, 1)), WIDTH));
        assertFalse(RangeCondition.isIn(column(0, 1), WIDTH));
        Expression or = test("or", test("lt", column(0, 1), column(1, 1)), test("lt", column(0, 2), column(1, 2)));
        assertFalse(RangeCondition.isIn(or, WIDTH));
        Expression product = call("multiply", DataType.BIGINT, column(0, 1), number(-1));
        assertFalse(RangeCondition.isIn(test("lt", product, column(1, 1)), WIDTH));
        Expression added = call("add", DataType.BIGINT, column(0, 1), column(0, 2));
        assertFalse(RangeCondition.isIn(test("lt", added, column(1, 1)), WIDTH));
    }
}
