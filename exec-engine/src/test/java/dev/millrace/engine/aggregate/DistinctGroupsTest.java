package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.INPUT;
import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.distinct;
import static dev.millrace.engine.aggregate.AggregateTests.filtered;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.forget.ForgettingOperator;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.Replay;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.testing.harness.CollectedOutput;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.harness.WrittenChain;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups of which some have so many distinct values that these are written by and by, and go, and come again. */
@Tag("long")
class DistinctGroupsTest {
    private static final int TIME = 9;
    private static final long SECOND = 1_000_000;
    private static final int EPOCHS = 60;
    private static final int VALUES = 25_000;
    private static final List<AggregateCall> CALLS = List.of(
            distinct(call(Function.COUNT, DataType.BIGINT, 3)),
            distinct(filtered(call(Function.COUNT, DataType.BIGINT, 3), 7)),
            distinct(call(Function.COUNT, DataType.BIGINT, 1)),
            call(Function.COUNT, DataType.BIGINT));

    /** What came in an epoch. */
    private record Epoch(List<Row> rows, long[] weights, long watermark) {}

    private static Operator open(Aggregate node, boolean forgets, RootAllocator root) {
        AggregateOperator inner = new AggregateOperator(node);
        Operator operator =
                forgets ? new ForgettingOperator(inner, INPUT, node.keys(), new Forgetting(TIME, 5 * SECOND)) : inner;
        operator.open(new TestContext(root));
        return operator;
    }

    private static ZSet step(Operator operator, Epoch epoch, RootAllocator root) {
        CollectedOutput output = new CollectedOutput();
        operator.process(0, TestBatches.weighted(INPUT, root, epoch.rows(), epoch.weights()), output);
        operator.onWatermark(epoch.watermark(), output);
        assertTrue(operator.onEpochEnd(epoch.watermark(), output));
        return output.rows();
    }

    private static final class Rows {
        private final SplittableRandom random;
        private final boolean takesBack;
        private final List<Row> there = new ArrayList<>();

        Rows(long seed, boolean takesBack) {
            this.random = new SplittableRandom(seed);
            this.takesBack = takesBack;
        }

        /** Half of the rows are of one group, but for some time in which it has none; the others are of groups that pass. */
        Epoch next(int epoch) {
            List<Row> rows = new ArrayList<>();
            long[] weights = new long[1_500];
            boolean isSilent = epoch % 30 > 20;
            for (int i = 0; i < weights.length; i++) {
                boolean isBack = takesBack && !there.isEmpty() && random.nextInt(3) == 0;
                Row row = isBack ? there.remove(random.nextInt(there.size())) : row(epoch, isSilent);
                weights[i] = isBack ? -1 : 1;
                rows.add(row);
                if (takesBack && !isBack) {
                    there.add(row);
                }
            }
            return new Epoch(rows, weights, epoch * SECOND);
        }

        private Row row(int epoch, boolean isSilent) {
            List<Object> values =
                    new ArrayList<>(AggregateTests.randomRow(random, 1).values());
            values.set(0, isSilent || random.nextInt(3) == 0 ? 1 + epoch * 3L + random.nextInt(40) : 0L);
            values.set(1, "a text of more than a few letters " + random.nextInt(4_000));
            values.set(3, random.nextLong(VALUES));
            values.set(TIME, epoch * SECOND);
            return TestBatches.canonical(INPUT, new Row(values));
        }
    }

    @ParameterizedTest
    @CsvSource({"1, forgets", "3, stays", "4, changes"})
    void whatWasWrittenWhileValuesCameIsWhatThereWas(long seed, String kind) throws IOException {
        boolean takesBack = kind.equals("changes");
        boolean forgets = kind.equals("forgets");
        Aggregate node = AggregateOperatorTest.node(List.of(0), CALLS, !takesBack);
        Rows rows = new Rows(seed, takesBack);
        SplittableRandom random = rows.random;
        int moments = 0;
        int changes = 0;
        try (RootAllocator root = new RootAllocator()) {
            Operator operator = open(node, forgets, root);
            Operator reference = open(node, forgets, root); // which nobody writes
            ZSet all = new ZSet();
            WrittenChain chain = new WrittenChain();
            List<FrozenState> frozen = new ArrayList<>();
            List<Epoch> since = new ArrayList<>();
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                Epoch next = rows.next(epoch);
                ZSet expected = step(reference, next, root);
                assertEquals("", expected.differences(step(operator, next, root)), "epoch " + epoch);
                all.addAll(expected);
                since.add(next);
                if (frozen.isEmpty()) {
                    Freezing.Kept kept = chain.begin(random.nextInt(4) > 0);
                    FrozenState now = ((Freezing) operator).freeze(kept).orElseThrow();
                    chain.add(now.isWhole());
                    changes += now.isWhole() ? 0 : 1;
                    frozen.add(now);
                    since.clear();
                } else {
                    boolean done = false;
                    for (int more = random.nextInt(24); more > 0 && !done; more--) {
                        done = frozen.get(0).writeMore(chain.writer());
                    }
                    if (done) {
                        frozen.remove(0).close();
                        chain.complete();
                        moments++;
                        assertEquals(
                                "", all.differences(later(node, forgets, chain, since, root)), "moment " + moments);
                    } else if (random.nextInt(20) == 0) {
                        frozen.remove(0).close(); // given up
                    }
                }
            }
            operator.close();
            frozen.forEach(FrozenState::close);
            reference.close();
        }
        assertTrue(moments > 4, moments + " moments were written");
        assertTrue(changes > 1, changes + " times only what had changed");
    }

    /** The answer of one that goes on from what was written, and has what came since. */
    private static ZSet later(
            Aggregate node, boolean forgets, WrittenChain chain, List<Epoch> since, RootAllocator root) {
        Operator restored = open(node, forgets, root);
        restored.restore(chain.reader(KeyGroups.ALL));
        CollectedOutput output = new CollectedOutput();
        ((Replay) restored).replay();
        assertTrue(restored.onEpochEnd(1, output));
        ZSet all = output.rows();
        since.forEach(epoch -> all.addAll(step(restored, epoch, root)));
        restored.close();
        return all;
    }
}
