package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.expression.Expression;
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
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class TimedJoinOperatorsTest {
    private static final Schema LEFT = Schema.of(
            new Field("k", DataType.BIGINT, true),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("v", DataType.TEXT, true));
    private static final Schema RIGHT = LEFT;

    private static Join node(JoinKind kind, JoinTime time) {
        List<Field> fields = new ArrayList<>(LEFT.fields());
        RIGHT.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        return new Join(
                AggregateTests.scan(LEFT),
                AggregateTests.scan(RIGHT),
                kind,
                List.of(0),
                List.of(0),
                Optional.empty(),
                Optional.of(time),
                new Schema(fields));
    }

    private static Row joined(Row left, Optional<Row> right) {
        List<Object> values = new ArrayList<>(left.values());
        for (int column = 0; column < RIGHT.size(); column++) {
            int at = column;
            values.add(right.map(row -> row.get(at)).orElse(null));
        }
        return new Row(values);
    }

    private static boolean isBetter(JoinTime.Nearest nearest, Row left, Row right, Optional<Row> best) {
        long time = (Long) left.get(1);
        long other = (Long) right.get(1);
        boolean fits = left.get(0) != null
                && left.get(0).equals(right.get(0))
                && (nearest.later() ? other > time : other < time);
        fits |= left.get(0) != null && left.get(0).equals(right.get(0)) && nearest.orEqual() && other == time;
        return fits
                && (best.isEmpty()
                        || (nearest.later()
                                ? other < (Long) best.get().get(1)
                                : other > (Long) best.get().get(1)));
    }

    private static ZSet expected(Join node, List<Row> lefts, List<Row> rights) {
        JoinTime.Nearest nearest = (JoinTime.Nearest) node.time().orElseThrow();
        ZSet expected = new ZSet();
        for (Row left : lefts) {
            Optional<Row> best = Optional.empty();
            for (Row right : rights) {
                if (isBetter(nearest, left, right, best)) {
                    best = Optional.of(right);
                }
            }
            if (best.isPresent() || node.kind() == JoinKind.LEFT) {
                expected.add(joined(left, best), 1);
            }
        }
        return expected;
    }

    private static Object key(RandomGenerator random) {
        return random.nextInt(8) == 0 ? null : random.nextLong(3);
    }

    @Test
    void asofJoinsFollowChangesOfBothSides() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            for (int variant = 0; variant < 4; variant++) {
                JoinTime time = new JoinTime.Nearest(1, 1, variant % 2 == 1, variant > 1, false);
                Join node = node(kind, time);
                RandomGenerator random = new SplittableRandom(variant);
                OperatorHarness harness = new OperatorHarness(() -> new AsofJoinOperator(node), LEFT, RIGHT)
                        .output(node.schema())
                        .partitionedBy((port, batch, row) ->
                                AggregateTests.keyGroup(List.of(0)).keyGroup(port, batch, row));
                if (variant == 0) {
                    harness.keepsFormat("nearest_join-" + kind);
                }
                List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
                for (int i = 0; i < 200; i++) {
                    int port = random.nextInt(2);
                    List<Row> side = sides.get(port);
                    if (!side.isEmpty() && random.nextInt(3) == 0) {
                        harness.weighted(port, side.remove(random.nextInt(side.size())), -1);
                    } else {
                        // right times are unique, so that there is one nearest; left rows may be equal
                        long micros = port == 1 ? -100 + 3L * i : -100 + random.nextLong(500);
                        Row row = Row.of(key(random), micros, port == 0 ? "a" : "right " + i);
                        side.add(row);
                        harness.weighted(port, row, 1);
                    }
                    if (random.nextInt(9) == 0) {
                        harness.epochEnd();
                    }
                }
                harness.epochEnd();
                harness.expect(expected(node, sides.get(0), sides.get(1)));
            }
        }
    }

    @Test
    void nothingIsNearestToARowWithoutATime() {
        Schema side = Schema.of(
                new Field("k", DataType.BIGINT, true),
                new Field("ts", DataType.TIMESTAMP, true),
                new Field("v", DataType.TEXT, true));
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            Join node = new Join(
                    AggregateTests.scan(side),
                    AggregateTests.scan(side),
                    kind,
                    List.of(0),
                    List.of(0),
                    Optional.empty(),
                    Optional.of(new JoinTime.Nearest(1, 1, false, true, false)),
                    side.concat(side));
            Row timed = Row.of(1L, 20L, "timed");
            Row untimed = Row.of(1L, null, "untimed");
            Row right = Row.of(1L, 10L, "right");
            ZSet expected = ZSet.of(List.of(joined(timed, Optional.of(right))));
            if (kind == JoinKind.LEFT) {
                expected.add(joined(untimed, Optional.empty()), 2);
            }
            new OperatorHarness(() -> new AsofJoinOperator(node), side, side)
                    .rowsOf(0, List.of(untimed, timed, untimed, untimed))
                    .rowsOf(1, List.of(right, untimed))
                    .epochEnd()
                    .weighted(0, untimed, -1)
                    .expect(expected);
        }
    }

    @Test
    void settledAsofJoinsSpeakOnceAndForget() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            Join node = node(kind, new JoinTime.Nearest(1, 1, false, true, true));
            RandomGenerator random = new SplittableRandom(7);
            OperatorHarness harness = new OperatorHarness(() -> new AsofJoinOperator(node), LEFT, RIGHT)
                    .appendOnlyInput()
                    .appendOnlyOutput()
                    .output(node.schema());
            List<List<Row>> sides = List.of(new ArrayList<>(), new ArrayList<>());
            for (int i = 0; i < 300; i++) {
                int port = random.nextInt(2);
                long micros = 400_000L * i + (port == 1 ? 0 : random.nextInt(400_000));
                Row row = Row.of(key(random), micros, port + " " + i);
                sides.get(port).add(row);
                harness.rowsOf(port, List.of(row));
                if (random.nextInt(10) == 0) {
                    harness.epochEnd();
                    harness.watermark(400_000L * i - 1_000_000);
                }
            }
            harness.endOfInput();
            harness.expect(expected(node, sides.get(0), sides.get(1)));
        }
    }

    private static final Schema VERSIONS = RIGHT.concat(Schema.of(new Field("version", DataType.BIGINT, false)));

    private static Join versions(JoinKind kind) {
        List<Field> fields = new ArrayList<>(LEFT.fields());
        VERSIONS.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        return new Join(
                AggregateTests.scan(LEFT),
                AggregateTests.scan(VERSIONS),
                kind,
                List.of(0),
                List.of(0),
                Optional.empty(),
                Optional.of(new JoinTime.Nearest(1, 1, false, true, true, OptionalInt.of(3))),
                new Schema(fields));
    }

    /** The version that counts of those at or before a row, if there is one and it is a row. */
    private static Optional<Row> version(Row left, List<Row> versions) {
        return versions.stream()
                .filter(row -> row.get(0).equals(left.get(0)) && (Long) row.get(1) <= (Long) left.get(1))
                .max(Comparator.<Row>comparingLong(row -> (Long) row.get(1))
                        .thenComparingLong(row -> Math.abs((Long) row.get(3))))
                .filter(row -> (Long) row.get(3) > 0);
    }

    @Test
    void joinsWithVersionsTakeTheLastOfATimeAndNoneThatHasEnded() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            Join node = versions(kind);
            RandomGenerator random = new SplittableRandom(17);
            OperatorHarness harness = new OperatorHarness(() -> new AsofJoinOperator(node), LEFT, VERSIONS)
                    .appendOnlyInput()
                    .appendOnlyOutput()
                    .partitionedBy((port, batch, row) ->
                            AggregateTests.keyGroup(List.of(0)).keyGroup(port, batch, row))
                    .output(node.schema());
            List<Row> lefts = new ArrayList<>();
            List<Row> rights = new ArrayList<>();
            for (int i = 1; i <= 400; i++) {
                long start = 100_000L * (4 * i / 10);
                long micros = start + (random.nextInt(3) == 0 ? 1 : 0); // many at one time
                long key = random.nextLong(4);
                if (random.nextBoolean()) {
                    Row row = Row.of(key, micros, "left " + i);
                    lefts.add(row);
                    harness.rowsOf(0, List.of(row));
                } else {
                    Row row = Row.of(key, micros, "version " + i % 7, random.nextInt(4) == 0 ? -(long) i : (long) i);
                    rights.add(row);
                    harness.rowsOf(1, List.of(row));
                }
                if (random.nextInt(10) == 0) {
                    harness.epochEnd();
                    harness.watermark(start - 1_000_000);
                }
            }
            harness.endOfInput();
            ZSet expected = new ZSet();
            for (Row left : lefts) {
                Optional<Row> right = version(left, rights);
                if (right.isPresent() || kind == JoinKind.LEFT) {
                    List<Object> values = new ArrayList<>(left.values());
                    for (int column = 0; column < VERSIONS.size(); column++) {
                        int at = column;
                        values.add(right.map(row -> row.get(at)).orElse(null));
                    }
                    expected.add(new Row(values), 1);
                }
            }
            harness.expect(expected);
        }
    }

    @Test
    void lookUpsSeeTheRightSideAtTheEndOfTheirEpoch() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            Join node = node(kind, new JoinTime.Current());
            RandomGenerator random = new SplittableRandom(3);
            OperatorHarness harness = new OperatorHarness(() -> new LookupJoinOperator(node), LEFT, RIGHT)
                    .output(node.schema())
                    .partitionedBy((port, batch, row) ->
                            AggregateTests.keyGroup(List.of(0)).keyGroup(port, batch, row));
            if (kind == JoinKind.INNER) {
                harness.keepsFormat("current_join");
            }
            List<Row> table = new ArrayList<>();
            ZSet expected = new ZSet();
            for (int epoch = 0; epoch < 15; epoch++) {
                List<Row> came = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    if (random.nextInt(3) == 0) {
                        Row left = Row.of(key(random), (long) epoch, "left " + i);
                        came.add(left);
                        harness.rowsOf(0, List.of(left));
                    } else if (!table.isEmpty() && random.nextInt(3) == 0) {
                        harness.weighted(1, table.remove(random.nextInt(table.size())), -1);
                    } else {
                        Row row = Row.of(key(random), 0L, "right " + epoch + " " + i);
                        table.add(row);
                        harness.weighted(1, row, 1);
                    }
                }
                harness.epochEnd();
                for (Row left : came) {
                    List<Row> partners = table.stream()
                            .filter(row -> left.get(0) != null && left.get(0).equals(row.get(0)))
                            .toList();
                    partners.forEach(partner -> expected.add(joined(left, Optional.of(partner)), 1));
                    if (partners.isEmpty() && kind == JoinKind.LEFT) {
                        expected.add(joined(left, Optional.empty()), 1);
                    }
                }
            }
            harness.expect(expected);
        }
    }

    /** More than {@link HotKeys#FEW} rows of a key, which come and go; left rows meet those that are below them. */
    @Test
    void lookUpsOfAKeyWithManyRowsMeetThoseInTheirRanges() {
        for (JoinKind kind : List.of(JoinKind.INNER, JoinKind.LEFT)) {
            Join plain = node(kind, new JoinTime.Current());
            int width = LEFT.size();
            Expression below = new Expression.Call(
                    "lt",
                    List.of(
                            new Expression.Column(width + 1, RIGHT.type(1), true),
                            new Expression.Column(1, LEFT.type(1), false)),
                    DataType.BOOLEAN,
                    true);
            Join node = new Join(
                    plain.left(),
                    plain.right(),
                    kind,
                    plain.leftKeys(),
                    plain.rightKeys(),
                    Optional.of(below),
                    plain.time(),
                    plain.schema());
            RandomGenerator random = new SplittableRandom(4);
            OperatorHarness harness = new OperatorHarness(() -> new LookupJoinOperator(node), LEFT, RIGHT)
                    .output(node.schema())
                    .partitionedBy((port, batch, row) ->
                            AggregateTests.keyGroup(List.of(0)).keyGroup(port, batch, row));
            List<Row> table = new ArrayList<>();
            ZSet expected = new ZSet();
            for (int epoch = 0; epoch < 12; epoch++) {
                List<Row> came = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    Object key = random.nextInt(3) == 0 ? key(random) : 9L;
                    if (i % 8 == 0) {
                        Row left = Row.of(key, (long) random.nextInt(100), "left " + i);
                        came.add(left);
                        harness.rowsOf(0, List.of(left));
                    } else if (!table.isEmpty() && random.nextInt(3) == 0) {
                        harness.weighted(1, table.remove(random.nextInt(table.size())), -1);
                    } else {
                        Row row = Row.of(key, (long) random.nextInt(100), "right " + epoch + " " + i);
                        table.add(row);
                        harness.weighted(1, row, 1);
                    }
                }
                harness.epochEnd();
                for (Row left : came) {
                    List<Row> partners = table.stream()
                            .filter(row -> left.get(0) != null && left.get(0).equals(row.get(0)))
                            .filter(row -> (long) row.get(1) < (long) left.get(1))
                            .toList();
                    partners.forEach(partner -> expected.add(joined(left, Optional.of(partner)), 1));
                    if (partners.isEmpty() && kind == JoinKind.LEFT) {
                        expected.add(joined(left, Optional.empty()), 1);
                    }
                }
            }
            assertTrue(table.stream()
                            .filter(row -> Long.valueOf(9).equals(row.get(0)))
                            .count()
                    > HotKeys.FEW);
            harness.expect(expected);
        }
    }
}
