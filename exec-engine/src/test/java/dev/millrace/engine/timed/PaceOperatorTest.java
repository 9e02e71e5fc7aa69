package dev.millrace.engine.timed;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.node.PlanNode.Pace;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PaceOperatorTest {
    private static final Schema INPUT =
            Schema.of(new Field("n", DataType.BIGINT, true), new Field("t", DataType.TEXT, true));

    /** Periods below and above what the harness's clock moves between epochs. */
    @ParameterizedTest
    @ValueSource(longs = {1, 200_000, 1_000_000_000_000L})
    void allChangesAreOutWhenTheInputHasEnded(long periodMicros) {
        Pace node = new Pace(AggregateTests.scan(INPUT), periodMicros);
        RandomGenerator random = new SplittableRandom(5);
        OperatorHarness harness = new OperatorHarness(() -> new PaceOperator(node), INPUT)
                .output(INPUT)
                .comparedAtTheEndOnly();
        if (periodMicros > 1_000_000) { // else nothing is held when the epoch has ended
            harness.keepsFormat("held");
        }
        ZSet expected = new ZSet();
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            if (!rows.isEmpty() && random.nextInt(3) == 0) {
                Row gone = rows.remove(random.nextInt(rows.size()));
                harness.weighted(0, gone, -1);
                expected.add(gone, -1);
            } else {
                Row row = TestBatches.canonical(
                        INPUT,
                        Row.of(random.nextInt(9) == 0 ? null : (long) random.nextInt(10), "text " + random.nextInt(3)));
                rows.add(row);
                harness.rows(row);
                expected.add(row, 1);
            }
            if (random.nextInt(6) == 0) {
                harness.epochEnd();
            }
        }
        harness.endOfInput().expect(expected);
    }
}
