package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.BIG;
import static dev.millrace.engine.aggregate.AggregateTests.INPUT;
import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.collectingCalls;
import static dev.millrace.engine.aggregate.AggregateTests.distinctCalls;
import static dev.millrace.engine.aggregate.AggregateTests.keyGroup;
import static dev.millrace.engine.aggregate.AggregateTests.randomRow;
import static dev.millrace.engine.aggregate.AggregateTests.scan;
import static dev.millrace.engine.aggregate.AggregateTests.simpleCalls;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.engine.aggregate.partial.PartialAggregateOperator;
import dev.millrace.engine.aggregate.partial.PartialGain;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.Operator;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AggregateOperatorTest {
    static Aggregate node(List<Integer> keys, List<AggregateCall> calls, boolean appendOnly) {
        List<Field> fields = new ArrayList<>(INPUT.select(keys).fields());
        for (AggregateCall call : calls) {
            fields.add(new Field(call.function().name(), call.type(), call.nullable()));
        }
        return new Aggregate(scan(INPUT), keys, calls, Phase.SINGLE, appendOnly, new Schema(fields));
    }

    static void check(Aggregate node, long seed, int rowCount) {
        check(node, seed, rowCount, Optional.empty());
    }

    private static void check(Aggregate node, long seed, int rowCount, Optional<String> fixture) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = new OperatorHarness(() -> new AggregateOperator(node), INPUT)
                .output(node.schema())
                .partitionedBy(keyGroup(node.keys()));
        if (node.appendOnlyInput()) {
            harness.appendOnlyInput();
        }
        if (!node.keys().isEmpty()) {
            harness.writesChanges();
        }
        fixture.ifPresent(harness::keepsFormat);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < rowCount; i++) {
            if (!node.appendOnlyInput() && !rows.isEmpty() && random.nextInt(5) < 2) {
                harness.weighted(0, rows.remove(random.nextInt(rows.size())), -1);
            } else {
                Row row = randomRow(random, 7);
                harness.rows(row);
                rows.add(row);
            }
            if (random.nextInt(20) == 0) {
                harness.epochEnd();
            }
        }
        harness.expect(expected(node, rows));
    }

    static ZSet expected(Aggregate node, List<Row> rows) {
        ZSet expected = new ZSet();
        Map<List<Object>, List<Row>> groups = ReferenceAggregate.groups(rows, node.keys());
        if (node.keys().isEmpty() && groups.isEmpty()) {
            groups.put(List.of(), List.of());
        }
        groups.forEach((key, group) -> {
            List<Object> values = new ArrayList<>(key);
            node.calls()
                    .forEach(call -> values.add(
                            ReferenceAggregate.result(call, group, node.input().schema())));
            expected.add(TestBatches.canonical(node.schema(), new Row(values)), 1);
        });
        return expected;
    }

    @Test
    void groupsAreWrittenAsTheyWere() {
        check(node(List.of(0), simpleCalls(), false), 30, 60, Optional.of("groups"));
        check(node(List.of(1, 6), simpleCalls(), true), 31, 60, Optional.of("groups-appended"));
        check(node(List.of(0), distinctCalls(), false), 32, 60, Optional.of("groups-distinct"));
        check(node(List.of(0), collectingCalls(), false), 33, 60, Optional.of("groups-collecting"));
        check(node(List.of(1), distinctCalls(), true), 34, 60, Optional.of("groups-distinct-appended"));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void appendOnlyGroupsEqualTheReference(long seed) {
        check(node(List.of(0), simpleCalls(), true), seed, 120);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void retractionsLeaveNothingBehind(long seed) {
        check(node(List.of(0), simpleCalls(), false), seed, 150);
    }

    @Test
    void textAndNullKeysGroupByValue() {
        check(node(List.of(1), List.of(call(Function.COUNT, DataType.BIGINT)), false), 4, 150);
        check(node(List.of(1, 3), List.of(call(Function.SUM, BIG, 3)), true), 5, 150);
        check(node(List.of(8, 4, 6), List.of(call(Function.MAX, DataType.TEXT, 1)), false), 6, 150);
        check(node(List.of(5, 10, 2, 11), List.of(call(Function.COUNT, DataType.BIGINT)), true), 7, 150);
    }

    @Test
    void withoutKeysThereIsAlwaysOneGroup() {
        check(node(List.of(), simpleCalls(), false), 8, 60);
        check(node(List.of(), simpleCalls(), true), 9, 0);
        check(node(List.of(), List.of(call(Function.COUNT, DataType.BIGINT)), true), 10, 20);
    }

    @Test
    void distinctIsAggregationWithoutCalls() {
        check(node(List.of(1, 6), List.of(), false), 11, 200);
        check(node(List.of(2), List.of(), true), 12, 200);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void distinctArgumentsCountOnce(boolean appendOnly) {
        check(node(List.of(0), distinctCalls(), appendOnly), 13, 200);
        check(node(List.of(), distinctCalls(), appendOnly), 14, 200);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void keptValuesEqualTheReference(boolean appendOnly) {
        check(node(List.of(0), collectingCalls(), appendOnly), 15, 200);
    }

    @Test
    void approximateCountsOfFewValuesAreExact() {
        AggregateCall call = call(Function.APPROX_COUNT_DISTINCT, DataType.BIGINT, 3);
        check(node(List.of(0), List.of(call), true), 16, 200);
        check(node(List.of(0), List.of(call), false), 17, 200);
    }

    @Test
    void twoPhasesGiveWhatOneGives() {
        checkTwoPhases(true, simpleCalls(), List.of(List.of(0), List.of(1), List.of()));
        List<AggregateCall> calls = simpleCalls();
        calls.removeIf(call -> call.function() == Function.MIN || call.function() == Function.MAX);
        checkTwoPhases(false, calls, List.of(List.of(0), List.of(1), List.of()));
    }

    @Test
    void aFirstPhasePassesDistinctValuesOn() {
        checkTwoPhases(true, distinctCalls(), List.of(List.of(0), List.of(1), List.of(5, 0)));
        List<AggregateCall> calls = simpleCalls();
        calls.addAll(distinctCalls());
        checkTwoPhases(true, calls, List.of(List.of(0)));
    }

    /** Calls whose states can also be made row by row. */
    @Test
    void aFirstPhaseThatGainsNothingPassesRowsOn() {
        List<AggregateCall> calls = new ArrayList<>();
        for (AggregateCall call : simpleCalls()) {
            List<Function> squares =
                    List.of(Function.STDDEV_POP, Function.STDDEV_SAMP, Function.VAR_POP, Function.VAR_SAMP);
            boolean isExtreme = call.function() == Function.MIN || call.function() == Function.MAX;
            if (!squares.contains(call.function())
                    && !(isExtreme && call.filter().isPresent())) {
                calls.add(call);
            }
        }
        calls.addAll(distinctCalls());
        checkTwoPhases(true, calls, List.of(List.of(0), List.of(1)));
    }

    private static void checkTwoPhases(boolean appendOnly, List<AggregateCall> calls, List<List<Integer>> allKeys) {
        for (List<Integer> keys : allKeys) {
            Aggregate single = node(keys, calls, appendOnly);
            Aggregate partial = new Aggregate(scan(INPUT), keys, calls, Phase.PARTIAL, appendOnly, Schema.of());
            partial = new Aggregate(scan(INPUT), keys, calls, Phase.PARTIAL, appendOnly, PartialSchemas.of(partial));
            List<Integer> finalKeys = new ArrayList<>();
            for (int key = 0; key < keys.size(); key++) {
                finalKeys.add(key);
            }
            Aggregate last = new Aggregate(partial, finalKeys, calls, Phase.FINAL, appendOnly, single.schema());
            Aggregate first = partial;
            RandomGenerator random = new SplittableRandom(18);
            OperatorHarness harness = new OperatorHarness(
                            () -> new Chain(List.<Operator>of(
                                    new PartialAggregateOperator(
                                            first, new PartialLimit(3, 12), new PartialGain(12, 9)),
                                    new AggregateOperator(last))),
                            INPUT)
                    .output(single.schema());
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                if (!appendOnly && !rows.isEmpty() && random.nextInt(5) < 2) {
                    harness.weighted(0, rows.remove(random.nextInt(rows.size())), -1);
                } else {
                    Row row = randomRow(random, 7);
                    harness.rows(row);
                    rows.add(row);
                }
                if (random.nextInt(20) == 0) {
                    harness.epochEnd();
                }
            }
            if (appendOnly) {
                harness.appendOnlyInput();
            }
            harness.expect(expected(single, rows));
        }
    }

    private static ZSet once(
            Schema input, AggregateCall call, boolean appendOnly, Object[] added, Object... retracted) {
        Schema output = Schema.of(new Field("result", call.type(), true));
        Aggregate node = new Aggregate(scan(input), List.of(), List.of(call), Phase.SINGLE, appendOnly, output);
        OperatorHarness harness = new OperatorHarness(() -> new AggregateOperator(node), input);
        for (Object value : added) {
            harness.rows(Row.of(value));
        }
        harness.epochEnd();
        for (Object value : retracted) {
            harness.weighted(0, Row.of(value), -1);
        }
        return harness.runOnce();
    }

    @Test
    void sumsThatDoNotFitFailWith22003() {
        DataType type = DataType.numeric(38, 0);
        Schema input = Schema.of(new Field("v", type, true));
        BigDecimal most = BigDecimal.TEN.pow(38).subtract(BigDecimal.ONE);
        for (Object[] values : List.of(new Object[] {most, BigDecimal.ONE}, new Object[] {most, most})) {
            MillraceException failure =
                    assertThrows(MillraceException.class, () -> once(input, call(Function.SUM, type, 0), true, values));
            assertEquals(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, failure.sqlState());
        }
        assertEquals(
                ZSet.of(List.of(Row.of(most))), once(input, call(Function.SUM, type, 0), false, new Object[] {most}));
    }

    @Test
    void whatWasNotFiniteIsForgottenWhenRetracted() {
        Schema input = Schema.of(new Field("v", DataType.DOUBLE, true));
        Object[] values = {1e6, Double.NaN, 0.5, Double.POSITIVE_INFINITY, .25, Double.NEGATIVE_INFINITY};
        for (Function function : List.of(Function.SUM, Function.MAX, Function.AVG, Function.VAR_POP)) {
            AggregateCall call = call(function, DataType.DOUBLE, 0);
            Object expected = switch (function) {
                case SUM -> .75;
                case MAX -> .5;
                case AVG -> .375;
                default -> .015625;
            };
            assertEquals(ZSet.of(List.of(Row.of(Double.NaN))), once(input, call, true, values));
            assertEquals(
                    ZSet.of(List.of(Row.of(expected))),
                    once(
                            input,
                            call,
                            false,
                            values,
                            1e6,
                            Double.NEGATIVE_INFINITY,
                            Double.POSITIVE_INFINITY,
                            Double.NaN));
        }
    }

    @Test
    void largeDoublesLeaveNoTraceWhenRetracted() {
        Schema input = Schema.of(new Field("v", DataType.DOUBLE, true));
        Object[] values = {.1, 1e15, .2, -3e15, 7e14};
        assertEquals(
                ZSet.of(List.of(Row.of(.1 + .2))),
                once(input, call(Function.SUM, DataType.DOUBLE, 0), false, values, 7e14, 1e15, -3e15));
    }
}
