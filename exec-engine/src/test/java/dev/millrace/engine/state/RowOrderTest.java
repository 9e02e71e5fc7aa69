package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.nested.Images;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.testing.memory.LeakCheck;
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
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RowOrderTest {
    private static final long DAY = 86_400_000_000L;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    /** Values in their order; those in a list of values are equal. */
    static Stream<Arguments> values() {
        return Stream.of(
                Arguments.of(DataType.BOOLEAN, List.of(false, true)),
                Arguments.of(DataType.BIGINT, List.of(Long.MIN_VALUE, -1L, 0L, 1L, Long.MAX_VALUE)),
                Arguments.of(DataType.DATE, List.of(-5, 0, 5)),
                Arguments.of(
                        DataType.DOUBLE,
                        List.of(
                                Double.NEGATIVE_INFINITY,
                                -1.0,
                                0.0,
                                1e-300,
                                1.0,
                                Double.POSITIVE_INFINITY,
                                Double.NaN)),
                Arguments.of(DataType.REAL, List.of(-2.5f, 0f, 2.5f, Float.NaN)),
                Arguments.of(
                        DataType.numeric(38, 0),
                        Stream.of(
                                        "-123456789012345678901234567890",
                                        "-1",
                                        "0",
                                        "1",
                                        "9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616")
                                .map(BigDecimal::new)
                                .toList()),
                Arguments.of(
                        DataType.INTERVAL,
                        List.of(
                                new Row.Interval(-1, 0, 0),
                                new Row.Interval(0, -29, 0),
                                new Row.Interval(0, 0, -DAY - 1),
                                new Row.Interval(0, -1, 0),
                                new Row.Interval(0, 0, -1),
                                new Row.Interval(0, 0, 0),
                                new Row.Interval(0, 0, 1),
                                new Row.Interval(0, 1, 0),
                                new Row.Interval(0, 1, 1),
                                new Row.Interval(0, 0, 2 * DAY),
                                new Row.Interval(0, 29, 0),
                                new Row.Interval(1, 0, 0),
                                new Row.Interval(1, 1, 0),
                                new Row.Interval(2, 0, -DAY + 1))),
                Arguments.of(DataType.UUID, List.of(new UUID(1, 5), new UUID(2, 1), new UUID(2, -1), new UUID(-1, 0))),
                Arguments.of(DataType.TEXT, List.of("", "A", "a", "aa", "b", "é")),
                Arguments.of(DataType.BYTEA, List.of(new byte[0], new byte[] {1}, new byte[] {1, 2}, new byte[] {-1})),
                Arguments.of(
                        DataType.array(DataType.INTEGER), List.of(List.of(), List.of(1), List.of(1, 2), List.of(2))));
    }

    @ParameterizedTest
    @MethodSource("values")
    void valuesAreOrderedByTheirType(DataType type, List<Object> ascending) {
        for (boolean descending : new boolean[] {false, true}) {
            for (boolean nullsFirst : new boolean[] {false, true}) {
                Schema schema = Schema.of(new Field("first", DataType.BIGINT, false), new Field("v", type, true));
                List<Row> rows = new ArrayList<>();
                rows.add(Row.of(7L, null));
                ascending.forEach(value -> rows.add(Row.of(7L, value)));
                rows.add(Row.of(7L, null));
                int last = rows.size() - 1;
                try (Batch batch = TestBatches.of(schema, leaks.allocator(), rows);
                        RowCodec codec = new RowCodec(List.of(DataType.BIGINT, type), false, leaks.allocator())) {
                    codec.encode(batch, new int[] {0, 1}, Rows.all(rows.size()), rows.size());
                    RowOrder order = new RowOrder(
                            codec,
                            List.of(DataType.BIGINT, type),
                            List.of(new OrderKey(0, true, false), new OrderKey(1, descending, nullsFirst)));
                    for (int a = 0; a <= last; a++) {
                        for (int b = 0; b <= last; b++) {
                            boolean aNull = a == 0 || a == last;
                            boolean bNull = b == 0 || b == last;
                            int expected = aNull && bNull
                                    ? 0
                                    : aNull != bNull
                                            ? (aNull == nullsFirst ? -1 : 1)
                                            : (descending ? -1 : 1) * Integer.compare(a, b);
                            assertEquals(
                                    expected,
                                    Integer.signum(order.compare(codec.address(a), codec.address(b))),
                                    rows.get(a) + " and " + rows.get(b));
                        }
                    }
                }
            }
        }
    }

    @Test
    void aMonthIsThirtyDaysAndADayHasTwentyFourHours() {
        Schema schema = Schema.of(new Field("v", DataType.INTERVAL, false));
        try (Batch batch = TestBatches.of(
                        schema,
                        leaks.allocator(),
                        Row.of(new Row.Interval(1, 0, 0)),
                        Row.of(new Row.Interval(0, 30, 0)),
                        Row.of(new Row.Interval(0, 29, DAY)),
                        Row.of(new Row.Interval(0, 31, -DAY)));
                RowCodec codec = new RowCodec(List.of(DataType.INTERVAL), false, leaks.allocator())) {
            codec.encode(batch, new int[] {0}, Rows.all(4), 4);
            RowOrder order = new RowOrder(codec, List.of(DataType.INTERVAL), List.of(new OrderKey(0, false, false)));
            for (int i = 1; i < 4; i++) {
                assertEquals(0, order.compare(codec.address(0), codec.address(i)));
            }
        }
    }

    @Test
    void nansAreEqualAndGreatestAndZerosAreEqual() {
        assertEquals(0, Images.compareDoubles(Double.NaN, Double.longBitsToDouble(0x7ff8000000000001L)));
        assertEquals(1, Images.compareDoubles(Double.NaN, 1));
        assertEquals(-1, Images.compareDoubles(1, Double.NaN));
        assertEquals(0, Images.compareDoubles(-0.0, 0.0));
    }

    /** Of all lengths around those of runs and merges. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 7, 8, 9, 16, 17, 100, 5_000})
    void sortingKeepsTheOrderOfEqualRows(int count) {
        SplittableRandom random = new SplittableRandom(count);
        Long[] expected = new Long[count];
        Arrays.setAll(expected, i -> (long) random.nextInt(1 + count / 3) << 32 | i);
        long[] rows = new long[count + 1];
        for (int i = 0; i < count; i++) {
            rows[i] = expected[i];
        }
        rows[count] = -1; // not one of them
        Arrays.sort(expected, Comparator.comparing(row -> row >>> 32)); // stable
        RowSort.sort(rows, count, (a, b) -> Long.compare(a >>> 32, b >>> 32));
        for (int i = 0; i < count; i++) {
            assertEquals(expected[i], rows[i]);
        }
        assertEquals(-1, rows[count]);
    }

    @Test
    void rowsAreSortedByTheirKeys() {
        Schema schema = Schema.of(new Field("a", DataType.BIGINT, false), new Field("b", DataType.TEXT, true));
        List<Row> rows = List.of(Row.of(2L, "x"), Row.of(1L, null), Row.of(2L, null), Row.of(1L, "y"), Row.of(1L, "a"));
        try (Batch batch = TestBatches.of(schema, leaks.allocator(), rows);
                RowCodec codec = new RowCodec(List.of(DataType.BIGINT, DataType.TEXT), false, leaks.allocator())) {
            codec.encode(batch, new int[] {0, 1}, Rows.all(5), 5);
            RowOrder order = new RowOrder(
                    codec,
                    List.of(DataType.BIGINT, DataType.TEXT),
                    List.of(new OrderKey(0, false, false), new OrderKey(1, true, true)));
            long[] sorted = new long[5];
            Arrays.setAll(sorted, codec::address);
            order.sort(sorted, 5);
            long[] expected = {1, 3, 4, 2, 0};
            for (int i = 0; i < 5; i++) {
                assertEquals(codec.address((int) expected[i]), sorted[i]);
            }
        }
    }
}
