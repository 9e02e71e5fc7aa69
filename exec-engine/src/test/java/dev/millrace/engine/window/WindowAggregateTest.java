package dev.millrace.engine.window;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.aggregate.Chain;
import dev.millrace.engine.aggregate.ReferenceAggregate;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.operator.Operator;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
class WindowAggregateTest {
    private static final int TIME = 9;
    private static final long SECOND = 1_000_000;

    private static WindowAggregate node(WindowSpec window, List<Integer> keys, List<AggregateCall> calls) {
        List<Field> fields = new ArrayList<>(AggregateTests.INPUT.select(keys).fields());
        for (AggregateCall call : calls) {
            fields.add(new Field(call.function().name(), call.type(), call.nullable()));
        }
        fields.add(new Field("window_start", DataType.TIMESTAMP, false));
        fields.add(new Field("window_end", DataType.TIMESTAMP, false));
        return new WindowAggregate(
                AggregateTests.scan(AggregateTests.INPUT), TIME, window, keys, calls, Phase.SINGLE, new Schema(fields));
    }

    /** Rows with times that rise by and by; the watermark stays behind all rows to come, so that none is late. */
    private static List<Row> script(OperatorHarness harness, long seed, int count) {
        RandomGenerator random = new SplittableRandom(seed);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long time = (i / 4 + random.nextInt(12)) * SECOND + random.nextInt(3) - 1;
            List<Object> values =
                    new ArrayList<>(AggregateTests.randomRow(random, 3).values());
            values.set(TIME, time);
            Row row = TestBatches.canonical(AggregateTests.INPUT, new Row(values));
            harness.rows(row);
            rows.add(row);
            if (random.nextInt(10) == 0) {
                harness.watermark((i / 4) * SECOND - 1);
            }
            if (random.nextInt(16) == 0) {
                harness.epochEnd();
            }
        }
        harness.endOfInput();
        return rows;
    }

    private static ZSet expected(WindowAggregate node, List<Row> rows) {
        ZSet expected = new ZSet();
        ReferenceAggregate.groups(rows, node.keys())
                .forEach((key, group) -> windows(node.window(), group).forEach((bounds, members) -> {
                    List<Object> values = new ArrayList<>(key);
                    node.calls()
                            .forEach(
                                    call -> values.add(ReferenceAggregate.result(call, members, AggregateTests.INPUT)));
                    values.addAll(bounds);
                    expected.add(TestBatches.canonical(node.schema(), new Row(values)), 1);
                }));
        return expected;
    }

    /** The windows of the rows of one key: start and end to members. */
    static Map<List<Long>, List<Row>> windows(WindowSpec spec, List<Row> rows) {
        Map<List<Long>, List<Row>> windows = new java.util.LinkedHashMap<>();
        if (spec instanceof WindowSpec.Session session) {
            TreeMap<Long, List<Row>> byTime = new TreeMap<>();
            rows.forEach(row -> byTime.computeIfAbsent((Long) row.get(TIME), time -> new ArrayList<>())
                    .add(row));
            List<Row> members = new ArrayList<>();
            long start = 0;
            long last = 0;
            for (Map.Entry<Long, List<Row>> next : byTime.entrySet()) {
                if (members.isEmpty() || next.getKey() - last >= session.gapMicros()) {
                    members = new ArrayList<>();
                    start = next.getKey();
                } else {
                    windows.remove(List.of(start, last + session.gapMicros()));
                }
                last = next.getKey();
                members.addAll(next.getValue());
                windows.put(List.of(start, last + session.gapMicros()), members);
            }
            windows.replaceAll((bounds, all) -> rows.stream()
                    .filter(row -> (Long) row.get(TIME) >= bounds.get(0) && (Long) row.get(TIME) < bounds.get(1))
                    .toList());
            return windows;
        }
        for (Row row : rows) {
            long time = (Long) row.get(TIME);
            for (List<Long> bounds : bounds(spec, time)) {
                windows.computeIfAbsent(bounds, absent -> new ArrayList<>()).add(row);
            }
        }
        return windows;
    }

    private static long floor(long time, long unit, long offset) {
        return Math.floorDiv(time - offset, unit) * unit + offset;
    }

    static List<List<Long>> bounds(WindowSpec spec, long time) {
        List<List<Long>> found = new ArrayList<>();
        if (spec instanceof WindowSpec.Tumble tumble) {
            long start = floor(time, tumble.sizeMicros(), tumble.offsetMicros());
            found.add(List.of(start, start + tumble.sizeMicros()));
        } else if (spec instanceof WindowSpec.Hop hop) {
            for (long start = floor(time, hop.slideMicros(), hop.offsetMicros());
                    start > time - hop.sizeMicros();
                    start -= hop.slideMicros()) {
                found.add(List.of(start, start + hop.sizeMicros()));
            }
        } else if (spec instanceof WindowSpec.Cumulate cumulate) {
            long start = floor(time, cumulate.sizeMicros(), cumulate.offsetMicros());
            for (long end = start + cumulate.stepMicros();
                    end <= start + cumulate.sizeMicros();
                    end += cumulate.stepMicros()) {
                if (time < end) {
                    found.add(List.of(start, end));
                }
            }
        }
        return found;
    }

    private static void check(Supplier<Operator> factory, WindowAggregate node, long seed, boolean keyed) {
        check(factory, node, seed, keyed, Optional.empty());
    }

    private static void check(
            Supplier<Operator> factory, WindowAggregate node, long seed, boolean keyed, Optional<String> fixture) {
        OperatorHarness harness = new OperatorHarness(factory, AggregateTests.INPUT)
                .appendOnlyInput()
                .appendOnlyOutput()
                .output(node.schema());
        if (keyed) {
            harness.partitionedBy(AggregateTests.keyGroup(node.keys()));
        }
        fixture.ifPresent(harness::keepsFormat);
        List<Row> rows = script(harness, seed, 150);
        harness.expect(expected(node, rows));
    }

    @Test
    void windowsAreWrittenAsTheyWere() {
        WindowAggregate hopping =
                node(new WindowSpec.Hop(2 * SECOND, 6 * SECOND), List.of(0), AggregateTests.simpleCalls());
        check(() -> new SliceAggregateOperator(hopping), hopping, 31, true, Optional.of("slices"));
        List<AggregateCall> calls = new ArrayList<>(AggregateTests.distinctCalls());
        calls.addAll(AggregateTests.collectingCalls());
        WindowAggregate sessions = node(new WindowSpec.Session(2 * SECOND), List.of(0), calls);
        check(() -> new SessionAggregateOperator(sessions), sessions, 32, true, Optional.of("sessions"));
    }

    private static final List<WindowSpec> SLICED = List.of(
            new WindowSpec.Tumble(5 * SECOND),
            new WindowSpec.Hop(2 * SECOND, 6 * SECOND),
            new WindowSpec.Hop(4 * SECOND, 6 * SECOND),
            new WindowSpec.Hop(6 * SECOND, 4 * SECOND),
            new WindowSpec.Cumulate(2 * SECOND, 8 * SECOND),
            new WindowSpec.Tumble(5 * SECOND, 2 * SECOND),
            new WindowSpec.Hop(4 * SECOND, 6 * SECOND, 3 * SECOND),
            new WindowSpec.Hop(6 * SECOND, 4 * SECOND, SECOND),
            new WindowSpec.Cumulate(2 * SECOND, 8 * SECOND, 5 * SECOND));

    private static List<WindowSpec> sliced() {
        return SLICED;
    }

    @ParameterizedTest
    @MethodSource("sliced")
    void windowsBySlicesEqualTheReference(WindowSpec window) {
        long seed = 1 + 3L * SLICED.indexOf(window);
        for (List<Integer> keys : List.of(List.of(0), List.of(1, 6), List.<Integer>of())) {
            WindowAggregate node = node(window, keys, AggregateTests.simpleCalls());
            check(() -> new SliceAggregateOperator(node), node, seed++, true);
        }
    }

    @ParameterizedTest
    @MethodSource("sliced")
    void slicesPutDistinctAndKeptValuesTogether(WindowSpec window) {
        List<AggregateCall> calls = new ArrayList<>(AggregateTests.distinctCalls());
        calls.addAll(AggregateTests.collectingCalls());
        WindowAggregate node = node(window, List.of(0), calls);
        check(() -> new SliceAggregateOperator(node), node, 100 + SLICED.indexOf(window), true);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void sessionsEqualTheReference(long seed) {
        for (long gap : new long[] {SECOND, 2 * SECOND, 4 * SECOND}) {
            List<AggregateCall> calls = new ArrayList<>(AggregateTests.simpleCalls());
            calls.addAll(AggregateTests.distinctCalls());
            calls.addAll(AggregateTests.collectingCalls());
            WindowAggregate node = node(new WindowSpec.Session(gap), List.of(seed % 2 == 0 ? 0 : 1), calls);
            check(() -> new SessionAggregateOperator(node), node, seed, true);
        }
    }

    @Test
    void sessionsWithoutKeysEqualTheReference() {
        WindowAggregate node = node(new WindowSpec.Session(SECOND / 2), List.of(), AggregateTests.simpleCalls());
        check(() -> new SessionAggregateOperator(node), node, 7, true);
    }

    private record TwoPhases(WindowAggregate partial, WindowAggregate last) {
        /** By key, with the columns of the times behind it. */
        static TwoPhases of(WindowAggregate single) {
            List<Integer> keys = List.of(1);
            WindowAggregate shape = new WindowAggregate(
                    single.input(), TIME, single.window(), keys, single.calls(), Phase.PARTIAL, Schema.of());
            WindowAggregate partial = new WindowAggregate(
                    single.input(),
                    TIME,
                    single.window(),
                    keys,
                    single.calls(),
                    Phase.PARTIAL,
                    PartialSchemas.of(shape));
            return new TwoPhases(
                    partial,
                    new WindowAggregate(
                            partial, 1, single.window(), List.of(0), single.calls(), Phase.FINAL, single.schema()));
        }
    }

    @ParameterizedTest
    @MethodSource("sliced")
    void twoPhasesGiveWhatOneGives(WindowSpec window) {
        WindowAggregate single = node(window, List.of(1), AggregateTests.simpleCalls());
        TwoPhases two = TwoPhases.of(single);
        check(
                () -> new Chain(List.of(
                        new SliceAggregateOperator(two.partial(), new PartialLimit(3, 12)),
                        new SliceAggregateOperator(two.last()))),
                single,
                200 + SLICED.indexOf(window),
                false);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void twoPhasesOfSessionsGiveWhatOneGives(long seed) {
        for (long gap : new long[] {SECOND, 2 * SECOND, 4 * SECOND}) {
            WindowAggregate single = node(new WindowSpec.Session(gap), List.of(1), AggregateTests.simpleCalls());
            TwoPhases two = TwoPhases.of(single);
            PartialLimit limit = seed % 2 == 0 ? new PartialLimit(3, 12) : new PartialLimit();
            check(
                    () -> new Chain(List.of(
                            new PartialSessionsOperator(two.partial(), limit),
                            new SessionAggregateOperator(two.last()))),
                    single,
                    300 + seed,
                    false);
        }
    }

    @Test
    void rowsBehindTheirLastWindowAreLate() {
        WindowAggregate node = node(new WindowSpec.Tumble(5 * SECOND), List.of(0), AggregateTests.simpleCalls());
        RandomGenerator random = new SplittableRandom(9);
        List<Row> rows = new ArrayList<>();
        for (long time : new long[] {1, 6, 2, 12}) {
            List<Object> values =
                    new ArrayList<>(AggregateTests.randomRow(random, 1).values());
            values.set(TIME, time * SECOND);
            rows.add(new Row(values));
        }
        ZSet late = ZSet.of(List.of(TestBatches.canonical(AggregateTests.INPUT, rows.get(2))));
        new OperatorHarness(() -> new SliceAggregateOperator(node), AggregateTests.INPUT)
                .appendOnlyInput()
                .output(node.schema())
                .rows(rows.get(0), rows.get(1))
                .watermark(5 * SECOND)
                .rows(rows.get(2), rows.get(3))
                .endOfInput()
                .expect(expected(node, List.of(rows.get(0), rows.get(1), rows.get(3))), late);
    }

    @Test
    void aRowLessThanAGapBehindTheWatermarkJoinsItsSession() {
        WindowAggregate node = node(new WindowSpec.Session(5 * SECOND), List.of(0), AggregateTests.simpleCalls());
        RandomGenerator random = new SplittableRandom(10);
        List<Row> rows = new ArrayList<>();
        for (long time : new long[] {10, 14, 9, 7}) {
            List<Object> values =
                    new ArrayList<>(AggregateTests.randomRow(random, 1).values());
            values.set(TIME, time * SECOND);
            rows.add(new Row(values));
        }
        ZSet late = ZSet.of(List.of(TestBatches.canonical(AggregateTests.INPUT, rows.get(3))));
        new OperatorHarness(() -> new SessionAggregateOperator(node), AggregateTests.INPUT)
                .appendOnlyInput()
                .output(node.schema())
                .rows(rows.get(0), rows.get(1))
                .watermark(12 * SECOND)
                .rows(rows.get(2), rows.get(3))
                .endOfInput()
                .expect(expected(node, rows.subList(0, 3)), late);
    }

    @Test
    void attachedWindowsGroupByTheirBounds() {
        Schema input = Schema.of(
                new Field("k", DataType.TEXT, true),
                new Field("v", DataType.BIGINT, false),
                new Field("window_start", DataType.TIMESTAMP, false),
                new Field("window_end", DataType.TIMESTAMP, false));
        Schema output = Schema.of(
                input.field(0), new Field("sum", DataType.numeric(38, 0), true), input.field(2), input.field(3));
        WindowAggregate node = new WindowAggregate(
                AggregateTests.scan(input),
                3,
                new WindowSpec.Attached(2, 3),
                List.of(0),
                List.of(AggregateTests.call(AggregateCall.Function.SUM, DataType.numeric(38, 0), 1)),
                Phase.SINGLE,
                output);
        OperatorHarness harness = new OperatorHarness(() -> new SliceAggregateOperator(node), input)
                .appendOnlyInput()
                .appendOnlyOutput()
                .output(output);
        RandomGenerator random = new SplittableRandom(3);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            long end = (i / 10 + 1 + random.nextInt(3)) * 10L;
            Object key = random.nextInt(4) == 0 ? null : "key " + random.nextInt(2);
            Row row = TestBatches.canonical(
                    input, Row.of(key, random.nextInt(100), end - 10L * (1 + random.nextInt(2)), end));
            rows.add(row);
            harness.rows(row);
            if (i % 10 == 9) {
                harness.watermark((i / 10 + 1) * 10L).epochEnd();
            }
        }
        ZSet expected = new ZSet();
        ReferenceAggregate.groups(rows, List.of(0, 2, 3))
                .forEach((key, group) -> expected.add(
                        TestBatches.canonical(
                                output,
                                Row.of(
                                        key.get(0),
                                        group.stream()
                                                .mapToLong(row -> (Long) row.get(1))
                                                .sum(),
                                        key.get(1),
                                        key.get(2))),
                        1));
        harness.endOfInput().expect(expected);
    }
}
