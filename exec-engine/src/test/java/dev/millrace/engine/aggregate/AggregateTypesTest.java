package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.AVERAGE;
import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.distinct;
import static dev.millrace.engine.aggregate.AggregateTests.filtered;
import static dev.millrace.engine.aggregate.AggregateTests.ordered;
import static dev.millrace.engine.aggregate.AggregateTests.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.aggregate.partial.PartialAggregateOperator;
import dev.millrace.engine.aggregate.partial.PartialGain;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.operator.Operator;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of each type, in several groups at once and through two phases. */
class AggregateTypesTest {
    private static Aggregate node(Schema input, Phase phase, boolean appendOnly, List<AggregateCall> calls) {
        List<Field> fields = new ArrayList<>(List.of(input.field(0)));
        calls.forEach(call -> fields.add(new Field("c" + fields.size(), call.type(), call.nullable())));
        return new Aggregate(scan(input), List.of(0), calls, phase, appendOnly, new Schema(fields));
    }

    /** The middle of an odd number of values, in batches and groups of several: each type is written where it belongs. */
    private static void checkMedians(DataType type, LongFunction<Object> value) {
        Schema input = Schema.of(new Field("k", DataType.BIGINT, false), new Field("v", type, true));
        List<OrderKey> order = List.of(new OrderKey(1, false, false));
        List<AggregateCall> calls = List.of(ordered(call(Function.PERCENTILE_DISC, type, 1), order, .5));
        for (boolean appendOnly : new boolean[] {true, false}) {
            Aggregate node = node(input, Phase.SINGLE, appendOnly, calls);
            try (OperatorRun run = new OperatorRun(() -> new AggregateOperator(node), input)) {
                ZSet expected = new ZSet();
                List<Row> rows = new ArrayList<>();
                for (long key = 0; key < 5; key++) {
                    for (long i : new long[] {2, 0, 1}) {
                        rows.add(Row.of(key, value.apply(3 * key - 6 + i)));
                    }
                    rows.add(Row.of(key, null));
                    Row median = Row.of(key, value.apply(3 * key - 5));
                    expected.add(TestBatches.canonical(node.schema(), median), 1);
                }
                rows.add(Row.of(5L, null));
                expected.add(Row.of(5L, null), 1);
                run.rows(0, rows.toArray(Row[]::new)).epochEnd();
                assertEquals(expected, run.taken(), type.toString());
                ((AggregateOperator) run.restart().operator()).replay();
                assertEquals(expected, run.epochEnd().taken(), type.toString());
            }
        }
    }

    @Test
    void percentilesOfSeveralGroupsAreOfEachOnesType() {
        checkMedians(DataType.SMALLINT, i -> (int) i);
        checkMedians(DataType.INTEGER, i -> (int) i * 100_000);
        checkMedians(DataType.BIGINT, i -> i * 10_000_000_000L);
        checkMedians(DataType.REAL, i -> i * .5);
        checkMedians(DataType.DOUBLE, i -> i * .1);
        checkMedians(DataType.DATE, i -> (int) i);
        checkMedians(DataType.TIMESTAMP, i -> i * 1_000_000);
        checkMedians(DataType.numeric(10, 1), i -> BigDecimal.valueOf(i, 1));
        checkMedians(DataType.TEXT, i -> "text number " + (char) ('n' + i));
        checkMedians(DataType.BOOLEAN, i -> true);
        checkMedians(DataType.UUID, i -> new UUID(20 + i, i));
        checkMedians(DataType.INTERVAL, i -> new Row.Interval((int) i, 3, 0));
    }

    /** A percentile between two values, in several groups at once. */
    @Test
    void interpolatedPercentilesOfSeveralGroupsAreTheirOwn() {
        for (DataType type :
                List.of(DataType.SMALLINT, DataType.BIGINT, DataType.REAL, DataType.DOUBLE, DataType.numeric(10, 2))) {
            Schema input = Schema.of(new Field("k", DataType.BIGINT, false), new Field("v", type, true));
            for (boolean descending : new boolean[] {true, false}) {
                List<OrderKey> order = List.of(new OrderKey(1, descending, false));
                List<AggregateCall> calls =
                        List.of(ordered(call(Function.PERCENTILE_CONT, DataType.DOUBLE, 1), order, .25));
                for (boolean appendOnly : new boolean[] {true, false}) {
                    Aggregate node = node(input, Phase.SINGLE, appendOnly, calls);
                    try (OperatorRun run = new OperatorRun(() -> new AggregateOperator(node), input)) {
                        ZSet expected = new ZSet();
                        for (long key = 0; key < 4; key++) {
                            BigDecimal[] values = {BigDecimal.valueOf(10 * key), BigDecimal.valueOf(10 * key + 6)};
                            for (BigDecimal value : values) {
                                boolean isDecimal = type.kind() == DataType.Kind.NUMERIC;
                                boolean isInexact =
                                        type.kind() == DataType.Kind.REAL || type.kind() == DataType.Kind.DOUBLE;
                                run.rows(
                                        0,
                                        Row.of(
                                                key,
                                                isDecimal
                                                        ? value.setScale(2)
                                                        : isInexact ? (Object) value.doubleValue() : value.intValue()));
                            }
                            expected.add(Row.of(key, 10 * key + (descending ? 4.5 : 1.5)), 1);
                        }
                        run.epochEnd();
                        assertEquals("", expected.differences(run.taken()), type + " " + descending);
                    }
                }
            }
        }
    }

    /** What a first phase gathers comes together to the results over the rows: intervals, wide sums, sums of squares. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void statesOfAllTypesArePassedOnByAFirstPhase(boolean appendOnly) {
        List<AggregateCall> calls = new ArrayList<>(List.of(
                call(Function.SUM, DataType.INTERVAL, 12),
                call(Function.AVG, DataType.INTERVAL, 12),
                call(Function.VAR_POP, AVERAGE, 5),
                call(Function.STDDEV_SAMP, AVERAGE, 5),
                call(Function.VAR_SAMP, AVERAGE, 3),
                call(Function.STDDEV_POP, AVERAGE, 11),
                call(Function.VAR_SAMP, DataType.DOUBLE, 4),
                call(Function.SUM, DataType.numeric(38, 3), 5),
                filtered(call(Function.SUM, DataType.INTERVAL, 12), 6),
                call(Function.BOOL_OR, DataType.BOOLEAN, 6)));
        if (appendOnly) {
            calls.addAll(List.of(
                    call(Function.MIN, DataType.INTERVAL, 12),
                    call(Function.MAX, DataType.INTERVAL, 12),
                    filtered(call(Function.MAX, DataType.UUID, 8), 6),
                    filtered(call(Function.MIN, DataType.TEXT, 1), 6),
                    distinct(call(Function.SUM, DataType.INTERVAL, 12)),
                    distinct(call(Function.VAR_POP, AVERAGE, 5))));
        }
        Schema input = GroupStatesTest.INPUT;
        Aggregate single = node(input, Phase.SINGLE, appendOnly, calls);
        Aggregate shape = node(input, Phase.PARTIAL, appendOnly, calls);
        Aggregate first =
                new Aggregate(scan(input), List.of(0), calls, Phase.PARTIAL, appendOnly, PartialSchemas.of(shape));
        Aggregate last = new Aggregate(first, List.of(0), calls, Phase.FINAL, appendOnly, single.schema());
        OperatorHarness harness = new OperatorHarness(
                        () -> new Chain(List.<Operator>of(
                                new PartialAggregateOperator(first, new PartialLimit(3, 12), new PartialGain(12, 9)),
                                new AggregateOperator(last))),
                        input)
                .output(single.schema());
        if (appendOnly) {
            harness.appendOnlyInput();
        }
        RandomGenerator random = new SplittableRandom(7);
        TreeMap<Long, List<Row>> groups = new TreeMap<>();
        for (int i = 0; i < 120; i++) {
            Row row = GroupStatesTest.randomRow(random);
            List<Row> group = groups.computeIfAbsent((Long) row.get(0), any -> new ArrayList<>());
            if (!appendOnly && group.size() > 3 && random.nextInt(5) < 2) {
                harness.weighted(0, group.remove(random.nextInt(group.size())), -1);
            } else {
                harness.rows(row);
                group.add(row);
            }
            if (random.nextInt(15) == 0) {
                harness.epochEnd();
            }
        }
        ZSet result = harness.runAll();
        assertEquals(groups.size(), result.rows().size());
        for (Row row : result.rows()) {
            List<Row> group = groups.get(row.get(0));
            for (int i = 0; i < calls.size(); i++) {
                AggregateCall call = calls.get(i);
                if (call.function() != Function.AVG) {
                    GroupStatesTest.assertEqual(GroupStatesTest.expected(call, group), row.get(1 + i), call);
                } else {
                    checkAverage(group, (Row.Interval) row.get(1 + i));
                }
            }
        }
    }

    /** Rows of several batches, whose keys are found in images of the batch at hand. */
    @Test
    void keysThatAreListsAreThoseOfTheirBatch() {
        DataType list = DataType.array(DataType.BIGINT);
        Schema input = Schema.of(new Field("k", list, true), new Field("v", list, true));
        List<AggregateCall> calls =
                List.of(call(Function.COUNT, DataType.BIGINT), distinct(call(Function.COUNT, DataType.BIGINT, 1)));
        Aggregate single = node(input, Phase.SINGLE, true, calls);
        Aggregate first = new Aggregate(
                scan(input),
                List.of(0),
                calls,
                Phase.PARTIAL,
                true,
                PartialSchemas.of(node(input, Phase.PARTIAL, true, calls)));
        Aggregate last = new Aggregate(first, List.of(0), calls, Phase.FINAL, true, single.schema());
        for (boolean twoPhases : new boolean[] {true, false}) {
            try (OperatorRun run = new OperatorRun(
                    () -> twoPhases
                            ? new Chain(List.<Operator>of(
                                    new PartialAggregateOperator(
                                            first, new PartialLimit(100, 120), new PartialGain(1_000, 9)),
                                    new AggregateOperator(last)))
                            : new AggregateOperator(single),
                    input)) {
                for (long batch = 0; batch < 4; batch++) {
                    List<Long> one = List.of(batch, 2 * batch);
                    List<Long> other = List.of(7L);
                    run.rows(0, Row.of(one, other), Row.of(other, one), Row.of(one, one), Row.of(null, one));
                }
                run.epochEnd();
                ZSet expected = new ZSet();
                for (long batch = 0; batch < 4; batch++) {
                    expected.add(Row.of(List.of(batch, 2 * batch), 2L, 2L), 1);
                }
                expected.add(Row.of(List.of(7L), 4L, 4L), 1);
                expected.add(Row.of(null, 4L, 4L), 1);
                assertEquals("", expected.differences(run.taken()), "two phases: " + twoPhases);
            }
        }
    }

    /** As long as all together by their number, to a microsecond. */
    private static void checkAverage(List<Row> rows, Row.Interval average) {
        List<Row.Interval> intervals = rows.stream()
                .map(row -> (Row.Interval) row.get(12))
                .filter(each -> each != null)
                .toList();
        double sum = intervals.stream().mapToDouble(AggregateTypesTest::micros).sum();
        assertEquals(sum / intervals.size(), micros(average), 1);
    }

    private static double micros(Row.Interval interval) {
        return (interval.months() * 30.0 + interval.days()) * 86_400_000_000.0 + interval.micros();
    }
}
