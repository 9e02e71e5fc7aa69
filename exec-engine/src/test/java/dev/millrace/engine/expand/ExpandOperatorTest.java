package dev.millrace.engine.expand;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.node.PlanNode.Expand;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Table functions put their rows beside each row, with its weight. */
class ExpandOperatorTest {
    private static final Field KEY = new Field("k", DataType.BIGINT, true);
    private static final Schema INPUT = Schema.of(
            KEY,
            new Field("a", DataType.array(DataType.TEXT), true),
            new Field("b", DataType.array(DataType.BIGINT), true));
    private static final TableCall UNNEST_A =
            new TableCall("unnest", List.of(1), List.of(new Field("x", DataType.TEXT, true)));
    private static final TableCall UNNEST_B =
            new TableCall("unnest", List.of(2), List.of(new Field("y", DataType.BIGINT, true)));

    private static OperatorHarness harness(boolean ordinality, boolean outer, TableCall... calls) {
        List<Field> fields = new java.util.ArrayList<>(List.of(KEY));
        Arrays.asList(calls).forEach(call -> fields.addAll(call.outputs()));
        if (ordinality) {
            fields.add(new Field("ordinality", DataType.BIGINT, outer));
        }
        Schema output = new Schema(fields);
        Expand node = new Expand(AggregateTests.scan(INPUT), List.of(0), List.of(calls), ordinality, outer, output);
        return new OperatorHarness(() -> new ExpandOperator(node), INPUT).output(output);
    }

    @Test
    void eachElementIsARowWithTheWeightOfItsArray() {
        harness(false, false, UNNEST_A)
                .rows(
                        Row.of(1L, List.of("a", "b"), null),
                        Row.of(2L, List.of(), null),
                        Row.of(3L, null, null),
                        Row.of(4L, Arrays.asList("c", null), null))
                .epochEnd()
                .weighted(0, Row.of(1L, List.of("a", "b"), null), -1)
                .weighted(0, Row.of(5L, List.of("d"), null), 2)
                .endOfInput()
                .expect(Row.of(4L, "c"), Row.of(4L, null), Row.of(5L, "d"), Row.of(5L, "d"));
    }

    @Test
    void arraysSideBySideAreFilledUpWithNulls() {
        harness(true, false, UNNEST_A, UNNEST_B)
                .rows(Row.of(1L, List.of("a", "b"), List.of(7L)), Row.of(2L, null, List.of(8L, 9L)))
                .endOfInput()
                .expect(
                        Row.of(1L, "a", 7L, 1L),
                        Row.of(1L, "b", null, 2L),
                        Row.of(2L, null, 8L, 1L),
                        Row.of(2L, null, 9L, 2L));
    }

    @Test
    void anOuterExpansionKeepsRowsOfWhichNothingIsMade() {
        harness(true, true, UNNEST_A)
                .rows(Row.of(1L, List.of(), null), Row.of(2L, null, null), Row.of(3L, List.of("x"), null))
                .endOfInput()
                .expect(Row.of(1L, null, null), Row.of(2L, null, null), Row.of(3L, "x", 1L));
    }

    @Test
    void aLongSeriesIsCutIntoBatches() {
        Schema bounds = Schema.of(KEY, new Field("n", DataType.BIGINT, true));
        TableCall series =
                new TableCall("generate_series", List.of(0, 1), List.of(new Field("s", DataType.BIGINT, false)));
        Schema output = Schema.of(new Field("s", DataType.BIGINT, false));
        Expand node = new Expand(AggregateTests.scan(bounds), List.of(), List.of(series), false, false, output);
        Row[] expected = new Row[10_000];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = Row.of(i + 1L);
        }
        new OperatorHarness(() -> new ExpandOperator(node), bounds)
                .output(output)
                .rows(Row.of(1L, 10_000L), Row.of(5L, 1L), Row.of(null, 3L))
                .endOfInput()
                .expect(expected);
    }
}
