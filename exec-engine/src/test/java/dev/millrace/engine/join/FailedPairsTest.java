package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.Operator;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pair of rows for which a join's condition fails does not meet, and is noted as long as both rows are there; others do meet. */
class FailedPairsTest {
    private static final Schema SIDE =
            Schema.of(new Field("k", DataType.BIGINT, true), new Field("v", DataType.INTEGER, true));

    private static Expression call(String function, DataType type, Expression... arguments) {
        return new Call(function, List.of(arguments), type, true);
    }

    /** {@code 12 / (a.v - b.v) < 3}. */
    private static Join node(JoinKind kind, Optional<JoinTime> time) {
        Expression difference = call(
                "subtract",
                DataType.INTEGER,
                new Column(1, DataType.INTEGER, true),
                new Column(3, DataType.INTEGER, true));
        Expression quotient = call("divide", DataType.INTEGER, new Literal(12L, DataType.INTEGER), difference);
        Expression condition = call("lt", DataType.BOOLEAN, quotient, new Literal(3L, DataType.INTEGER));
        List<Field> fields = new ArrayList<>(SIDE.fields());
        if (kind != JoinKind.SEMI && kind != JoinKind.ANTI) {
            SIDE.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        }
        return new Join(
                AggregateTests.scan(SIDE),
                AggregateTests.scan(SIDE),
                kind,
                List.of(0),
                List.of(0),
                Optional.of(condition),
                time,
                new Schema(fields));
    }

    private static boolean haveKey(Row left, Row right) {
        return left.get(0) != null && left.get(0).equals(right.get(0));
    }

    private static boolean fail(Row left, Row right) {
        return haveKey(left, right) && left.get(1) != null && left.get(1).equals(right.get(1));
    }

    private static boolean meet(Row left, Row right) {
        return haveKey(left, right)
                && !fail(left, right)
                && left.get(1) != null
                && right.get(1) != null
                && 12 / ((Long) left.get(1) - (Long) right.get(1)) < 3;
    }

    private static ZSet expected(JoinKind kind, List<Row> lefts, List<Row> rights) {
        return new ReferenceJoin(kind, 2, 2, FailedPairsTest::meet).answer(lefts, rights);
    }

    private static long failures(ZSet failed) {
        long[] sum = new long[1];
        failed.forEach((text, weight) -> {
            assertTrue(text.get(0).toString().contains("division by zero"), text.toString());
            sum[0] += weight;
        });
        return sum[0];
    }

    private static void check(Join node, Supplier<Operator> factory, int batchRows, boolean takesBack, long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
        ZSet answer = new ZSet();
        try (OperatorRun run = OperatorRun.keepingFailedRows(batchRows, factory, SIDE, SIDE)) {
            for (int step = 0; step < 60; step++) {
                int port = random.nextInt(2);
                List<Row> side = sides.get(port);
                List<Row> rows = new ArrayList<>();
                boolean isBack = takesBack && !side.isEmpty() && random.nextInt(5) < 2;
                for (int left = random.nextInt(12); left > 0; left--) {
                    if (!isBack) {
                        Object key = random.nextInt(9) == 0 ? null : (Object) random.nextLong(3);
                        Object number = random.nextInt(9) == 0 ? null : (Object) random.nextInt(9);
                        rows.add(TestBatches.canonical(SIDE, Row.of(key, number)));
                    } else if (!side.isEmpty()) {
                        rows.add(side.remove(random.nextInt(side.size())));
                    }
                }
                if (isBack) {
                    run.weighted(port, -1, rows.toArray(Row[]::new));
                } else {
                    run.rows(port, rows.toArray(Row[]::new));
                    side.addAll(rows);
                }
                run.epochEnd();
                answer.addAll(run.taken());
                assertEquals(
                        "", expected(node.kind(), sides.get(0), sides.get(1)).differences(answer), "seed " + seed);
                long failing = sides.get(0).stream()
                        .mapToLong(left -> sides.get(1).stream()
                                .filter(right -> fail(left, right))
                                .count())
                        .sum();
                assertEquals(failing, failures(run.failed()), "seed " + seed);
                if (random.nextInt(15) == 0) {
                    run.restart();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void theyDoNotMeetAndAreNoted(JoinKind kind) {
        Join node = node(kind, Optional.empty());
        for (long seed = 1; seed <= 2; seed++) {
            int batchRows = seed % 2 == 0 ? 4096 : 8;
            check(node, () -> new JoinOperator(node), batchRows, true, seed);
            if (kind == JoinKind.INNER) {
                check(node, () -> new AppendedJoinOperator(node), batchRows, false, seed);
                check(node, () -> new AppendedJoinOperator(node), batchRows, true, seed);
            }
        }
    }

    /** Each time that a row is looked up, in the order of epochs. */
    @Test
    void lookUpsNoteThemToo() {
        Join node = node(JoinKind.LEFT, Optional.of(new JoinTime.Current()));
        try (OperatorRun run = OperatorRun.keepingFailedRows(64, () -> new LookupJoinOperator(node), SIDE, SIDE)) {
            run.rows(1, Row.of(1L, 2), Row.of(1L, 7)).weighted(1, 3, Row.of(1L, 3));
            run.rows(0, Row.of(1L, 2), Row.of(1L, 9)).weighted(0, 2, Row.of(1L, 3), Row.of(2L, 3));
            run.epochEnd();
            List<Row> lefts = List.of(
                    Row.of(1L, 2L), Row.of(1L, 9L), Row.of(1L, 3L), Row.of(1L, 3L), Row.of(2L, 3L), Row.of(2L, 3L));
            List<Row> rights = List.of(Row.of(1L, 2L), Row.of(1L, 7L), Row.of(1L, 3L), Row.of(1L, 3L), Row.of(1L, 3L));
            assertEquals("", expected(JoinKind.LEFT, lefts, rights).differences(run.taken()));
            assertEquals(1 + 2 * 3, failures(run.failed()));
        }
    }

    @Test
    void whereNoneAreKeptThatEndsTheQuery() {
        Join node = node(JoinKind.LEFT, Optional.empty());
        try (OperatorRun run = new OperatorRun(() -> new JoinOperator(node), SIDE, SIDE)) {
            run.rows(0, Row.of(1L, 1), Row.of(1L, 2));
            MillraceException failure =
                    assertThrows(MillraceException.class, () -> run.rows(1, Row.of(1L, 3), Row.of(1L, 2)));
            assertEquals(SqlState.DIVISION_BY_ZERO, failure.sqlState());
        }
    }
}
