package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.Operator;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.harness.DiscardingOutput;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
class JoinOperatorTest {
    private static final Schema LEFT = Schema.of(
            new Field("id", DataType.BIGINT, true),
            new Field("name", DataType.TEXT, true),
            new Field("a", DataType.INTEGER, false),
            new Field("ends", DataType.TIMESTAMP, false));
    private static final Schema RIGHT = Schema.of(
            new Field("b", DataType.INTEGER, false),
            new Field("ends", DataType.TIMESTAMP, false),
            new Field("id", DataType.BIGINT, true),
            new Field("name", DataType.TEXT, true));

    private static Join node(
            JoinKind kind, List<Integer> left, List<Integer> right, boolean residual, Optional<JoinTime> ends) {
        List<Field> fields = new ArrayList<>();
        boolean isHalf = kind == JoinKind.SEMI || kind == JoinKind.ANTI;
        LEFT.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        if (!isHalf) {
            RIGHT.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        }
        Expression lessThan = new Expression.Call(
                "lt",
                List.of(new Column(2, DataType.INTEGER, false), new Column(4, DataType.INTEGER, false)),
                DataType.BOOLEAN,
                false);
        return new Join(
                AggregateTests.scan(LEFT),
                AggregateTests.scan(RIGHT),
                kind,
                left,
                right,
                residual ? Optional.of(lessThan) : Optional.empty(),
                ends,
                new Schema(fields));
    }

    private static Row row(RandomGenerator random, int port, long end) {
        Object id = random.nextInt(8) == 0 ? null : random.nextLong(5);
        Object name = random.nextInt(8) == 0 ? null : "a rather long name " + random.nextInt(2);
        int number = random.nextInt(3);
        return port == 0
                ? TestBatches.canonical(LEFT, Row.of(id, name, number, end))
                : TestBatches.canonical(RIGHT, Row.of(number, end, id, name));
    }

    private static ZSet expected(Join node, List<List<Row>> sides) {
        return new ReferenceJoin(node.kind(), LEFT.size(), RIGHT.size(), (left, right) -> matches(node, left, right))
                .answer(sides.get(0), sides.get(1));
    }

    private static boolean matches(Join node, Row left, Row right) {
        for (int key = 0; key < node.leftKeys().size(); key++) {
            Object value = left.get(node.leftKeys().get(key));
            if (value == null || !value.equals(right.get(node.rightKeys().get(key)))) {
                return false;
            }
        }
        if (node.time().isPresent() && node.time().get() instanceof JoinTime.Bounds bounds) {
            long difference = (Long) right.get(bounds.right()) - (Long) left.get(bounds.left());
            if (difference < bounds.lowerMicros() || difference > bounds.upperMicros()) {
                return false;
            }
        }
        return node.residual().isEmpty() || (Long) left.get(2) < (Long) right.get(0);
    }

    private static void check(Join node, long seed) {
        check(node, () -> new JoinOperator(node), 3, seed);
    }

    /** @param takenBack one in so many events takes a row back; 0 for none */
    private static void check(Join node, Supplier<Operator> factory, int takenBack, long seed) {
        check(node, factory, takenBack, seed, Optional.empty());
    }

    private static void check(
            Join node, Supplier<Operator> factory, int takenBack, long seed, Optional<String> fixture) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = new OperatorHarness(factory, LEFT, RIGHT)
                .output(node.schema())
                .partitionedBy(
                        (port, batch, row) -> AggregateTests.keyGroup(port == 0 ? node.leftKeys() : node.rightKeys())
                                .keyGroup(port, batch, row));
        if (factory.get() instanceof Freezing) {
            harness.writesChanges();
        }
        fixture.ifPresent(harness::keepsFormat);
        List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < 100; i++) {
            int port = random.nextInt(2);
            List<Row> side = sides.get(port);
            if (!side.isEmpty() && takenBack > 0 && random.nextInt(takenBack) == 0) {
                harness.weighted(port, side.remove(random.nextInt(side.size())), -1);
            } else {
                Row row = row(random, port, 1_000);
                side.add(row);
                harness.weighted(port, row, 1);
            }
            if (random.nextInt(12) == 0) {
                harness.epochEnd();
            }
        }
        harness.expect(expected(node, sides));
    }

    @Test
    void rowsAreWrittenAsTheyWere() {
        Join inner = node(JoinKind.INNER, List.of(1, 0), List.of(3, 2), false, Optional.empty());
        check(inner, () -> new JoinOperator(inner), 3, 31, Optional.of("join"));
        check(inner, () -> new AppendedJoinOperator(inner), 0, 32, Optional.of("appended_join"));
        Join left = node(JoinKind.LEFT, List.of(0), List.of(2), true, Optional.empty());
        check(left, () -> new JoinOperator(left), 3, 33, Optional.of("join-left"));
        for (JoinKind kind : List.of(JoinKind.SEMI, JoinKind.ANTI)) {
            Join existence = node(kind, List.of(0), List.of(2), false, Optional.empty());
            check(existence, () -> new ExistenceJoinOperator(existence), 3, 34, Optional.of("existence-" + kind));
        }
    }

    /** So that what comes while it is written has little be written early. */
    @Test
    void keysWithVeryManyRowsAreNotFrozen() throws IOException {
        Join node = node(JoinKind.LEFT, List.of(0), List.of(2), false, Optional.empty());
        try (RootAllocator root = new RootAllocator()) {
            JoinOperator operator = new JoinOperator(node);
            operator.open(new TestContext(root));
            for (long key = 0; key < 40; key++) {
                add(operator, key, 1, root);
            }
            add(operator, 0, 4_090, root);
            assertEquals(Optional.of(true), written(operator, Kept.NOTHING));
            add(operator, 0, 10, root);
            assertEquals(Optional.of(false), written(operator, Kept.ALL));
            assertEquals(Optional.empty(), written(operator, Kept.ALL), "it was seen to have more");
            add(operator, 0, -10, root);
            assertEquals(Optional.empty(), written(operator, Kept.NOTHING), "it was seen by who wrote it");
            assertEquals(Optional.of(true), written(operator, Kept.NOTHING), "nobody knew of what changed");
            operator.close();
        }
    }

    /** Adds left rows, or takes some back. */
    private static void add(JoinOperator operator, long key, int count, RootAllocator root) {
        List<Row> rows = new ArrayList<>();
        long[] weights = new long[Math.abs(count)];
        for (int i = 0; i < weights.length; i++) {
            rows.add(TestBatches.canonical(LEFT, Row.of(key, "row " + i, 0, 0L)));
            weights[i] = Integer.signum(count);
        }
        operator.process(0, TestBatches.weighted(LEFT, root, rows, weights), new DiscardingOutput());
    }

    /** Writes its state; returns whether all, if it could be frozen. */
    private static Optional<Boolean> written(JoinOperator operator, Kept kept) throws IOException {
        Optional<FrozenState> frozen = operator.freeze(kept);
        StateWriter nowhere = (state, group) -> new DataOutputStream(OutputStream.nullOutputStream());
        if (frozen.isEmpty()) {
            operator.snapshot(nowhere);
            return Optional.empty();
        }
        boolean done = false;
        while (!done) {
            done = frozen.get().writeMore(nowhere);
        }
        frozen.get().close();
        return Optional.of(frozen.get().isWhole());
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void everyKindEqualsTheReference(JoinKind kind) {
        for (boolean residual : new boolean[] {false, true}) {
            check(node(kind, List.of(0), List.of(2), residual, Optional.empty()), 1);
            check(node(kind, List.of(1, 0), List.of(3, 2), residual, Optional.empty()), 2);
        }
    }

    /** Rows are packed until the first one is taken back; both before and after that every pair is there once. */
    @ParameterizedTest
    @ValueSource(ints = {0, 40, 3})
    void appendedRowsArePackedUntilOneIsTakenBack(int takenBack) {
        for (boolean residual : new boolean[] {false, true}) {
            for (List<Integer> keys : List.of(List.of(0), List.of(1, 0), List.<Integer>of())) {
                List<Integer> rightKeys = keys.stream().map(key -> key + 2).toList();
                Join node = node(JoinKind.INNER, keys, rightKeys, residual, Optional.empty());
                assertTrue(AppendedJoinOperator.suits(node));
                check(node, () -> new AppendedJoinOperator(node), takenBack, 7 + takenBack);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = JoinKind.class,
            names = {"SEMI", "ANTI"})
    void whetherThereIsAPartnerFollowsTheWeightsOfAKey(JoinKind kind) {
        for (List<Integer> keys : List.of(List.of(0), List.of(1, 0), List.<Integer>of())) {
            List<Integer> rightKeys = keys.stream().map(key -> key + 2).toList();
            Join node = node(kind, keys, rightKeys, false, Optional.empty());
            assertTrue(ExistenceJoinOperator.suits(node));
            for (int takenBack : new int[] {0, 20, 3, 2}) {
                check(node, () -> new ExistenceJoinOperator(node), takenBack, 70 + takenBack);
            }
        }
    }

    /** One key with thousands of rows on both sides, which come and go: rows are looked at when they change, not otherwise. */
    @Test
    void aHotKeyOfASemiJoinCostsWhatItsOutputDoes() {
        Join node = node(JoinKind.SEMI, List.of(0), List.of(2), false, Optional.empty());
        List<ExistenceJoinOperator> made = new ArrayList<>();
        OperatorHarness harness = new OperatorHarness(
                        () -> {
                            made.add(new ExistenceJoinOperator(node));
                            return made.get(made.size() - 1);
                        },
                        LEFT,
                        RIGHT)
                .output(node.schema());
        int count = 4_000;
        for (int i = 0; i < count; i++) {
            harness.weighted(0, TestBatches.canonical(LEFT, Row.of(1L, "left", i, 0L)), 1);
            harness.weighted(1, TestBatches.canonical(RIGHT, Row.of(i, 0L, 1L, "right")), 1);
            if (i % 100 == 0) {
                harness.epochEnd();
            }
        }
        for (int i = 0; i < count - 1; i++) { // all but the last partner go, and every second left row
            harness.weighted(1, TestBatches.canonical(RIGHT, Row.of(i, 0L, 1L, "right")), -1);
            if (i % 2 == 0) {
                harness.weighted(0, TestBatches.canonical(LEFT, Row.of(1L, "left", i, 0L)), -1);
            }
            if (i % 100 == 0) {
                harness.epochEnd();
            }
        }
        assertEquals(count / 2, harness.runOnce().rows().size());
        long visited = made.stream().mapToLong(ExistenceJoinOperator::visited).sum();
        assertTrue(visited <= count, visited + " rows of " + count + " were looked at");
    }

    @Test
    void withoutKeysAllRowsMeet() {
        check(node(JoinKind.INNER, List.of(), List.of(), true, Optional.empty()), 3);
        check(node(JoinKind.LEFT, List.of(), List.of(), true, Optional.empty()), 4);
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void windowsEndWithTheirRowsWithoutPartnersAndTakeNothingBack(JoinKind kind) {
        for (List<Integer> keys : List.of(List.of(0, 3), List.of(0))) {
            List<Integer> rightKeys = keys.size() == 2 ? List.of(2, 1) : List.of(2);
            Join node = node(kind, keys, rightKeys, true, Optional.of(new JoinTime.WindowEnds(3, 1)));
            RandomGenerator random = new SplittableRandom(5);
            OperatorHarness harness = new OperatorHarness(() -> new JoinOperator(node), LEFT, RIGHT)
                    .appendOnlyInput()
                    .appendOnlyOutput()
                    .output(node.schema());
            ZSet expected = new ZSet();
            for (long end = 10; end < 100; end += 10) {
                List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
                for (int i = 0; i < 15; i++) {
                    int port = random.nextInt(2);
                    Row row = row(random, port, end);
                    sides.get(port).add(row);
                    harness.rowsOf(port, List.of(row));
                }
                harness.epochEnd();
                harness.watermark(end);
                expected.addAll(expected(node, sides));
            }
            harness.expect(expected);
        }
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void rowsWithinBoundsMeetAndGoWhenNoneCanComeAnyMore(JoinKind kind) {
        for (long[] range : new long[][] {{-5, 10}, {0, 0}, {20, 30}, {-30, -20}}) {
            for (boolean residual : new boolean[] {false, true}) {
                Join node = node(
                        kind,
                        List.of(0),
                        List.of(2),
                        residual,
                        Optional.of(new JoinTime.Bounds(3, 1, range[0], range[1])));
                checkBounds(node, () -> new JoinOperator(node), range[0]);
                if (AppendedJoinOperator.suits(node)) {
                    checkBounds(node, () -> new AppendedJoinOperator(node), range[0]);
                }
            }
        }
    }

    private static void checkBounds(Join node, Supplier<Operator> factory, long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = new OperatorHarness(factory, LEFT, RIGHT)
                .appendOnlyInput()
                .appendOnlyOutput()
                .output(node.schema());
        List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < 150; i++) {
            int port = random.nextInt(2);
            Row row = row(random, port, 1_000 + 2L * i + random.nextInt(10));
            sides.get(port).add(row);
            harness.rowsOf(port, List.of(row));
            if (random.nextInt(10) == 0) {
                harness.epochEnd();
                harness.watermark(1_000 + 2L * i);
            }
        }
        harness.endOfInput();
        harness.expect(expected(node, sides));
    }
}
