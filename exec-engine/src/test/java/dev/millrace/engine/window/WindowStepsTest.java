package dev.millrace.engine.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.Operator;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.PlanNode.WindowExtreme;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Windows step by step: the times at which they end, what is counted of rows and memory, and outputs that are full. */
class WindowStepsTest {
    private static final Schema INPUT = Schema.of(
            new Field("k", DataType.BIGINT, true),
            new Field("ts", DataType.TIMESTAMP, true),
            new Field("v", DataType.BIGINT, true),
            new Field("t", DataType.TEXT, true));
    private static final Schema BOUNDS = Schema.of(
            new Field("window_start", DataType.TIMESTAMP, false), new Field("window_end", DataType.TIMESTAMP, false));

    private static WindowAggregate aggregate(WindowSpec window) {
        AggregateCall count = AggregateTests.call(Function.COUNT, DataType.BIGINT);
        Schema schema = Schema.of(INPUT.field(0), new Field("count", DataType.BIGINT, false))
                .concat(BOUNDS);
        return new WindowAggregate(
                AggregateTests.scan(INPUT), 1, window, List.of(0), List.of(count), Phase.SINGLE, schema);
    }

    private static Row row(long key, Object time, Object value) {
        return Row.of(key, time, value, null);
    }

    private static ZSet sum(Row... rows) {
        return ZSet.of(List.of(rows));
    }

    @Test
    void slicesAreEmittedWithTheirLastWindowAndForgotten() {
        WindowAggregate node = aggregate(new WindowSpec.Hop(5, 10));
        try (OperatorRun run = new OperatorRun(() -> new SliceAggregateOperator(node), INPUT)) {
            run.rows(0, row(1, 0L, 1), row(1, 4L, 1), row(2, 7L, 1)).epochEnd();
            assertEquals(2, run.metrics().stateEntries());
            assertTrue(run.metrics().stateBytes() > 0);
            run.watermark(4);
            assertEquals(sum(), run.taken());
            run.watermark(5);
            assertEquals(sum(Row.of(1L, 2L, -5L, 5L)), run.taken());
            run.rows(0, row(1, 0L, 1), row(1, null, 1)).watermark(9);
            assertEquals(1, run.metrics().lateRows(), "no time");
            run.watermark(10);
            assertEquals(sum(Row.of(1L, 3L, 0L, 10L), Row.of(2L, 1L, 0L, 10L)), run.taken());
            run.rows(0, row(1, 4L, 1), row(2, 5L, 1), row(2, 9L, 1)).epochEnd();
            assertEquals(2, run.metrics().lateRows());
            assertEquals(1, run.metrics().stateEntries());
            run.restart();
            assertEquals(1, run.metrics().stateEntries());
            run.rows(0, row(1, 4L, 1), row(2, 9L, 1));
            assertEquals(1, run.metrics().lateRows());
            run.watermark(15).epochEnd();
            assertEquals(sum(Row.of(2L, 4L, 5L, 15L)), run.taken());
            assertEquals(0, run.metrics().stateEntries());
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(sum(), run.taken());
        }
    }

    @Test
    void windowsGoOutInBatchesAndWaitWhereTheOutputIsFull() {
        for (WindowSpec window : List.of(
                new WindowSpec.Tumble(10),
                new WindowSpec.Hop(10, 20),
                new WindowSpec.Cumulate(10, 20),
                new WindowSpec.Session(10))) {
            boolean isSession = window instanceof WindowSpec.Session;
            WindowAggregate node = aggregate(window);
            Supplier<Operator> factory =
                    () -> isSession ? new SessionAggregateOperator(node) : new SliceAggregateOperator(node);
            try (OperatorRun run = new OperatorRun(4, factory, INPUT)) {
                for (long time : new long[] {5, 15, 95}) {
                    for (long key = 0; key < 6; key++) {
                        run.rows(0, row(key, time, 1));
                    }
                }
                run.epochEnd();
                int calls = 1;
                while (!run.watermark(60, 1)) {
                    calls++;
                }
                ZSet emitted = run.taken();
                int windows = window instanceof WindowSpec.Hop ? 3 : 2;
                assertEquals(6 * windows, emitted.rows().size(), window.toString());
                assertTrue(calls >= 2, "in pieces");
                assertTrue(run.takenSizes().stream().allMatch(size -> size <= 4));
                run.epochEnd();
                assertEquals(6, run.metrics().stateEntries(), window.toString());
                assertFalse(run.watermark(1_000, 0));
                run.watermark(1_000);
                run.epochEnd();
                assertEquals(0, run.metrics().stateEntries(), window.toString());
            }
        }
    }

    /** What is closed while a window is half emitted, its slices put together, gives all memory back. */
    @Test
    void operatorsMayBeClosedInTheMiddleOfAWindow() {
        for (WindowSpec window :
                List.of(new WindowSpec.Tumble(10), new WindowSpec.Hop(10, 20), new WindowSpec.Cumulate(10, 20))) {
            for (int batches = 1; batches <= 5; batches++) {
                WindowAggregate node = aggregate(window);
                try (OperatorRun run = new OperatorRun(4, () -> new SliceAggregateOperator(node), INPUT)) {
                    twoSlicesOfTwelveKeys(run);
                    assertFalse(run.watermark(20, batches));
                }
                for (boolean closed : new boolean[] {true, false}) {
                    WindowExtreme extreme = extreme(window, List.of(0), 2, closed, Phase.SINGLE);
                    try (OperatorRun run = new OperatorRun(4, () -> new WindowExtremeOperator(extreme), INPUT)) {
                        twoSlicesOfTwelveKeys(run);
                        assertFalse(run.watermark(21, batches));
                    }
                }
            }
        }
    }

    private static void twoSlicesOfTwelveKeys(OperatorRun run) {
        for (long key = 0; key < 12; key++) {
            run.rows(0, row(key, 5L, 1), row(key, 15L, 1));
        }
    }

    @Test
    void aFirstPhaseGivesWhatItHasOfASliceOnceThatIsClosed() {
        AggregateCall count = AggregateTests.call(Function.COUNT, DataType.BIGINT);
        WindowAggregate node = new WindowAggregate(
                AggregateTests.scan(INPUT),
                1,
                new WindowSpec.Hop(5, 10),
                List.of(0),
                List.of(count),
                Phase.PARTIAL,
                Schema.of(
                        INPUT.field(0),
                        new Field("slice", DataType.TIMESTAMP, false),
                        new Field("count", DataType.BIGINT, false)));
        try (OperatorRun run = new OperatorRun(() -> new SliceAggregateOperator(node), INPUT)) {
            run.rows(0, row(1, 0L, 1), row(1, 4L, 1), row(2, 5L, 1)).watermark(4);
            assertEquals(sum(), run.taken());
            run.watermark(5);
            assertEquals(sum(Row.of(1L, 5L, 2L)), run.taken());
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(sum(Row.of(2L, 10L, 1L)), run.taken());
        }
    }

    /** Memory of slices that ended serves others. */
    @Test
    void memoryDoesNotGrowWithTheNumberOfWindows() {
        WindowAggregate node = aggregate(new WindowSpec.Hop(5, 10));
        try (OperatorRun run = new OperatorRun(() -> new SliceAggregateOperator(node), INPUT)) {
            long once = 0;
            for (long slice = 0; slice < 400; slice++) {
                run.rows(0, row(1, 5 * slice, 1), row(2, 5 * slice, 1))
                        .watermark(5 * slice)
                        .epochEnd();
                once = slice == 20 ? run.heldBytes() : once;
            }
            assertTrue(run.heldBytes() <= once + (64 << 10), run.heldBytes() + " bytes, once " + once);
        }
    }

    /** What is told once and taken back never has to say which group and which window it is that cannot be computed. */
    @Test
    void whatCannotBeComputedIsNamed() {
        DataType wide = DataType.numeric(38, 0);
        Schema input =
                Schema.of(INPUT.field(0), new Field("ts", DataType.TIMESTAMP, false), new Field("n", wide, true));
        BigDecimal nines = new BigDecimal("9".repeat(38));
        for (WindowSpec window :
                List.of(new WindowSpec.Tumble(10), new WindowSpec.Hop(10, 20), new WindowSpec.Session(5))) {
            boolean isSession = window instanceof WindowSpec.Session;
            WindowAggregate node = new WindowAggregate(
                    AggregateTests.scan(input),
                    1,
                    window,
                    List.of(0),
                    List.of(
                            AggregateTests.call(Function.COUNT, DataType.BIGINT),
                            AggregateTests.call(Function.SUM, wide, 2)),
                    Phase.SINGLE,
                    Schema.of(input.field(0), new Field("n", DataType.BIGINT, false), new Field("s", wide, true))
                            .concat(BOUNDS));
            try (OperatorRun run = new OperatorRun(
                    () -> isSession ? new SessionAggregateOperator(node) : new SliceAggregateOperator(node), input)) {
                for (long key = 0; key < 9; key++) {
                    run.rows(0, Row.of(key, 5L, key == 7 ? nines : BigDecimal.ONE));
                    run.rows(0, Row.of(key, 6L, key == 7 ? nines : BigDecimal.ONE));
                }
                MillraceException why = assertThrows(MillraceException.class, () -> run.watermark(100));
                String end =
                        isSession ? "session to 1970-01-01 00:00:00.000011" : "window to 1970-01-01 00:00:00.00001";
                assertEquals(end + ": group (k = 7): numeric value out of range", why.getMessage());
            }
        }
    }

    /** Keys whose values lie elsewhere than their entries are given back with the last of their sessions. */
    @Test
    void memoryDoesNotGrowWithTheKeysOfSessionsThatEnded() {
        Schema input = INPUT.concat(Schema.of(new Field("a", DataType.array(DataType.BIGINT), true)));
        for (int key : new int[] {3, 4}) {
            WindowAggregate node = new WindowAggregate(
                    AggregateTests.scan(input),
                    1,
                    new WindowSpec.Session(5),
                    List.of(key),
                    List.of(AggregateTests.call(Function.COUNT, DataType.BIGINT)),
                    Phase.SINGLE,
                    Schema.of(input.field(key), new Field("count", DataType.BIGINT, false))
                            .concat(BOUNDS));
            try (OperatorRun run = new OperatorRun(() -> new SessionAggregateOperator(node), input)) {
                long once = 0;
                for (long i = 0; i < 2_000; i++) {
                    run.rows(0, Row.of(1L, 20 * i, 1L, "a key of its own, and long: " + i, List.of(i, i, i, i)))
                            .watermark(20 * i);
                    run.taken();
                    once = i == 100 ? run.heldBytes() : once;
                }
                assertTrue(run.heldBytes() <= once + (16 << 10), run.heldBytes() + " bytes, once " + once);
            }
        }
    }

    // ---- sessions

    @Test
    void aSessionEndsTwoGapsBehindItsLastRow() {
        WindowAggregate node = aggregate(new WindowSpec.Session(10));
        try (OperatorRun run = new OperatorRun(() -> new SessionAggregateOperator(node), INPUT)) {
            run.rows(0, row(1, 100L, 1), row(1, 109L, 1), row(1, 119L, 1), row(2, 100L, 1), row(1, null, 1));
            assertEquals(3, run.metrics().stateEntries());
            assertTrue(run.metrics().stateBytes() > 0);
            assertEquals(1, run.metrics().lateRows());
            run.watermark(118);
            assertEquals(sum(), run.taken());
            run.watermark(119);
            assertEquals(sum(Row.of(2L, 1L, 100L, 110L)), run.taken());
            run.rows(0, row(2, 109L, 1), row(2, 110L, 1)); // a gap behind the watermark, and less
            assertEquals(2, run.metrics().lateRows());
            run.watermark(128);
            assertEquals(sum(Row.of(1L, 2L, 100L, 119L)), run.taken());
            run.epochEnd().restart();
            assertEquals(2, run.metrics().stateEntries());
            run.rows(0, row(1, 118L, 1), row(1, 119L, 1), row(1, 128L, 1), row(2, 119L, 1));
            assertEquals(1, run.metrics().lateRows());
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(sum(Row.of(1L, 3L, 119L, 138L), Row.of(2L, 2L, 110L, 129L)), run.taken());
            assertEquals(0, run.metrics().stateEntries());
        }
    }

    @Test
    void aRowBetweenSessionsMakesThemOne() {
        WindowAggregate node = aggregate(new WindowSpec.Session(10));
        try (OperatorRun run = new OperatorRun(() -> new SessionAggregateOperator(node), INPUT)) {
            run.rows(0, row(1, 0L, 1), row(1, 18L, 1), row(1, 40L, 1), row(1, -20L, 1));
            assertEquals(4, run.metrics().stateEntries());
            run.rows(0, row(1, 9L, 1));
            assertEquals(3, run.metrics().stateEntries());
            run.rows(0, row(1, 28L, 1)); // exactly a gap behind: a session of its own
            assertEquals(4, run.metrics().stateEntries());
            run.rows(0, row(1, 27L, 1), row(1, 31L, 1), row(1, -10L, 1), row(1, -11L, 1), row(1, -1L, 1));
            assertEquals(1, run.metrics().stateEntries());
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(sum(Row.of(1L, 11L, -20L, 50L)), run.taken());
        }
    }

    @Test
    void manySessionsOfAKeyBecomeOneInOneBatch() {
        WindowAggregate node = aggregate(new WindowSpec.Session(10));
        try (OperatorRun run = new OperatorRun(() -> new SessionAggregateOperator(node), INPUT)) {
            Row[] apart = new Row[60];
            Row[] between = new Row[60];
            for (int i = 0; i < 60; i++) {
                apart[i] = row(1, 18L * i, 1);
                between[i] = row(1, 18L * i + 9, 1);
            }
            run.rows(0, apart);
            assertEquals(60, run.metrics().stateEntries());
            run.rows(0, between);
            assertEquals(1, run.metrics().stateEntries());
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(sum(Row.of(1L, 120L, 0L, 18L * 59 + 19)), run.taken());
        }
    }

    @Test
    void sessionsThatEndTogetherGoOutInOrderOfTheirEnds() {
        WindowAggregate node = aggregate(new WindowSpec.Session(1_000));
        try (OperatorRun run = new OperatorRun(1, () -> new SessionAggregateOperator(node), INPUT)) {
            for (long key : new long[] {3, 1, 4, 0, 2}) {
                run.rows(0, row(key, key, 1));
            }
            for (long key = 0; key < 5; key++) {
                assertFalse(run.watermark(5_000, 1) && key < 4);
                assertEquals(sum(Row.of(key, 1L, key, key + 1_000)), run.taken());
            }
        }
    }

    @Test
    void onlySessionsInOnePhaseAreSessions() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new SessionAggregateOperator(aggregate(new WindowSpec.Tumble(10))));
        WindowAggregate attached = new WindowAggregate(
                AggregateTests.scan(INPUT),
                1,
                new WindowSpec.Attached(1, 1),
                List.of(0),
                List.of(),
                Phase.PARTIAL,
                INPUT);
        assertThrows(IllegalArgumentException.class, () -> new SliceAggregateOperator(attached));
    }

    // ---- extremes

    private static WindowExtreme extreme(
            WindowSpec window, List<Integer> keys, int value, boolean closedEnd, Phase phase) {
        return new WindowExtreme(
                AggregateTests.scan(INPUT),
                1,
                window,
                keys,
                value,
                true,
                closedEnd,
                phase,
                phase == Phase.PARTIAL ? INPUT : INPUT.concat(BOUNDS));
    }

    private static Row with(Row row, long start, long end) {
        List<Object> values = new ArrayList<>(row.values());
        values.add(start);
        values.add(end);
        return new Row(values);
    }

    @Test
    void theGreatestOfAWindowGoOutAtItsEndAndAreForgotten() {
        for (List<Integer> keys : List.of(List.<Integer>of(), List.of(0))) {
            WindowExtreme node = extreme(new WindowSpec.Tumble(10), keys, 2, false, Phase.SINGLE);
            try (OperatorRun run = new OperatorRun(() -> new WindowExtremeOperator(node), INPUT)) {
                run.rows(0, row(1, 0L, 5L), row(1, 1L, 7L), row(1, 2L, null), row(1, 3L, 6L), row(1, null, 9L));
                run.rows(0, row(1, 4L, 7L), row(1, 9L, 3L)).epochEnd();
                assertEquals(2, run.metrics().stateEntries());
                assertEquals(1, run.metrics().lateRows());
                assertTrue(run.metrics().stateBytes() > 0);
                run.watermark(9);
                assertEquals(sum(), run.taken());
                run.watermark(10);
                assertEquals(sum(with(row(1, 1L, 7L), 0, 10), with(row(1, 4L, 7L), 0, 10)), run.taken());
                assertEquals(0, run.metrics().stateEntries());
                run.rows(0, row(1, 9L, 5L), row(1, 10L, 4L)).epochEnd().restart();
                assertEquals(1, run.metrics().stateEntries());
                run.rows(0, row(1, 9L, 5L));
                assertEquals(1, run.metrics().lateRows());
                run.watermark(Operator.END_OF_INPUT);
                assertEquals(sum(with(row(1, 10L, 4L), 10, 20)), run.taken());
            }
        }
    }

    @Test
    void aWindowWithAClosedEndWaitsForRowsAtItsEnd() {
        for (List<Integer> keys : List.of(List.<Integer>of(), List.of(0))) {
            WindowExtreme node = extreme(new WindowSpec.Tumble(10), keys, 2, true, Phase.SINGLE);
            try (OperatorRun run = new OperatorRun(() -> new WindowExtremeOperator(node), INPUT)) {
                run.rows(0, row(1, 0L, 5L)).watermark(10);
                assertEquals(sum(), run.taken());
                run.rows(0, row(1, 10L, 5L), row(1, 11L, 5L), row(1, 10L, 6L), row(1, 10L, null));
                run.epochEnd().restart().watermark(11);
                assertEquals(sum(with(row(1, 0L, 5L), 0, 10), with(row(1, 10L, 5L), 0, 10)), run.taken());
                run.watermark(Operator.END_OF_INPUT);
                assertEquals(sum(with(row(1, 10L, 6L), 10, 20)), run.taken());
                run.epochEnd();
                assertEquals(0, run.metrics().stateEntries());
            }
        }
    }

    @Test
    void textsAreComparedAsRows() {
        for (List<Integer> keys : List.of(List.<Integer>of(), List.of(0))) {
            WindowExtreme node = extreme(new WindowSpec.Hop(5, 10), keys, 3, false, Phase.SINGLE);
            try (OperatorRun run = new OperatorRun(() -> new WindowExtremeOperator(node), INPUT)) {
                Row a = Row.of(1L, 1L, 0L, "a");
                Row b = Row.of(1L, 2L, 0L, "b");
                Row otherB = Row.of(1L, 7L, 1L, "b");
                Row none = Row.of(1L, 8L, 1L, null);
                run.rows(0, b, a, none, otherB).watermark(Operator.END_OF_INPUT);
                assertEquals(
                        sum(with(b, -5, 5), with(b, 0, 10), with(otherB, 0, 10), with(otherB, 5, 15)), run.taken());
            }
        }
    }

    @Test
    void rowsBetweenWindowsAreOfNone() {
        WindowExtreme node = extreme(new WindowSpec.Hop(10, 5), List.of(0), 2, false, Phase.SINGLE);
        try (OperatorRun run = new OperatorRun(() -> new WindowExtremeOperator(node), INPUT)) {
            run.rows(0, row(1, 5L, 7L), row(1, 7L, 9L), row(2, 15L, 1L), row(1, 12L, 4L), row(1, 14L, 4L));
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(sum(with(row(1, 12L, 4L), 10, 15), with(row(1, 14L, 4L), 10, 15)), run.taken());
            assertEquals(0, run.metrics().lateRows());
            run.epochEnd();
            assertEquals(0, run.metrics().stateEntries());
        }
    }

    @Test
    void manyRowsMayBeTheGreatestAndThoseThatComeLateAreTold() {
        WindowExtreme node = extreme(new WindowSpec.Tumble(10), List.of(0), 2, false, Phase.SINGLE);
        try (OperatorRun run = new OperatorRun(() -> new WindowExtremeOperator(node), INPUT)) {
            ZSet expected = new ZSet();
            Row[] rows = new Row[1_000];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = row(i % 300, 5L, 1L);
                expected.add(with(rows[i], 0, 10), 1);
            }
            run.rows(0, rows).watermark(10);
            assertEquals(expected, run.taken());
            run.rows(0, row(1, 9L, 1L), row(1, 10L, 1L));
            assertEquals(1, run.metrics().lateRows());
            assertEquals(sum(row(1, 9L, 1L)), run.late());
        }
    }

    @Test
    void candidatesAreTheRowsThatReachTheGreatestSoFar() {
        WindowExtreme node = extreme(new WindowSpec.Tumble(10), List.of(), 2, true, Phase.PARTIAL);
        try (OperatorRun run = new OperatorRun(() -> new ExtremeCandidatesOperator(node), INPUT)) {
            run.rows(0, row(1, 1L, 5L), row(1, 2L, 7L), row(1, 3L, null), row(1, 4L, 7L));
            assertEquals(sum(row(1, 2L, 7L), row(1, 4L, 7L)), run.taken());
            assertEquals(1, run.metrics().stateEntries());
            assertEquals(16, run.metrics().stateBytes());
            run.rows(0, row(1, 5L, 6L), row(1, 0L, 1L), row(1, 10L, 1L), row(1, 0L, null));
            assertEquals(sum(row(1, 0L, 1L), row(1, 10L, 1L)), run.taken(), "at the start of a slice");
            assertEquals(2, run.metrics().stateEntries());
            run.rows(0, row(1, 5L, 8L), row(1, 6L, 8L)); // all: as they are
            assertEquals(sum(row(1, 5L, 8L), row(1, 6L, 8L)), run.taken());
            run.watermark(10).rows(0, row(1, 9L, 1L), row(1, 12L, 0L));
            assertEquals(sum(row(1, 9L, 1L)), run.taken(), "late rows are counted behind");
            assertEquals(1, run.metrics().stateEntries());
            assertEquals(0, run.metrics().lateRows());
            run.watermark(19).rows(0);
            assertEquals(1, run.metrics().stateEntries());
            run.watermark(20).rows(0);
            assertEquals(0, run.metrics().stateEntries());
            assertEquals(sum(), run.taken());
        }
        WindowExtreme texts = extreme(new WindowSpec.Tumble(10), List.of(), 3, false, Phase.PARTIAL);
        try (OperatorRun run = new OperatorRun(() -> new ExtremeCandidatesOperator(texts), INPUT)) {
            run.rows(0, Row.of(1L, 1L, 0L, "b"), Row.of(1L, 1L, 0L, "a"));
            assertEquals(2, run.taken().rows().size());
        }
        for (WindowExtreme wrong : List.of(
                extreme(new WindowSpec.Tumble(10), List.of(0), 2, true, Phase.PARTIAL),
                extreme(new WindowSpec.Tumble(10), List.of(), 2, true, Phase.SINGLE))) {
            assertThrows(IllegalArgumentException.class, () -> new ExtremeCandidatesOperator(wrong));
        }
    }

    // ---- assignment

    @Test
    void manyWindowsPerRowGoOutInBatches() {
        Schema output = INPUT.concat(BOUNDS);
        WindowAssign node = new WindowAssign(AggregateTests.scan(INPUT), 1, new WindowSpec.Hop(1, 100), output);
        try (OperatorRun run = new OperatorRun(64, () -> new WindowAssignOperator(node), INPUT)) {
            Row[] rows = new Row[30];
            Arrays.setAll(rows, i -> row(i, (long) i, i));
            run.rows(0, rows);
            ZSet expected = new ZSet();
            for (int i = 0; i < 30; i++) {
                for (long start = i - 99; start <= i; start++) {
                    expected.add(with(row(i, (long) i, (long) i), start, start + 100), 1);
                }
            }
            assertEquals(expected, run.taken());
            List<Integer> sizes = run.takenSizes();
            assertEquals(47, sizes.size());
            assertTrue(sizes.stream().allMatch(size -> size <= 64));
            run.weighted(0, -2, row(1, null, 1));
            assertEquals(sum(), run.taken());
            assertTrue(run.watermark(5, 0));
        }
        WindowAssign once = new WindowAssign(AggregateTests.scan(INPUT), 1, new WindowSpec.Tumble(10), output);
        try (OperatorRun run = new OperatorRun(64, () -> new WindowAssignOperator(once), INPUT)) {
            run.weighted(0, -2, row(1, 5L, 1L), row(2, 10L, 2L));
            ZSet expected = new ZSet();
            expected.add(with(row(1, 5L, 1L), 0, 10), -2);
            expected.add(with(row(2, 10L, 2L), 10, 20), -2);
            assertEquals(expected, run.taken());
            run.weighted(0, 3, row(1, null, 1L), row(2, 10L, 2L));
            expected = new ZSet();
            expected.add(with(row(2, 10L, 2L), 10, 20), 3);
            assertEquals(expected, run.taken());
        }
    }
}
