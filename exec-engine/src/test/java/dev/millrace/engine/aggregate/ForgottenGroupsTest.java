package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.INPUT;
import static dev.millrace.engine.aggregate.AggregateTests.collectingCalls;
import static dev.millrace.engine.aggregate.AggregateTests.distinctCalls;
import static dev.millrace.engine.aggregate.AggregateTests.keyGroup;
import static dev.millrace.engine.aggregate.AggregateTests.randomRow;
import static dev.millrace.engine.aggregate.AggregateTests.scan;
import static dev.millrace.engine.aggregate.AggregateTests.simpleCalls;

import dev.millrace.engine.operators.OperatorFactory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups and partitions whose rows stop coming leave, and begin anew; in any batches, over restarts. */
@Tag("long")
class ForgottenGroupsTest {
    private static final int TIME = 9;
    private static final long TTL = 1_000;
    private static final Forgetting RULE = new Forgetting(TIME, TTL);

    private static Row timed(RandomGenerator random, long micros) {
        List<Object> values = new ArrayList<>(randomRow(random, 12).values());
        values.set(TIME, micros);
        return TestBatches.canonical(INPUT, new Row(values));
    }

    /** Rows in order but for 100 microseconds, at whose end the watermark is, and now and then a pause. */
    private static void check(
            PlanNode node, List<Integer> keys, long seed, Function<List<Row>, List<Row>> answerOfGroup) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = new OperatorHarness(() -> OperatorFactory.create(node), INPUT)
                .output(node.schema())
                .partitionedBy(keyGroup(keys))
                .appendOnlyInput();
        if (!(node instanceof TopN topN) || topN.rank() == Rank.ROW_NUMBER) {
            harness.writesChanges();
        }
        if (seed == 1 && node instanceof PlanNode.Aggregate) {
            harness.keepsFormat("last_seen");
        }
        Map<List<Object>, List<Row>> groups = new LinkedHashMap<>();
        Map<List<Object>, Long> last = new LinkedHashMap<>();
        long now = 10_000;
        for (int i = 0; i < 200; i++) {
            now += random.nextInt(25) == 0 ? random.nextInt(3_000) : random.nextInt(120);
            long micros = now - random.nextInt(100);
            Row row = timed(random, micros);
            harness.rows(row);
            List<Object> key = keys.stream().map(row::get).toList();
            if (micros - last.getOrDefault(key, micros) > TTL) {
                groups.remove(key);
            }
            groups.computeIfAbsent(key, any -> new ArrayList<>()).add(row);
            last.merge(key, micros, Math::max);
            if (random.nextInt(8) == 0) {
                long watermark = now - 100;
                harness.watermark(watermark).epochEnd();
                last.entrySet()
                        .removeIf(
                                entry -> entry.getValue() + TTL <= watermark && groups.remove(entry.getKey()) != null);
            }
        }
        ZSet expected = new ZSet();
        groups.values()
                .forEach(rows -> answerOfGroup
                        .apply(rows)
                        .forEach(row -> expected.add(TestBatches.canonical(node.schema(), row), 1)));
        harness.expect(expected);
    }

    private static void check(List<Integer> keys, List<AggregateCall> calls, long seed) {
        Aggregate node = AggregateOperatorTest.node(keys, calls, true).forgetting(Optional.of(RULE));
        check(node, keys, seed, rows -> {
            List<Object> values = new ArrayList<>();
            keys.forEach(key -> values.add(rows.get(0).get(key)));
            calls.forEach(call -> values.add(ReferenceAggregate.result(call, rows, INPUT)));
            return List.of(new Row(values));
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aGroupIsThatOfTheRowsSinceItsLastPause(long seed) {
        check(List.of(0), simpleCalls(), seed);
    }

    @Test
    void distinctRowsComeAgainAfterAPause() {
        check(List.of(0), List.of(), 4);
        check(List.of(1, 6), List.of(), 5);
    }

    @Test
    void collectedAndDistinctValuesAreForgottenWithTheirGroup() {
        check(List.of(0), distinctCalls(), 6);
        check(List.of(0), collectingCalls(), 7);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 100})
    void aPartitionRanksTheRowsSinceItsLastPause(int limit) {
        for (Rank rank : List.of(Rank.ROW_NUMBER, Rank.RANK)) {
            TopN node = new TopN(
                            scan(INPUT),
                            List.of(0),
                            List.of(new OrderKey(TIME, true, false)),
                            rank,
                            limit,
                            0,
                            false,
                            OptionalInt.empty(),
                            true,
                            INPUT)
                    .forgetting(Optional.of(RULE));
            Comparator<Row> latestFirst = Comparator.comparing(row -> -(Long) row.get(TIME));
            check(
                    node,
                    List.of(0),
                    limit,
                    rows -> rows.stream()
                            .sorted(latestFirst)
                            .filter(row -> rank == Rank.ROW_NUMBER
                                    || rows.stream()
                                                    .filter(other -> latestFirst.compare(other, row) < 0)
                                                    .count()
                                            < limit)
                            .limit(rank == Rank.ROW_NUMBER ? limit : rows.size())
                            .toList());
        }
    }
}
