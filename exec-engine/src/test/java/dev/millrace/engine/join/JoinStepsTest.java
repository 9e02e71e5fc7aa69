package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.operator.Operator;
import dev.millrace.operator.Replay;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.MultiJoin;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Joins step by step: the very times at which rows come too late and go, what is counted, and what is told again. */
class JoinStepsTest {
    private static final Schema SIDE = Schema.of(
            new Field("k", DataType.BIGINT, true),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("v", DataType.TEXT, true));
    private static final Schema KEYED = Schema.of(
            new Field("k", DataType.BIGINT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("v", DataType.TEXT, true));

    private static boolean isHalf(JoinKind kind) {
        return kind == JoinKind.SEMI || kind == JoinKind.ANTI;
    }

    private static Join node(JoinKind kind, Schema side, List<Integer> keys, Optional<JoinTime> time) {
        return node(kind, side, keys, time, Optional.empty());
    }

    private static Join node(
            JoinKind kind, Schema side, List<Integer> keys, Optional<JoinTime> time, Optional<Expression> residual) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < (isHalf(kind) ? 1 : 2); i++) {
            side.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        }
        return new Join(
                AggregateTests.scan(side),
                AggregateTests.scan(side),
                kind,
                keys,
                keys,
                residual,
                time,
                new Schema(fields));
    }

    private static Join node(JoinKind kind, JoinTime time) {
        return node(kind, SIDE, List.of(0), Optional.of(time));
    }

    private static Row row(Object key, long time, String text) {
        return Row.of(key, time, text);
    }

    private static Row pair(Row left, Row right) {
        List<Object> values = new ArrayList<>(left.values());
        values.addAll(right.values());
        return new Row(values);
    }

    private static final Row NONE = new Row(Collections.nCopies(3, null));

    private static ZSet sum(Row... rows) {
        return ZSet.of(List.of(rows));
    }

    private static ZSet weighted(long weight, Row... rows) {
        ZSet sum = new ZSet();
        Arrays.stream(rows).forEach(row -> sum.add(row, weight));
        return sum;
    }

    private static Supplier<Operator> bounded(boolean appended, long lower, long upper) {
        Join node = node(JoinKind.INNER, new JoinTime.Bounds(1, 1, lower, upper));
        return () -> appended ? new AppendedJoinOperator(node) : new JoinOperator(node);
    }

    // ---- bounds on times

    @Test
    void aRowAtTheWatermarkMeetsAndOneBehindItIsLate() {
        for (boolean appended : new boolean[] {true, false}) {
            try (OperatorRun run = new OperatorRun(bounded(appended, -10, 10), SIDE, SIDE)) {
                Row left = row(1L, 100, "left");
                run.rows(0, left).watermark(105).rows(1, row(1L, 105, "at"), row(1L, 104, "behind"));
                assertEquals(sum(pair(left, row(1L, 105, "at"))), run.taken());
                assertEquals(sum(row(1L, 104, "behind")), run.late());
                assertEquals(1, run.metrics().lateRows());
                run.watermark(106).rows(0, row(1L, 105, "behind"), row(1L, 106, "at"));
                assertEquals(sum(pair(row(1L, 106, "at"), row(1L, 105, "at"))), run.taken());
                assertEquals(2, run.metrics().lateRows());
            }
        }
    }

    @Test
    void aWatermarkOfAnyTimeIsAheadOfNone() {
        for (boolean appended : new boolean[] {true, false}) {
            try (OperatorRun run = new OperatorRun(bounded(appended, -10, 10), SIDE, SIDE)) {
                Row first = row(1L, Long.MIN_VALUE / 4, "first");
                run.rows(0, first).rows(1, first);
                assertEquals(sum(pair(first, first)), run.taken());
                assertEquals(0, run.metrics().lateRows());
            }
        }
    }

    @Test
    void bothBoundsAreInclusive() {
        for (boolean appended : new boolean[] {true, false}) {
            for (int first = 0; first < 2; first++) {
                try (OperatorRun run = new OperatorRun(bounded(appended, -5, 20), SIDE, SIDE)) {
                    Row left = row(1L, 100, "left");
                    Row[] rights = {row(1L, 94, "a"), row(1L, 95, "b"), row(1L, 120, "c"), row(1L, 121, "d")};
                    if (first == 0) {
                        run.rows(0, left).rows(1, rights);
                    } else {
                        run.rows(1, rights).rows(0, left);
                    }
                    assertEquals(sum(pair(left, rights[1]), pair(left, rights[2])), run.taken());
                }
            }
        }
    }

    @Test
    void rowsStayAsLongAsOneCanComeThatTheyMeet() {
        try (OperatorRun run = new OperatorRun(bounded(false, -5, 20), SIDE, SIDE)) {
            run.rows(0, row(1L, 100, "left")).rows(1, row(2L, 100, "right")).epochEnd();
            assertEquals(2, run.metrics().stateEntries());
            assertTrue(run.metrics().stateBytes() > 0);
            run.watermark(105);
            assertEquals(2, run.metrics().stateEntries());
            run.watermark(106); // no left row can come for the right one
            assertEquals(1, run.metrics().stateEntries());
            run.watermark(120);
            assertEquals(1, run.metrics().stateEntries());
            run.watermark(121);
            assertEquals(0, run.metrics().stateEntries());
            run.rows(0, row(1L, 1_000, "left")).watermark(Operator.END_OF_INPUT);
            assertEquals(0, run.metrics().stateEntries());
        }
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void rowsWithoutAPartnerAreShownWhenNoneCanCome(JoinKind kind) {
        try (OperatorRun run =
                new OperatorRun(() -> new JoinOperator(node(kind, new JoinTime.Bounds(1, 1, -5, 20))), SIDE, SIDE)) {
            Row left = row(1L, 100, "left");
            Row right = row(2L, 100, "right");
            Row keyless = row(null, 100, "no key");
            run.rows(0, left, keyless).rows(1, right);
            ZSet atOnce = new ZSet();
            boolean leftWaits = kind == JoinKind.LEFT || kind == JoinKind.FULL;
            boolean rightWaits = kind == JoinKind.RIGHT || kind == JoinKind.FULL;
            if (leftWaits || kind == JoinKind.ANTI) {
                atOnce.add(leftWaits ? pair(keyless, NONE) : keyless, 1);
            }
            assertEquals(atOnce, run.taken());
            run.watermark(105);
            assertEquals(sum(), run.taken());
            run.watermark(106);
            assertEquals(rightWaits ? sum(pair(NONE, right)) : sum(), run.taken());
            run.watermark(120);
            assertEquals(sum(), run.taken());
            run.watermark(121);
            assertEquals(leftWaits ? sum(pair(left, NONE)) : kind == JoinKind.ANTI ? sum(left) : sum(), run.taken());
        }
    }

    @Test
    void theWatermarkIsHeldBackByHowFarRowsWait() {
        for (boolean appended : new boolean[] {true, false}) {
            JoinTime.Bounds bounds = new JoinTime.Bounds(1, 1, -5, 20);
            Operator operator = bounded(appended, -5, 20).get();
            try (OperatorRun run = new OperatorRun(() -> operator, SIDE, SIDE)) {
                assertEquals(100 - bounds.heldMicros(), operator.passedWatermark(100));
                assertEquals(Operator.END_OF_INPUT, operator.passedWatermark(Operator.END_OF_INPUT));
                assertEquals(Operator.NO_WATERMARK, operator.passedWatermark(Operator.NO_WATERMARK));
                assertEquals(Operator.NO_WATERMARK + 1, operator.passedWatermark(Operator.NO_WATERMARK + 2));
            }
        }
        for (boolean appended : new boolean[] {true, false}) {
            Join untimed = node(JoinKind.INNER, SIDE, List.of(0), Optional.empty());
            Operator operator = appended ? new AppendedJoinOperator(untimed) : new JoinOperator(untimed);
            try (OperatorRun run = new OperatorRun(() -> operator, SIDE, SIDE)) {
                assertEquals(100, operator.passedWatermark(100));
            }
        }
    }

    // ---- rows that are kept for a time

    @Test
    void forgottenRowsAreCountedAndTheEndOfInputForgetsNone() {
        JoinTime kept = new JoinTime.Kept(OptionalInt.of(1), OptionalInt.empty(), 50);
        try (OperatorRun run = new OperatorRun(() -> new JoinOperator(node(JoinKind.LEFT, kept)), SIDE, SIDE)) {
            assertEquals(50, 100 - run.operator().passedWatermark(100));
            Row left = row(1L, 100, "left");
            run.rows(0, left, row(1L, 101, "left")).rows(1, row(2L, 0, "right"));
            run.taken();
            run.watermark(150);
            assertEquals(0, run.metrics().forgotten());
            assertEquals(3, run.metrics().stateEntries());
            run.watermark(151);
            assertEquals(1, run.metrics().forgotten());
            assertEquals(2, run.metrics().stateEntries());
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(1, run.metrics().forgotten());
            assertEquals(sum(), run.taken(), "in silence");
        }
    }

    @Test
    void rowsThatAreKeptBehindTheWatermarkStillMeet() {
        JoinTime kept = new JoinTime.Kept(OptionalInt.of(1), OptionalInt.of(1), 50);
        try (OperatorRun run = new OperatorRun(() -> new JoinOperator(node(JoinKind.INNER, kept)), SIDE, SIDE)) {
            Row[] lefts = {row(1L, 49, "a"), row(1L, 50, "b"), row(1L, 150, "c"), row(1L, 151, "d")};
            run.rows(0, lefts).rows(1, row(1L, 100, "right"));
            assertEquals(
                    sum(pair(lefts[1], row(1L, 100, "right")), pair(lefts[2], row(1L, 100, "right"))), run.taken());
        }
    }

    // ---- windows

    @Test
    void aWindowThatEndsAtTheWatermarkIsOver() {
        for (List<Integer> keys : List.of(List.of(0, 1), List.of(0))) {
            Join node = node(JoinKind.FULL, SIDE, keys, Optional.of(new JoinTime.WindowEnds(1, 1)));
            try (OperatorRun run = new OperatorRun(() -> new JoinOperator(node), SIDE, SIDE)) {
                Row left = row(1L, 10, "left");
                Row right = row(2L, 10, "right");
                run.rows(0, left, row(1L, 11, "later"))
                        .rows(1, right, row(2L, 11, "later"))
                        .epochEnd();
                assertEquals(4, run.metrics().stateEntries());
                run.watermark(9);
                assertEquals(sum(), run.taken());
                run.watermark(10);
                assertEquals(sum(pair(left, NONE), pair(NONE, right)), run.taken());
                assertEquals(2, run.metrics().stateEntries());
                run.rows(0, row(1L, 10, "late"), row(1L, 11, "more"));
                assertEquals(sum(row(1L, 10, "late")), run.late());
                assertEquals(1, run.metrics().lateRows());
                run.watermark(11);
                assertEquals(
                        sum(
                                pair(row(1L, 11, "later"), NONE),
                                pair(row(1L, 11, "more"), NONE),
                                pair(NONE, row(2L, 11, "later"))),
                        run.taken());
                assertEquals(0, run.metrics().stateEntries());
            }
        }
    }

    @Test
    void oneWindowAtATimeIsClosedWhereTheOutputIsFull() {
        Join node = node(JoinKind.LEFT, SIDE, List.of(0, 1), Optional.of(new JoinTime.WindowEnds(1, 1)));
        try (OperatorRun run = new OperatorRun(() -> new JoinOperator(node), SIDE, SIDE)) {
            for (long end = 1; end <= 5; end++) {
                run.rows(0, row(1L, end, "left"));
            }
            assertFalse(run.watermark(3, 1));
            assertEquals(sum(pair(row(1L, 1, "left"), NONE)), run.taken());
            assertFalse(run.watermark(3, 1));
            assertTrue(run.watermark(3, 2));
            assertEquals(sum(pair(row(1L, 2, "left"), NONE), pair(row(1L, 3, "left"), NONE)), run.taken());
            assertEquals(2, run.metrics().stateEntries());
            long bytes = run.heldBytes();
            for (long end = 6; end < 100; end++) { // states of windows that ended serve others
                run.rows(0, row(1L, end, "left")).watermark(end - 2);
            }
            assertTrue(run.heldBytes() <= bytes + (64 << 10), run.heldBytes() + " bytes, once " + bytes);
            assertEquals(2, run.metrics().stateEntries());
        }
    }

    // ---- weights

    @Test
    void weightsMultiply() {
        Join node = node(JoinKind.INNER, SIDE, List.of(0), Optional.empty());
        for (Supplier<Operator> factory :
                List.<Supplier<Operator>>of(() -> new JoinOperator(node), () -> new AppendedJoinOperator(node))) {
            try (OperatorRun run = new OperatorRun(factory, SIDE, SIDE)) {
                Row left = row(1L, 1, "left");
                Row right = row(1L, 2, "right");
                run.rows(0, row(1L, 0, "once")).weighted(0, 2, left).weighted(1, 3, right);
                ZSet expected = weighted(6, pair(left, right));
                expected.add(pair(row(1L, 0, "once"), right), 3);
                assertEquals(expected, run.taken());
                run.weighted(1, -3, right).epochEnd();
                expected = weighted(-6, pair(left, right));
                expected.add(pair(row(1L, 0, "once"), right), -3);
                assertEquals(expected, run.taken());
                assertEquals(2, run.metrics().stateEntries());
                run.weighted(0, -2, left).weighted(0, -1, row(1L, 0, "once")).epochEnd();
                assertEquals(sum(), run.taken());
                assertEquals(0, run.metrics().stateEntries());
            }
        }
    }

    @Test
    void aWeightThatDoesNotFitIsAnError() {
        Join node = node(JoinKind.INNER, SIDE, List.of(0), Optional.empty());
        try (OperatorRun run = new OperatorRun(() -> new JoinOperator(node), SIDE, SIDE)) {
            run.weighted(0, 1L << 40, row(1L, 1, "left"));
            assertThrows(ArithmeticException.class, () -> run.weighted(1, 1L << 40, row(1L, 1, "right")));
        }
    }

    /** Whether a row is shown changes when the weight of its partners becomes or ceases to be zero, and only then. */
    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void partnersThatComeAndGoChangeWhatIsShownOnce(JoinKind kind) {
        Join node = node(kind, SIDE, List.of(0), Optional.empty());
        List<Supplier<Operator>> factories = new ArrayList<>(List.of(() -> new JoinOperator(node)));
        if (ExistenceJoinOperator.suits(node)) {
            factories.add(() -> new ExistenceJoinOperator(node));
        }
        for (Supplier<Operator> factory : factories) {
            try (OperatorRun run = new OperatorRun(factory, SIDE, SIDE)) {
                Row left = row(1L, 1, "left");
                Row right = row(1L, 2, "right");
                Row other = row(1L, 3, "other");
                boolean isOuter = kind == JoinKind.LEFT || kind == JoinKind.FULL;
                Row alone = isHalf(kind) ? left : pair(left, NONE);
                run.weighted(0, 2, left).epochEnd();
                assertEquals(isOuter || kind == JoinKind.ANTI ? weighted(2, alone) : sum(), run.taken(), "comes alone");
                run.weighted(1, 3, right).epochEnd();
                ZSet expected = isHalf(kind) ? new ZSet() : weighted(6, pair(left, right));
                if (kind == JoinKind.SEMI) {
                    expected.add(left, 2);
                } else if (isOuter || kind == JoinKind.ANTI) {
                    expected.add(alone, -2);
                }
                assertEquals(expected, run.taken(), "has a partner");
                run.rows(1, other).weighted(1, -3, right).epochEnd();
                expected = isHalf(kind) ? new ZSet() : weighted(2, pair(left, other));
                if (!isHalf(kind)) {
                    expected.add(pair(left, right), -6);
                }
                assertEquals(expected, run.taken(), "has another partner");
                run.weighted(1, -1, other).epochEnd();
                expected = isHalf(kind) ? new ZSet() : weighted(-2, pair(left, other));
                if (kind == JoinKind.SEMI) {
                    expected.add(left, -2);
                } else if (isOuter || kind == JoinKind.ANTI) {
                    expected.add(alone, 2);
                }
                assertEquals(expected, run.taken(), "is alone again");
                run.weighted(0, -2, left).epochEnd();
                assertEquals(isOuter || kind == JoinKind.ANTI ? weighted(-2, alone) : sum(), run.taken(), "goes");
                assertEquals(0, run.metrics().stateEntries());
            }
        }
    }

    @Test
    void rowsWithoutAKeyAreShownAtOnceAndNotKept() {
        for (JoinKind kind : List.of(JoinKind.ANTI, JoinKind.SEMI)) {
            Join node = node(kind, SIDE, List.of(0), Optional.empty());
            for (Supplier<Operator> factory :
                    List.<Supplier<Operator>>of(() -> new JoinOperator(node), () -> new ExistenceJoinOperator(node))) {
                try (OperatorRun run = new OperatorRun(factory, SIDE, SIDE)) {
                    Row keyless = row(null, 1, "no key");
                    run.weighted(0, 2, keyless).rows(1, keyless).epochEnd();
                    assertEquals(kind == JoinKind.ANTI ? weighted(2, keyless) : sum(), run.taken());
                    run.weighted(0, -1, keyless).epochEnd();
                    assertEquals(kind == JoinKind.ANTI ? weighted(-1, keyless) : sum(), run.taken());
                    assertEquals(0, run.metrics().stateEntries());
                }
            }
        }
    }

    // ---- told again

    private static Supplier<Replay> replaying(Join node, int which) {
        return () -> switch (which) {
            case 0 -> new JoinOperator(node);
            case 1 -> new AppendedJoinOperator(node);
            default -> new ExistenceJoinOperator(node);
        };
    }

    private static boolean suits(Join node, int which) {
        return switch (which) {
            case 0 -> true;
            case 1 -> AppendedJoinOperator.suits(node);
            default -> ExistenceJoinOperator.suits(node);
        };
    }

    /** Whether after a restart, or from the rows as they are; told in small pieces, at once, or before another row. */
    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void theWholeAnswerIsToldAgain(JoinKind kind) {
        Expression less = new Expression.Call(
                "lt",
                List.of(
                        new Expression.Column(1, DataType.TIMESTAMP, false),
                        new Expression.Column(4, DataType.TIMESTAMP, false)),
                DataType.BOOLEAN,
                false);
        for (Optional<Expression> residual : List.of(Optional.<Expression>empty(), Optional.of(less))) {
            Join node = node(kind, KEYED, List.of(0), Optional.empty(), residual);
            assertTrue(JoinAnswer.isKept(node));
            for (int which = 0; which < 3; which++) {
                for (int way = 0; suits(node, which) && way < 5; way++) {
                    toldAgain(replaying(node, which), way);
                }
            }
        }
    }

    private static void toldAgain(Supplier<Replay> factory, int way) {
        try (OperatorRun run = new OperatorRun(way == 1 ? 4 : 4096, factory, KEYED, KEYED)) {
            for (long key = 0; key < 12; key++) {
                for (long i = 0; i < key % 4; i++) {
                    run.rows(0, row(key, i, "left"));
                }
                for (long i = 0; i < key % 3; i++) {
                    run.rows(1, row(key, 2 * i, "right " + "x".repeat((int) key)));
                }
            }
            if (way >= 3) {
                run.weighted(0, -1, row(3L, 1, "left")).weighted(0, 2, row(5L, 0, "left"));
            }
            run.epochEnd();
            ZSet all = run.taken();
            assertTrue(all.isPositive());
            if (way == 2 || way == 4) {
                run.restart();
            }
            ((Replay) run.operator()).replay();
            if (way == 1) {
                int calls = 1;
                while (!run.epochEnd(1)) {
                    calls++;
                }
                assertTrue(calls > 1, "in pieces");
                assertEquals(all, run.taken());
            } else {
                run.epochEnd();
                assertEquals(all, run.taken());
            }
            run.epochEnd();
            assertEquals(sum(), run.taken(), "once");
            run.rows(0, row(100L, 0, "left")).rows(1, row(100L, 1, "right")).epochEnd();
            run.taken();
        }
    }

    @Test
    void whatIsToldAgainComesBeforeTheNextRow() {
        Join node = node(JoinKind.INNER, KEYED, List.of(0), Optional.empty());
        for (int which = 0; which < 2; which++) {
            try (OperatorRun run = new OperatorRun(replaying(node, which), KEYED, KEYED)) {
                run.rows(0, row(1L, 1, "left")).rows(1, row(1L, 2, "right")).epochEnd();
                run.taken();
                ((Replay) run.operator()).replay();
                run.rows(1, row(1L, 3, "more")).epochEnd();
                assertEquals(
                        sum(
                                pair(row(1L, 1, "left"), row(1L, 2, "right")),
                                pair(row(1L, 1, "left"), row(1L, 3, "more"))),
                        run.taken());
            }
        }
    }

    @Test
    void onlyAnswersThatAreKeptCanBeToldAgain() {
        JoinTime ends = new JoinTime.WindowEnds(1, 1);
        for (JoinKind kind : JoinKind.values()) {
            assertFalse(JoinAnswer.isKept(node(kind, KEYED, List.of(0), Optional.of(ends))));
            assertEquals(
                    kind == JoinKind.INNER || kind == JoinKind.SEMI,
                    JoinAnswer.isKept(node(kind, SIDE, List.of(0), Optional.empty())),
                    kind + " without a key");
            assertTrue(JoinAnswer.isKept(node(kind, SIDE, List.of(1), Optional.empty())));
            for (int nullable = 0; nullable < 2; nullable++) {
                Join node = new Join(
                        AggregateTests.scan(nullable == 0 ? SIDE : KEYED),
                        AggregateTests.scan(nullable == 1 ? SIDE : KEYED),
                        kind,
                        List.of(0),
                        List.of(0),
                        Optional.empty(),
                        Optional.empty(),
                        SIDE);
                boolean needsLeft = kind == JoinKind.LEFT || kind == JoinKind.ANTI || kind == JoinKind.FULL;
                boolean needsRight = kind == JoinKind.RIGHT || kind == JoinKind.FULL;
                assertEquals(!(nullable == 0 ? needsLeft : needsRight), JoinAnswer.isKept(node));
            }
        }
    }

    @Test
    void severalInputsAreJoinedAndToldAgain() {
        List<PlanNode> inputs = Collections.nCopies(3, AggregateTests.scan(SIDE));
        Schema schema = SIDE.concat(SIDE).concat(SIDE);
        MultiJoin node = new MultiJoin(inputs, Collections.nCopies(3, List.of(0)), schema);
        for (int way = 0; way < 3; way++) {
            try (OperatorRun run = new OperatorRun(() -> new MultiJoinOperator(node), SIDE, SIDE, SIDE)) {
                ZSet expected = new ZSet();
                for (long key = 0; key < 200; key++) {
                    Row row = row(key, 1, "row");
                    run.weighted(0, 2, row).rows(1, row).weighted(2, 3, row);
                    expected.add(pair(pair(row, row), row), 6);
                }
                run.rows(0, row(null, 1, "no key"))
                        .rows(1, row(500L, 1, "alone"))
                        .epochEnd();
                assertEquals(601, run.metrics().stateEntries());
                assertTrue(run.metrics().stateBytes() > 0);
                assertEquals(expected, run.taken());
                if (way == 2) {
                    run.restart();
                    assertEquals(601, run.metrics().stateEntries());
                }
                ((Replay) run.operator()).replay();
                if (way == 0) {
                    assertFalse(run.epochEnd(1));
                    assertFalse(run.epochEnd(1));
                } else if (way == 1) {
                    run.rows(0, row(null, 2, "no key"));
                    assertEquals(expected, run.taken());
                }
                run.epochEnd();
                if (way != 1) {
                    assertEquals(expected, run.taken());
                }
                for (long key = 0; key < 200; key++) {
                    run.weighted(2, -3, row(key, 1, "row"));
                }
                assertEquals(-6 * 200, sumOf(run.taken()));
                assertTrue(run.watermark(7, 0), "no watermark holds it up");
            }
        }
    }

    private static long sumOf(ZSet set) {
        long[] sum = new long[1];
        set.forEach((row, weight) -> sum[0] += weight);
        return sum[0];
    }

    // ---- look-ups

    @Test
    void lookUpsPassTheWatermarkOnWhenTheirRowsHaveGoneOut() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            Join node = node(kind, new JoinTime.Current());
            try (OperatorRun run = new OperatorRun(() -> new LookupJoinOperator(node), SIDE, SIDE)) {
                Row left = row(1L, 100, "left");
                Row right = row(1L, 0, "right");
                run.rows(0, left, row(null, 100, "no key"), row(2L, 100, "alone"));
                run.watermark(100).weighted(1, 2, right);
                assertEquals(sum(), run.taken());
                assertEquals(Operator.NO_WATERMARK, run.operator().passedWatermark(100));
                assertFalse(run.epochEnd(0));
                assertEquals(Operator.NO_WATERMARK, run.operator().passedWatermark(100));
                run.epochEnd();
                ZSet expected = weighted(2, pair(left, right));
                if (kind == JoinKind.LEFT) {
                    expected.add(pair(row(null, 100, "no key"), NONE), 1);
                    expected.add(pair(row(2L, 100, "alone"), NONE), 1);
                }
                assertEquals(expected, run.taken());
                assertEquals(100, run.operator().passedWatermark(100));
                assertEquals(1, run.metrics().stateEntries());
                assertTrue(run.metrics().stateBytes() > 0);
                run.watermark(200).restart();
                assertEquals(200, run.operator().passedWatermark(200));
                run.weighted(0, 3, left).epochEnd();
                assertEquals(weighted(6, pair(left, right)), run.taken());
                run.rows(0, left).watermark(Operator.END_OF_INPUT);
                assertEquals(weighted(2, pair(left, right)), run.taken(), "at the end of all");
                run.weighted(1, -2, right).epochEnd();
                assertEquals(0, run.metrics().stateEntries());
            }
        }
        for (JoinKind kind : List.of(JoinKind.RIGHT, JoinKind.FULL, JoinKind.SEMI, JoinKind.ANTI)) {
            Join node = node(kind, new JoinTime.Current());
            assertThrows(IllegalArgumentException.class, () -> new LookupJoinOperator(node));
            assertThrows(IllegalArgumentException.class, () -> new AsofJoinOperator(node));
        }
    }

    /** Pairs go out in batches that grow from few to what is asked for, and no further. */
    @Test
    void pairsGoOutInBatchesOfTheSizeAskedFor() {
        Join current = node(JoinKind.INNER, new JoinTime.Current());
        Join plain = node(JoinKind.INNER, SIDE, List.of(0), Optional.empty());
        for (int batchRows : new int[] {10, 64, 100, 300, 5_000}) {
            for (Supplier<Operator> factory : List.<Supplier<Operator>>of(
                    () -> new LookupJoinOperator(current),
                    () -> new JoinOperator(plain),
                    () -> new AppendedJoinOperator(plain))) {
                try (OperatorRun run = new OperatorRun(batchRows, factory, SIDE, SIDE)) {
                    Row[] rights = new Row[1_000];
                    Arrays.setAll(rights, i -> row(1L, i, "right"));
                    run.rows(1, rights).rows(0, row(1L, 1, "left")).epochEnd();
                    assertEquals(1_000, run.taken().rows().size());
                    List<Integer> sizes = run.takenSizes();
                    int most = sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
                    assertEquals(Math.min(batchRows, 1_000), most, batchRows + " rows: " + sizes);
                    assertTrue(sizes.size() <= 1_200 / Math.min(batchRows, 64) + 1, sizes.toString());
                }
            }
        }
    }

    // ---- the nearest in time

    @Test
    void settledJoinsAnswerWhenTheWatermarkIsPastARow() {
        Join node = node(JoinKind.LEFT, new JoinTime.Nearest(1, 1, false, true, true));
        try (OperatorRun run = new OperatorRun(() -> new AsofJoinOperator(node), SIDE, SIDE)) {
            Row left = row(1L, 3_000_000, "left");
            Row right = row(1L, 3_000_000, "right");
            run.rows(1, row(1L, 0, "old"), row(1L, 1, "older"), right)
                    .rows(0, left)
                    .epochEnd();
            assertEquals(4, run.metrics().stateEntries());
            assertTrue(run.metrics().stateBytes() > 4 * 16);
            run.watermark(3_000_000);
            assertEquals(sum(), run.taken());
            run.watermark(3_000_001);
            assertEquals(sum(pair(left, right)), run.taken());
            assertEquals(1, run.metrics().stateEntries(), "the last one before the watermark");
            run.rows(0, row(1L, 3_000_000, "late"), row(1L, 3_000_001, "at"), row(null, 3_000_001, "no key"));
            assertEquals(sum(row(1L, 3_000_000, "late")), run.late());
            assertEquals(1, run.metrics().lateRows());
            assertEquals(sum(pair(row(null, 3_000_001, "no key"), NONE)), run.taken());
            run.epochEnd().restart();
            run.rows(0, row(1L, 3_000_000, "late"), row(2L, 9_000_000, "alone"));
            assertEquals(1, run.metrics().lateRows());
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(
                    sum(pair(row(1L, 3_000_001, "at"), right), pair(row(2L, 9_000_000, "alone"), NONE)), run.taken());
        }
    }

    /** A key is due at the times of several rows; if each time it were due twice again, it would be millions of times. */
    @Test
    void aKeyIsDueOnceForEachTime() {
        Join node = node(JoinKind.LEFT, new JoinTime.Nearest(1, 1, false, true, true));
        try (OperatorRun run = new OperatorRun(() -> new AsofJoinOperator(node), SIDE, SIDE)) {
            for (long round = 0; round < 50; round++) {
                long time = round * 10_000_000;
                for (int i = 0; i < 10; i++) {
                    run.rows(1, row(1L, time + i * 2_000_000 + 1, "right" + i));
                    run.rows(0, row(1L, time + i * 2_000_000, "left" + i));
                }
                run.epochEnd().watermark(time + 1);
                run.taken();
            }
            run.watermark(Operator.END_OF_INPUT);
        }
    }

    @Test
    void aKeyThatIsOverIsForgottenAndMayComeAgain() {
        Join node = node(JoinKind.LEFT, new JoinTime.Nearest(1, 1, false, true, true));
        try (OperatorRun run = new OperatorRun(() -> new AsofJoinOperator(node), SIDE, SIDE)) {
            for (long round = 0; round < 50; round++) {
                Row left = row(round, round * 2_000_000, "left");
                run.rows(0, left).epochEnd().watermark(round * 2_000_000 + 1);
                assertEquals(sum(pair(left, NONE)), run.taken());
                assertEquals(0, run.metrics().stateEntries());
            }
            long bytes = run.metrics().stateBytes();
            run.rows(0, row(1L, 500_000_000, "left")).epochEnd();
            assertEquals(216, run.metrics().stateBytes() - bytes, "a row and a key on the heap");
        }
    }

    @Test
    void joinsThatChangeAreBroughtUpToDateAtTheEndOfAnEpoch() {
        Join node = node(JoinKind.LEFT, new JoinTime.Nearest(1, 1, false, false, false));
        try (OperatorRun run = new OperatorRun(() -> new AsofJoinOperator(node), SIDE, SIDE)) {
            Row left = row(1L, 100, "left");
            run.weighted(0, 2, left).rows(1, row(1L, 100, "at")).epochEnd();
            assertEquals(weighted(2, pair(left, NONE)), run.taken());
            assertEquals(2, run.metrics().stateEntries());
            run.rows(1, row(1L, 99, "before")).watermark(1_000);
            assertEquals(sum(), run.taken());
            run.epochEnd();
            ZSet expected = weighted(2, pair(left, row(1L, 99, "before")));
            expected.add(pair(left, NONE), -2);
            assertEquals(expected, run.taken());
            run.weighted(0, -1, left).epochEnd();
            assertEquals(weighted(-1, pair(left, row(1L, 99, "before"))), run.taken());
            run.restart();
            run.weighted(1, -1, row(1L, 99, "before")).watermark(Operator.END_OF_INPUT);
            expected = weighted(-1, pair(left, row(1L, 99, "before")));
            expected.add(pair(left, NONE), 1);
            assertEquals(expected, run.taken());
            run.weighted(0, -1, left).weighted(1, -1, row(1L, 100, "at")).epochEnd();
            assertEquals(weighted(-1, pair(left, NONE)), run.taken());
            assertEquals(0, run.metrics().stateEntries());
        }
    }
}
