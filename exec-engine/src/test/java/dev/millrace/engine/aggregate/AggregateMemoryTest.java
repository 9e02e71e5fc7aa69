package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.INPUT;
import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.randomRow;
import static dev.millrace.engine.aggregate.AggregateTests.scan;

import dev.millrace.engine.aggregate.partial.PartialAggregateOperator;
import dev.millrace.engine.aggregate.partial.PartialGain;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.testing.harness.MemoryThatEnds;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Wherever memory ends, an aggregate gives back all that it had when it is closed, and the batches that it was given. */
class AggregateMemoryTest {
    private static final List<AggregateCall> SOME_SIMPLE = List.of(
            call(Function.COUNT, DataType.BIGINT),
            call(Function.SUM, AggregateTests.BIG, 3),
            call(Function.MAX, DataType.TEXT, 1),
            call(Function.AVG, DataType.DOUBLE, 4));

    private static Row[] rows(long seed, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        return Stream.generate(() -> randomRow(random, 30)).limit(count).toArray(Row[]::new);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void groupsLeaveNothing(boolean appendOnly) {
        List<AggregateCall> calls = new ArrayList<>(SOME_SIMPLE);
        calls.add(AggregateTests.distinctCalls().get(0));
        calls.add(AggregateTests.distinctCalls().get(3));
        calls.addAll(AggregateTests.collectingCalls().subList(1, 5));
        for (List<Integer> keys : List.of(List.of(0, 1), List.<Integer>of())) {
            Aggregate node = AggregateOperatorTest.node(keys, calls, appendOnly);
            MemoryThatEnds script =
                    new MemoryThatEnds(INPUT).rows(0, rows(1, 20)).epochEnd();
            if (!appendOnly) {
                script.weighted(0, -1, rows(1, 10));
            }
            script.rows(0, rows(2, 20)).epochEnd().run(() -> new AggregateOperator(node));
        }
    }

    @Test
    void firstPhasesLeaveNothing() {
        List<AggregateCall> calls = new ArrayList<>(SOME_SIMPLE);
        calls.add(AggregateTests.distinctCalls().get(0));
        calls.add(AggregateTests.distinctCalls().get(3));
        Aggregate shape = new Aggregate(scan(INPUT), List.of(0, 1), calls, Phase.PARTIAL, true, Schema.of());
        Aggregate partial =
                new Aggregate(scan(INPUT), List.of(0, 1), calls, Phase.PARTIAL, true, PartialSchemas.of(shape));
        new MemoryThatEnds(INPUT)
                .rows(0, rows(1, 20))
                .rows(0, rows(2, 20))
                .epochEnd()
                .rows(0, rows(3, 20))
                .rows(0, rows(4, 20))
                .epochEnd()
                .run(() -> new PartialAggregateOperator(partial, new PartialLimit(10, 20), new PartialGain(30, 10)));
    }
}
