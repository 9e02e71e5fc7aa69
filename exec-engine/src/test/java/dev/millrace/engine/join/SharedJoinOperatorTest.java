package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A join with a relation that is read where it is kept says how far it is, and stops in the midst of what one row meets. */
class SharedJoinOperatorTest {
    private static final Schema SIDE =
            Schema.of(new Field("k", DataType.BIGINT, true), new Field("v", DataType.BIGINT, false));
    private static final int LEFT = 0;
    private static final int RIGHT = 1; // which is the relation's

    private final BufferAllocator allocator = new RootAllocator();
    private final VersionedView view = new VersionedView(SIDE, 64, allocator);

    @AfterEach
    void nothingIsLeft() {
        view.close();
        allocator.close();
    }

    private static Row[] rows(long key, long count) {
        return LongStream.range(0, count).mapToObj(value -> Row.of(key, value)).toArray(Row[]::new);
    }

    private OperatorRun join(JoinKind kind, Row... kept) {
        try (Batch batch = TestBatches.of(SIDE, allocator, List.of(kept))) {
            view.fill(List.of(batch));
        }
        Schema schema = kind == JoinKind.SEMI || kind == JoinKind.ANTI ? SIDE : SIDE.concat(SIDE);
        List<Integer> keys = List.of(0);
        Join node = new Join(
                AggregateTests.scan(SIDE),
                AggregateTests.scan(SIDE),
                kind,
                keys,
                keys,
                Optional.empty(),
                Optional.empty(),
                schema);
        OperatorRun run = new OperatorRun(
                () -> new SharedJoinOperator(
                        node,
                        Optional.empty(),
                        Optional.of(new SharedSide(
                                RIGHT, view.followers().follow(keys, allocator, () -> {}), List.of(0, 1), keys, keys))),
                SIDE,
                SIDE);
        ((SharedJoinOperator) run.operator()).begin();
        return run;
    }

    private static long rowsDone(OperatorRun run) {
        return ((SharedJoinOperator) run.operator()).rowsDone();
    }

    @Test
    void eachRowThatMetItsPartnersIsDone() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)) {
            try (OperatorRun run = join(kind, rows(1, 3))) {
                assertEquals(100, rowsDone(run.rows(LEFT, rows(1, 100))));
                assertEquals(105, rowsDone(run.rows(RIGHT, rows(1, 5))));
                assertEquals(107, rowsDone(run.rows(LEFT, rows(1, 2))));
            }
        }
    }

    @Test
    void whatIsToldAgainIsDoneToo() {
        try (OperatorRun run = join(JoinKind.LEFT, rows(1, 3))) {
            run.rows(LEFT, rows(1, 100));
            ((SharedJoinOperator) run.operator()).replay();
            assertEquals(200, rowsDone(run.epochEnd()));
        }
    }

    @Test
    void aRowThatMeetsManyIsGivenUpInTheirMidst() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            try (OperatorRun run = join(kind)) {
                run.rows(LEFT, rows(1, 10_000));
                Interrupt interrupt = new Interrupt();
                interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "stop"));
                try (Interrupt.Binding binding = interrupt.bind()) {
                    assertThrows(MillraceException.class, () -> run.rows(RIGHT, rows(1, 1)));
                }
            }
        }
    }
}
