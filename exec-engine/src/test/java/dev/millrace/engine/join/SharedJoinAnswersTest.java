package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.view.FollowedRows;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.harness.OperatorHarness.KeyGroupOf;
import dev.millrace.testing.harness.StateFixture;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Joins that read a relation, or both, where its rows are kept give what a join over all rows gives: wherever the relation is, ahead of
 * the join or behind it, over restarts with other numbers of tasks, and when they tell all again.
 */
class SharedJoinAnswersTest {
    /** Which sides are read where they are kept. */
    enum Shape {
        INNER_LEFT(JoinKind.INNER, true, false),
        INNER_RIGHT(JoinKind.INNER, false, true),
        INNER_BOTH(JoinKind.INNER, true, true),
        LEFT_RIGHT(JoinKind.LEFT, false, true),
        RIGHT_LEFT(JoinKind.RIGHT, true, false),
        SEMI_RIGHT(JoinKind.SEMI, false, true),
        ANTI_RIGHT(JoinKind.ANTI, false, true);

        private final JoinKind kind;
        private final boolean[] isShared;

        Shape(JoinKind kind, boolean... isShared) {
            this.kind = kind;
            this.isShared = isShared;
        }
    }

    private static final Schema RELATION = Schema.of(
            new Field("other", DataType.BIGINT, false),
            new Field("name", DataType.TEXT, true),
            new Field("id", DataType.BIGINT, true),
            new Field("v", DataType.INTEGER, true));

    /** Of the relation, that the join's sides have, left and right. */
    private static final List<List<Integer>> COLUMNS = List.of(List.of(3, 1, 2), List.of(2, 3, 1));

    private static final int NAME = 1;
    private static final int ID = 2;
    private static final int NUMBER = 3;

    private static int place(int port, int column) {
        return COLUMNS.get(port).indexOf(column);
    }

    private static List<Integer> places(int port, List<Integer> columns) {
        return columns.stream().map(column -> place(port, column)).toList();
    }

    private static Schema side(int port, boolean hasKeys) {
        return new Schema(RELATION.select(COLUMNS.get(port)).fields().stream()
                .map(field -> hasKeys ? new Field(field.name(), field.type(), false) : field)
                .toList());
    }

    private static Join node(JoinKind kind, List<Integer> keys, boolean hasResidual, boolean hasKeys) {
        List<Field> fields = new ArrayList<>();
        for (int port = 0; port < (kind == JoinKind.SEMI || kind == JoinKind.ANTI ? 1 : 2); port++) {
            side(port, hasKeys).fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        }
        Expression less = new Expression.Call(
                "lt",
                List.of(
                        new Expression.Column(place(0, NUMBER), DataType.INTEGER, true),
                        new Expression.Column(COLUMNS.get(0).size() + place(1, NUMBER), DataType.INTEGER, true)),
                DataType.BOOLEAN,
                true);
        return new Join(
                AggregateTests.scan(side(0, hasKeys)),
                AggregateTests.scan(side(1, hasKeys)),
                kind,
                places(0, keys),
                places(1, keys),
                hasResidual ? Optional.of(less) : Optional.empty(),
                Optional.empty(),
                new Schema(fields));
    }

    // ---- what is expected

    private static boolean meet(Join node, Row left, Row right) {
        for (int key = 0; key < node.leftKeys().size(); key++) {
            Object value = left.get(node.leftKeys().get(key));
            if (value == null || !value.equals(right.get(node.rightKeys().get(key)))) {
                return false;
            }
        }
        Object a = left.get(place(0, NUMBER));
        Object b = right.get(place(1, NUMBER));
        return node.residual().isEmpty() || a != null && b != null && (Long) a < (Long) b;
    }

    private static ZSet expected(Join node, List<List<Row>> sides) {
        return new ReferenceJoin(node.kind(), 3, 3, (left, right) -> meet(node, left, right))
                .answer(sides.get(0), sides.get(1));
    }

    // ---- relations

    /** A relation whose epochs are shown one by one, some time after or before the join has passed them. */
    private static final class Relation implements AutoCloseable {
        private record Change(long epoch, List<Row> rows, long[] weights) {}

        private final BufferAllocator allocator;
        private final VersionedView view;
        private final List<Change> hidden = new ArrayList<>();
        private long version;

        Relation(BufferAllocator allocator, List<Row> rows) {
            this.allocator = allocator;
            this.view = new VersionedView(RELATION, 16, allocator);
            view.follow(() -> version);
            try (Batch batch = TestBatches.of(RELATION, allocator, rows)) {
                view.fill(List.of(batch));
            }
        }

        void change(long epoch, List<Row> rows, long[] weights) {
            hidden.add(new Change(epoch, rows, weights));
        }

        /** Shows so many epochs more. */
        void show(int epochs) {
            for (int left = Math.min(epochs, hidden.size()); left > 0; left--) {
                Change change = hidden.remove(0);
                try (Batch batch = TestBatches.weighted(RELATION, allocator, change.rows, change.weights)) {
                    view.stamp(view.stage(List.of(batch)), version + 1);
                }
                version++;
                view.followers().published(change.epoch);
                view.reclaim();
            }
        }

        @Override
        public void close() {
            view.close();
        }
    }

    // ---- the join's tasks

    private record Task(SharedJoinOperator operator, TestContext context) {}

    /** What the tasks wrote, by state and key group. */
    private static final class Written {
        private final Map<String, Map<Integer, ByteArrayOutputStream>> states = new LinkedHashMap<>();

        StateWriter writer(KeyGroups owned) {
            return (format, group) -> {
                String state = format.name();
                assertTrue(owned.contains(group));
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                assertEquals(
                        null,
                        states.computeIfAbsent(state, any -> new LinkedHashMap<>())
                                .put(group, bytes));
                return new DataOutputStream(bytes);
            };
        }

        StateReader reader(KeyGroups owned) {
            return (state, restore) -> states.getOrDefault(state.name(), Map.of())
                    .forEach((group, bytes) -> {
                        if (owned.contains(group)) {
                            restore.accept(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), group);
                        }
                    });
        }
    }

    private static final class Run implements AutoCloseable {
        private final BufferAllocator root = PoisonedAllocation.newRoot(1L << 30);
        private final RandomGenerator random;
        private final Shape shape;
        private final Join node;
        private final boolean hasKeys;
        private final List<List<Row>> sides =
                List.of(new ArrayList<>(), new ArrayList<>()); // of the relation's columns
        private final List<Optional<Relation>> relations = new ArrayList<>();
        private final List<Task> tasks = new ArrayList<>();
        private final List<Integer> keys; // of the relations' columns
        private ZSet answer = new ZSet();
        private long epoch;
        private final Output output = new Output() {
            @Override
            public void emit(Batch batch) {
                try (batch) {
                    assertTrue(batch.rowCount() > 0);
                    answer.add(batch);
                }
            }

            @Override
            public boolean isFull() {
                return random.nextInt(3) == 0;
            }
        };

        Run(Shape shape, long seed) {
            this.random = new SplittableRandom(seed);
            this.shape = shape;
            this.hasKeys = seed % 4 == 0;
            this.keys = seed % 3 == 0 ? List.of(ID) : seed % 3 == 1 ? List.of(NAME, ID) : List.of(ID, NAME);
            this.node = node(shape.kind, keys, seed % 2 == 0, hasKeys);
            for (int port = 0; port < 2; port++) {
                if (shape.isShared[port]) {
                    for (int left = random.nextInt(30); left > 0; left--) {
                        sides.get(port).add(row());
                    }
                }
                relations.add(
                        shape.isShared[port] ? Optional.of(new Relation(root, sides.get(port))) : Optional.empty());
            }
            start(1 + random.nextInt(3), Optional.empty());
            if (shape.isShared[0] && shape.isShared[1]) {
                tasks.forEach(task -> assertTrue(task.operator.isAllShared()));
                tasks.forEach(task -> task.operator.replay());
            }
        }

        private Row row() {
            Object name = !hasKeys && random.nextInt(9) == 0
                    ? null
                    : random.nextInt(3) == 0 ? "n" : "a name that is rather long " + random.nextInt(2);
            Object id = !hasKeys && random.nextInt(9) == 0 ? null : (Object) random.nextLong(4);
            Object number = !hasKeys && random.nextInt(6) == 0 ? null : (Object) random.nextInt(3);
            return TestBatches.canonical(RELATION, Row.of(random.nextLong(2), name, id, number));
        }

        private static Row joined(int port, Row row) {
            return new Row(COLUMNS.get(port).stream().map(row::get).toList());
        }

        private Optional<SharedSide> follow(int port, BufferAllocator allocator) {
            return relations.get(port).map(relation -> {
                FollowedRows rows = relation.view.followers().follow(keys, allocator, () -> {});
                return new SharedSide(port, rows, COLUMNS.get(port), places(port, keys), places(port, keys));
            });
        }

        private void start(int count, Optional<Function<KeyGroups, StateReader>> written) {
            for (int index = 0; index < count; index++) {
                KeyGroups owned = KeyGroups.ownedBy(index, count);
                BufferAllocator allocator = root.newChildAllocator("task " + index, 0, Long.MAX_VALUE);
                TestContext context =
                        new TestContext(allocator, owned, random.nextBoolean() ? 4096 : 3, new OperatorMetrics());
                SharedJoinOperator operator = new SharedJoinOperator(node, follow(0, allocator), follow(1, allocator));
                operator.open(context);
                written.ifPresent(state -> operator.restore(state.apply(owned)));
                operator.begin();
                tasks.add(new Task(operator, context));
            }
        }

        /** Changes of one side in an epoch, as they come; some go before they come. */
        private void change(int port) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            List<Row> side = sides.get(port);
            boolean onlyAdds = epoch < 6 || random.nextInt(3) > 0;
            for (int left = random.nextInt(8); left > 0; left--) {
                if (!side.isEmpty() && !onlyAdds && random.nextBoolean()) {
                    rows.add(side.remove(random.nextInt(side.size())));
                    weights.add(-1L);
                } else {
                    Row row = row();
                    if (!onlyAdds && random.nextInt(6) == 0) {
                        rows.add(row);
                        weights.add(-1L);
                        rows.add(row);
                        weights.add(1L);
                    }
                    rows.add(row);
                    weights.add(1L);
                    side.add(row);
                }
            }
            long[] all = weights.stream().mapToLong(weight -> weight).toArray();
            relations.get(port).ifPresent(relation -> relation.change(epoch, rows, all));
            for (int from = 0; from < rows.size(); ) {
                int to = from + 1 + random.nextInt(rows.size() - from);
                deliver(port, rows.subList(from, to), weights.subList(from, to));
                from = to;
            }
        }

        private void deliver(int port, List<Row> rows, List<Long> weights) {
            Schema schema = SharedJoinAnswersTest.side(port, hasKeys);
            KeyGroupOf keyGroupOf = AggregateTests.keyGroup(places(port, keys));
            List<Row> theirs = rows.stream().map(row -> joined(port, row)).toList();
            try (Batch batch = TestBatches.of(schema, root, theirs)) {
                for (Task task : tasks) {
                    List<Row> own = new ArrayList<>();
                    List<Long> ownWeights = new ArrayList<>();
                    for (int i = 0; i < theirs.size(); i++) {
                        if (task.context.keyGroups().contains(keyGroupOf.keyGroup(port, batch, i))) {
                            own.add(theirs.get(i));
                            ownWeights.add(weights.get(i));
                        }
                    }
                    boolean isWeighted =
                            random.nextInt(4) == 0 || ownWeights.stream().anyMatch(weight -> weight != 1);
                    long[] all = ownWeights.stream().mapToLong(weight -> weight).toArray();
                    task.operator.process(
                            port,
                            isWeighted
                                    ? TestBatches.weighted(schema, root, own, all)
                                    : TestBatches.of(schema, root, own),
                            output);
                }
            }
        }

        void step() {
            // a query that was paused sees the ends of several epochs as one
            for (int together = random.nextInt(4) == 0 ? 3 : 1; together > 0; together--) {
                epoch++;
                for (int first = random.nextInt(2), port = 0; port < 2; port++) {
                    change((first + port) % 2);
                }
                showSome();
            }
            endEpoch();
            showSome();
            tasks.forEach(task -> task.operator.settle());
            switch (random.nextInt(9)) {
                case 0, 1 -> {
                    restart();
                    if (hasKeys && random.nextBoolean()) {
                        tellAgain();
                    }
                }
                case 2 -> checkThatNothingIsKeptTwice();
                default -> {}
            }
        }

        private void showSome() {
            relations.forEach(relation -> relation.ifPresent(each -> each.show(random.nextInt(3))));
        }

        private void endEpoch() {
            for (Task task : tasks) {
                while (!task.operator.onEpochEnd(epoch, output)) {
                    // until there was room for all
                }
            }
            assertEquals("", expected().differences(answer), () -> shape + " after epoch " + epoch);
        }

        private ZSet expected() {
            List<Row> left = sides.get(0).stream().map(row -> joined(0, row)).toList();
            List<Row> right = sides.get(1).stream().map(row -> joined(1, row)).toList();
            return SharedJoinAnswersTest.expected(node, List.of(left, right));
        }

        private void tellAgain() {
            tasks.forEach(task -> task.operator.replay());
            answer = new ZSet();
            if (random.nextBoolean()) {
                epoch++;
                change(random.nextInt(2)); // before it is met all is told
            }
            endEpoch();
        }

        private long bytes() {
            return tasks.stream()
                    .mapToLong(task -> task.context.metrics().stateBytes())
                    .sum();
        }

        /** So many rows of relations, with keys that no other has, come and are shown. */
        private void lookForPartners(long first) {
            for (int port = 0; port < 2; port++) {
                if (shape.isShared[port]) {
                    List<Row> rows = new ArrayList<>();
                    for (long id = first + 200 * port; id < first + 200 * port + 100; id++) {
                        rows.add(
                                TestBatches.canonical(RELATION, Row.of(1L, "a name that is rather long " + id, id, 1)));
                    }
                    epoch++;
                    relations.get(port).orElseThrow().change(epoch, rows, ones(rows.size()));
                    deliver(port, rows, Collections.nCopies(rows.size(), 1L));
                    tasks.forEach(task -> task.operator.onEpochEnd(epoch, output));
                }
            }
            settleAll();
        }

        private void settleAll() {
            relations.forEach(relation -> relation.ifPresent(each -> each.show(Integer.MAX_VALUE)));
            tasks.forEach(task -> task.operator.settle());
        }

        /** Where the relation shows all, only the other side's rows that have keys are here. */
        private void checkThatNothingIsKeptTwice() {
            long entriesBefore = tasks.stream()
                    .mapToLong(task -> task.context.metrics().stateEntries())
                    .sum();
            long bytesBefore = tasks.stream()
                    .mapToLong(task -> task.context.metrics().stateBytes())
                    .sum();
            settleAll();
            long entries = 0;
            long bytes = 0;
            for (Task task : tasks) {
                entries += task.context.metrics().stateEntries();
                bytes += task.context.metrics().stateBytes();
            }
            assertTrue(entries <= entriesBefore && bytes <= bytesBefore);
            List<Row> own = new ArrayList<>();
            for (int port = 0; port < 2; port++) {
                if (relations.get(port).isEmpty()) {
                    int ofPort = port;
                    sides.get(port).stream()
                            .filter(row -> keys.stream().allMatch(key -> row.get(key) != null))
                            .forEach(row -> own.add(joined(ofPort, row)));
                }
            }
            if (own.isEmpty()) {
                assertEquals(0, entries);
            } else {
                assertTrue(entries >= own.stream().distinct().count() && entries <= own.size(), "" + entries);
                assertTrue(bytes > 0);
            }
        }

        private void restart() {
            restart(1 + random.nextInt(3));
        }

        /** At rest, as checkpoints are. */
        private void restart(int count) {
            settleAll();
            Written written = new Written();
            for (Task task : tasks) {
                try {
                    task.operator.snapshot(written.writer(task.context.keyGroups()));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
            stop();
            start(count, Optional.of(written::reader));
        }

        /** The same with what a fixture has; while there is one task. */
        private void restartFrom(String fixture) {
            settleAll();
            StateReader saved = StateFixture.check(fixture, tasks.get(0).operator);
            stop();
            start(1, Optional.of(owned -> saved));
        }

        private void stop() {
            for (Task task : tasks) {
                task.operator.close();
                task.operator.close();
                assertEquals(0, task.context.allocator().getAllocatedMemory());
                task.context.allocator().close();
            }
            tasks.clear();
        }

        @Override
        public void close() {
            stop();
            relations.forEach(relation -> relation.ifPresent(Relation::close));
            root.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Shape.class)
    void theAnswerIsThatOfAllRows(Shape shape) {
        for (long seed = 1; seed <= 6; seed++) {
            try (Run run = new Run(shape, seed)) {
                run.endEpoch();
                for (int step = 0; step < 25; step++) {
                    run.step();
                }
            } catch (AssertionError | MillraceException e) {
                throw new AssertionError(shape + ", seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    @Test
    void rowsAreWrittenAsTheyWere() {
        for (Shape shape : List.of(Shape.INNER_LEFT, Shape.LEFT_RIGHT)) {
            for (long seed = 1; seed <= 2; seed++) {
                try (Run run = new Run(shape, seed)) {
                    run.endEpoch();
                    run.restart(1);
                    for (int step = 0; step < 3 * seed; step++) { // rows are only added at first
                        run.change(0);
                        run.change(1);
                        run.epoch++;
                        run.endEpoch();
                    }
                    run.restartFrom("shared_join-" + shape + "-" + seed);
                    run.step();
                }
            }
        }
    }

    /** Rows of the relation that look for partners, and find none, are kept by the relation alone. */
    @Test
    void lookingForPartnersLeavesNothingBehind() {
        for (Shape shape : Shape.values()) {
            try (Run run = new Run(shape, 1)) {
                run.endEpoch();
                run.lookForPartners(1_000);
                long before = run.bytes();
                for (long first = 2_000; first < 20_000; first += 1_000) {
                    run.lookForPartners(first);
                }
                assertTrue(run.tasks.stream().allMatch(task -> task.operator.rowsDone() > 0));
                assertTrue(run.bytes() <= before, () -> shape + ": " + run.bytes() + " bytes after " + before);
            }
        }
    }

    private static long[] ones(int count) {
        long[] ones = new long[count];
        Arrays.fill(ones, 1);
        return ones;
    }
}
