package dev.millrace.engine.over;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.engine.aggregate.ReferenceAggregate;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.Frame.Bound;
import dev.millrace.plan.expression.Frame.Exclusion;
import dev.millrace.plan.expression.Frame.Kind;
import dev.millrace.plan.expression.Frame.Unit;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.expression.OverCall.Function;
import dev.millrace.plan.node.PlanNode.Over;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every function over many frames, under changes, against frames found row by row. */
@Tag("long")
class OverOperatorTest {
    private static final int PARTITION = 0;
    private static final int TIME = 1;
    private static final int VALUE = 2;
    private static final int TEXT = 3;
    private static final int FLAG = 4;
    private static final int ID = 5;
    private static final int BEFORE = 6;
    private static final int AFTER = 7;

    /** The last two are the time less and plus so much: the bounds of RANGE. */
    private static final Schema INPUT = Schema.of(
            new Field("p", DataType.TEXT, true),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("v", DataType.INTEGER, true),
            new Field("t", DataType.TEXT, true),
            new Field("f", DataType.BOOLEAN, true),
            new Field("id", DataType.BIGINT, false),
            new Field("before", DataType.TIMESTAMP, false),
            new Field("after", DataType.TIMESTAMP, false));

    private static final Frame ROWS = frame(Unit.ROWS, Kind.PRECEDING, 2, Kind.CURRENT_ROW, 0, Exclusion.NO_OTHERS);

    private static Frame frame(Unit unit, Kind start, long startOffset, Kind end, long endOffset, Exclusion exclusion) {
        return new Frame(unit, new Bound(start, startOffset), new Bound(end, endOffset), exclusion);
    }

    private static List<Frame> frames() {
        List<Frame> frames = new ArrayList<>(List.of(
                Frame.ALL,
                Frame.TO_CURRENT,
                ROWS,
                frame(Unit.ROWS, Kind.PRECEDING, 1, Kind.FOLLOWING, 1, Exclusion.NO_OTHERS),
                frame(Unit.ROWS, Kind.PRECEDING, 3, Kind.PRECEDING, 1, Exclusion.NO_OTHERS),
                frame(Unit.ROWS, Kind.FOLLOWING, 1, Kind.FOLLOWING, 2, Exclusion.NO_OTHERS),
                frame(Unit.ROWS, Kind.CURRENT_ROW, 0, Kind.UNBOUNDED_FOLLOWING, 0, Exclusion.NO_OTHERS),
                frame(Unit.RANGE, Kind.PRECEDING, BEFORE, Kind.CURRENT_ROW, 0, Exclusion.NO_OTHERS),
                frame(Unit.RANGE, Kind.PRECEDING, BEFORE, Kind.FOLLOWING, AFTER, Exclusion.NO_OTHERS),
                frame(Unit.RANGE, Kind.UNBOUNDED_PRECEDING, 0, Kind.PRECEDING, BEFORE, Exclusion.NO_OTHERS),
                frame(Unit.RANGE, Kind.CURRENT_ROW, 0, Kind.CURRENT_ROW, 0, Exclusion.NO_OTHERS),
                frame(Unit.GROUPS, Kind.PRECEDING, 1, Kind.CURRENT_ROW, 0, Exclusion.NO_OTHERS),
                frame(Unit.GROUPS, Kind.PRECEDING, 2, Kind.PRECEDING, 1, Exclusion.NO_OTHERS),
                frame(Unit.GROUPS, Kind.FOLLOWING, 1, Kind.FOLLOWING, 1, Exclusion.NO_OTHERS)));
        for (Exclusion exclusion : Exclusion.values()) {
            frames.add(frame(Unit.ROWS, Kind.PRECEDING, 2, Kind.FOLLOWING, 2, exclusion));
            frames.add(frame(Unit.RANGE, Kind.UNBOUNDED_PRECEDING, 0, Kind.CURRENT_ROW, 0, exclusion));
        }
        return frames;
    }

    private static Frame rowsUpTo(Kind end, long offset) {
        return frame(Unit.ROWS, Kind.UNBOUNDED_PRECEDING, 0, end, offset, Exclusion.NO_OTHERS);
    }

    private static OverCall number(Function function, long parameter, DataType type) {
        return new OverCall(function, Optional.empty(), List.of(), parameter, false, Frame.ALL, type, false);
    }

    private static OverCall value(
            Function function, long parameter, boolean ignoreNulls, Frame frame, Integer... columns) {
        return new OverCall(
                function,
                Optional.empty(),
                List.of(columns),
                parameter,
                ignoreNulls,
                frame,
                INPUT.type(columns[0]),
                true);
    }

    private static OverCall aggregate(
            AggregateCall.Function function, int column, boolean filtered, Frame frame, DataType type) {
        AggregateCall call = new AggregateCall(
                function,
                column < 0 ? List.of() : List.of(column),
                false,
                filtered ? OptionalInt.of(FLAG) : OptionalInt.empty(),
                List.of(),
                List.of(),
                type);
        return new OverCall(Function.AGGREGATE, Optional.of(call), List.of(), 0, false, frame, type, call.nullable());
    }

    private static Over node(List<OverCall> calls, boolean total, boolean descending, boolean closing) {
        List<OrderKey> order = new ArrayList<>(List.of(new OrderKey(TIME, descending, false)));
        if (total) {
            order.add(new OrderKey(ID, false, false));
        }
        List<Field> fields = new ArrayList<>(INPUT.fields());
        calls.forEach(call -> fields.add(new Field("result", call.type(), call.nullable())));
        return new Over(
                AggregateTests.scan(INPUT),
                List.of(PARTITION),
                order,
                calls,
                closing ? OptionalInt.of(TIME) : OptionalInt.empty(),
                new Schema(fields));
    }

    private static Row row(RandomGenerator random, long id, long time, boolean descending) {
        return TestBatches.canonical(
                INPUT,
                Row.of(
                        random.nextInt(6) == 0 ? null : "p" + random.nextInt(2),
                        time,
                        random.nextInt(4) == 0 ? null : random.nextInt(20),
                        random.nextInt(4) == 0 ? null : "text that does not fit a slot " + random.nextInt(5),
                        random.nextInt(4) == 0 ? null : random.nextBoolean(),
                        id,
                        descending ? time + 3 : time - 3,
                        descending ? time - 2 : time + 2));
    }

    // ---- the reference
    // -----------------------------------------------------------------------------------------------

    private static ZSet expected(Over node, List<Row> rows) {
        ZSet expected = new ZSet();
        ReferenceAggregate.groups(rows, List.of(PARTITION)).values().forEach(group -> {
            List<Row> sorted = new ArrayList<>(group);
            sorted.sort((a, b) -> compare(node, a, b));
            for (int i = 0; i < sorted.size(); i++) {
                List<Object> values = new ArrayList<>(sorted.get(i).values());
                for (OverCall call : node.calls()) {
                    values.add(result(node, call, sorted, i));
                }
                expected.add(new Row(values), 1);
            }
        });
        return expected;
    }

    private static int compare(Over node, Row a, Row b) {
        for (OrderKey key : node.order()) {
            int order = ReferenceAggregate.compare(a.get(key.column()), b.get(key.column()));
            if (order != 0) {
                return key.descending() ? -order : order;
            }
        }
        return 0;
    }

    private static Object result(Over node, OverCall call, List<Row> rows, int at) {
        int before = (int) rows.stream()
                .filter(row -> compare(node, row, rows.get(at)) < 0)
                .count();
        int upTo = (int) rows.stream()
                .filter(row -> compare(node, row, rows.get(at)) <= 0)
                .count();
        List<Row> frame = frame(node, call.frame(), rows, at);
        return switch (call.function()) {
            case ROW_NUMBER -> at + 1L;
            case RANK -> before + 1L;
            case DENSE_RANK -> groupOf(node, rows, at) + 1L;
            case PERCENT_RANK -> rows.size() == 1 ? 0.0 : before / (rows.size() - 1.0);
            case CUME_DIST -> upTo / (double) rows.size();
            case NTILE -> (long) bucket(at, rows.size(), call.parameter());
            case LAG, LEAD -> shifted(call, rows, at);
            case FIRST_VALUE -> nth(call, frame, 1);
            case NTH_VALUE -> nth(call, frame, (int) call.parameter());
            case LAST_VALUE -> {
                List<Row> seen = seen(call, frame);
                yield seen.isEmpty()
                        ? null
                        : seen.get(seen.size() - 1).get(call.arguments().get(0));
            }
            case EMA -> throw new IllegalStateException("AverageCallsTest has it");
            case AGGREGATE -> ReferenceAggregate.result(call.aggregate().orElseThrow(), frame, INPUT);
        };
    }

    private static int bucket(int at, int rows, long buckets) {
        for (int bucket = 1, end = 0; ; bucket++) {
            end += rows / (int) buckets + (bucket <= rows % buckets ? 1 : 0);
            if (at < end) {
                return bucket;
            }
        }
    }

    private static Object shifted(OverCall call, List<Row> rows, int at) {
        int step = call.function() == Function.LAG ? -1 : 1;
        long left = call.parameter();
        for (int i = at; i >= 0 && i < rows.size(); i += step) {
            boolean counts = i == at
                    ? left == 0
                    : !call.ignoreNulls() || rows.get(i).get(call.arguments().get(0)) != null;
            if (counts && (i == at || --left == 0)) {
                return rows.get(i).get(call.arguments().get(0));
            }
        }
        return call.arguments().size() > 1 ? rows.get(at).get(call.arguments().get(1)) : null;
    }

    private static List<Row> seen(OverCall call, List<Row> frame) {
        return frame.stream()
                .filter(row -> !call.ignoreNulls() || row.get(call.arguments().get(0)) != null)
                .toList();
    }

    private static Object nth(OverCall call, List<Row> frame, int nth) {
        List<Row> seen = seen(call, frame);
        return seen.size() < nth ? null : seen.get(nth - 1).get(call.arguments().get(0));
    }

    private static List<Row> frame(Over node, Frame frame, List<Row> rows, int at) {
        List<Row> in = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            boolean peer = compare(node, rows.get(i), rows.get(at)) == 0;
            boolean excluded = switch (frame.exclusion()) {
                case NO_OTHERS -> false;
                case CURRENT_ROW -> i == at;
                case GROUP -> peer;
                case TIES -> peer && i != at;
            };
            if (!excluded
                    && distance(node, frame, frame.start(), rows, i, at) >= 0
                    && distance(node, frame, frame.end(), rows, i, at) <= 0) {
                in.add(rows.get(i));
            }
        }
        return in;
    }

    /** How far a row is behind a bound. */
    private static int distance(Over node, Frame frame, Bound bound, List<Row> rows, int i, int at) {
        if (bound.kind() == Kind.UNBOUNDED_PRECEDING) {
            return 1;
        } else if (bound.kind() == Kind.UNBOUNDED_FOLLOWING) {
            return -1;
        }
        int offset = bound.kind() == Kind.PRECEDING ? (int) -bound.offset() : (int) bound.offset();
        return switch (frame.unit()) {
            case ROWS -> i - (at + offset);
            case RANGE -> {
                int column = frame.isColumn(bound) ? (int) bound.offset() : TIME;
                int order = ReferenceAggregate.compare(
                        rows.get(i).get(TIME), rows.get(at).get(column));
                yield node.order().get(0).descending() ? -order : order;
            }
            case GROUPS -> groupOf(node, rows, i) - (groupOf(node, rows, at) + offset);
        };
    }

    private static int groupOf(Over node, List<Row> rows, int at) {
        int group = 0;
        for (int i = 1; i <= at; i++) {
            group += compare(node, rows.get(i - 1), rows.get(i)) == 0 ? 0 : 1;
        }
        return group;
    }

    // ---- tests
    // -------------------------------------------------------------------------------------------------------

    private static OperatorHarness harness(Over node) {
        return new OperatorHarness(() -> new OverOperator(node), INPUT)
                .output(node.schema())
                .partitionedBy(AggregateTests.keyGroup(List.of(PARTITION)));
    }

    /** Rows come and go; {@code total}: no two tie. */
    private static void follow(List<OverCall> calls, boolean total, boolean descending, long seed) {
        Over node = node(calls, total, descending, false);
        RandomGenerator random = new SplittableRandom(seed);
        OperatorHarness harness = harness(node);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            if (!rows.isEmpty() && random.nextInt(3) == 0) {
                harness.weighted(0, rows.remove(random.nextInt(rows.size())), -1);
            } else {
                Row row = row(random, i, random.nextInt(15), descending);
                rows.add(row);
                harness.rows(row);
            }
            if (random.nextInt(8) == 0) {
                harness.epochEnd();
            }
        }
        harness.expect(expected(node, rows));
    }

    @Test
    void numbersFollowChanges() {
        List<OverCall> numbers = List.of(
                number(Function.ROW_NUMBER, 0, DataType.BIGINT),
                number(Function.RANK, 0, DataType.BIGINT),
                number(Function.DENSE_RANK, 0, DataType.BIGINT),
                number(Function.PERCENT_RANK, 0, DataType.DOUBLE),
                number(Function.CUME_DIST, 0, DataType.DOUBLE),
                number(Function.NTILE, 3, DataType.INTEGER));
        follow(numbers, true, false, 1);
        for (OverCall call : numbers.subList(1, 5)) {
            follow(List.of(call), false, true, 2);
        }
        follow(List.of(numbers.get(0)), true, true, 3);
    }

    @Test
    void neighboursFollowChanges() {
        for (boolean ignoreNulls : new boolean[] {false, true}) {
            for (Function function : List.of(Function.LAG, Function.LEAD)) {
                follow(
                        List.of(
                                value(function, 1, ignoreNulls, Frame.ALL, VALUE),
                                value(function, 3, ignoreNulls, Frame.ALL, TEXT)),
                        true,
                        false,
                        4);
                follow(List.of(value(function, 2, ignoreNulls, Frame.ALL, TEXT, PARTITION)), true, false, 5);
                follow(List.of(value(function, 0, false, Frame.ALL, ID)), true, false, 6);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void framesFollowChanges(boolean descending) {
        long seed = 10;
        for (Frame frame : frames()) {
            boolean total = frame.unit() == Unit.ROWS;
            List<OverCall> calls = new ArrayList<>(List.of(
                    aggregate(AggregateCall.Function.COUNT, -1, false, frame, DataType.BIGINT),
                    aggregate(AggregateCall.Function.SUM, VALUE, true, frame, DataType.BIGINT),
                    aggregate(AggregateCall.Function.MAX, VALUE, false, frame, DataType.INTEGER),
                    aggregate(AggregateCall.Function.MIN, TEXT, true, frame, DataType.TEXT)));
            if (total) {
                calls.add(value(Function.FIRST_VALUE, 0, false, frame, TEXT));
                calls.add(value(Function.LAST_VALUE, 0, true, frame, VALUE));
                calls.add(value(Function.NTH_VALUE, 2, false, frame, VALUE));
                calls.add(aggregate(
                        AggregateCall.Function.ARRAY_AGG, VALUE, false, frame, DataType.array(DataType.INTEGER)));
            }
            follow(calls, total, descending, seed++);
        }
    }

    @Test
    void equalRowsAreRowsOfTheirOwn() {
        Over node = node(List.of(number(Function.ROW_NUMBER, 0, DataType.BIGINT)), true, false, false);
        Row twice = TestBatches.canonical(INPUT, Row.of("p", 1L, 5, "t", true, 1L, 0L, 2L));
        Row later = TestBatches.canonical(INPUT, Row.of("p", 2L, 5, "t", true, 2L, 0L, 2L));
        OperatorHarness harness = harness(node).keepsFormat("over-numbers");
        harness.rows(twice, later).epochEnd();
        harness.weighted(0, twice, 2).epochEnd();
        harness.weighted(0, twice, -1).epochEnd();
        harness.expect(expected(node, List.of(twice, twice, later)));
    }

    @Test
    void closedRowsAreEmittedOnceInTheOrderOfTime() {
        OverCall sum = aggregate(AggregateCall.Function.SUM, VALUE, false, ROWS, DataType.BIGINT);
        OverCall recent = aggregate(
                AggregateCall.Function.COUNT,
                -1,
                false,
                frame(Unit.RANGE, Kind.PRECEDING, BEFORE, Kind.CURRENT_ROW, 0, Exclusion.NO_OTHERS),
                DataType.BIGINT);
        for (Over node : List.of(
                node(List.of(sum, value(Function.LAG, 2, false, Frame.ALL, TEXT)), true, false, true),
                node(List.of(recent), false, false, true),
                node(
                        List.of(
                                value(Function.LAST_VALUE, 0, true, rowsUpTo(Kind.CURRENT_ROW, 0), VALUE),
                                value(Function.LAG, 2, true, Frame.ALL, TEXT)),
                        true,
                        false,
                        true),
                node(
                        List.of(value(Function.LAST_VALUE, 0, true, rowsUpTo(Kind.PRECEDING, 1), TEXT)),
                        true,
                        false,
                        true),
                node(
                        List.of(
                                number(Function.RANK, 0, DataType.BIGINT),
                                number(Function.DENSE_RANK, 0, DataType.BIGINT)),
                        false,
                        false,
                        true),
                node(List.of(number(Function.ROW_NUMBER, 0, DataType.BIGINT)), true, false, true),
                node(
                        List.of(
                                aggregate(AggregateCall.Function.MAX, VALUE, false, ROWS, DataType.INTEGER),
                                aggregate(
                                        AggregateCall.Function.ARRAY_AGG,
                                        VALUE,
                                        false,
                                        ROWS,
                                        DataType.array(DataType.INTEGER))),
                        true,
                        false,
                        true),
                node(List.of(number(Function.ROW_NUMBER, 0, DataType.BIGINT), sum), true, false, true))) {
            RandomGenerator random = new SplittableRandom(20);
            OperatorHarness harness = harness(node).appendOnlyInput().appendOnlyOutput();
            if (node.calls().contains(recent)) {
                harness.keepsFormat("over-closed");
            }
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                long watermark = i / 2;
                Row row = row(random, i, watermark + random.nextInt(10), false);
                rows.add(row);
                harness.rows(row);
                if (random.nextInt(5) == 0) {
                    harness.watermark(watermark);
                }
                if (random.nextInt(9) == 0) {
                    harness.epochEnd();
                }
            }
            harness.watermark(76);
            List<Row> passed =
                    rows.stream().filter(row -> (Long) row.get(TIME) < 76).toList();
            harness.expect(expected(node, passed));
        }
    }
}
