package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
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
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rows exactly at the watermark and exactly at the bounds of {@code b.ts BETWEEN a.ts - 5 AND a.ts + 10}. A row at the watermark is not
 * late, so a row may have a partner as long as the watermark is not past the last time that meets it.
 */
class BoundaryTimesTest {
    private static final long TIME = 100;
    private static final long BEFORE = 5;
    private static final long AFTER = 10;
    private static final Schema SIDE =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("ts", DataType.TIMESTAMP, false));

    private static Join node(JoinKind kind) {
        List<Field> fields = new ArrayList<>();
        SIDE.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        boolean leftOnly = kind == JoinKind.SEMI || kind == JoinKind.ANTI;
        if (!leftOnly) {
            fields.addAll(List.copyOf(fields));
        }
        return new Join(
                AggregateTests.scan(SIDE),
                AggregateTests.scan(SIDE),
                kind,
                List.of(0),
                List.of(0),
                Optional.empty(),
                Optional.of(new JoinTime.Bounds(1, 1, -BEFORE, AFTER)),
                new Schema(fields));
    }

    private static List<Function<Join, Operator>> operators(Join node) {
        return AppendedJoinOperator.suits(node)
                ? List.of(JoinOperator::new, AppendedJoinOperator::new)
                : List.of(JoinOperator::new);
    }

    private static ZSet rows(Object... values) {
        return ZSet.of(List.of(new Row(Arrays.asList(values))));
    }

    private static ZSet pair(JoinKind kind, long left, long right) {
        return switch (kind) {
            case SEMI -> rows(7L, left);
            case ANTI -> new ZSet();
            default -> rows(7L, left, 7L, right);
        };
    }

    /** What a row gives that has no partner. */
    private static ZSet alone(JoinKind kind, int port, long time) {
        List<Object> values = new ArrayList<>(List.of(7L, time));
        List<Object> nobody = Collections.nCopies(SIDE.size(), null);
        boolean isKept = kind == JoinKind.FULL || kind == (port == 0 ? JoinKind.LEFT : JoinKind.RIGHT);
        if (port == 0 && kind == JoinKind.ANTI) {
            return rows(7L, time);
        }
        if (!isKept) {
            return new ZSet();
        }
        values.addAll(port == 0 ? values.size() : 0, nobody);
        return rows(values.toArray());
    }

    /** The last time of the other side that meets a row. */
    private static long last(int port) {
        return port == 0 ? TIME + AFTER : TIME + BEFORE;
    }

    /** What is expected of a join whose first row comes from a side. */
    private interface Case {
        void check(OperatorRun run, int port);
    }

    /** Each operator that does for the kind of join, with the first row from either side. */
    private static void eachWay(JoinKind kind, Case check) {
        Join node = node(kind);
        for (Function<Join, Operator> operator : operators(node)) {
            for (int port = 0; port < 2; port++) {
                try (OperatorRun run = new OperatorRun(() -> operator.apply(node), SIDE, SIDE)) {
                    check.check(run.rows(port, row(TIME)), port);
                }
            }
        }
    }

    private static Row row(long time) {
        return Row.of(7L, time);
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void aPartnerAtTheWatermarkAndAtTheBoundIsFound(JoinKind kind) {
        eachWay(kind, (run, port) -> {
            ZSet early = run.watermark(TIME).watermark(last(port)).taken();
            assertTrue(early.isEmpty(), () -> kind + " spoke too soon: " + early);
            run.rows(1 - port, row(last(port))).watermark(last(port) + 1).watermark(Operator.END_OF_INPUT);
            ZSet expected = port == 0 ? pair(kind, TIME, last(0)) : pair(kind, last(1), TIME);
            assertEquals(expected, run.taken(), kind + ", first came side " + port);
        });
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void aRowWithoutAPartnerIsToldOnceTheWatermarkIsPastTheBound(JoinKind kind) {
        eachWay(kind, (run, port) -> {
            ZSet early = run.watermark(last(port)).taken();
            assertTrue(early.isEmpty(), () -> kind + " spoke too soon: " + early);
            run.watermark(last(port) + 1);
            assertEquals(alone(kind, port, TIME), run.taken(), kind + ", side " + port);
            run.watermark(Operator.END_OF_INPUT);
            assertEquals(new ZSet(), run.taken(), kind + ", side " + port + ", at the end");
        });
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void aRowOneMicrosecondBeyondTheBoundIsNoPartner(JoinKind kind) {
        eachWay(kind, (run, port) -> {
            run.watermark(TIME).rows(1 - port, row(last(port) + 1)).watermark(Operator.END_OF_INPUT);
            ZSet expected = alone(kind, port, TIME);
            expected.addAll(alone(kind, 1 - port, last(port) + 1));
            assertEquals(expected, run.taken(), kind + ", first came side " + port);
        });
    }
}
