package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.ordered;
import static dev.millrace.engine.aggregate.AggregateTests.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import dev.millrace.udf.AggregateFunction;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A group whose result cannot be computed is no row but a note, once, which goes when the group has a result again, or no rows any
 * more; its neighbours are as if it were not there.
 */
@Tag("long")
class FailedGroupsTest {
    private static final DataType NUMBER = DataType.numeric(38, 0);
    private static final BigDecimal MOST = BigDecimal.TEN.pow(38).subtract(BigDecimal.ONE);
    private static final DataType ARGUMENTS =
            DataType.row(List.of(new Field("x", DataType.array(DataType.BIGINT), true)));
    private static final Schema INPUT = Schema.of(
            new Field("k", DataType.BIGINT, true),
            new Field("n", NUMBER, false),
            new Field("x", DataType.BIGINT, true),
            new Field("a", ARGUMENTS, false));

    @TempDir
    private Path folder;

    /** A sum that refuses what is below zero, to be 13, and to give back a five. */
    public static final class Picky implements AggregateFunction<long[]> {
        @Override
        public long[] create() {
            return new long[1];
        }

        private static long number(Object[] arguments) {
            Object list = arguments[0];
            return list == null ? 0 : (Long) ((List<?>) list).get(0);
        }

        @Override
        public long[] accumulate(long[] state, Object[] arguments) {
            if (number(arguments) < 0) {
                throw new IllegalArgumentException("below zero");
            }
            state[0] += number(arguments);
            return state;
        }

        @Override
        public long[] retract(long[] state, Object[] arguments) {
            if (number(arguments) < 0) {
                throw new AssertionError("was never added");
            }
            if (number(arguments) == 5) {
                throw new IllegalStateException("a five stays");
            }
            state[0] -= number(arguments);
            return state;
        }

        @Override
        public Object result(long[] state) {
            if (state[0] == 13) {
                throw new IllegalStateException("thirteen");
            }
            return state[0];
        }
    }

    private AggregateCall picky() throws IOException {
        Path jar = folder.resolve("empty.jar");
        new JarOutputStream(Files.newOutputStream(jar)).close();
        return new AggregateCall(
                Function.USER,
                List.of(3),
                false,
                OptionalInt.empty(),
                List.of(),
                List.of(),
                DataType.BIGINT,
                Optional.of(UserCode.key("picky", UserCode.load(jar), Picky.class.getName())));
    }

    private static Aggregate node(List<Integer> keys, boolean appendOnly, List<AggregateCall> calls) {
        List<Field> fields = new ArrayList<>(INPUT.select(keys).fields());
        calls.forEach(call -> fields.add(new Field("c" + fields.size(), call.type(), true)));
        return new Aggregate(scan(INPUT), keys, calls, Phase.SINGLE, appendOnly, new Schema(fields));
    }

    private static Row row(Object key, BigDecimal number, Object x) {
        return Row.of(key, number, x, Collections.singletonList(x == null ? null : List.of(x)));
    }

    /** The rows of a group, and whether one was taken back that cannot be. */
    private static final class Group {
        private final List<Row> rows = new ArrayList<>();
        private boolean isBroken;
    }

    private static boolean fails(Group group) {
        BigDecimal sum =
                group.rows.stream().map(row -> (BigDecimal) row.get(1)).reduce(BigDecimal.ZERO, BigDecimal::add);
        long total = 0;
        boolean isBelowZero = false;
        for (Row row : group.rows) {
            long x = row.get(2) == null ? 0 : (Long) row.get(2);
            total += x;
            isBelowZero |= x < 0;
        }
        return sum.abs().compareTo(MOST) > 0 || isBelowZero || total == 13 || group.isBroken;
    }

    private static Row result(List<Integer> keys, Object key, Group group) {
        List<Object> values = new ArrayList<>();
        if (!keys.isEmpty()) {
            values.add(key);
        }
        List<Object> numbers = new ArrayList<>();
        group.rows.forEach(row -> numbers.add(row.get(2)));
        numbers.sort(ReferenceAggregate::compare);
        values.add(
                group.rows.isEmpty()
                        ? null
                        : group.rows.stream()
                                .map(row -> (BigDecimal) row.get(1))
                                .reduce(BigDecimal.ZERO, BigDecimal::add));
        values.add(numbers.stream()
                .mapToLong(number -> number == null ? 0 : (Long) number)
                .sum());
        values.add(numbers.isEmpty() ? null : numbers);
        return new Row(values);
    }

    /** Rows of a few groups come and go at random; each epoch the answer and the notes are those of the rows that are there. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void groupsFailAsLongAsTheirRowsSay(long seed) throws IOException {
        RandomGenerator random = new SplittableRandom(seed);
        List<Integer> keys = seed % 3 == 0 ? List.of() : List.of(0);
        AggregateCall list = ordered(
                call(Function.ARRAY_AGG, DataType.array(DataType.BIGINT), 2), List.of(new OrderKey(2, false, false)));
        Aggregate node = node(keys, false, List.of(call(Function.SUM, NUMBER, 1), picky(), list));
        BigDecimal[] numbers = {BigDecimal.ONE, MOST, MOST.negate(), BigDecimal.TEN};
        Object[] others = {1L, 2L, 5L, 6L, 7L, 8L, -1L, -2L, null};
        Map<Object, Group> groups = new TreeMap<>(ReferenceAggregate::compare);
        if (keys.isEmpty()) {
            groups.put(0L, new Group());
        }
        int batchRows = seed % 2 == 0 ? 4096 : 6;
        try (OperatorRun run = OperatorRun.keepingFailedRows(batchRows, () -> new AggregateOperator(node), INPUT)) {
            ZSet answer = new ZSet();
            for (int epoch = 0; epoch < 60; epoch++) {
                for (int left = random.nextInt(14); left > 0; left--) {
                    Object key = random.nextInt(8) == 0 && !keys.isEmpty() ? null : (Object) random.nextLong(6);
                    Group group = groups.computeIfAbsent(keys.isEmpty() ? 0L : key, any -> new Group());
                    if (!group.rows.isEmpty() && random.nextInt(5) < 2) {
                        Row row = group.rows.remove(random.nextInt(group.rows.size()));
                        boolean again = random.nextInt(4) == 0; // it goes before it comes
                        run.weighted(0, -1, again ? row(row.get(0), BigDecimal.ONE, 1L) : row);
                        if (again) {
                            run.rows(0, row(row.get(0), BigDecimal.ONE, 1L)).weighted(0, -1, row);
                        }
                        group.isBroken |= Long.valueOf(5).equals(row.get(2));
                    } else {
                        Row row = row(
                                key,
                                numbers[random.nextInt(4) == 0 ? random.nextInt(1, 3) : 0],
                                others[random.nextInt(3) == 0 ? random.nextInt(others.length) : random.nextInt(5)]);
                        group.rows.add(row);
                        run.rows(0, row);
                    }
                }
                groups.values().forEach(group -> group.isBroken &= !group.rows.isEmpty());
                run.epochEnd();
                answer.addAll(run.taken());
                ZSet expected = new ZSet();
                Set<Object> failing = new HashSet<>();
                groups.forEach((key, group) -> {
                    if (group.rows.isEmpty() && !keys.isEmpty()) {
                        return;
                    }
                    if (fails(group)) {
                        failing.add("" + (key == null ? "NULL" : key));
                    } else {
                        expected.add(result(keys, key, group), 1);
                    }
                });
                assertEquals("", expected.differences(answer), "after epoch " + epoch);
                Set<Object> noted = new HashSet<>();
                for (Row note : run.failed().rows()) {
                    String text = (String) note.get(0);
                    int at = text.indexOf("(k = ");
                    assertTrue(
                            noted.add(keys.isEmpty() ? "0" : text.substring(at + 5, text.indexOf(')', at))),
                            () -> text + " is noted twice");
                }
                assertEquals(failing, noted, "after epoch " + epoch);
            }
        }
    }

    /** Nothing can take back what failed where rows only come, but for a number that brings a sum back. */
    @Test
    void whatIsRefusedForGoodIsAFailureOfTheQuery() throws IOException {
        Aggregate added = node(List.of(0), true, List.of(picky()));
        try (OperatorRun run = OperatorRun.keepingFailedRows(10, () -> new AggregateOperator(added), INPUT)) {
            assertThrows(MillraceException.class, () -> run.rows(0, row(1L, BigDecimal.ONE, -1L)));
        }
        Aggregate sums = node(List.of(0), true, List.of(call(Function.SUM, NUMBER, 1)));
        try (OperatorRun run = OperatorRun.keepingFailedRows(10, () -> new AggregateOperator(sums), INPUT)) {
            run.rows(0, row(1L, MOST, null), row(1L, MOST, null), row(2L, MOST, null))
                    .epochEnd();
            assertEquals(ZSet.of(List.of(Row.of(2L, MOST))), run.taken());
            assertEquals(1, run.failed().rows().size());
            run.rows(0, row(1L, MOST.negate(), null)).epochEnd();
            assertEquals(ZSet.of(List.of(Row.of(1L, MOST))), run.taken());
            assertTrue(run.failed().isEmpty());
        }
        try (OperatorRun run = new OperatorRun(10, () -> new AggregateOperator(sums), INPUT)) {
            run.rows(0, row(1L, MOST, null), row(1L, MOST, null));
            assertThrows(MillraceException.class, run::epochEnd);
        }
    }

    /** What was said of a group and rows that users' code refused are held until they are taken back, and are memory of the query. */
    @Test
    void whatGroupsThatFailHoldIsCounted() throws IOException {
        int groups = 20_000;
        Aggregate node = node(List.of(0), false, List.of(picky()));
        Row[] refused = new Row[groups];
        Row[] failing = new Row[groups];
        for (int i = 0; i < groups; i++) {
            refused[i] = row((long) i, BigDecimal.ONE, -1L);
            failing[i] = row((long) i, BigDecimal.ONE, 13L);
        }
        for (boolean isRefused : new boolean[] {true, false}) {
            Row[] rows = isRefused ? refused : failing;
            try (OperatorRun run = OperatorRun.keepingFailedRows(4096, () -> new AggregateOperator(node), INPUT)) {
                run.rows(0, rows).epochEnd();
                assertEquals(groups, run.failed().rows().size());
                assertTrue(run.taken().isEmpty());
                long held = run.heldBytes();
                run.weighted(0, -1, rows).epochEnd();
                assertTrue(run.failed().isEmpty());
                long text = isRefused ? "IllegalArgumentException: below zero".length() : "thirteen".length();
                long least = groups * (text + (isRefused ? 160 : 0));
                assertTrue(held > least + groups * 96, held + " bytes held while all fail");
                if (isRefused) {
                    assertTrue(held - run.heldBytes() > groups * 140L, run.heldBytes() + " bytes held of " + held);
                }
            }
        }
    }

    /** Of a long key only the beginning is said. */
    @Test
    void aFailureNamesTheKeysOfItsGroup() {
        Schema input = Schema.of(
                new Field("name", DataType.TEXT, true),
                new Field("day", DataType.DATE, true),
                new Field("n", NUMBER, false));
        List<Field> fields = new ArrayList<>(input.select(List.of(0, 1)).fields());
        fields.add(new Field("sum", NUMBER, true));
        Aggregate node = new Aggregate(
                scan(input),
                List.of(0, 1),
                List.of(call(Function.SUM, NUMBER, 2)),
                Phase.SINGLE,
                true,
                new Schema(fields));
        String sixty = "x".repeat(60);
        for (String name : Arrays.asList("bob", null, sixty, sixty + "y")) {
            try (OperatorRun run = OperatorRun.keepingFailedRows(10, () -> new AggregateOperator(node), input)) {
                run.rows(0, Row.of(name, 1, MOST), Row.of(name, 1, MOST)).epochEnd();
                String told = (String) run.failed().rows().get(0).get(0);
                String said = name == null ? "NULL" : name.length() > 60 ? sixty + ".." : name;
                assertTrue(told.contains("(name = " + said + ", day = 1970-01-02)"), told);
            }
        }
    }
}
