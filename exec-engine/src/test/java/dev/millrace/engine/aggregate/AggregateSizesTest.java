package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.INPUT;
import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.randomRow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What an aggregate reports of its size is what it holds, in the midst of an epoch and at its end. */
class AggregateSizesTest {
    private static final int GROUPS = 2_000;

    private static Row[] rows(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Row[] rows = new Row[GROUPS];
        for (int i = 0; i < rows.length; i++) {
            List<Object> values = new ArrayList<>(randomRow(random, 1).values());
            values.set(0, (long) i);
            rows[i] = TestBatches.canonical(INPUT, new Row(values));
        }
        return rows;
    }

    private static void check(OperatorRun run) {
        long held = run.heldBytes();
        long reported = run.metrics().stateBytes();
        assertTrue(reported <= held, () -> reported + " bytes are said of " + held);
        assertTrue(reported >= held * 3 / 5, () -> reported + " bytes are said of " + held);
        assertEquals(GROUPS, run.metrics().stateEntries());
    }

    @Test
    void aggregatesReportWhatTheyHold() {
        List<List<AggregateCall>> kinds = List.of(
                List.of(call(Function.COUNT, DataType.BIGINT)),
                List.of(call(Function.MAX, DataType.TEXT, 1), call(Function.SUM, AggregateTests.BIG, 3)),
                AggregateTests.distinctCalls().subList(3, 5),
                AggregateTests.collectingCalls().subList(0, 4));
        for (List<AggregateCall> calls : kinds) {
            for (boolean appendOnly : new boolean[] {true, false}) {
                Aggregate node = AggregateOperatorTest.node(List.of(0), calls, appendOnly);
                try (OperatorRun run = new OperatorRun(() -> new AggregateOperator(node), INPUT)) {
                    for (long part = 0; part < 3; part++) {
                        run.rows(0, rows(part));
                        check(run);
                        run.epochEnd();
                        check(run);
                    }
                    check(run.restart());
                }
            }
        }
    }
}
