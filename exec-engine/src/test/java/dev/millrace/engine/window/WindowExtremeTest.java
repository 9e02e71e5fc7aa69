package dev.millrace.engine.window;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.aggregate.Chain;
import dev.millrace.engine.aggregate.ReferenceAggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.PlanNode.WindowExtreme;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class WindowExtremeTest {
    private static final long SECOND = 1_000_000;
    private static final int TIME = 9;
    private static final Schema INPUT = AggregateTests.INPUT;
    private static final Schema OUTPUT = INPUT.concat(Schema.of(
            new Field("window_start", DataType.TIMESTAMP, false), new Field("window_end", DataType.TIMESTAMP, false)));

    private static List<Row> rows(OperatorHarness harness, long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            List<Object> values =
                    new ArrayList<>(AggregateTests.randomRow(random, 3).values());
            values.set(TIME, (i / 5 + random.nextInt(8)) * SECOND);
            Row row = TestBatches.canonical(INPUT, new Row(values));
            rows.add(row);
            harness.rows(row);
            if (random.nextInt(10) == 0) {
                harness.watermark((i / 5) * SECOND);
            }
            if (random.nextInt(16) == 0) {
                harness.epochEnd();
            }
        }
        harness.endOfInput();
        return rows;
    }

    private static void check(WindowSpec window, List<Integer> keys, int value, boolean maximum, boolean closed) {
        WindowExtreme node = new WindowExtreme(
                AggregateTests.scan(INPUT), TIME, window, keys, value, maximum, closed, Phase.SINGLE, OUTPUT);
        check(
                node,
                new OperatorHarness(() -> new WindowExtremeOperator(node), INPUT)
                        .partitionedBy(AggregateTests.keyGroup(keys)));
        if (keys.isEmpty()) {
            WindowExtreme first = new WindowExtreme(
                    AggregateTests.scan(INPUT), TIME, window, keys, value, maximum, closed, Phase.PARTIAL, INPUT);
            WindowExtreme last =
                    new WindowExtreme(first, TIME, window, keys, value, maximum, closed, Phase.SINGLE, OUTPUT);
            check(
                    last,
                    new OperatorHarness(
                            () -> new Chain(
                                    List.of(new ExtremeCandidatesOperator(first), new WindowExtremeOperator(last))),
                            INPUT));
        }
    }

    private static void check(WindowExtreme node, OperatorHarness harness) {
        WindowSpec window = node.window();
        List<Integer> keys = node.keys();
        int value = node.valueColumn();
        boolean maximum = node.maximum();
        boolean closed = node.closedEnd();
        harness.appendOnlyInput().appendOnlyOutput().output(OUTPUT);
        if (window instanceof WindowSpec.Tumble && keys.equals(List.of(0)) && !closed && value < 3) {
            harness.keepsFormat("extremes-of-" + value);
        }
        List<Row> rows = rows(harness, 31 * value + keys.size());
        Map<List<Object>, Object> extremes = new LinkedHashMap<>();
        for (Row row : rows) {
            for (List<Long> bounds : WindowAggregateTest.bounds(window, (Long) row.get(TIME))) {
                extremes.merge(key(bounds, keys, row), Objects.requireNonNullElse(row.get(value), "none"), (a, b) -> {
                    if (a.equals("none") || b.equals("none")) {
                        return a.equals("none") ? b : a;
                    }
                    return ReferenceAggregate.compare(a, b) >= 0 == maximum ? a : b;
                });
            }
        }
        ZSet expected = new ZSet();
        for (Row row : rows) {
            long time = (Long) row.get(TIME);
            List<List<Long>> candidates = new ArrayList<>(WindowAggregateTest.bounds(window, time));
            if (closed) {
                for (List<Long> bounds : WindowAggregateTest.bounds(window, time - 1)) {
                    if (bounds.get(1) == time) {
                        candidates.add(bounds);
                    }
                }
            }
            for (List<Long> bounds : candidates) {
                if (row.get(value) != null && row.get(value).equals(extremes.get(key(bounds, keys, row)))) {
                    List<Object> values = new ArrayList<>(row.values());
                    values.addAll(bounds);
                    expected.add(new Row(values), 1);
                }
            }
        }
        harness.expect(expected);
    }

    private static List<Object> key(List<Long> bounds, List<Integer> keys, Row row) {
        List<Object> key = new ArrayList<>(bounds);
        keys.forEach(column -> key.add(row.get(column)));
        return key;
    }

    @Test
    void allRowsWithTheExtremeOfTheirWindowAreEmitted() {
        for (WindowSpec window :
                List.of(new WindowSpec.Tumble(5 * SECOND), new WindowSpec.Hop(2 * SECOND, 6 * SECOND))) {
            for (List<Integer> keys : List.of(List.<Integer>of(), List.of(0), List.of(1))) {
                for (int value : new int[] {2, 3, 4, 5, 1, 10}) {
                    check(window, keys, value, value != 4, false);
                }
            }
        }
    }

    @Test
    void aClosedEndComparesRowsExactlyAtTheEnd() {
        for (List<Integer> keys : List.of(List.<Integer>of(), List.of(0))) {
            check(new WindowSpec.Tumble(5 * SECOND), keys, 11, true, true);
            check(new WindowSpec.Tumble(3 * SECOND), keys, 5, false, true);
            check(new WindowSpec.Hop(2 * SECOND, 6 * SECOND), keys, 11, true, true);
        }
    }

    @Test
    void fewRowsOfAWindowAreCandidates() {
        WindowExtreme node = new WindowExtreme(
                AggregateTests.scan(INPUT),
                TIME,
                new WindowSpec.Tumble(5 * SECOND),
                List.of(),
                2,
                true,
                false,
                Phase.PARTIAL,
                INPUT);
        OperatorHarness harness = new OperatorHarness(() -> new ExtremeCandidatesOperator(node), INPUT);
        RandomGenerator random = new SplittableRandom(1);
        for (int i = 0; i < 300; i++) {
            List<Object> values =
                    new ArrayList<>(AggregateTests.randomRow(random, 3).values());
            values.set(TIME, SECOND);
            values.set(2, 1000 + random.nextInt(100_000));
            harness.rows(TestBatches.canonical(INPUT, new Row(values)));
        }
        assertTrue(harness.runOnce().rows().size() < 30, "about ln(300) rows, some more of a batch");
    }

    @Test
    void rowsAreRepeatedPerWindow() {
        for (WindowSpec window : List.of(
                new WindowSpec.Tumble(5 * SECOND),
                new WindowSpec.Hop(2 * SECOND, 6 * SECOND),
                new WindowSpec.Hop(6 * SECOND, 4 * SECOND),
                new WindowSpec.Cumulate(2 * SECOND, 8 * SECOND))) {
            WindowAssign node = new WindowAssign(AggregateTests.scan(INPUT), TIME, window, OUTPUT);
            OperatorHarness harness = new OperatorHarness(() -> new WindowAssignOperator(node), INPUT).output(OUTPUT);
            ZSet expected = new ZSet();
            for (Row row : rows(harness, 5)) {
                for (List<Long> bounds : WindowAggregateTest.bounds(window, (Long) row.get(TIME))) {
                    List<Object> values = new ArrayList<>(row.values());
                    values.addAll(bounds);
                    expected.add(new Row(values), 1);
                }
            }
            harness.expect(expected);
        }
    }
}
