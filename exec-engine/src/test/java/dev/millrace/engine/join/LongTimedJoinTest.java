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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** A join in time that goes on and on holds what can still meet, and little more, though some rows stay for long and keys change. */
class LongTimedJoinTest {
    private static final long BEHIND = 30;
    private static final long AHEAD = 50;
    private static final Schema SIDE = Schema.of(
            new Field("k", DataType.TEXT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("until", DataType.TIMESTAMP, false),
            new Field("text", DataType.TEXT, false));

    private static Join node() {
        return new Join(
                AggregateTests.scan(SIDE),
                AggregateTests.scan(SIDE),
                JoinKind.INNER,
                List.of(0),
                List.of(0),
                Optional.empty(),
                Optional.of(new JoinTime.Bounds(1, 1, 2, 2, -BEHIND, AHEAD)),
                SIDE.concat(SIDE));
    }

    private static long number(Row row, int column) {
        return (Long) row.get(column);
    }

    private static boolean meet(Row left, Row right) {
        return number(right, 1) - number(left, 2) <= AHEAD && number(left, 1) - number(right, 2) <= BEHIND;
    }

    private static Row pair(Row left, Row right) {
        List<Object> values = new ArrayList<>(left.values());
        values.addAll(right.values());
        return new Row(values);
    }

    /** The rows of both sides by key. */
    private static final class Model {
        private final List<Map<Object, List<Row>>> sides = List.of(new HashMap<>(), new HashMap<>());
        private ZSet answer = new ZSet();

        void add(int port, Row row) {
            for (Row other : sides.get(1 - port).getOrDefault(row.get(0), List.of())) {
                if (port == 0 ? meet(row, other) : meet(other, row)) {
                    answer.add(port == 0 ? pair(row, other) : pair(other, row), 1);
                }
            }
            sides.get(port)
                    .computeIfAbsent(row.get(0), any -> new ArrayList<>())
                    .add(row);
        }

        /** Forgets rows that no later one can meet; returns how many are left. */
        long forget(long watermark) {
            for (int port = 0; port < 2; port++) {
                long reach = port == 0 ? AHEAD : BEHIND;
                sides.get(port).values().forEach(rows -> rows.removeIf(row -> number(row, 2) + reach < watermark));
            }
            return sides.stream()
                    .flatMap(side -> side.values().stream())
                    .mapToLong(List::size)
                    .sum();
        }
    }

    @Test
    void whatCanMeetNoMoreIsForgotten() {
        for (boolean appended : new boolean[] {true, false}) {
            Join node = node();
            RandomGenerator random = new SplittableRandom(3);
            Model model = new Model();
            long now = 1_000;
            try (OperatorRun run = new OperatorRun(
                    () -> appended ? new AppendedJoinOperator(node) : new JoinOperator(node), SIDE, SIDE)) {
                for (int batch = 0; batch < 100; batch++) {
                    int port = batch % 2;
                    Row[] rows = new Row[200];
                    for (int i = 0; i < rows.length; i++) {
                        now += random.nextInt(3);
                        long stays = random.nextInt(50) == 0 ? 3_000 : 0;
                        String key = "a key of some length " + (batch / 5 * 40 + random.nextInt(60));
                        rows[i] = Row.of(key, now, now + stays, "x".repeat(90) + i);
                        model.add(port, rows[i]);
                    }
                    run.rows(port, rows).epochEnd();
                    assertEquals("", model.answer.differences(run.taken()), "batch " + batch);
                    model.answer = new ZSet();
                    run.watermark(now);
                    long left = model.forget(now);
                    assertTrue(run.metrics().stateEntries() >= left, "rows that can meet are there");
                    if (!appended) {
                        assertEquals(left, run.metrics().stateEntries());
                    }
                    long bytes = run.metrics().stateBytes();
                    assertTrue(bytes < 1 << 20, () -> bytes + " bytes for " + left + " rows");
                    if (batch == 50) {
                        run.restart();
                    }
                }
                run.watermark(Operator.END_OF_INPUT);
                assertEquals(0, run.metrics().stateEntries());
            }
        }
    }
}
