package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.INPUT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.forget.ForgettingOperator;
import dev.millrace.memory.ChunkSource;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.apache.arrow.memory.AllocationListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an aggregation says where memory is short is what it says where there is enough. */
@Tag("long")
class ColdGroupsTest {
    private static final int KEYS = 6_000;
    private static final int TIME = 9;
    private static final long SECOND = 1_000_000;
    private static final int EPOCHS = 48;

    /** Memory is short, and there is a disk. */
    private static final class Short implements ChunkSource {
        private long onDisk;

        @Override
        public long leastBytes() {
            return 1;
        }

        @Override
        public Optional<Chunk> take(BufferAllocator owner, long bytes) {
            onDisk += owner.getName().equals(ON_DISK) ? bytes : 0;
            return Optional.empty();
        }

        @Override
        public long allowance(BufferAllocator owner) {
            return 0;
        }
    }

    private static final class Said implements Output {
        private ZSet changes = new ZSet();

        @Override
        public void emit(Batch batch) {
            try (batch) {
                changes.add(batch);
            }
        }

        @Override
        public boolean isFull() {
            return false;
        }
    }

    /** What an operator wrote, in any number of parts. */
    private static final class Written implements StateWriter {
        private record Part(StateFormat format, int group, ByteArrayOutputStream bytes) {}

        private final List<Part> parts = new ArrayList<>();

        @Override
        public DataOutput keyGroup(StateFormat format, int group) {
            Part part = new Part(format, group, new ByteArrayOutputStream());
            parts.add(part);
            return new DataOutputStream(part.bytes());
        }

        StateReader reader() {
            return (format, restore) -> {
                for (Part part : parts) {
                    if (part.format().equals(format)) {
                        restore.accept(
                                new DataInputStream(
                                        new ByteArrayInputStream(part.bytes().toByteArray())),
                                part.group());
                    }
                }
            };
        }

        Set<String> groups() {
            Set<String> groups = new TreeSet<>();
            parts.forEach(part -> groups.add(part.format().name() + " " + part.group()));
            return groups;
        }
    }

    /** An operator, over restarts. */
    private static final class Kept implements AutoCloseable {
        private final Aggregate node;
        private final boolean forgets;
        private final RootAllocator root;
        private final Said said = new Said();
        private Replay operator;
        private long epoch;

        Kept(Aggregate node, boolean forgets, ChunkSource source) {
            this.node = node;
            this.forgets = forgets;
            this.root = PooledAllocation.newRoot(1L << 30, AllocationListener.NOOP, source);
            this.operator = open();
        }

        private Replay open() {
            AggregateOperator inner = new AggregateOperator(node);
            Replay opened = forgets
                    ? new ForgettingOperator(inner, INPUT, node.keys(), new Forgetting(TIME, 30 * SECOND))
                    : inner;
            opened.open(new TestContext(root));
            return opened;
        }

        void add(List<Row> rows, long[] weights) {
            operator.process(0, TestBatches.weighted(INPUT, root, rows, weights), said);
        }

        ZSet epochEnd(long watermarkMicros) {
            operator.onWatermark(watermarkMicros, said);
            return epochEnd();
        }

        private ZSet epochEnd() {
            assertTrue(operator.onEpochEnd(++epoch, said));
            ZSet changes = said.changes;
            said.changes = new ZSet();
            return changes;
        }

        ZSet replay() {
            operator.replay();
            return epochEnd();
        }

        Written restart() throws IOException {
            Written written = new Written();
            operator.snapshot(written);
            operator.close();
            operator = open();
            operator.restore(written.reader());
            return written;
        }

        FrozenState freeze(Freezing.Kept kept) {
            return ((Freezing) operator).freeze(kept).orElseThrow();
        }

        @Override
        public void close() {
            operator.close();
            root.close();
        }
    }

    private static ZSet difference(ZSet from, ZSet to) {
        ZSet difference = to.copy();
        from.forEach((row, weight) -> difference.add(row, -weight));
        return difference;
    }

    private static void assertSame(ZSet expected, ZSet actual, String when) {
        assertEquals("", expected.differences(actual), when);
    }

    /** What was written while rows flowed, time and again: each is kept, or comes to nothing. */
    private static final class Moments {
        private List<Written> counted = List.of();
        private List<Written> last = List.of();
        private boolean isLastComplete;
        private int changes;

        /** Begins with another operator. */
        void clear() {
            counted = List.of();
            last = List.of();
            isLastComplete = false;
        }

        FrozenState freeze(Kept operator, SplittableRandom random) {
            boolean isLastKept = isLastComplete && random.nextInt(4) > 0;
            counted = isLastKept ? last : counted;
            FrozenState frozen = operator.freeze(
                    counted.isEmpty()
                            ? Freezing.Kept.NOTHING
                            : isLastKept ? Freezing.Kept.ALL : Freezing.Kept.ALL_BUT_LAST);
            last = new ArrayList<>(frozen.isWhole() ? List.of() : counted);
            last.add(new Written());
            isLastComplete = false;
            changes += frozen.isWhole() ? 0 : 1;
            return frozen;
        }

        Written written() {
            return last.get(last.size() - 1);
        }

        /** What was written last is written to its end: what is in it, and in what it goes on from. */
        ZSet contents(Aggregate node) {
            isLastComplete = true;
            Written all = new Written();
            last.forEach(written -> all.parts.addAll(written.parts));
            try (Kept restored = new Kept(node, false, new Short())) {
                restored.operator.restore(all.reader());
                return restored.replay();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, changes", "2, texts", "3, forgets"})
    void changesAnswersAndCheckpointsAreThoseOfGroupsInMemory(long seed, String kind) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        boolean takesBack = kind.equals("changes");
        boolean forgets = kind.equals("forgets");
        List<AggregateCall> calls = AggregateTests.simpleCalls().stream()
                .filter(call -> AggregateState.suffices(call, takesBack))
                .toList();
        Aggregate node =
                AggregateOperatorTest.node(kind.equals("texts") ? List.of(1, 0) : List.of(0), calls, !takesBack);
        Short memory = new Short();
        List<Row> there = new ArrayList<>();
        ZSet all = new ZSet();
        int moments = 0;
        try (Kept cold = new Kept(node, forgets, memory);
                Kept warm = new Kept(node, forgets, ChunkSource.SYSTEM)) {
            List<FrozenState> frozen = new ArrayList<>();
            ZSet moment = new ZSet();
            Moments written = new Moments();
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                for (int part = 0; part < 2; part++) {
                    List<Row> rows = new ArrayList<>();
                    long[] weights = new long[500];
                    for (int i = 0; i < weights.length; i++) {
                        boolean isBack = takesBack && !there.isEmpty() && random.nextInt(3) == 0;
                        Row row = isBack
                                ? there.remove(random.nextInt(there.size()))
                                : AggregateTests.randomRow(random, KEYS);
                        rows.add(row);
                        weights[i] = isBack ? -1 : 1;
                        if (takesBack && !isBack) {
                            there.add(row);
                        }
                    }
                    cold.add(rows, weights);
                    warm.add(rows, weights);
                    if (!frozen.isEmpty() && frozen.get(0).writeMore(written.written())) {
                        frozen.remove(0).close();
                        assertSame(moment, written.contents(node), "written until epoch " + epoch);
                        moments++;
                    }
                }
                ZSet expected = warm.epochEnd(epoch * SECOND);
                assertSame(expected, cold.epochEnd(epoch * SECOND), "epoch " + epoch);
                all.addAll(expected);
                if (epoch % 16 == 15 && frozen.isEmpty()) {
                    assertEquals(warm.restart().groups(), cold.restart().groups(), "what there is anything in");
                    written.clear();
                }
                if (epoch % 20 == 18) {
                    ZSet again = warm.replay();
                    assertSame(again, cold.replay(), "all again");
                    assertSame(all, again, "which is what was said");
                }
                if (!forgets && frozen.isEmpty() && epoch > 8 && random.nextInt(2) == 0) {
                    frozen.add(written.freeze(cold, random));
                    moment = all.copy();
                }
            }
            for (FrozenState last : frozen) {
                last.close(); // it is given up
            }
            assertTrue(difference(all, warm.replay()).isEmpty());
            boolean isChecked = Boolean.getBoolean("millrace.memory.checked"); // then nobody is asked for a place
            assertTrue(isChecked || memory.onDisk > 4 << 20, "groups were on disk");
            assertTrue(forgets || moments > 1, moments + " moments were written");
            assertTrue(forgets || written.changes > 1, written.changes + " times only what had changed");
        }
    }
}
