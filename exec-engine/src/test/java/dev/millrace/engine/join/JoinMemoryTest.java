package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.MultiJoin;
import dev.millrace.testing.harness.MemoryThatEnds;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Wherever memory ends, a join gives back all that it had when it is closed, and the batches that it was given. */
class JoinMemoryTest {
    private static final Schema SIDE = Schema.of(
            new Field("k", DataType.BIGINT, true),
            new Field("name", DataType.TEXT, true),
            new Field("ts", DataType.TIMESTAMP, false));
    private static final List<Integer> KEYS = List.of(0, 1);

    private static Join node(JoinKind kind, boolean hasResidual, Optional<JoinTime> time) {
        return JoinPlans.ofEqualSides(SIDE, kind, KEYS, hasResidual ? Optional.of("le") : Optional.empty(), 2, time);
    }

    private static void fill(VersionedView view, BufferAllocator allocator, List<Row> rows) {
        try (Batch batch = TestBatches.of(SIDE, allocator, rows)) {
            view.fill(List.of(batch));
        }
    }

    private static Row row(Object key, long time) {
        return Row.of(key, "a name that is not short " + key, time);
    }

    /** Rows with and without partners, some of which go, and signals. */
    private static MemoryThatEnds script(boolean takesBack) {
        MemoryThatEnds script = new MemoryThatEnds(SIDE, SIDE, SIDE);
        List<Row> many = new ArrayList<>();
        for (long i = 0; i < 24; i++) {
            many.add(row(i % 3 == 0 ? 1L : (Long) i, i));
        }
        script.rows(0, row(1L, 1), row(2L, 2), row(null, 3))
                .rows(1, row(1L, 2), row(3L, 1))
                .epochEnd()
                .rows(1, many.toArray(Row[]::new))
                .rows(0, many.toArray(Row[]::new));
        if (takesBack) {
            script.weighted(0, -1, row(1L, 1)).weighted(1, -1, row(1L, 2), row(3L, 1));
        }
        return script.epochEnd().watermark(50).watermark(Operator.END_OF_INPUT).epochEnd();
    }

    @Test
    void joinsOfAllKindsLeaveNothing() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.FULL, JoinKind.ANTI)) {
            Join node = node(kind, true, Optional.empty());
            script(true).run(() -> new JoinOperator(node));
        }
    }

    @Test
    void joinsInTimeLeaveNothing() {
        for (JoinTime time : List.of(new JoinTime.Bounds(2, 2, -5, 20), new JoinTime.WindowEnds(2, 2))) {
            Join node = node(JoinKind.FULL, true, Optional.of(time));
            script(false).run(() -> new JoinOperator(node));
        }
        Join settled = node(JoinKind.INNER, false, Optional.of(new JoinTime.Bounds(2, 2, -5, 20)));
        script(false).run(() -> new AppendedJoinOperator(settled));
        Join looked = node(JoinKind.LEFT, true, Optional.of(new JoinTime.Current()));
        script(true).run(() -> new LookupJoinOperator(looked));
    }

    @Test
    void joinsOfPackedRowsLeaveNothing() {
        for (boolean hasResidual : new boolean[] {true, false}) {
            Join node = node(JoinKind.INNER, hasResidual, Optional.empty());
            script(true).run(() -> new AppendedJoinOperator(node));
        }
    }

    @Test
    void joinsForExistenceLeaveNothing() {
        for (JoinKind kind : List.of(JoinKind.SEMI, JoinKind.ANTI)) {
            Join node = node(kind, false, Optional.empty());
            script(true).run(() -> new ExistenceJoinOperator(node));
        }
    }

    @Test
    void joinsOfSeveralInputsLeaveNothing() {
        MultiJoin node = new MultiJoin(
                List.of(AggregateTests.scan(SIDE), AggregateTests.scan(SIDE), AggregateTests.scan(SIDE)),
                List.of(KEYS, KEYS, KEYS),
                SIDE.concat(SIDE).concat(SIDE));
        script(true).rows(2, row(1L, 5), row(2L, 7)).run(() -> new MultiJoinOperator(node));
    }

    @Test
    void joinsWithARelationLeaveNothing() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI)) {
            Join node = node(kind, true, Optional.empty());
            try (RootAllocator allocator = new RootAllocator();
                    VersionedView view = new VersionedView(SIDE, 64, allocator)) {
                fill(view, allocator, List.of(row(1L, 1), row(2L, 9), row(1L, 2), row(3L, 1)));
                script(true).run(() -> {
                    SharedSide kept = new SharedSide(
                            1, view.followers().follow(KEYS, allocator, () -> {}), List.of(0, 1, 2), KEYS, KEYS);
                    SharedJoinOperator operator = new SharedJoinOperator(node, Optional.empty(), Optional.of(kept));
                    operator.begin();
                    return operator;
                });
            }
        }
    }

    @Test
    void theSidesOfAJoinAreMadeWholeOrNotAtAll() {
        List<Field> wide = new ArrayList<>(SIDE.fields());
        for (int column = 0; column < 4_000; column++) {
            wide.add(new Field("c" + column, DataType.BIGINT, true));
        }
        Join node = new Join(
                AggregateTests.scan(SIDE),
                AggregateTests.scan(new Schema(wide)),
                JoinKind.SEMI,
                KEYS,
                KEYS,
                Optional.empty(),
                Optional.empty(),
                SIDE);
        for (long limit : new long[] {100, 10_000}) { // nothing, and what the left side needs
            try (BufferAllocator allocator = new RootAllocator(limit)) {
                assertThrows(OutOfMemoryException.class, () -> new JoinSides(node, allocator));
                assertEquals(0, allocator.getAllocatedMemory());
            }
        }
        Schema left = Schema.of(new Field("n", DataType.numeric(10, 2), false));
        Schema right = Schema.of(new Field("n", DataType.numeric(10, 3), false));
        Join scales = new Join(
                AggregateTests.scan(left),
                AggregateTests.scan(right),
                JoinKind.INNER,
                List.of(0),
                List.of(0),
                Optional.empty(),
                Optional.empty(),
                left.concat(right));
        try (BufferAllocator allocator = new RootAllocator()) {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> new JoinSides(scales, allocator));
            assertTrue(refused.getMessage().contains("different scales"), refused.getMessage());
        }
    }
}
