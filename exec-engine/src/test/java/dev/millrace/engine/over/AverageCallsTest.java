package dev.millrace.engine.over;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.aggregate.ReferenceAggregate;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.expression.OverCall.Function;
import dev.millrace.plan.node.PlanNode.Over;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Averages by number and by time, while rows come, come late and go, against those made row by row. */
class AverageCallsTest {
    private static final Schema INPUT = Schema.of(
            new Field("p", DataType.TEXT, true),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("v", DataType.DOUBLE, true),
            new Field("id", DataType.BIGINT, false));
    private static final double SHARE = 0.25;
    private static final long HALF_LIFE = 5;

    private static OverCall average(long parameter, Integer... arguments) {
        return new OverCall(
                Function.EMA, Optional.empty(), List.of(arguments), parameter, false, Frame.ALL, DataType.DOUBLE, true);
    }

    private static Over node(boolean closing) {
        List<OverCall> calls = List.of(average(Double.doubleToLongBits(SHARE), 2), average(HALF_LIFE, 2, 1));
        List<Field> fields = new ArrayList<>(INPUT.fields());
        calls.forEach(call -> fields.add(new Field("result", call.type(), call.nullable())));
        return new Over(
                AggregateTests.scan(INPUT),
                List.of(0),
                List.of(new OrderKey(1, false, false), new OrderKey(3, false, false)),
                calls,
                closing ? OptionalInt.of(1) : OptionalInt.empty(),
                new Schema(fields));
    }

    private static OperatorHarness harness(boolean closing) {
        Over node = node(closing);
        return new OperatorHarness(() -> new OverOperator(node), INPUT)
                .output(node.schema())
                .partitionedBy(AggregateTests.keyGroup(List.of(0)));
    }

    private static Row row(RandomGenerator random, long id, long time) {
        return TestBatches.canonical(
                INPUT,
                Row.of(
                        random.nextInt(6) == 0 ? null : "p" + random.nextInt(2),
                        time,
                        random.nextInt(4) == 0 ? null : (double) random.nextInt(20),
                        id));
    }

    private static ZSet expected(List<Row> rows) {
        ZSet expected = new ZSet();
        ReferenceAggregate.groups(rows, List.of(0)).values().forEach(group -> {
            List<Row> sorted = new ArrayList<>(group);
            sorted.sort(
                    Comparator.<Row, Long>comparing(row -> (Long) row.get(1)).thenComparing(row -> (Long) row.get(3)));
            Double byNumber = null;
            Double byTime = null;
            long last = 0;
            for (Row row : sorted) {
                Double value = (Double) row.get(2);
                long at = (Long) row.get(1);
                if (value != null) {
                    double share = -Math.expm1(-Math.log(2) * (at - last) / HALF_LIFE);
                    byNumber = byNumber == null ? value : byNumber + SHARE * (value - byNumber);
                    byTime = byTime == null ? value : byTime + share * (value - byTime);
                    last = at;
                }
                List<Object> values = new ArrayList<>(row.values());
                values.add(byNumber);
                values.add(byTime);
                expected.add(new Row(values), 1);
            }
        });
        return expected;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void averagesFollowRowsThatComeAndGo(long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = harness(false);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            if (!rows.isEmpty() && random.nextInt(3) == 0) {
                harness.weighted(0, rows.remove(random.nextInt(rows.size())), -1);
            } else {
                Row row = row(random, i, random.nextInt(30));
                rows.add(row);
                harness.rows(row);
            }
            if (random.nextInt(8) == 0) {
                harness.epochEnd();
            }
        }
        harness.expect(expected(rows));
    }

    @Test
    void averagesOfRowsThatAreClosedNeedTheLastOneOnly() {
        OperatorHarness harness = harness(true).appendOnlyInput().appendOnlyOutput();
        RandomGenerator random = new SplittableRandom(4);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            Row row = row(random, i, i / 2 + random.nextInt(10));
            rows.add(row);
            harness.rows(row);
            if (random.nextInt(5) == 0) {
                harness.watermark(i / 2);
            }
        }
        harness.watermark(76);
        harness.expect(
                expected(rows.stream().filter(row -> (Long) row.get(1) < 76).toList()));
    }
}
