package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.MultiJoin;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What a join reports of its size is what it holds: limits and statistics go by it. */
class JoinSizesTest {
    private static final Schema SIDE = Schema.of(
            new Field("k", DataType.BIGINT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("text", DataType.TEXT, false));
    private static final int ROWS = 4_000; // of a side
    private static final int OBJECT_BYTES = 200; // that a row may take on the heap, with a key or a text of its own

    private static Join node(JoinKind kind, boolean hasRanges, Optional<JoinTime> time) {
        return JoinPlans.ofEqualSides(
                SIDE, kind, List.of(0), hasRanges ? Optional.of("lt") : Optional.empty(), 1, time);
    }

    private static Row[] rows(int port, int keys, int from, int to) {
        Row[] rows = new Row[to - from];
        for (int i = from; i < to; i++) {
            rows[i - from] = Row.of((long) (i % keys), 10L * i + port, "a text of some length " + i);
        }
        return rows;
    }

    /**
     * @param keys different ones
     * @param isKept whether rows of each port are kept
     * @param onHeap whether some of it is on the heap
     */
    private static void check(Supplier<Operator> factory, int keys, boolean onHeap, boolean... isKept) {
        Schema[] inputs = new Schema[isKept.length];
        Arrays.fill(inputs, SIDE);
        try (OperatorRun run = new OperatorRun(factory, inputs)) {
            long rows = 0;
            for (int part = 0; part < 4; part++) {
                for (int port = 0; port < isKept.length; port++) {
                    run.rows(port, rows(port, keys, part * ROWS / 4, (part + 1) * ROWS / 4));
                    rows += isKept[port] ? ROWS / 4 : 0;
                }
                run.epochEnd().watermark(-100);
                long held = run.heldBytes();
                long reported = run.metrics().stateBytes();
                long heap = onHeap ? rows * OBJECT_BYTES : 0;
                assertTrue(reported <= held + heap, () -> reported + " bytes are said of " + held);
                assertTrue(reported >= held * 3 / 5, () -> reported + " bytes are said of " + held);
                if (isKept[isKept.length - 1]) {
                    assertEquals(rows, run.metrics().stateEntries());
                }
                if (part == 2) {
                    run.restart();
                }
            }
        }
    }

    @Test
    void joinsReportWhatTheyHold() {
        Join plain = node(JoinKind.LEFT, false, Optional.empty());
        check(() -> new JoinOperator(plain), ROWS, false, true, true);
        Join ranges = node(JoinKind.INNER, true, Optional.empty());
        check(() -> new JoinOperator(ranges), 40, false, true, true);
        Join windows = node(JoinKind.INNER, false, Optional.of(new JoinTime.WindowEnds(1, 1)));
        check(() -> new JoinOperator(windows), ROWS, false, true, true);
        Join timed = node(JoinKind.INNER, false, Optional.of(new JoinTime.Bounds(1, 1, -5, 5)));
        check(() -> new JoinOperator(timed), ROWS, true, true, true);
        check(() -> new AppendedJoinOperator(timed), ROWS, true, true, true);
        Join appended = node(JoinKind.INNER, false, Optional.empty());
        check(() -> new AppendedJoinOperator(appended), ROWS, true, true, true);
    }

    @Test
    void otherJoinsReportWhatTheyHold() {
        Join exists = node(JoinKind.SEMI, false, Optional.empty());
        check(() -> new ExistenceJoinOperator(exists), ROWS, false, true, false);
        Join nearest = node(JoinKind.LEFT, false, Optional.of(new JoinTime.Nearest(1, 1, false, true, false)));
        check(() -> new AsofJoinOperator(nearest), ROWS, true, true, true);
        Join current = node(JoinKind.LEFT, false, Optional.of(new JoinTime.Current()));
        check(() -> new LookupJoinOperator(current), ROWS, false, false, true);
        MultiJoin several = new MultiJoin(
                List.of(AggregateTests.scan(SIDE), AggregateTests.scan(SIDE), AggregateTests.scan(SIDE)),
                List.of(List.of(0), List.of(0), List.of(0)),
                SIDE.concat(SIDE).concat(SIDE));
        check(() -> new MultiJoinOperator(several), ROWS, false, true, true, true);
    }

    /** Rows of a key are counted up to some thousands until they are first asked for; more come and go all the same. */
    @Test
    void rowsOfAKeyBeyondThoseThatAreCountedAreFound() {
        Join ranges = node(JoinKind.INNER, true, Optional.empty());
        for (boolean general : new boolean[] {true, false}) {
            try (OperatorRun run = new OperatorRun(
                    () -> general ? new JoinOperator(ranges) : new AppendedJoinOperator(ranges), SIDE, SIDE)) {
                Row[] many = rows(0, 1, 0, 4_500);
                run.rows(0, many)
                        .weighted(0, -1, Arrays.copyOfRange(many, 3, 300))
                        .rows(0, rows(0, 1, 4_500, 4_600));
                for (int i : new int[] {5, 310, 4_590}) {
                    Row right = Row.of(0L, 10L * i + 1, "right");
                    assertEquals(
                            i < 300 ? 3 : i - 296,
                            run.rows(1, right).taken().rows().size());
                }
                run.weighted(0, -1, Arrays.copyOfRange(many, 300, 4_500)).taken();
                run.rows(1, Row.of(0L, 100_000L, "last"));
                assertEquals(3 + 100, run.taken().rows().size());
            }
        }
    }
}
