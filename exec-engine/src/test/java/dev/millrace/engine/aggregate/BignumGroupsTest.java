package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.distinct;
import static dev.millrace.engine.aggregate.AggregateTests.keyGroup;
import static dev.millrace.engine.aggregate.AggregateTests.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.aggregate.partial.PartialAggregateOperator;
import dev.millrace.engine.aggregate.partial.PartialGain;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumFunctions;
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
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups by numbers of any size, and sums, averages, variances and extremes of them, against objects, over restarts. */
class BignumGroupsTest {
    private static final Schema INPUT =
            Schema.of(new Field("k", DataType.BIGNUM, true), new Field("v", DataType.BIGNUM, true));
    private static final int ROWS = 160;

    private final Random random = new Random(19);

    private Bignum value() {
        return switch (random.nextInt(24)) {
            case 0 -> Bignum.NAN;
            case 1 -> Bignum.INFINITY;
            case 2 -> Bignum.NEGATIVE_INFINITY;
            case 3 -> Bignum.of(new BigDecimal(new BigInteger(random.nextInt(600), random), random.nextInt(40)));
            case 4 -> Bignum.of(BigDecimal.valueOf(random.nextLong(), random.nextInt(20)));
            default -> Bignum.of(BigDecimal.valueOf(random.nextInt(100_000) - 50_000L, random.nextInt(4)));
        };
    }

    private Row row() {
        Bignum[] keys = {Bignum.of(new BigDecimal("1.5")), Bignum.of(-3), Bignum.of(new BigDecimal("1e30")), Bignum.NAN
        };
        int key = random.nextInt(keys.length + 1);
        return TestBatches.canonical(
                INPUT, Row.of(key == keys.length ? null : keys[key], random.nextInt(8) == 0 ? null : value()));
    }

    private static List<AggregateCall> calls(boolean appendOnly) {
        List<AggregateCall> calls = new ArrayList<>(List.of(
                call(Function.COUNT, DataType.BIGINT),
                call(Function.SUM, DataType.BIGNUM, 1),
                call(Function.AVG, DataType.BIGNUM, 1),
                call(Function.VAR_SAMP, DataType.BIGNUM, 1),
                call(Function.STDDEV_POP, DataType.BIGNUM, 1)));
        if (appendOnly) {
            calls.add(call(Function.MIN, DataType.BIGNUM, 1));
            calls.add(call(Function.MAX, DataType.BIGNUM, 1));
        }
        return calls;
    }

    private static Object expected(AggregateCall call, List<Row> rows) {
        List<Bignum> values = new ArrayList<>();
        rows.forEach(row -> {
            if (row.get(1) != null) {
                values.add((Bignum) row.get(1));
            }
        });
        if (call.function() == Function.COUNT) {
            return call.distinct() ? (long) new HashSet<>(values).size() : (long) rows.size();
        }
        Bignum sum = values.stream().reduce(Bignum.ZERO, Bignum::add);
        Bignum squares = values.stream().map(value -> value.multiply(value)).reduce(Bignum.ZERO, Bignum::add);
        int least = call.function() == Function.VAR_SAMP ? 2 : 1;
        if (values.size() < least) {
            return null;
        }
        return switch (call.function()) {
            case SUM -> sum.trimmed();
            case AVG -> sum.divide(Bignum.of(values.size())).trimmed();
            case VAR_SAMP ->
                BignumFunctions.variance(values.size(), sum, squares, true, false)
                        .trimmed();
            case STDDEV_POP ->
                BignumFunctions.variance(values.size(), sum, squares, false, true)
                        .trimmed();
            case MIN -> values.stream().min(Comparator.naturalOrder()).orElseThrow();
            default -> values.stream().max(Comparator.naturalOrder()).orElseThrow();
        };
    }

    private static Aggregate node(Phase phase, boolean appendOnly, List<AggregateCall> calls) {
        List<Field> fields = new ArrayList<>(List.of(INPUT.field(0)));
        calls.forEach(call -> fields.add(new Field("c" + fields.size(), call.type(), call.nullable())));
        return new Aggregate(scan(INPUT), List.of(0), calls, phase, appendOnly, new Schema(fields));
    }

    private static Operator twoPhases(Aggregate single, boolean appendOnly, List<AggregateCall> calls) {
        Aggregate first = new Aggregate(
                scan(INPUT),
                List.of(0),
                calls,
                Phase.PARTIAL,
                appendOnly,
                PartialSchemas.of(node(Phase.PARTIAL, appendOnly, calls)));
        Aggregate last = new Aggregate(first, List.of(0), calls, Phase.FINAL, appendOnly, single.schema());
        return new Chain(List.of(
                new PartialAggregateOperator(first, new PartialLimit(3, 12), new PartialGain(12, 9)),
                new AggregateOperator(last)));
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void resultsAreThoseOfTheRowsThatAreThere(boolean appendOnly, boolean twoPhases) {
        List<AggregateCall> calls = calls(appendOnly);
        if (!twoPhases) {
            calls.add(distinct(call(Function.COUNT, DataType.BIGINT, 1)));
        }
        Aggregate single = node(Phase.SINGLE, appendOnly, calls);
        OperatorHarness harness = new OperatorHarness(
                        () -> twoPhases ? twoPhases(single, appendOnly, calls) : new AggregateOperator(single), INPUT)
                .output(single.schema());
        if (appendOnly) {
            harness.appendOnlyInput();
        }
        if (!twoPhases) {
            harness.partitionedBy(keyGroup(List.of(0)));
        }
        Map<Object, List<Row>> groups = new LinkedHashMap<>();
        for (int i = 0; i < ROWS; i++) {
            Row row = row();
            List<Row> group = groups.computeIfAbsent(row.get(0), any -> new ArrayList<>());
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
            for (int i = 0; i < calls.size(); i++) {
                assertEquals(
                        expected(calls.get(i), groups.get(row.get(0))), row.get(1 + i), calls.get(i) + " of " + row);
            }
        }
    }
}
