package dev.millrace.engine.timed;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode.TimeFilter;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How rows move as time passes is in {@code TimeFilterTest} of the runtime. */
class TimeFilterOperatorTest {
    /** Where the harness's clock begins. */
    private static final long START = 1_700_000_000_000_000L;

    private static final Schema INPUT = Schema.of(
            new Field("ts", DataType.TIMESTAMPTZ, true),
            new Field("n", DataType.BIGINT, true),
            new Field("t", DataType.TEXT, true));

    private static final Expression NOW = new Expression.Call("now", List.of(), DataType.TIMESTAMPTZ, false);

    private static TimeFilter filter(boolean leaving, boolean atBound) {
        return new TimeFilter(AggregateTests.scan(INPUT), 0, NOW, leaving, atBound);
    }

    /** Rows that are above the bound and those that are not: always all. Their states are one after the other. */
    private record Both(TimeFilterOperator above, TimeFilterOperator below) implements Operator {
        @Override
        public void open(OperatorContext context) {
            above.open(context);
            below.open(context);
        }

        @Override
        public void process(int port, Batch batch, Output output) {
            above.process(port, batch.retain(), output);
            below.process(port, batch, output);
        }

        @Override
        public boolean onEpochEnd(long epoch, Output output) {
            return above.onEpochEnd(epoch, output) && below.onEpochEnd(epoch, output);
        }

        private static StateFormat of(String operator, StateFormat state) {
            return new StateFormat(operator + " " + state.name(), state.version());
        }

        @Override
        public void snapshot(StateWriter writer) throws IOException {
            above.snapshot((state, group) -> writer.keyGroup(of("above", state), group));
            below.snapshot((state, group) -> writer.keyGroup(of("below", state), group));
        }

        @Override
        public void restore(StateReader reader) {
            above.restore((state, restore) -> reader.keyGroups(of("above", state), restore));
            below.restore((state, restore) -> reader.keyGroups(of("below", state), restore));
        }

        @Override
        public void close() {
            above.close();
            below.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"false, 1", "true, 2", "false, 3", "true, 4"})
    void whatHasLeftAndWhatHasComeAreAllRowsAtEachEpoch(boolean atBound, long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = new OperatorHarness(
                        () -> new Both(
                                new TimeFilterOperator(filter(true, atBound)),
                                new TimeFilterOperator(filter(false, !atBound))),
                        INPUT)
                .partitionedBy(
                        (port, batch, row) -> TestBatches.row(batch, row).get(2).hashCode() & 255)
                .output(INPUT);
        ZSet expected = new ZSet();
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            if (!rows.isEmpty() && random.nextInt(3) == 0) {
                Row gone = rows.remove(random.nextInt(rows.size()));
                harness.weighted(0, gone, -1);
                if (gone.get(0) != null) {
                    expected.add(gone, -1);
                }
            } else {
                long time = START + random.nextInt(20) * 1_000_000L - 1_000_000;
                Row row = TestBatches.canonical(
                        INPUT,
                        Row.of(
                                random.nextInt(9) == 0 ? null : time,
                                random.nextInt(5) == 0 ? null : (long) random.nextInt(10),
                                "text " + random.nextInt(3)));
                rows.add(row);
                harness.rows(row);
                if (row.get(0) != null) {
                    expected.add(row, 1);
                }
            }
            if (random.nextInt(6) == 0) {
                harness.epochEnd();
            }
        }
        harness.endOfInput().expect(expected);
    }

    /** Bounds that the clock of a test does not reach, and those it has passed. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void rowsAreThereOnOneSideOfTheBound(boolean leaving, boolean atBound) {
        OperatorHarness harness = new OperatorHarness(() -> new TimeFilterOperator(filter(leaving, atBound)), INPUT)
                .output(INPUT)
                .keepsFormat("due-" + (leaving ? "leaving" : "coming") + (atBound ? "-at" : ""));
        List<Row> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            boolean later = i % 3 == 0;
            long time = START + (later ? 1L : -1L) * (1_000_000_000_000L + i * 7_000);
            Row row = TestBatches.canonical(INPUT, Row.of(i % 10 == 9 ? null : time, (long) i, "text"));
            harness.rows(row);
            if (i % 10 != 9 && later == leaving) {
                expected.add(row);
            }
            if (i % 7 == 0) {
                harness.epochEnd();
            }
        }
        harness.endOfInput().expect(expected);
    }

    /** The harness's clock goes a twentieth of a second per epoch: it passes the times long before the end. */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void rowsChangeOnceHoweverManyTasksGoOnWithThem(boolean leaving) {
        OperatorHarness harness = new OperatorHarness(() -> new TimeFilterOperator(filter(leaving, true)), INPUT)
                .partitionedBy((port, batch, row) -> 40 * row & 255)
                .comparedAtTheEndOnly()
                .output(INPUT);
        ZSet expected = new ZSet();
        for (int i = 0; i < 30; i++) {
            Row row = TestBatches.canonical(INPUT, Row.of(START + 4_000_000 + 50_000 * i, (long) i, "text"));
            harness.rows(row);
            if (!leaving) {
                expected.add(row, 1);
            }
        }
        for (int epoch = 0; epoch < 200; epoch++) {
            harness.epochEnd();
        }
        harness.endOfInput().expect(expected);
    }
}
