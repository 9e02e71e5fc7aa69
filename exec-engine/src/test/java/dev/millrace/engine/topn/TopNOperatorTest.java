package dev.millrace.engine.topn;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.aggregate.ReferenceAggregate;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("long")
class TopNOperatorTest {
    private static final Schema INPUT = Schema.of(
            new Field("p", DataType.TEXT, true),
            new Field("v", DataType.DOUBLE, true),
            new Field("t", DataType.TEXT, false),
            new Field("id", DataType.BIGINT, false),
            new Field("ends", DataType.TIMESTAMP, false));

    private static TopN node(Rank rank, long limit, long offset, boolean emitRank, boolean windowed) {
        List<Field> fields = new ArrayList<>(INPUT.fields());
        if (emitRank) {
            fields.add(new Field("rank", DataType.BIGINT, false));
        }
        List<OrderKey> order = new ArrayList<>(List.of(new OrderKey(1, true, true), new OrderKey(2, false, false)));
        if (rank == Rank.ROW_NUMBER) {
            order.add(new OrderKey(3, false, false)); // so that the reference needs no rule for ties
        }
        return new TopN(
                AggregateTests.scan(INPUT),
                List.of(0),
                order,
                rank,
                limit,
                offset,
                emitRank,
                windowed ? OptionalInt.of(4) : OptionalInt.empty(),
                false,
                new Schema(fields));
    }

    private static Row row(RandomGenerator random, long id, long end) {
        return TestBatches.canonical(
                INPUT,
                Row.of(
                        random.nextInt(5) == 0 ? null : "a long partition " + random.nextInt(2),
                        random.nextInt(6) == 0 ? null : random.nextInt(3) == 0 ? Double.NaN : random.nextInt(3) * .5,
                        "t" + random.nextInt(2),
                        id,
                        end));
    }

    private static ZSet expected(TopN node, List<Row> rows) {
        ZSet expected = new ZSet();
        Map<List<Object>, List<Row>> groups =
                ReferenceAggregate.groups(rows, node.windowEnd().isPresent() ? List.of(0, 4) : List.of(0));
        groups.values().forEach(group -> {
            List<Row> sorted = new ArrayList<>(group);
            for (int i = node.order().size() - 1; i >= 0; i--) {
                OrderKey key = node.order().get(i);
                sorted.sort((a, b) -> compare(key, a, b));
            }
            long number = 0;
            long rank = 0;
            long dense = 0;
            for (int i = 0; i < sorted.size(); i++) {
                Row row = sorted.get(i);
                boolean tie = i > 0 && ties(node, sorted.get(i - 1), row);
                number++;
                rank = tie ? rank : number;
                dense += tie ? 0 : 1;
                long result = switch (node.rank()) {
                    case ROW_NUMBER -> number;
                    case RANK -> rank;
                    case DENSE_RANK -> dense;
                };
                if (result > node.offset() && result <= node.offset() + node.limit()) {
                    List<Object> values = new ArrayList<>(row.values());
                    if (node.emitRank()) {
                        values.add(result);
                    }
                    expected.add(new Row(values), 1);
                }
            }
        });
        return expected;
    }

    private static boolean ties(TopN node, Row a, Row b) {
        return node.order().stream().allMatch(key -> compare(key, a, b) == 0);
    }

    private static int compare(OrderKey key, Row a, Row b) {
        Object x = a.get(key.column());
        Object y = b.get(key.column());
        if (x == null || y == null) {
            return x == y ? 0 : (x == null) == key.nullsFirst() ? -1 : 1;
        }
        return key.descending() ? ReferenceAggregate.compare(y, x) : ReferenceAggregate.compare(x, y);
    }

    @ParameterizedTest
    @EnumSource(Rank.class)
    void ranksFollowChanges(Rank rank) {
        for (boolean emitRank : new boolean[] {true, false}) {
            for (long offset : new long[] {0, 2}) {
                TopN node = node(rank, 3, offset, emitRank, false);
                RandomGenerator random = new SplittableRandom(11 + offset);
                OperatorHarness harness = new OperatorHarness(() -> new TopNOperator(node), INPUT)
                        .output(node.schema())
                        .partitionedBy(AggregateTests.keyGroup(List.of(0)));
                if (offset == 2 && emitRank) {
                    harness.keepsFormat("ranked-" + rank);
                }
                List<Row> rows = new ArrayList<>();
                for (int i = 0; i < 120; i++) {
                    if (!rows.isEmpty() && random.nextInt(3) == 0) {
                        harness.weighted(0, rows.remove(random.nextInt(rows.size())), -1);
                    } else {
                        Row row = row(random, random.nextInt(40), 0);
                        rows.add(row);
                        harness.rows(row);
                    }
                    if (random.nextInt(10) == 0) {
                        harness.epochEnd();
                    }
                }
                harness.expect(expected(node, rows));
            }
        }
    }

    /** Limits of one row, of few and of many; the number of rows is above each. */
    @ParameterizedTest
    @CsvSource({"1, 0, 150", "3, 0, 150", "2, 2, 150", "70, 0, 500", "66, 3, 700"})
    void whatIsPushedOutOfAppendedRowsIsForgotten(long limit, long offset, int count) {
        for (boolean emitRank : new boolean[] {true, false}) {
            TopN node = appended(node(Rank.ROW_NUMBER, limit, offset, emitRank, false));
            assertTrue(AppendedTopNOperator.suits(node));
            RandomGenerator random = new SplittableRandom(limit + offset);
            OperatorHarness harness = new OperatorHarness(() -> new AppendedTopNOperator(node), INPUT)
                    .output(node.schema())
                    .appendOnlyInput()
                    .writesChanges()
                    .partitionedBy(AggregateTests.keyGroup(List.of(0)));
            if (limit == 3 && emitRank) {
                harness.keepsFormat("best");
            }
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Row row = row(random, random.nextInt(40), 0);
                rows.add(row);
                harness.rows(row);
                if (random.nextInt(10) == 0) {
                    harness.epochEnd();
                }
            }
            harness.expect(expected(node, rows));
        }
    }

    /** First keys of every kind that has words, ties of the words among them. */
    @ParameterizedTest
    @CsvSource({"1, 0", "3, 0", "2, 2", "10, 0"})
    void ofFewAppendedRowsOnlyTheBestAreKept(long limit, long offset) {
        for (OrderKey first : List.of(
                new OrderKey(1, true, true),
                new OrderKey(1, false, false),
                new OrderKey(2, true, false),
                new OrderKey(0, false, true),
                new OrderKey(3, false, false))) {
            TopN some = node(Rank.ROW_NUMBER, limit, offset, true, false);
            List<OrderKey> order = new ArrayList<>(List.of(first));
            order.addAll(some.order());
            TopN node = new TopN(
                    some.input(),
                    some.partition(),
                    order,
                    some.rank(),
                    limit,
                    offset,
                    true,
                    OptionalInt.empty(),
                    true,
                    some.schema());
            assertTrue(FewBestOperator.suits(node));
            RandomGenerator random = new SplittableRandom(limit + offset);
            OperatorHarness harness = new OperatorHarness(() -> new FewBestOperator(node), INPUT)
                    .output(node.schema())
                    .appendOnlyInput()
                    .writesChanges()
                    .partitionedBy(AggregateTests.keyGroup(List.of(0)));
            if (limit == 3 && first.column() == 1) {
                harness.keepsFormat("few_best" + (first.descending() ? "-desc" : ""));
            }
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                Row row = row(random, random.nextInt(40), 0);
                rows.add(row);
                harness.rows(row);
                if (random.nextInt(10) == 0) {
                    harness.epochEnd();
                }
            }
            harness.expect(expected(node, rows));
        }
    }

    private static TopN appended(TopN node) {
        return new TopN(
                node.input(),
                node.partition(),
                node.order(),
                node.rank(),
                node.limit(),
                node.offset(),
                node.emitRank(),
                node.windowEnd(),
                true,
                node.schema());
    }

    @Test
    void windowsAreRankedOnceAtTheirEnd() {
        TopN node = node(Rank.ROW_NUMBER, 3, 0, true, true);
        RandomGenerator random = new SplittableRandom(12);
        OperatorHarness harness = new OperatorHarness(() -> new WindowTopNOperator(node), INPUT)
                .output(node.schema())
                .appendOnlyInput()
                .appendOnlyOutput()
                .keepsFormat("ranked_windows")
                .partitionedBy(AggregateTests.keyGroup(List.of(0)));
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
            Row row = row(random, i, (i / 20 + 1 + random.nextInt(2)) * 10);
            rows.add(row);
            harness.rows(row);
            if (random.nextInt(10) == 0) {
                harness.epochEnd();
            }
            if (i % 20 == 19) {
                harness.watermark((i / 20 + 1) * 10);
            }
        }
        harness.endOfInput().expect(expected(node, rows));
    }
}
