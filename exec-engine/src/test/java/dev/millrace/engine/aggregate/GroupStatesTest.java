package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.AVERAGE;
import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.distinct;
import static dev.millrace.engine.aggregate.AggregateTests.filtered;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups whose states are put together, moved, emptied, removed and restored have the results of the rows that are in them. */
class GroupStatesTest {
    static final Schema INPUT = AggregateTests.INPUT
            .concat(Schema.of(new Field("v", DataType.INTERVAL, true)))
            .concat(Schema.of(
                    new Field("a", DataType.row(List.of(new Field("x", DataType.BIGINT, true))), false))); // 12 and 13

    private static final String[] TEXTS = {
        null, "a", "short", "a key that is longer than fifteen bytes", "another key that is longer than that"
    };

    @TempDir
    private Path folder;

    private final BufferAllocator allocator = PoisonedAllocation.newRoot(1L << 30);
    private AggregateCall userCall;

    /** A multiset as text, two of which can be put together. */
    public static final class Values implements dev.millrace.udf.AggregateFunction<TreeMap<String, Integer>> {
        @Override
        public TreeMap<String, Integer> create() {
            return new TreeMap<>();
        }

        @Override
        public TreeMap<String, Integer> accumulate(TreeMap<String, Integer> state, Object[] arguments) {
            state.merge("" + arguments[0], 1, Integer::sum);
            return state;
        }

        @Override
        public TreeMap<String, Integer> retract(TreeMap<String, Integer> state, Object[] arguments) {
            state.computeIfPresent("" + arguments[0], (value, count) -> count == 1 ? null : count - 1);
            return state;
        }

        @Override
        public TreeMap<String, Integer> merge(TreeMap<String, Integer> state, TreeMap<String, Integer> other) {
            other.forEach((value, count) -> state.merge(value, count, Integer::sum));
            return state;
        }

        @Override
        public Object result(TreeMap<String, Integer> state) {
            return state.toString();
        }
    }

    @BeforeEach
    void loadUsersCode() throws IOException {
        Path jar = folder.resolve("empty.jar");
        new JarOutputStream(Files.newOutputStream(jar)).close();
        userCall = new AggregateCall(
                Function.USER,
                List.of(13),
                false,
                OptionalInt.of(7),
                List.of(),
                List.of(),
                DataType.TEXT,
                Optional.of(UserCode.key("all_values", UserCode.load(jar), Values.class.getName())));
    }

    @AfterEach
    void nothingIsLeft() {
        allocator.close();
    }

    /** Of simple, distinct and collected values; all that there are. */
    private List<AggregateCall> calls(boolean retractions) {
        List<AggregateCall> calls = new ArrayList<>(AggregateTests.simpleCalls());
        calls.addAll(AggregateTests.distinctCalls());
        calls.addAll(AggregateTests.collectingCalls());
        calls.addAll(List.of(
                call(Function.VAR_POP, AVERAGE, 5),
                call(Function.STDDEV_SAMP, AVERAGE, 3),
                distinct(call(Function.VAR_POP, AVERAGE, 2)),
                distinct(call(Function.STDDEV_POP, AVERAGE, 5)),
                distinct(call(Function.VAR_SAMP, DataType.DOUBLE, 4)),
                distinct(call(Function.SUM, DataType.BIGINT, 11)),
                distinct(call(Function.AVG, AVERAGE, 3)),
                distinct(filtered(call(Function.SUM, DataType.REAL, 10), 6)),
                filtered(call(Function.APPROX_COUNT_DISTINCT, DataType.BIGINT, 1), 7),
                call(Function.APPROX_COUNT_DISTINCT, DataType.BIGINT, 3),
                call(Function.APPROX_COUNT_DISTINCT, DataType.BIGINT, 8),
                call(Function.SUM, DataType.INTERVAL, 12),
                call(Function.MIN, DataType.INTERVAL, 12),
                call(Function.MAX, DataType.INTERVAL, 12),
                distinct(call(Function.SUM, DataType.INTERVAL, 12)),
                filtered(call(Function.MIN, DataType.TEXT, 1), 6),
                filtered(call(Function.MAX, DataType.UUID, 8), 6),
                filtered(call(Function.MIN, DataType.numeric(30, 3), 5), 6),
                filtered(call(Function.MAX, DataType.INTERVAL, 12), 6),
                userCall));
        return calls;
    }

    static Row randomRow(RandomGenerator random) {
        List<Object> values =
                new ArrayList<>(AggregateTests.randomRow(random, 2).values());
        values.set(1, TEXTS[random.nextInt(TEXTS.length)]);
        values.set(3, random.nextInt(5) == 0 ? null : (Object) (random.nextLong(40) - 20)); // negative ones, too
        values.set(5, random.nextInt(5) == 0 ? null : BigDecimal.valueOf(random.nextLong(-1L << 40, 1L << 40), 3));
        values.add(
                random.nextInt(5) == 0
                        ? null
                        : new Row.Interval(random.nextInt(-3, 3), random.nextInt(-14, 15), random.nextInt(-9, 9)));
        values.add(Collections.singletonList(values.get(3)));
        return TestBatches.canonical(INPUT, new Row(values));
    }

    // ---- what is expected

    static Object expected(AggregateCall call, List<Row> rows) {
        List<Row> counted = new ArrayList<>(rows);
        call.filter().ifPresent(filter -> counted.removeIf(row -> !Boolean.TRUE.equals(row.get(filter))));
        if (call.function() == Function.USER) {
            TreeMap<String, Integer> values = new TreeMap<>();
            counted.forEach(row -> values.merge("" + ((List<?>) row.get(13)).get(0), 1, Integer::sum));
            return values.toString();
        }
        if (call.type() != DataType.INTERVAL) {
            return ReferenceAggregate.result(call, rows, INPUT);
        }
        List<Row.Interval> intervals = new ArrayList<>();
        counted.stream().map(row -> (Row.Interval) row.get(12)).forEach(each -> {
            if (each != null && !(call.distinct() && intervals.contains(each))) {
                intervals.add(each);
            }
        });
        return intervals.stream()
                .reduce((a, b) -> switch (call.function()) {
                    case SUM -> new Row.Interval(a.months() + b.months(), a.days() + b.days(), a.micros() + b.micros());
                    case MIN -> micros(b) < micros(a) ? b : a;
                    default -> micros(b) > micros(a) ? b : a;
                })
                .orElse(null);
    }

    private static long micros(Row.Interval interval) {
        return (interval.months() * 30L + interval.days()) * 86_400_000_000L + interval.micros();
    }

    static void assertEqual(Object expected, Object actual, AggregateCall call) {
        boolean isNear = switch (call.function()) {
            case VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP ->
                expected instanceof Double a && actual instanceof Double b && Math.abs(a - b) < 1e-6;
            default -> false;
        };
        assertTrue(
                isNear || ZSet.nearlyEqual(expected, actual),
                () -> call + " is " + actual + " where " + expected + " is expected");
    }

    private static Field field(AggregateCall call) {
        return new Field("result", call.type(), true);
    }

    private static List<Object> values(Field field, FieldVector vector, int count) {
        assertEquals(count, vector.getValueCount());
        try (Batch batch = Batch.of(Schema.of(field), new FieldVector[] {vector}, count)) {
            return TestBatches.rows(batch).stream().map(row -> row.get(0)).toList();
        }
    }

    // ---- states by key

    /** A state, and the rows of its groups. */
    private final class Keyed implements AutoCloseable {
        private final AggregateLayout layout;
        private final GroupKernels kernels;
        private final NestedImages images = new NestedImages(allocator);
        private final ChangeLog noLog;
        private GroupState state;
        private Map<List<Object>, List<Row>> groups = new LinkedHashMap<>();

        Keyed(List<AggregateCall> calls, boolean retractions) {
            layout = new AggregateLayout(new KeyLayout(INPUT, List.of(0, 1)), calls, INPUT, retractions, false);
            kernels = GroupKernels.adding(layout, INPUT, false);
            noLog = new ChangeLog(layout, allocator);
            state = new GroupState(kernels, allocator);
        }

        private List<Object> key(Row row) {
            return Arrays.asList(row.get(0), row.get(1));
        }

        void add(List<Row> rows, long weight) {
            long[] weights = new long[rows.size()];
            Arrays.fill(weights, weight);
            try (Batch batch = weight == 1
                    ? TestBatches.of(INPUT, allocator, rows)
                    : TestBatches.weighted(INPUT, allocator, rows, weights)) {
                state.add(batch, images, Rows.all(rows.size()), rows.size(), noLog);
            } finally {
                images.clear();
            }
            for (Row row : rows) {
                List<Row> group = groups.computeIfAbsent(key(row), any -> new ArrayList<>());
                if (weight > 0) {
                    group.add(row);
                } else {
                    assertTrue(group.remove(row));
                }
            }
        }

        void takeSomeBack(RandomGenerator random) {
            List<Row> all = new ArrayList<>();
            groups.values().forEach(all::addAll);
            Collections.shuffle(all, new java.util.Random(random.nextLong()));
            add(all.subList(0, all.isEmpty() ? 0 : random.nextInt(all.size() + 1)), -1);
        }

        void merge(Keyed other) {
            state.merge(other.state);
            other.groups.forEach((key, rows) ->
                    groups.computeIfAbsent(key, any -> new ArrayList<>()).addAll(rows));
        }

        /** By their keys. */
        Map<List<Object>, Long> entries() {
            Map<List<Object>, Long> entries = new LinkedHashMap<>();
            EntryCursor cursor = new EntryCursor(state.table(), 3);
            for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
                List<Object> first =
                        values(INPUT.field(0), state.key(0, INPUT.field(0), cursor.entries(), count), count);
                List<Object> second =
                        values(INPUT.field(1), state.key(1, INPUT.field(1), cursor.entries(), count), count);
                for (int i = 0; i < count; i++) {
                    entries.put(Arrays.asList(first.get(i), second.get(i)), cursor.entries()[i]);
                }
            }
            return entries;
        }

        void removeSome(RandomGenerator random) {
            List<Long> chosen = new ArrayList<>();
            entries().forEach((key, entry) -> {
                if (random.nextInt(4) == 0) {
                    chosen.add(entry);
                    groups.remove(key);
                }
            });
            state.removeAll(chosen.stream().mapToLong(Long::longValue).toArray(), chosen.size());
        }

        void resetSome(RandomGenerator random) {
            entries().forEach((key, entry) -> {
                if (random.nextInt(4) == 0) {
                    Memory.putLong(entry + GroupTable.LINK, 42);
                    state.reset(entry);
                    assertEquals(42, Memory.getLong(entry + GroupTable.LINK));
                    Memory.putLong(entry + GroupTable.LINK, 0);
                    groups.put(key, new ArrayList<>());
                }
            });
        }

        void clear() {
            state.clear();
            groups.clear();
            assertEquals(0, state.table().size());
        }

        /** Writes all and reads it back into a state that had others before. */
        void restore() throws IOException {
            GroupState next = state.another();
            GroupSnapshot snapshot = new GroupSnapshot(state);
            for (int round = 0; round < 2; round++) { // a snapshot changes nothing
                next.clear();
                int written = 0;
                for (int group = 0; group < KeyGroups.COUNT; group++) {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    snapshot.write(group, new DataOutputStream(bytes));
                    written += snapshot.count(group);
                    GroupSnapshot.read(next, new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
                }
                assertEquals(groups.size(), written);
            }
            entries().values().forEach(entry -> assertEquals(0, Memory.getLong(entry + GroupTable.LINK)));
            state.close();
            state = next;
        }

        void check() {
            Map<List<Object>, Long> entries = entries();
            assertEquals(groups.keySet(), entries.keySet());
            long[] all = entries.values().stream().mapToLong(Long::longValue).toArray();
            List<List<Object>> keys = List.copyOf(entries.keySet());
            for (int index = 0; index < layout.calls().size(); index++) {
                AggregateCall call = layout.calls().get(index);
                List<Object> results = values(field(call), state.call(index, field(call), all, all.length), all.length);
                for (int i = 0; i < all.length; i++) {
                    assertEqual(expected(call, groups.get(keys.get(i))), results.get(i), call);
                }
            }
        }

        @Override
        public void close() {
            state.close();
            images.close();
            noLog.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "3, true", "4, true"})
    void statesByKeyAreThoseOfTheirRows(long seed, boolean retractions) throws IOException {
        RandomGenerator random = new SplittableRandom(seed);
        try (Keyed whole = new Keyed(calls(retractions), retractions);
                Keyed part = new Keyed(calls(retractions), retractions)) {
            for (int step = 0; step < 30; step++) {
                Keyed one = random.nextInt(3) == 0 ? whole : part;
                switch (random.nextInt(9)) {
                    case 0 -> one.clear();
                    case 1 -> one.removeSome(random);
                    case 2 -> one.resetSome(random);
                    case 3 -> one.restore();
                    case 4 -> {
                        if (retractions) {
                            one.takeSomeBack(random);
                        }
                    }
                    case 5, 6 -> {
                        whole.merge(part);
                        part.check();
                        if (random.nextBoolean()) {
                            part.clear();
                        }
                    }
                    default -> {
                        List<Row> rows = new ArrayList<>();
                        for (int left = random.nextInt(30); left >= 0; left--) {
                            rows.add(randomRow(random));
                        }
                        one.add(rows, 1);
                    }
                }
                whole.check();
                part.check();
            }
        }
    }

    /** Many more than a chunk of what goes over them has, and a value each: their sets are merged all the same. */
    @Test
    void manyGroupsAreMergedOneByOne() {
        List<AggregateCall> calls =
                List.of(call(Function.COUNT, DataType.BIGINT), distinct(call(Function.COUNT, DataType.BIGINT, 3)));
        for (boolean retractions : new boolean[] {false, true}) {
            try (Keyed whole = new Keyed(calls, retractions);
                    Keyed part = new Keyed(calls, retractions)) {
                for (Keyed each : List.of(whole, part)) {
                    List<Row> rows = new ArrayList<>();
                    for (long key = 0; key < 2_500; key++) {
                        List<Object> values = new ArrayList<>(
                                randomRow(new SplittableRandom(key)).values());
                        values.set(0, key);
                        values.set(1, null);
                        values.set(3, each == whole ? key % 2 : 0);
                        rows.add(TestBatches.canonical(INPUT, new Row(values)));
                    }
                    each.add(rows, 1);
                }
                long[] before = {part.state.bytes(), whole.state.bytes()};
                whole.merge(part);
                whole.check();
                part.check();
                assertEquals(before[0], part.state.bytes());
                assertTrue(whole.state.bytes() >= before[1]);
            }
        }
    }

    /** Values that only some groups had go with them, once they are many; those of others are what they were. */
    @Test
    void valuesThatNoGroupHasAnyMoreAreForgotten() {
        List<AggregateCall> calls = List.of(
                distinct(call(Function.COUNT, DataType.BIGINT, 3)),
                distinct(filtered(call(Function.COUNT, DataType.BIGINT, 3), 7)),
                distinct(call(Function.SUM, AggregateTests.BIG, 3)));
        List<Object> like = new ArrayList<>(randomRow(new SplittableRandom(1)).values());
        like.set(1, null);
        try (Keyed groups = new Keyed(calls, false)) {
            long before = 0;
            for (long round = 0; round < 3; round++) {
                for (long key = 0; key < 4; key++) {
                    List<Row> rows = new ArrayList<>();
                    for (long value = 0; value < (key < 2 ? 9_000 : 40); value++) {
                        like.set(0, key);
                        like.set(3, value * Math.max(1, key) - 7 * round);
                        like.set(7, value % 3 == 0);
                        rows.add(TestBatches.canonical(INPUT, new Row(like)));
                    }
                    groups.add(rows, 1);
                }
                long full = groups.state.bytes();
                long[] many = new long[2];
                for (long key = 0; key < 2; key++) {
                    many[(int) key] = groups.entries().get(Arrays.asList(key, (Object) null));
                    groups.groups.remove(Arrays.asList(key, (Object) null));
                }
                groups.state.removeAll(many, 2);
                groups.check();
                assertTrue(groups.state.bytes() < full - 9_000 * 8, "the values are gone");
                assertTrue(round == 0 || groups.state.bytes() <= 2 * before);
                before = groups.state.bytes();
            }
        }
    }

    /** Memory and numbers of groups that went are those of the next ones. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void groupsThatComeAndGoTakeNoMoreAndMore(boolean retractions) {
        try (Keyed groups = new Keyed(calls(retractions), retractions)) {
            List<Row> rows = new ArrayList<>();
            RandomGenerator random = new SplittableRandom(11);
            for (int i = 0; i < 200; i++) {
                rows.add(randomRow(random));
            }
            long most = 0;
            for (int round = 0; round < 40; round++) {
                groups.add(rows, 1);
                if (round % 3 == 0) {
                    groups.entries().values().forEach(groups.state::reset);
                    groups.groups.replaceAll((key, all) -> new ArrayList<>());
                    groups.add(rows, 1);
                }
                if (retractions
                        && round % 3 == 1) { // all of a group is taken back, which is seen by who asks for its result
                    groups.add(rows, -1);
                    groups.check();
                    groups.add(rows, 1);
                }
                long bytes = groups.state.bytes();
                most = round < 8 ? Math.max(most, bytes) : most;
                assertTrue(bytes <= most + 4_000, "round " + round); // states of users are measured now and then
                long[] all = groups.entries().values().stream()
                        .mapToLong(Long::longValue)
                        .toArray();
                groups.state.removeAll(all, all.length);
                groups.groups.clear();
            }
            groups.check();
        }
    }

    /** Of many groups one that fails is named, wherever it is; what is no failure of values is what it was. */
    @Test
    void aGroupIsNamedWhoseResultFails() {
        List<AggregateCall> calls = List.of(call(Function.VAR_POP, AVERAGE, 5));
        Schema schema = Schema.of(INPUT.field(0), INPUT.field(1), field(calls.get(0)));
        for (int many : new int[] {1, 2, 3, 8}) {
            for (long failing = 0; failing < many; failing++) {
                try (Keyed groups = new Keyed(calls, false)) {
                    List<Row> rows = new ArrayList<>();
                    for (long key = 0; key < many; key++) {
                        for (int sign = -1; sign <= 1; sign += 2) {
                            List<Object> values = new ArrayList<>(
                                    randomRow(new SplittableRandom(1)).values());
                            BigDecimal much = BigDecimal.TEN.pow(key == failing ? 26 : 2);
                            values.set(0, key);
                            values.set(1, "k");
                            values.set(5, much.multiply(BigDecimal.valueOf(sign)));
                            rows.add(TestBatches.canonical(INPUT, new Row(values)));
                        }
                    }
                    groups.add(rows, 1);
                    long[] all = groups.entries().values().stream()
                            .mapToLong(Long::longValue)
                            .toArray();
                    RuntimeException failure = assertThrows(
                            MillraceException.class, () -> groups.state.call(0, field(calls.get(0)), all, all.length));
                    RuntimeException named =
                            groups.state.named(failure, schema, all, all.length, entry -> "the window of " + entry);
                    String text = named.getMessage();
                    assertTrue(text.contains("(k = " + failing + ", t = k)"), text);
                    long entry = groups.entries().get(Arrays.asList(failing, (Object) "k"));
                    assertTrue(text.contains("the window of " + entry), text);
                    RuntimeException defect = new IllegalStateException("a defect");
                    assertSame(defect, groups.state.named(defect, schema, all, all.length, any -> "the window"));
                }
            }
        }
    }

    @Test
    void aLargeTableForFewGroupsIsNotKept() {
        List<AggregateCall> calls = List.of(call(Function.COUNT, DataType.BIGINT));
        try (Keyed groups = new Keyed(calls, false)) {
            groups.add(List.of(randomRow(new SplittableRandom(1))), 1);
            assertTrue(groups.state.isWellFilled());
            List<Row> many = new ArrayList<>();
            for (long key = 0; key < 10_000; key++) {
                List<Object> values =
                        new ArrayList<>(randomRow(new SplittableRandom(key)).values());
                values.set(0, key);
                many.add(TestBatches.canonical(INPUT, new Row(values)));
            }
            groups.add(many, 1);
            assertTrue(groups.state.isWellFilled());
            groups.clear();
            groups.add(many.subList(0, 3), 1);
            assertFalse(groups.state.isWellFilled());
        }
    }

    // ---- states that the caller finds

    /** Groups with their rows by their entries, as sessions and frames have them. */
    private final class Given implements AutoCloseable {
        private final AggregateLayout layout;
        private final GroupState state;
        private final NestedImages images = new NestedImages(allocator);
        private final ChangeLog noLog;
        private final Map<Long, List<Row>> groups = new LinkedHashMap<>();

        Given(List<AggregateCall> calls, boolean retractions) {
            layout = new AggregateLayout(new KeyLayout(INPUT, List.of()), calls, INPUT, retractions, false);
            noLog = new ChangeLog(layout, allocator);
            state = new GroupState(GroupKernels.addingToGiven(layout, INPUT), allocator);
        }

        private long any(RandomGenerator random) {
            return List.copyOf(groups.keySet()).get(random.nextInt(groups.size()));
        }

        void add(RandomGenerator random, boolean mayTakeBack) {
            int count = 1 + random.nextInt(20);
            List<Row> rows = new ArrayList<>();
            long[] entries = new long[count];
            long[] weights = new long[count];
            for (int i = 0; i < count; i++) {
                entries[i] = any(random);
                List<Row> group = groups.get(entries[i]);
                if (mayTakeBack && !group.isEmpty() && random.nextBoolean()) {
                    rows.add(group.remove(random.nextInt(group.size())));
                    weights[i] = -1;
                } else {
                    rows.add(randomRow(random));
                    group.add(rows.get(i));
                    weights[i] = 1;
                }
            }
            try (Batch batch = mayTakeBack
                    ? TestBatches.weighted(INPUT, allocator, rows, weights)
                    : TestBatches.of(INPUT, allocator, rows)) {
                state.addTo(entries, batch, images, Rows.all(count), count, noLog);
            } finally {
                images.clear();
            }
        }

        void fold(RandomGenerator random) {
            List<Long> from = new ArrayList<>();
            long to = any(random);
            for (long entry : List.copyOf(groups.keySet())) {
                boolean isOfSameKey = Memory.getLong(entry) == Memory.getLong(to);
                if (entry != to && isOfSameKey && random.nextBoolean()) {
                    Memory.putLong(entry + GroupTable.LINK, to);
                    groups.get(to).addAll(groups.remove(entry));
                    from.add(entry);
                }
            }
            state.fold(from.stream().mapToLong(Long::longValue).toArray(), from.size());
            groups.keySet().forEach(entry -> Memory.putLong(entry + GroupTable.LINK, 0));
        }

        void check() {
            assertEquals(groups.size(), state.table().size());
            long[] all = groups.keySet().stream().mapToLong(Long::longValue).toArray();
            try (StateMemory memory = new StateMemory(allocator)) {
                long[] copies = Arrays.stream(all)
                        .map(entry -> state.copyStates(entry, memory))
                        .toArray();
                for (int index = 0; index < layout.calls().size(); index++) {
                    AggregateCall call = layout.calls().get(index);
                    check(call, all, state.call(index, field(call), all, all.length));
                    boolean pointsElsewhere = call.type().kind() == DataType.Kind.TEXT;
                    if (layout.collected(index).isEmpty() && !pointsElsewhere) {
                        check(call, all, state.simpleResults(index, field(call), copies, all.length));
                    }
                }
            }
        }

        private void check(AggregateCall call, long[] all, FieldVector vector) {
            List<Object> results = values(field(call), vector, all.length);
            for (int i = 0; i < all.length; i++) {
                assertEqual(expected(call, groups.get(all[i])), results.get(i), call);
            }
        }

        @Override
        public void close() {
            state.close();
            images.close();
            noLog.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"5, false", "6, false", "7, true", "8, true"})
    void groupsThatAreFoldedIntoOthersAreThoseOfAllTheirRows(long seed, boolean retractions) {
        RandomGenerator random = new SplittableRandom(seed);
        try (Given given = new Given(calls(retractions), retractions)) {
            for (int step = 0; step < 30; step++) {
                int action = random.nextInt(6);
                if (given.groups.isEmpty() || action == 0) {
                    long hash = (1 + random.nextInt(3)) * 0x9E37_79B9_7F4A_7C15L; // sessions of three keys
                    given.groups.put(given.state.newGroup(hash), new ArrayList<>());
                } else if (action == 1) {
                    given.fold(random);
                } else if (action == 2 && random.nextInt(3) == 0) {
                    long entry = given.any(random);
                    given.groups.remove(entry);
                    given.state.removeAll(new long[] {entry}, 1);
                } else {
                    given.add(random, retractions && random.nextBoolean());
                }
                given.check();
            }
        }
    }
}
