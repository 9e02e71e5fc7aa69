package dev.millrace.engine.topn;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.operator.Operator;
import dev.millrace.operator.Output;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode.Sort;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SortOperatorTest {
    private static final Schema INPUT =
            Schema.of(new Field("v", DataType.DOUBLE, true), new Field("t", DataType.TEXT, true));

    private static final List<Row> ROWS = List.of(
            Row.of(1.0, "b"),
            Row.of(null, "a"),
            Row.of(Double.NaN, "z"),
            Row.of(-2.5, "ä"),
            Row.of(1.0, "Z"),
            Row.of(Double.POSITIVE_INFINITY, null),
            Row.of(1.0, null));

    private static List<Row> sorted(Sort node) {
        List<Row> emitted = new ArrayList<>();
        OperatorHarness harness = new OperatorHarness(() -> recording(node, emitted), INPUT);
        ROWS.forEach(harness::rows);
        harness.weighted(0, Row.of(7.0, "gone"), 1)
                .epochEnd()
                .weighted(0, Row.of(7.0, "gone"), -1)
                .endOfInput()
                .runOnce();
        return emitted;
    }

    /** A sort that notes the order of what it emits. */
    private static Operator recording(Sort node, List<Row> emitted) {
        SortOperator sort = new SortOperator(node);
        return new Operator() {
            @Override
            public void open(dev.millrace.operator.OperatorContext context) {
                sort.open(context);
            }

            @Override
            public void process(int port, Batch batch, Output output) {
                sort.process(port, batch, output);
            }

            @Override
            public boolean onWatermark(long watermarkMicros, Output output) {
                return sort.onWatermark(watermarkMicros, output);
            }

            @Override
            public boolean onEpochEnd(long epoch, Output output) {
                return sort.onEpochEnd(epoch, new Output() {
                    @Override
                    public void emit(Batch batch) {
                        emitted.addAll(TestBatches.rows(batch));
                        output.emit(batch);
                    }

                    @Override
                    public boolean isFull() {
                        return output.isFull();
                    }
                });
            }

            @Override
            public void close() {
                sort.close();
            }
        };
    }

    @Test
    void nanIsGreatestAndNullsGoWhereTheyAreTold() {
        Sort ascending = new Sort(
                AggregateTests.scan(INPUT),
                List.of(new OrderKey(0, false, false), new OrderKey(1, false, false)),
                -1,
                0);
        assertEquals(
                List.of(
                        Row.of(-2.5, "ä"),
                        Row.of(1.0, "Z"),
                        Row.of(1.0, "b"),
                        Row.of(1.0, null),
                        Row.of(Double.POSITIVE_INFINITY, null),
                        Row.of(Double.NaN, "z"),
                        Row.of(null, "a")),
                sorted(ascending));
        Sort cut = new Sort(
                AggregateTests.scan(INPUT), List.of(new OrderKey(1, true, true), new OrderKey(0, true, true)), 3, 1);
        assertEquals(List.of(Row.of(1.0, null), Row.of(-2.5, "ä"), Row.of(Double.NaN, "z")), sorted(cut));
    }

    @Test
    void batchesAndRestartsMakeNoDifference() {
        Sort node = new Sort(AggregateTests.scan(INPUT), List.of(new OrderKey(0, false, false)), 5, 1);
        OperatorHarness harness = new OperatorHarness(() -> new SortOperator(node), INPUT)
                .output(INPUT)
                .keepsFormat("sorted");
        for (int i = 0; i < 30; i++) {
            harness.rows(Row.of(i * 7 % 31 * 1.0, "row " + i));
            if (i % 8 == 7) {
                harness.epochEnd();
            }
        }
        ZSet expected = new ZSet();
        for (int place = 1; place <= 5; place++) {
            for (int i = 0; i < 30; i++) {
                if (i * 7 % 31 == place) {
                    expected.add(Row.of(place * 1.0, "row " + i), 1);
                }
            }
        }
        harness.endOfInput().expect(expected);
    }
}
