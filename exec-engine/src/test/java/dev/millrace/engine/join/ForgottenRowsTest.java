package dev.millrace.engine.join;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Joins that keep rows for a time only. */
class ForgottenRowsTest {
    private static final long TTL = 1_000;
    private static final Schema SIDE = Schema.of(
            new Field("k", DataType.BIGINT, true),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("id", DataType.BIGINT, false));

    private static Join node(JoinKind kind, OptionalInt left, OptionalInt right) {
        boolean leftOnly = kind == JoinKind.SEMI || kind == JoinKind.ANTI;
        List<Field> fields = new ArrayList<>();
        SIDE.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        fields.addAll(fields);
        return new Join(
                AggregateTests.scan(SIDE),
                AggregateTests.scan(SIDE),
                kind,
                List.of(0),
                List.of(0),
                Optional.empty(),
                Optional.of(new JoinTime.Kept(left, right, TTL)),
                leftOnly ? SIDE : new Schema(fields));
    }

    private static Row pair(Optional<Row> left, Optional<Row> right) {
        List<Object> values = new ArrayList<>();
        for (Optional<Row> side : List.of(left, right)) {
            for (int column = 0; column < SIDE.size(); column++) {
                int at = column;
                values.add(side.map(row -> row.get(at)).orElse(null));
            }
        }
        return new Row(values);
    }

    private static boolean meet(Row left, Row right) {
        return left.get(0) != null
                && left.get(0).equals(right.get(0))
                && Math.abs((Long) left.get(1) - (Long) right.get(1)) <= TTL;
    }

    private static ZSet expected(JoinKind kind, List<Row> lefts, List<Row> rights) {
        return new ReferenceJoin(kind, SIDE.size(), SIDE.size(), ForgottenRowsTest::meet).answer(lefts, rights);
    }

    @ParameterizedTest
    @EnumSource(JoinKind.class)
    void rowsMeetThatAreAtMostSoFarApart(JoinKind kind) {
        RandomGenerator random = new SplittableRandom(kind.ordinal());
        Join node = node(kind, OptionalInt.of(1), OptionalInt.of(1));
        OperatorHarness harness = new OperatorHarness(() -> new JoinOperator(node), SIDE, SIDE)
                .output(node.schema())
                .appendOnlyInput();
        if (kind == JoinKind.INNER || kind == JoinKind.SEMI) {
            harness.appendOnlyOutput();
        }
        List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
        long now = 10_000;
        for (long id = 0; id < 200; id++) {
            now += random.nextInt(150);
            int port = random.nextInt(2);
            Row row = Row.of(random.nextInt(8) == 0 ? null : random.nextLong(4), now - random.nextInt(100), id);
            harness.rowsOf(port, List.of(row));
            sides.get(port).add(row);
            if (random.nextInt(8) == 0) {
                harness.watermark(now - 100).epochEnd();
            }
        }
        harness.expect(expected(kind, sides.get(0), sides.get(1)));
    }

    @Test
    void whatAForgottenRowWasJoinedIntoStays() {
        Join node = node(JoinKind.INNER, OptionalInt.of(1), OptionalInt.empty());
        Row old = Row.of(1L, 10_000L, 1L);
        Row young = Row.of(1L, 10_900L, 2L);
        Row before = Row.of(1L, 0L, 3L);
        Row after = Row.of(1L, 0L, 4L);
        new OperatorHarness(() -> new JoinOperator(node), SIDE, SIDE)
                .output(node.schema())
                .rowsOf(1, List.of(before))
                .rowsOf(0, List.of(old, young))
                .epochEnd()
                .watermark(11_001)
                .epochEnd()
                .weighted(1, before, -1)
                .weighted(1, after, 1)
                .expect(pair(Optional.of(old), Optional.of(before)), pair(Optional.of(young), Optional.of(after)));
    }
}
