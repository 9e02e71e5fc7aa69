package dev.millrace.engine.match;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchSpec.AfterMatch;
import dev.millrace.plan.match.MatchSpec.Condition;
import dev.millrace.plan.match.MatchSpec.Symbol;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.match.MatchValue.Content;
import dev.millrace.plan.match.RowPattern;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MatchOperatorTest {
    private static final long SECOND = 1_000_000;
    private static final Schema INPUT = Schema.of(
            new Field("key", DataType.BIGINT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("x", DataType.INTEGER, true),
            new Field("name", DataType.TEXT, true));
    private static final int X = 2;

    private static MatchValue x(int symbol, boolean last, int shift) {
        return new MatchValue.Navigation(symbol, last, 0, shift, false, new Content.Column(X, DataType.INTEGER));
    }

    private static Expression compare(String function) {
        return new Expression.Call(
                function,
                List.of(
                        new Expression.Column(0, DataType.INTEGER, true),
                        new Expression.Column(1, DataType.INTEGER, true)),
                DataType.BOOLEAN,
                true);
    }

    /** strt down+ up+: down less than the row before, up more than the row before and, with history, than the start. */
    private static MatchSpec vShape(MatchSpec.Rows rows, OptionalLong within, boolean history) {
        List<Symbol> symbols = List.of(
                new Symbol("strt", List.of(0)),
                new Symbol("down", List.of(1)),
                new Symbol("up", List.of(2)),
                new Symbol("", List.of(0, 1, 2)));
        RowPattern pattern = new RowPattern.Concatenation(List.of(
                new RowPattern.Variable(0),
                new RowPattern.Repetition(new RowPattern.Variable(1), 1, OptionalInt.empty(), true),
                new RowPattern.Repetition(new RowPattern.Variable(2), 1, OptionalInt.empty(), true)));
        Condition down = new Condition(List.of(x(1, true, 0), x(1, true, -1)), compare("lt"));
        Condition up = new Condition(List.of(x(2, true, 0), history ? x(1, false, 0) : x(2, true, -1)), compare("gt"));
        return new MatchSpec(
                symbols,
                pattern,
                List.of(Optional.empty(), Optional.of(down), Optional.of(up)),
                within,
                new AfterMatch.PastLastRow(),
                rows);
    }

    private static PlanNode.Match node(MatchSpec spec) {
        PlanNode input = new PlanNode.Values(List.of(), INPUT);
        boolean one = spec.rows() == MatchSpec.Rows.ONE;
        List<MatchValue> values = List.of(
                new MatchValue.Shown(0, DataType.BIGINT, false),
                new MatchValue.Shown(1, DataType.TIMESTAMP, false),
                new MatchValue.Number(),
                new MatchValue.Navigation(3, true, 0, 0, false, new Content.Column(3, DataType.TEXT)),
                new MatchValue.Aggregate(Function.SUM, 1, OptionalInt.of(X), false, DataType.BIGINT),
                new MatchValue.Navigation(3, true, 0, 0, false, new Content.Classifier()),
                new MatchValue.Navigation(3, false, 0, -1, false, new Content.Column(X, DataType.INTEGER)));
        List<Expression> outputs = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            if (i != 1 || !one) {
                outputs.add(new Expression.Column(
                        i, values.get(i).type(), values.get(i).nullable()));
                fields.add(
                        new Field("c" + i, values.get(i).type(), values.get(i).nullable()));
            }
        }
        return new PlanNode.Match(
                input, List.of(0), List.of(new OrderKey(1, false, false)), spec, values, outputs, new Schema(fields));
    }

    private static OperatorHarness harness(PlanNode.Match node) {
        return new OperatorHarness(() -> new MatchOperator(node), INPUT)
                .appendOnlyOutput()
                .output(node.schema())
                .partitionedBy(AggregateTests.keyGroup(List.of(0)));
    }

    private static Row row(long key, long second, Object x) {
        return Row.of(key, second * SECOND, x, "row " + key + " at " + second);
    }

    @Test
    void findsValleysWhenTheWatermarkHasDecidedThem() {
        harness(node(vShape(MatchSpec.Rows.ONE, OptionalLong.empty(), false)))
                .keepsFormat("matched")
                .rows(row(1, 3, 5), row(1, 1, 9), row(2, 1, 4), row(1, 2, 7))
                .watermark(3 * SECOND)
                .epochEnd()
                .rows(row(1, 4, 6), row(1, 5, 8), row(2, 6, 3), row(2, 7, null))
                .watermark(6 * SECOND)
                .epochEnd()
                .rows(row(1, 7, 8), row(2, 8, 4), row(2, 9, 2), row(2, 10, 3))
                .endOfInput()
                .expect(Row.of(1L, 1L, "row 1 at 5", 12L, "up", null), Row.of(2L, 1L, "row 2 at 10", 2L, "up", null));
    }

    @Test
    void aMatchUnderWayEndsWhenItsTimeIsUp() {
        harness(node(vShape(MatchSpec.Rows.ONE, OptionalLong.of(4 * SECOND), false)))
                .keepsFormat("matched-within")
                .rows(row(1, 1, 9), row(1, 2, 7), row(1, 4, 8), row(1, 6, 9))
                .watermark(5 * SECOND)
                .epochEnd()
                .watermark(6 * SECOND)
                .epochEnd()
                .rows(row(1, 7, 1))
                .watermark(20 * SECOND)
                .epochEnd()
                .rows(row(1, 21, 2), row(1, 22, 3))
                .endOfInput()
                .expect(Row.of(1L, 1L, "row 1 at 4", 7L, "up", null));
    }

    @Test
    void rowsOlderThanTheWatermarkAreLate() {
        ZSet late = new ZSet();
        late.add(TestBatches.canonical(INPUT, row(1, 2, 1)), 1);
        ZSet found = new ZSet();
        found.add(Row.of(1L, 1L, "row 1 at 9", 7L, "up", null), 1);
        harness(node(vShape(MatchSpec.Rows.ONE, OptionalLong.empty(), false)))
                .rows(row(1, 1, 9))
                .watermark(5 * SECOND)
                .epochEnd()
                .rows(row(1, 2, 1), row(1, 5, 7), row(1, 9, 8))
                .endOfInput()
                .expect(found, late);
    }

    @Test
    void randomRowsGiveTheSameHoweverTheyAreCutAndRestarted() {
        SplittableRandom random = new SplittableRandom(7);
        for (MatchSpec.Rows rows : MatchSpec.Rows.values()) {
            for (boolean history : new boolean[] {false, true}) {
                OptionalLong within = random.nextBoolean() ? OptionalLong.of(30 * SECOND) : OptionalLong.empty();
                OperatorHarness harness = harness(node(vShape(rows, within, history)));
                long second = 100;
                for (int i = 0; i < 150; i++) {
                    second += random.nextInt(2);
                    long value = random.nextInt(6) == 0 ? random.nextInt(100) : 50 - i % 40;
                    harness.rows(row(random.nextInt(3), second, value));
                    if (random.nextInt(20) == 0) {
                        harness.watermark(second * SECOND);
                    }
                    if (random.nextInt(30) == 0) {
                        harness.epochEnd();
                    }
                }
                harness.endOfInput().runAll();
            }
        }
    }
}
