package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.harness.CollectedOutput;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.harness.WrittenChain;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins whose rows say until when they can match: {@code b.ts BETWEEN a.ts AND a.until} and the like. */
@Tag("long")
class LifetimeJoinTest {
    private static final Schema LEFT = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("until", DataType.TIMESTAMP, true),
            new Field("name", DataType.TEXT, true));
    private static final Schema RIGHT = Schema.of(
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("id", DataType.BIGINT, false),
            new Field("until", DataType.TIMESTAMP, true));

    private static Join node(JoinKind kind, JoinTime.Bounds bounds) {
        List<Field> fields = new ArrayList<>();
        LEFT.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        if (kind != JoinKind.SEMI && kind != JoinKind.ANTI) {
            RIGHT.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        }
        return new Join(
                AggregateTests.scan(LEFT),
                AggregateTests.scan(RIGHT),
                kind,
                List.of(0),
                List.of(1),
                Optional.empty(),
                Optional.of(bounds),
                new Schema(fields));
    }

    private static boolean meet(JoinTime.Bounds bounds, Row left, Row right) {
        Object leftUntil = left.get(bounds.leftUntil());
        Object rightUntil = right.get(bounds.rightUntil());
        return left.get(0).equals(right.get(1))
                && leftUntil != null
                && rightUntil != null
                && (Long) right.get(0) - bounds.upperMicros() <= (Long) leftUntil
                && (Long) left.get(1) + bounds.lowerMicros() <= (Long) rightUntil;
    }

    private static ZSet expected(Join node, List<Row> lefts, List<Row> rights) {
        JoinTime.Bounds bounds = (JoinTime.Bounds) node.time().orElseThrow();
        return new ReferenceJoin(node.kind(), LEFT.size(), RIGHT.size(), (left, right) -> meet(bounds, left, right))
                .answer(lefts, rights);
    }

    private static Row row(RandomGenerator random, int port, long time) {
        Object until = random.nextInt(8) == 0 ? null : time + random.nextInt(-5, 60);
        return port == 0
                ? TestBatches.canonical(LEFT, Row.of(random.nextLong(4), time, until, "lot " + random.nextInt(3)))
                : TestBatches.canonical(RIGHT, Row.of(time, random.nextLong(4), until));
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void rowsMeetUntilTheTimeThatTheyName(JoinKind kind) {
        List<JoinTime.Bounds> all = List.of(
                new JoinTime.Bounds(1, 0, 2, 0, 0, 0), // right between the left one's time and end
                new JoinTime.Bounds(1, 0, 2, 0, -7, 12),
                new JoinTime.Bounds(1, 0, 1, 2, 3, 20),
                new JoinTime.Bounds(1, 0, 2, 2, 0, -4));
        for (JoinTime.Bounds bounds : all) {
            Join node = node(kind, bounds);
            check(node, () -> new JoinOperator(node), all.indexOf(bounds));
            if (AppendedJoinOperator.suits(node)) {
                check(node, () -> new AppendedJoinOperator(node), all.indexOf(bounds));
            }
        }
    }

    private static void check(Join node, Supplier<Operator> factory, int seed) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = new OperatorHarness(factory, LEFT, RIGHT)
                .appendOnlyInput()
                .appendOnlyOutput()
                .output(node.schema());
        List<Row> lefts = new ArrayList<>();
        List<Row> rights = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            int port = random.nextInt(2);
            Row row = row(random, port, 1_000 + 2L * i + random.nextInt(10));
            (port == 0 ? lefts : rights).add(row);
            harness.rowsOf(port, List.of(row));
            if (random.nextInt(10) == 0) {
                harness.epochEnd();
                harness.watermark(1_000 + 2L * i);
            }
        }
        harness.endOfInput();
        harness.expect(expected(node, lefts, rights));
    }

    /** One left row in a hundred stays for as long as all others together: its neighbours' memory is used again. */
    @Test
    void rowsThatStayForLongDoNotKeepTheMemoryOfOthers() {
        Join node = node(JoinKind.INNER, new JoinTime.Bounds(1, 0, 2, 0, 0, 0));
        int many = 100_000;
        long[] pairs = new long[1];
        Output output = new Output() {
            @Override
            public void emit(Batch batch) {
                pairs[0] += batch.rowCount();
                batch.close();
            }

            @Override
            public boolean isFull() {
                return false;
            }
        };
        try (BufferAllocator allocator = new RootAllocator()) {
            AppendedJoinOperator operator = new AppendedJoinOperator(node);
            operator.open(new TestContext(allocator));
            long most = 0;
            for (int from = 0; from < many; from += 1_000) {
                List<Row> lefts = new ArrayList<>();
                List<Row> rights = new ArrayList<>();
                for (long i = from; i < from + 1_000; i++) {
                    long until = i % 100 == 0 ? 2L * many : i + 10;
                    lefts.add(TestBatches.canonical(LEFT, Row.of(i, i, until, "lot " + i)));
                    rights.add(TestBatches.canonical(RIGHT, Row.of(i, i % 2 == 0 ? i : i / 200 * 100, null)));
                }
                operator.process(0, TestBatches.of(LEFT, allocator, lefts), output);
                operator.process(1, TestBatches.of(RIGHT, allocator, rights), output);
                operator.onWatermark(from, output);
                most = Math.max(most, allocator.getAllocatedMemory());
            }
            // Each even row meets its own, and the others one that came long ago.
            assertEquals(many, pairs[0]);
            assertTrue(most < 2 << 20, most + " bytes"); // of some 10 MB that came
            operator.close();
        }
    }

    /** Some rows stay and some go, so that those that stay move to other memory now and then. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void rowsThatMoveAreNotWrittenAgain(long seed) throws IOException {
        Join node = node(JoinKind.INNER, new JoinTime.Bounds(1, 0, 2, 0, 0, 0));
        RandomGenerator random = new SplittableRandom(seed);
        int wholes = 0;
        try (BufferAllocator allocator = new RootAllocator()) {
            AppendedJoinOperator operator = new AppendedJoinOperator(node);
            operator.open(new TestContext(allocator));
            WrittenChain chain = new WrittenChain();
            List<AppendedJoinOperator> restored = new ArrayList<>();
            for (long from = 0; from < 80_000; from += 1_000) {
                List<Row> lefts = new ArrayList<>();
                List<Row> rights = new ArrayList<>();
                for (long i = from; i < from + 1_000; i++) {
                    long until = random.nextInt(10) > 0 ? 1_000_000 : i + 10;
                    long met = random.nextLong(from + 1_000);
                    lefts.add(TestBatches.canonical(LEFT, Row.of(i, i, until, "lot " + i)));
                    if (i % 10 == 0) {
                        rights.add(TestBatches.canonical(RIGHT, Row.of(i, met, null)));
                    }
                }
                ZSet all = step(operator, lefts, rights, from, allocator);
                if (!restored.isEmpty()) {
                    assertEquals("", all.differences(step(restored.get(0), lefts, rights, from, allocator)));
                    restored.remove(0).close();
                }
                boolean isKept = from <= 1_000 || random.nextInt(4) > 0;
                FrozenState frozen = operator.freeze(chain.begin(isKept)).orElseThrow();
                chain.add(frozen.isWhole());
                wholes += frozen.isWhole() ? 1 : 0;
                boolean done = false;
                while (!done) {
                    done = frozen.writeMore(chain.writer());
                }
                frozen.close();
                chain.complete();
                if (random.nextInt(4) == 0) {
                    restored.add(new AppendedJoinOperator(node));
                    restored.get(0).open(new TestContext(allocator));
                    restored.get(0).restore(chain.reader(KeyGroups.ALL));
                }
            }
            for (AppendedJoinOperator last : restored) {
                last.close();
            }
            operator.close();
        }
        assertEquals(1, wholes, "how often all was written");
    }

    private static ZSet step(
            Operator operator, List<Row> lefts, List<Row> rights, long watermark, BufferAllocator allocator) {
        CollectedOutput output = new CollectedOutput();
        operator.process(0, TestBatches.of(LEFT, allocator, lefts), output);
        operator.process(1, TestBatches.of(RIGHT, allocator, rights), output);
        operator.onWatermark(watermark, output);
        assertTrue(operator.onEpochEnd(watermark, output));
        return output.rows();
    }
}
