package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Words are in the order of their values; which expressions have them. */
class RangeValueTest {
    private static final long DAY = 86_400_000_000L;

    private static Expression call(String function, DataType type, Expression... arguments) {
        return new Call(function, List.of(arguments), type, true);
    }

    private static Expression interval(int months, int days, long micros) {
        return new Literal(new IntervalValue(months, days, micros), DataType.INTERVAL);
    }

    /** The words of an expression over one column for some of its values, which are not NULL. */
    private static List<Long> words(Expression expression, DataType type, List<Object> values) {
        RangeValue value = RangeValue.of(expression).orElseThrow();
        Schema schema = Schema.of(new Field("before", DataType.TEXT, true), new Field("v", type, true));
        List<Long> words = new ArrayList<>();
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                RowCodec codec = new RowCodec(List.of(DataType.TEXT, type), false, allocator)) {
            List<Row> rows = new ArrayList<>();
            values.forEach(each -> rows.add(TestBatches.canonical(schema, Row.of("x", each))));
            rows.add(Row.of("x", null));
            int[] all = new int[rows.size()];
            Arrays.setAll(all, i -> i);
            try (Batch batch = TestBatches.of(schema, allocator, rows)) {
                codec.encode(batch, new int[] {0, 1}, all, all.length);
                for (int i = 0; i < values.size(); i++) {
                    assertEquals(false, value.isNull(3, codec.address(i)));
                    words.add(value.word(codec, 3, codec.address(i)));
                }
                assertTrue(value.isNull(3, codec.address(values.size())));
            }
        }
        return words;
    }

    /** Column 1 of a side whose first is the join's column 3. */
    private static Column column(DataType type) {
        return new Column(4, type, true);
    }

    private static <T> void checkOrder(Expression expression, DataType type, Comparator<T> order, List<T> values) {
        List<Long> words = words(expression, type, List.copyOf(values));
        for (int a = 0; a < values.size(); a++) {
            for (int b = 0; b < values.size(); b++) {
                int expected = Integer.signum(order.compare(values.get(a), values.get(b)));
                assertEquals(
                        expected,
                        Integer.signum(Long.compare(words.get(a), words.get(b))),
                        expression + " of " + values.get(a) + " and " + values.get(b));
            }
        }
    }

    private static Expression literal(long number, DataType type) {
        return new Literal(number, type);
    }

    @Test
    void columnsOfAllTypesThatHaveWordsAreInTheirOrder() {
        checkOrder(column(DataType.SMALLINT), DataType.SMALLINT, Comparator.<Integer>naturalOrder(), List.of(-3, 0, 7));
        checkOrder(column(DataType.INTEGER), DataType.INTEGER, Comparator.<Integer>naturalOrder(), List.of(-3, 0, 7));
        checkOrder(
                column(DataType.BIGINT),
                DataType.BIGINT,
                Comparator.<Long>naturalOrder(),
                List.of(Long.MIN_VALUE, -1L, 0L, Long.MAX_VALUE));
        checkOrder(
                column(DataType.BOOLEAN), DataType.BOOLEAN, Comparator.<Boolean>naturalOrder(), List.of(true, false));
        checkOrder(column(DataType.DATE), DataType.DATE, Comparator.<Integer>naturalOrder(), List.of(-9, 0, 9));
        checkOrder(column(DataType.TIME), DataType.TIME, Comparator.<Long>naturalOrder(), List.of(0L, 5L, DAY - 1));
        for (DataType type : List.of(DataType.TIMESTAMP, DataType.TIMESTAMPTZ)) {
            checkOrder(column(type), type, Comparator.<Long>naturalOrder(), List.of(-DAY, 0L, DAY));
        }
        Comparator<Double> order = (a, b) -> a.doubleValue() == b ? 0 : Double.compare(a, b);
        List<Double> doubles = List.of(
                Double.NEGATIVE_INFINITY,
                -2.5,
                -Double.MIN_VALUE,
                -0.0,
                0.0,
                1.0,
                Double.POSITIVE_INFINITY,
                Double.NaN);
        checkOrder(column(DataType.DOUBLE), DataType.DOUBLE, order, doubles);
        checkOrder(column(DataType.REAL), DataType.REAL, order, List.of(-2.5, -0.0, 0.0, 1.0, Double.NaN));
        DataType decimal = DataType.numeric(30, 2);
        checkOrder(
                column(decimal),
                decimal,
                Comparator.<BigDecimal>naturalOrder(),
                List.of(new BigDecimal("-1.50"), new BigDecimal("0.00"), new BigDecimal("92233720368547758.07")));
        assertEquals(
                List.of(Long.MIN_VALUE, Long.MAX_VALUE),
                words(
                        column(decimal),
                        decimal,
                        List.of(new BigDecimal("-99999999999999999999.00"), new BigDecimal("92233720368547758.08"))),
                "numbers that do not fit have the outermost words");
        checkOrder(
                column(DataType.TEXT),
                DataType.TEXT,
                Comparator.<String>naturalOrder(),
                List.of("", "a", "ab", "b", "\u00e9", "zzzzzzzz"));
        for (DataType type :
                List.of(DataType.INTERVAL, DataType.UUID, DataType.BYTEA, DataType.array(DataType.BIGINT))) {
            assertEquals(Optional.empty(), RangeValue.of(column(type)), type.toString());
        }
    }

    @Test
    void castsThatKeepTheOrderHaveWords() {
        for (DataType from : List.of(DataType.SMALLINT, DataType.INTEGER, DataType.BIGINT)) {
            Function<DataType, Expression> to = type -> new Cast(column(from), type);
            List<Object> values = from == DataType.BIGINT ? List.of(-3L, 0L, 7L) : List.of(-3, 0, 7);
            for (DataType whole : List.of(DataType.SMALLINT, DataType.INTEGER, DataType.BIGINT)) {
                assertEquals(List.of(-3L, 0L, 7L), words(to.apply(whole), from, values));
            }
            assertEquals(
                    words(column(DataType.DOUBLE), DataType.DOUBLE, List.of(-3.0, 0.0, 7.0)),
                    words(to.apply(DataType.DOUBLE), from, values));
            for (int scale : new int[] {0, 3, 17}) {
                DataType decimal = DataType.numeric(38, scale);
                List<Object> decimals = List.of(
                        BigDecimal.valueOf(-3).setScale(scale),
                        BigDecimal.ZERO.setScale(scale),
                        BigDecimal.valueOf(7).setScale(scale));
                assertEquals(
                        words(column(decimal), decimal, decimals), words(to.apply(decimal), from, values), "" + scale);
            }
            assertTrue(RangeValue.of(to.apply(DataType.numeric(38, 18))).isPresent());
            assertTrue(RangeValue.of(to.apply(DataType.numeric(38, 19))).isEmpty());
            assertTrue(RangeValue.of(to.apply(DataType.REAL)).isEmpty());
            assertTrue(RangeValue.of(to.apply(DataType.TEXT)).isEmpty());
            Expression more = call("add", from, column(from), literal(1, from));
            assertTrue(RangeValue.of(new Cast(more, DataType.BIGINT)).isPresent());
            assertTrue(RangeValue.of(new Cast(more, DataType.DOUBLE)).isEmpty());
            assertTrue(RangeValue.of(new Cast(more, DataType.numeric(20, 2))).isEmpty());
            Expression decimal = to.apply(DataType.numeric(20, 2));
            assertTrue(RangeValue.of(call(
                            "add",
                            DataType.numeric(20, 2),
                            decimal,
                            new Literal(new BigDecimal("1.00"), DataType.numeric(20, 2))))
                    .isEmpty());
        }
        assertEquals(
                List.of(Long.MIN_VALUE, 0L, Long.MAX_VALUE),
                words(
                        new Cast(column(DataType.BIGINT), DataType.numeric(38, 10)),
                        DataType.BIGINT,
                        List.of(-1_000_000_000L, 0L, 1_000_000_000L)));
        Expression wide = new Cast(column(DataType.REAL), DataType.DOUBLE);
        assertEquals(
                words(column(DataType.DOUBLE), DataType.DOUBLE, List.of(-.5, 1.5)),
                words(wide, DataType.REAL, List.of(-.5, 1.5)));
        assertTrue(
                RangeValue.of(new Cast(column(DataType.DOUBLE), DataType.REAL)).isEmpty());
        assertTrue(RangeValue.of(new Cast(column(DataType.DOUBLE), DataType.BIGINT))
                .isEmpty());
        assertTrue(RangeValue.of(new Cast(column(DataType.numeric(9, 2)), DataType.numeric(9, 1)))
                .isEmpty());
        assertTrue(RangeValue.of(new Cast(column(DataType.TIMESTAMP), DataType.DATE))
                .isEmpty());
        DataType varchar = DataType.varchar(9);
        assertEquals(
                words(column(DataType.TEXT), DataType.TEXT, List.of("a", "b")),
                words(new Cast(column(varchar), DataType.TEXT), varchar, List.of("a", "b")));
        assertTrue(RangeValue.of(new Cast(column(DataType.TEXT), varchar)).isEmpty(), "it may be cut");
        assertTrue(
                RangeValue.of(new Cast(column(DataType.TEXT), DataType.BYTEA)).isEmpty());
    }

    @Test
    void constantsShiftWords() {
        Column number = column(DataType.BIGINT);
        List<Object> values = List.of(-7L, 0L, 7L);
        Function<Expression, List<Long>> of = expression -> words(expression, DataType.BIGINT, values);
        Expression five = literal(5, DataType.BIGINT);
        assertEquals(List.of(-2L, 5L, 12L), of.apply(call("add", DataType.BIGINT, number, five)));
        assertEquals(List.of(-2L, 5L, 12L), of.apply(call("add", DataType.BIGINT, five, number)));
        assertEquals(List.of(-12L, -5L, 2L), of.apply(call("subtract", DataType.BIGINT, number, five)));
        assertTrue(
                RangeValue.of(call("subtract", DataType.BIGINT, five, number)).isEmpty());
        assertTrue(RangeValue.of(call("add", DataType.BIGINT, number, number)).isEmpty());
        assertTrue(
                RangeValue.of(call("multiply", DataType.BIGINT, number, five)).isEmpty());
        Expression least = literal(Long.MIN_VALUE, DataType.BIGINT);
        assertTrue(
                RangeValue.of(call("subtract", DataType.BIGINT, number, least)).isEmpty());
        assertTrue(
                RangeValue.of(call("add", DataType.DOUBLE, column(DataType.DOUBLE), new Literal(1.0, DataType.DOUBLE)))
                        .isEmpty());
        assertEquals(
                List.of(3L, 9L),
                words(
                        call("add", DataType.DATE, column(DataType.DATE), literal(3, DataType.INTEGER)),
                        DataType.DATE,
                        List.of(0, 6)));
        // sums that do not fit are the outermost words, which stand for more than one value
        Expression most = literal(Long.MAX_VALUE, DataType.BIGINT);
        Expression muchMore = call("add", DataType.BIGINT, number, most);
        assertEquals(List.of(Long.MAX_VALUE - 7, Long.MAX_VALUE, Long.MAX_VALUE), of.apply(muchMore));
        Expression muchLess = call("subtract", DataType.BIGINT, number, most);
        assertEquals(List.of(Long.MIN_VALUE, Long.MIN_VALUE + 1, Long.MIN_VALUE + 8), of.apply(muchLess));
    }

    @Test
    void timesGoOnByIntervalsOfFixedLength() {
        for (DataType type : List.of(DataType.TIMESTAMP, DataType.TIMESTAMPTZ)) {
            Function<Expression, Expression> more = by -> call("add", type, column(type), by);
            assertEquals(List.of(9L, 17L), words(more.apply(interval(0, 0, 7)), type, List.of(2L, 10L)));
            assertEquals(
                    List.of(-5L, 3L),
                    words(call("subtract", type, column(type), interval(0, 0, 7)), type, List.of(2L, 10L)));
            assertTrue(RangeValue.of(more.apply(interval(1, 0, 0))).isEmpty(), "months differ");
            assertTrue(RangeValue.of(more.apply(literal(7, DataType.BIGINT))).isEmpty());
        }
        Expression days = call("add", DataType.TIMESTAMP, column(DataType.TIMESTAMP), interval(0, 2, 7));
        assertEquals(List.of(2 * DAY + 8), words(days, DataType.TIMESTAMP, List.of(1L)));
        Expression zoned = call("add", DataType.TIMESTAMPTZ, column(DataType.TIMESTAMPTZ), interval(0, 2, 7));
        assertTrue(RangeValue.of(zoned).isEmpty(), "days differ where clocks are put forward");
    }

    /** Values of one type compare, and texts of any length; where two have one word it may not be told which is less. */
    @Test
    void onlyTextsCompareAcrossTypes() {
        RangeValue text = RangeValue.of(column(DataType.TEXT)).orElseThrow();
        RangeValue shortText = RangeValue.of(column(DataType.varchar(3))).orElseThrow();
        RangeValue number = RangeValue.of(column(DataType.BIGINT)).orElseThrow();
        RangeValue real = RangeValue.of(column(DataType.DOUBLE)).orElseThrow();
        assertTrue(text.comparesWith(shortText, false));
        assertTrue(number.comparesWith(number, true));
        for (RangeValue one : List.of(text, number, real)) {
            for (RangeValue other : List.of(text, number, real)) {
                assertEquals(one == text && other == text, one.comparesWith(other, false));
            }
        }
        assertEquals(false, text.isExact());
        assertTrue(number.isExact() && real.isExact());
        assertEquals(
                1,
                words(column(DataType.TEXT), DataType.TEXT, List.of("12345678", "123456789")).stream()
                        .distinct()
                        .count());
    }
}
