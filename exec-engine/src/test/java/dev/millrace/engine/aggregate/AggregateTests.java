package dev.millrace.engine.aggregate;

import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.Hashing;
import dev.millrace.operator.KeyGroups;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;

/** What tests of aggregation share: a schema with columns of many types, random rows, and calls over them. */
public final class AggregateTests {
    private AggregateTests() {}

    public static final Schema INPUT = Schema.of(
            new Field("k", DataType.BIGINT, false), // 0
            new Field("t", DataType.TEXT, true), // 1
            new Field("i", DataType.INTEGER, true), // 2
            new Field("b", DataType.BIGINT, true), // 3
            new Field("d", DataType.DOUBLE, true), // 4
            new Field("n", DataType.numeric(30, 3), true), // 5
            new Field("f", DataType.BOOLEAN, true), // 6
            new Field("g", DataType.BOOLEAN, false), // 7
            new Field("u", DataType.UUID, true), // 8
            new Field("ts", DataType.TIMESTAMP, false), // 9
            new Field("r", DataType.REAL, true), // 10
            new Field("s", DataType.SMALLINT, false)); // 11

    public static Row randomRow(RandomGenerator random, int keys) {
        return TestBatches.canonical(
                INPUT,
                Row.of(
                        random.nextLong(keys),
                        orNull(random, "text " + "x".repeat(random.nextInt(24)) + random.nextInt(3)),
                        orNull(random, random.nextInt(-1000, 1000)),
                        orNull(
                                random,
                                random.nextInt(4) == 0 ? Long.MAX_VALUE - random.nextInt(3) : random.nextLong(9)),
                        orNull(random, random.nextInt(3) * .1 + random.nextInt(5) * 1e6),
                        orNull(
                                random,
                                new BigDecimal(
                                                new BigInteger(
                                                        random.nextInt(80) + 1,
                                                        new java.util.Random(random.nextLong())),
                                                3)
                                        .multiply(BigDecimal.valueOf(random.nextInt(3) - 1L))),
                        orNull(random, random.nextBoolean()),
                        random.nextBoolean(),
                        orNull(random, new UUID(random.nextLong(4) << 62, random.nextInt(2))),
                        random.nextLong(100) * 1_000_000,
                        orNull(random, random.nextInt(8) * .5f),
                        random.nextInt(-5, 5)));
    }

    private static Object orNull(RandomGenerator random, Object value) {
        return random.nextInt(6) == 0 ? null : value;
    }

    public static AggregateCall call(Function function, DataType type, Integer... arguments) {
        return new AggregateCall(function, List.of(arguments), false, OptionalInt.empty(), List.of(), List.of(), type);
    }

    public static AggregateCall distinct(AggregateCall call) {
        return new AggregateCall(
                call.function(),
                call.arguments(),
                true,
                call.filter(),
                call.ordering(),
                call.parameters(),
                call.type());
    }

    public static AggregateCall filtered(AggregateCall call, int column) {
        return new AggregateCall(
                call.function(),
                call.arguments(),
                call.distinct(),
                OptionalInt.of(column),
                call.ordering(),
                call.parameters(),
                call.type());
    }

    public static AggregateCall ordered(AggregateCall call, List<OrderKey> ordering, Object... parameters) {
        List<Literal> literals = new ArrayList<>();
        for (Object parameter : parameters) {
            literals.add(new Literal(parameter, parameter instanceof String ? DataType.TEXT : DataType.DOUBLE));
        }
        return new AggregateCall(
                call.function(), call.arguments(), call.distinct(), call.filter(), ordering, literals, call.type());
    }

    public static final DataType BIG = DataType.numeric(38, 0);
    public static final DataType AVERAGE = DataType.numeric(38, 16);

    /** Calls with states of fixed size. */
    public static List<AggregateCall> simpleCalls() {
        List<AggregateCall> calls = new ArrayList<>(List.of(
                call(Function.COUNT, DataType.BIGINT),
                call(Function.COUNT, DataType.BIGINT, 1),
                filtered(call(Function.COUNT, DataType.BIGINT), 6),
                call(Function.SUM, DataType.BIGINT, 2),
                call(Function.SUM, BIG, 3),
                call(Function.SUM, DataType.DOUBLE, 4),
                call(Function.SUM, DataType.numeric(38, 3), 5),
                call(Function.SUM, DataType.REAL, 10),
                filtered(call(Function.SUM, BIG, 3), 7),
                call(Function.AVG, AVERAGE, 2),
                call(Function.AVG, AVERAGE, 3),
                call(Function.AVG, DataType.DOUBLE, 4),
                call(Function.AVG, AVERAGE, 5),
                call(Function.VAR_SAMP, AVERAGE, 2),
                call(Function.VAR_POP, DataType.DOUBLE, 4),
                call(Function.STDDEV_SAMP, AVERAGE, 11),
                call(Function.STDDEV_POP, DataType.DOUBLE, 4),
                call(Function.BOOL_AND, DataType.BOOLEAN, 6),
                call(Function.BOOL_OR, DataType.BOOLEAN, 7)));
        for (Function extreme : List.of(Function.MIN, Function.MAX)) {
            for (int column : new int[] {1, 2, 3, 4, 5, 8, 9, 10, 11}) {
                calls.add(call(extreme, INPUT.type(column), column));
            }
        }
        return calls;
    }

    public static List<AggregateCall> distinctCalls() {
        return List.of(
                distinct(call(Function.COUNT, DataType.BIGINT, 3)),
                distinct(filtered(call(Function.COUNT, DataType.BIGINT, 3), 6)),
                distinct(filtered(call(Function.COUNT, DataType.BIGINT, 3), 7)),
                distinct(call(Function.COUNT, DataType.BIGINT, 1)),
                distinct(call(Function.SUM, DataType.DOUBLE, 4)),
                distinct(call(Function.SUM, DataType.numeric(38, 3), 5)),
                distinct(call(Function.AVG, AVERAGE, 2)),
                distinct(filtered(call(Function.COUNT, DataType.BIGINT, 8), 6)));
    }

    public static List<AggregateCall> collectingCalls() {
        OrderKey byValue = new OrderKey(4, false, false);
        return List.of(
                ordered(call(Function.PERCENTILE_CONT, DataType.DOUBLE, 4), List.of(byValue), .3),
                ordered(call(Function.PERCENTILE_DISC, DataType.DOUBLE, 4), List.of(byValue), .75),
                ordered(call(Function.STRING_AGG, DataType.TEXT, 1), List.of(new OrderKey(1, true, true)), ", "),
                ordered(
                        call(Function.ARRAY_AGG, DataType.array(DataType.INTEGER), 2),
                        List.of(new OrderKey(2, false, true))),
                distinct(ordered(call(Function.STRING_AGG, DataType.TEXT, 1), List.of(), "|")),
                ordered(
                        filtered(call(Function.FIRST_VALUE, DataType.INTEGER, 2), 7),
                        List.of(new OrderKey(2, true, false))),
                ordered(call(Function.LAST_VALUE, DataType.numeric(30, 3), 5), List.of(new OrderKey(5, false, false))));
    }

    public static PlanNode scan(Schema schema) {
        return new PlanNode.Scan("t", List.of(), List.of(), schema);
    }

    public static OperatorHarness.KeyGroupOf keyGroup(List<Integer> keys) {
        int[] columns = keys.stream().mapToInt(Integer::intValue).toArray();
        return (port, batch, row) -> {
            long[] hashes = new long[batch.rowCount()];
            try (RootAllocator allocator = new RootAllocator();
                    NestedImages images = new NestedImages(allocator)) {
                Hashing.hash(batch, columns, batch.rowCount(), hashes, images);
            }
            return KeyGroups.of(hashes[row]);
        };
    }
}
