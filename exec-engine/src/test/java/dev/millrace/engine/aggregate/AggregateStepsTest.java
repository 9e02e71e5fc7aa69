package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateTests.call;
import static dev.millrace.engine.aggregate.AggregateTests.distinct;
import static dev.millrace.engine.aggregate.AggregateTests.filtered;
import static dev.millrace.engine.aggregate.AggregateTests.ordered;
import static dev.millrace.engine.aggregate.AggregateTests.scan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.partial.PartialAggregateOperator;
import dev.millrace.engine.aggregate.partial.PartialGain;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.testing.harness.OperatorRun;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Aggregation step by step: what changes are told and which are not, what is counted, and values that come and go. */
class AggregateStepsTest {
    private static final Schema INPUT = Schema.of(
            new Field("k", DataType.BIGINT, true),
            new Field("v", DataType.BIGINT, true),
            new Field("t", DataType.TEXT, true),
            new Field("f", DataType.BOOLEAN, true),
            new Field("d", DataType.DOUBLE, true),
            new Field("r", DataType.REAL, true),
            new Field("i", DataType.INTEGER, true));

    private static final AggregateCall COUNT = call(Function.COUNT, DataType.BIGINT);
    private static final AggregateCall MOST = call(Function.MAX, DataType.BIGINT, 1);

    private static Aggregate node(boolean hasKey, boolean appendOnly, AggregateCall... calls) {
        List<Field> fields = new ArrayList<>();
        if (hasKey) {
            fields.add(INPUT.field(0));
        }
        for (AggregateCall call : calls) {
            fields.add(new Field("c" + fields.size(), call.type(), call.nullable()));
        }
        return new Aggregate(
                scan(INPUT),
                hasKey ? List.of(0) : List.of(),
                List.of(calls),
                Phase.SINGLE,
                appendOnly,
                new Schema(fields));
    }

    private static OperatorRun run(boolean hasKey, boolean appendOnly, AggregateCall... calls) {
        Aggregate node = node(hasKey, appendOnly, calls);
        return new OperatorRun(() -> new AggregateOperator(node), INPUT);
    }

    private static Row row(Object key, Object value) {
        return row(key, value, null);
    }

    private static Row row(Object key, Object value, Object text) {
        return Row.of(key, value, text, null, null, null, null);
    }

    private static ZSet sum(Row... rows) {
        return ZSet.of(List.of(rows));
    }

    private static ZSet change(Row before, Row after) {
        ZSet change = sum(after);
        change.add(before, -1);
        return change;
    }

    // ---- changes

    @Test
    void onlyWhatChangedIsTold() {
        for (boolean appendOnly : new boolean[] {true, false}) {
            try (OperatorRun run = run(true, appendOnly, MOST)) {
                run.rows(0, row(1L, 5L), row(2L, 7L), row(null, 1L));
                assertEquals(3, run.metrics().stateEntries());
                assertTrue(run.metrics().stateBytes() > 0);
                assertEquals(sum(), run.taken());
                run.epochEnd();
                assertEquals(sum(Row.of(1L, 5L), Row.of(2L, 7L), Row.of(null, 1L)), run.taken());
                run.rows(0, row(1L, 4L), row(2L, 8L), row(null, null)).epochEnd();
                assertEquals(change(Row.of(2L, 7L), Row.of(2L, 8L)), run.taken());
                run.epochEnd().restart();
                assertEquals(3, run.metrics().stateEntries());
                run.rows(0, row(1L, 6L), row(2L, 8L)).epochEnd();
                assertEquals(change(Row.of(1L, 5L), Row.of(1L, 6L)), run.taken());
            }
        }
    }

    @Test
    void groupsWithoutRowsGo() {
        try (OperatorRun run = run(true, false, COUNT, MOST)) {
            run.weighted(0, 3, row(1L, 5L)).rows(0, row(1L, 9L), row(2L, 1L)).epochEnd();
            assertEquals(sum(Row.of(1L, 4L, 9L), Row.of(2L, 1L, 1L)), run.taken());
            run.weighted(0, -1, row(1L, 9L)).epochEnd();
            assertEquals(change(Row.of(1L, 4L, 9L), Row.of(1L, 3L, 5L)), run.taken());
            run.weighted(0, -3, row(1L, 5L)).epochEnd();
            ZSet gone = new ZSet();
            gone.add(Row.of(1L, 3L, 5L), -1);
            assertEquals(gone, run.taken());
            assertEquals(1, run.metrics().stateEntries());
            run.rows(0, row(3L, 1L)).weighted(0, -1, row(3L, 1L)).epochEnd();
            assertEquals(sum(), run.taken(), "came and went");
            assertEquals(1, run.metrics().stateEntries());
            run.weighted(0, -1, row(4L, 1L)).epochEnd(); // the row comes in the next epoch
            assertEquals(sum(), run.taken());
            run.rows(0, row(4L, 1L)).epochEnd();
            assertEquals(sum(), run.taken());
            assertEquals(1, run.metrics().stateEntries());
        }
    }

    @Test
    void changesGoOutInBatchesAndWaitWhereTheOutputIsFull() {
        AggregateCall list = call(Function.ARRAY_AGG, DataType.array(DataType.BIGINT), 1);
        for (AggregateCall call : List.of(COUNT, list)) {
            Aggregate node = node(true, false, call);
            try (OperatorRun run = new OperatorRun(10, () -> new AggregateOperator(node), INPUT)) {
                Row[] rows = new Row[34];
                Arrays.setAll(rows, i -> row((long) i, 1L));
                run.rows(0, rows);
                assertFalse(run.epochEnd(2));
                run.epochEnd();
                assertEquals(34, run.taken().rows().size());
                assertTrue(run.takenSizes().stream().allMatch(size -> size <= 10));
                run.rows(0, rows).epochEnd();
                assertTrue(run.takenSizes().stream().allMatch(size -> size <= 10));
                ZSet changes = run.taken();
                assertFalse(changes.isPositive());
                run.weighted(0, -2, rows).epochEnd();
                ZSet all = run.taken();
                assertFalse(all.isEmpty());
                assertEquals(0, run.metrics().stateEntries());
            }
        }
    }

    // ---- without keys

    @Test
    void withoutKeysThereIsOneRowFromTheFirstEpochOn() {
        for (boolean appendOnly : new boolean[] {true, false}) {
            try (OperatorRun run = run(false, appendOnly, COUNT, MOST)) {
                run.epochEnd();
                assertEquals(sum(Row.of(0L, null)), run.taken());
                run.epochEnd();
                assertEquals(sum(), run.taken());
                run.restart().epochEnd();
                assertEquals(sum(), run.taken(), "known after a restart");
                assertEquals(1, run.metrics().stateEntries());
                run.rows(0, row(1L, 5L)).epochEnd();
                assertEquals(change(Row.of(0L, null), Row.of(1L, 5L)), run.taken());
                run.restart().rows(0, row(1L, 7L)).epochEnd();
                assertEquals(change(Row.of(1L, 5L), Row.of(2L, 7L)), run.taken());
                if (!appendOnly) {
                    run.restart().weighted(0, -1, row(1L, 7L), row(1L, 5L)).epochEnd();
                    assertEquals(change(Row.of(2L, 7L), Row.of(0L, null)), run.taken());
                    assertEquals(1, run.metrics().stateEntries());
                }
            }
        }
    }

    // ---- told again

    @Test
    void theWholeAnswerIsToldAgain() {
        for (boolean hasKey : new boolean[] {true, false}) {
            for (boolean restarts : new boolean[] {true, false}) {
                AggregateCall texts = ordered(
                        call(Function.STRING_AGG, DataType.TEXT, 2), List.of(new OrderKey(2, false, false)), "-");
                try (OperatorRun run = run(hasKey, false, COUNT, MOST, texts)) {
                    for (long i = 0; i < 600; i++) {
                        run.rows(0, row(i % 300, i, "text " + i));
                    }
                    run.epochEnd();
                    ZSet all = run.taken();
                    assertEquals(hasKey ? 300 : 1, all.rows().size());
                    if (restarts) {
                        run.restart();
                    }
                    ((AggregateOperator) run.operator()).replay();
                    run.epochEnd();
                    assertEquals(all, run.taken());
                    run.epochEnd();
                    assertEquals(sum(), run.taken());
                }
            }
        }
    }

    // ---- values

    private static Object result(boolean appendOnly, AggregateCall call, Row... rows) {
        try (OperatorRun run = run(false, appendOnly, call)) {
            run.rows(0, rows).epochEnd();
            return run.taken().rows().get(0).get(0);
        }
    }

    private static Row with(int column, Object value) {
        List<Object> values = new ArrayList<>(Collections.nCopies(INPUT.size(), null));
        values.set(column, value);
        return TestBatches.canonical(INPUT, new Row(values));
    }

    private static Row[] all(int column, Object... values) {
        return Arrays.stream(values).map(value -> with(column, value)).toArray(Row[]::new);
    }

    @Test
    void percentilesOfAllTypesAreThoseOfTheirOrder() {
        for (boolean appendOnly : new boolean[] {true, false}) {
            for (int column : new int[] {1, 4, 5, 6}) {
                Object[] values = column == 4 || column == 5
                        ? new Object[] {4.0, -1.0, null, 2.0, 8.0, 0.5}
                        : new Object[] {40L, -10L, null, 20L, 80L, 5L};
                if (column == 5) {
                    values = new Object[] {4f, -1f, null, 2f, 8f, .5f};
                } else if (column == 6) {
                    values = new Object[] {40, -10, null, 20, 80, 5};
                }
                double unit = column == 1 || column == 6 ? 10 : 1;
                for (boolean descending : new boolean[] {false, true}) {
                    List<OrderKey> order = List.of(new OrderKey(column, descending, false));
                    double[] fractions = {0, .25, .3, .5, .9, 1};
                    double[] sorted = {-1 * unit, .5 * unit, 2 * unit, 4 * unit, 8 * unit};
                    for (double fraction : fractions) {
                        double position = fraction * 4;
                        double low = sorted[at((int) Math.floor(position), descending)];
                        double high = sorted[at((int) Math.ceil(position), descending)];
                        AggregateCall between =
                                ordered(call(Function.PERCENTILE_CONT, DataType.DOUBLE, column), order, fraction);
                        assertEquals(
                                low + (position - Math.floor(position)) * (high - low),
                                (Double) result(appendOnly, between, all(column, values)),
                                1e-6);
                        AggregateCall one =
                                ordered(call(Function.PERCENTILE_DISC, INPUT.type(column), column), order, fraction);
                        int index = (int) Math.max(0, Math.ceil(fraction * 5) - 1);
                        assertEquals(
                                sorted[at(index, descending)],
                                ((Number) result(appendOnly, one, all(column, values))).doubleValue());
                    }
                }
                AggregateCall none = ordered(
                        call(Function.PERCENTILE_CONT, DataType.DOUBLE, column),
                        List.of(new OrderKey(column, false, false)),
                        .5);
                assertEquals(null, result(appendOnly, none, all(column, new Object[] {null})));
            }
        }
    }

    private static int at(int index, boolean descending) {
        return descending ? 4 - index : index;
    }

    @Test
    void manyValuesOfAPercentileAreSnapshotsToo() {
        AggregateCall median =
                ordered(call(Function.PERCENTILE_DISC, DataType.BIGINT, 1), List.of(new OrderKey(1, false, false)), .5);
        try (OperatorRun run = run(true, true, median)) {
            Row[] rows = new Row[401];
            Arrays.setAll(rows, i -> row(1L, 1_000L - i));
            run.rows(0, rows).rows(0, row(2L, null), row(3L, 7L)).epochEnd();
            assertEquals(sum(Row.of(1L, 800L), Row.of(2L, null), Row.of(3L, 7L)), run.taken());
            run.restart().rows(0, row(2L, 3L), row(1L, 0L), row(1L, 0L)).epochEnd();
            ZSet expected = change(Row.of(2L, null), Row.of(2L, 3L));
            expected.addAll(change(Row.of(1L, 800L), Row.of(1L, 799L)));
            assertEquals(expected, run.taken());
        }
    }

    @Test
    void theFirstAndLastOfAnOrderStayWhenOthersGo() {
        List<OrderKey> byValue = List.of(new OrderKey(1, false, false));
        AggregateCall first = ordered(call(Function.FIRST_VALUE, DataType.TEXT, 2), byValue);
        AggregateCall last = ordered(call(Function.LAST_VALUE, DataType.TEXT, 2), byValue);
        AggregateCall greatest = call(Function.MAX, DataType.TEXT, 2);
        AggregateCall least = call(Function.MIN, DataType.TEXT, 2);
        try (OperatorRun run = run(false, false, first, last, greatest, least)) {
            Row[] rows = {row(1L, 3L, "b"), row(1L, 1L, "d"), row(1L, 2L, "a"), row(1L, 5L, null), row(1L, 4L, "c")};
            run.rows(0, rows).epochEnd();
            assertEquals(sum(Row.of("d", null, "d", "a")), run.taken());
            run.weighted(0, -1, rows[1], rows[3]).epochEnd();
            assertEquals(change(Row.of("d", null, "d", "a"), Row.of("a", "c", "c", "a")), run.taken());
            run.weighted(0, -1, rows[2]).weighted(0, 2, rows[0]).epochEnd();
            assertEquals(change(Row.of("a", "c", "c", "a"), Row.of("b", "c", "c", "b")), run.taken());
            run.restart().weighted(0, -1, rows[4]).epochEnd();
            assertEquals(change(Row.of("b", "c", "c", "b"), Row.of("b", "b", "b", "b")), run.taken());
            run.weighted(0, -2, rows[0]).epochEnd();
            assertEquals(sum(), run.taken(), "one is left of three");
            run.weighted(0, -1, rows[0]).epochEnd();
            assertEquals(change(Row.of("b", "b", "b", "b"), Row.of(null, null, null, null)), run.taken());
        }
        try (OperatorRun run = run(false, true, first, last)) {
            run.rows(0, row(1L, 2L, "x"), row(1L, 1L, "y"), row(1L, 1L, "z"), row(1L, 2L, "w"))
                    .epochEnd();
            assertEquals(sum(Row.of("y", "w")), run.taken(), "of equals the first and the last that came");
        }
        AggregateCall unordered = call(Function.FIRST_VALUE, DataType.TEXT, 2);
        AggregateCall lastCome = call(Function.LAST_VALUE, DataType.TEXT, 2);
        try (OperatorRun run = run(false, true, unordered, lastCome)) {
            run.rows(0, row(1L, 2L, "x"), row(1L, 1L, "y"), row(1L, 3L, "z")).epochEnd();
            assertEquals(sum(Row.of("x", "z")), run.taken());
        }
    }

    @Test
    void listsAreInTheOrderAskedForAndNullWithoutRows() {
        List<OrderKey> down = List.of(new OrderKey(1, true, true));
        AggregateCall texts = ordered(call(Function.STRING_AGG, DataType.TEXT, 2), down, ", ");
        AggregateCall bare = call(Function.STRING_AGG, DataType.TEXT, 2);
        AggregateCall list = ordered(call(Function.ARRAY_AGG, DataType.array(DataType.TEXT), 2), down);
        AggregateCall filteredList = filtered(list, 3);
        Row yes = Row.of(1L, 1L, "yes", true, null, null, null);
        Row no = Row.of(1L, 2L, "no", false, null, null, null);
        Row unknown = Row.of(1L, 3L, "unknown", null, null, null, null);
        for (boolean appendOnly : new boolean[] {true, false}) {
            try (OperatorRun run = run(true, appendOnly, texts, bare, list, filteredList)) {
                run.rows(0, yes, no, unknown, row(1L, 4L, null), row(2L, 1L, null), row(3L, 1L, ""))
                        .epochEnd();
                List<Object> nullText = new ArrayList<>(Collections.nCopies(1, null));
                assertEquals(
                        sum(
                                Row.of(
                                        1L,
                                        "unknown, no, yes",
                                        "yesnounknown",
                                        Arrays.asList(null, "unknown", "no", "yes"),
                                        List.of("yes")),
                                Row.of(2L, null, null, nullText, null),
                                Row.of(3L, "", "", List.of(""), null)),
                        run.taken());
            }
        }
    }

    /** How many distinct values of a group are there, of all and under filters, in whatever order they come and go. */
    @Test
    void distinctValuesAreCountedWhileTheyAreThere() {
        AggregateCall numbers = distinct(call(Function.COUNT, DataType.BIGINT, 1));
        AggregateCall someNumbers = distinct(filtered(call(Function.COUNT, DataType.BIGINT, 1), 3));
        AggregateCall texts = distinct(call(Function.COUNT, DataType.BIGINT, 2));
        AggregateCall total = distinct(call(Function.SUM, DataType.numeric(38, 0), 1));
        Row a = Row.of(1L, 1L, "a", true, null, null, null);
        Row again = Row.of(1L, 1L, "a", false, null, null, null);
        Row b = Row.of(1L, 2L, "a text that is too long for a slot", null, null, null, null);
        try (OperatorRun run = run(true, false, numbers, someNumbers, texts)) {
            run.rows(0, a, again, b).weighted(0, 2, again).epochEnd();
            assertEquals(sum(Row.of(1L, 2L, 1L, 2L)), run.taken());
            run.weighted(0, -1, a).epochEnd();
            assertEquals(change(Row.of(1L, 2L, 1L, 2L), Row.of(1L, 2L, 0L, 2L)), run.taken());
            run.restart().weighted(0, -3, again).epochEnd();
            assertEquals(change(Row.of(1L, 2L, 0L, 2L), Row.of(1L, 1L, 0L, 1L)), run.taken());
            long bytes = run.metrics().stateBytes();
            assertTrue(bytes > 0);
            run.weighted(0, -1, b).epochEnd();
            assertEquals(0, run.metrics().stateEntries());
        }
        try (OperatorRun run = run(true, true, numbers, someNumbers, texts, total)) {
            run.rows(0, a, again, b).rows(0, b).epochEnd().restart();
            run.rows(0, again, Row.of(1L, 2L, null, true, null, null, null), row(2L, null))
                    .epochEnd();
            ZSet whole = run.taken();
            assertEquals(2, whole.rows().size());
            assertTrue(whole.rows().stream()
                    .anyMatch(row -> row.values().subList(0, 4).equals(List.of(1L, 2L, 2L, 2L))));
        }
    }

    @Test
    void approximateCountsComeAndGoWithTheirGroups() {
        AggregateCall about = call(Function.APPROX_COUNT_DISTINCT, DataType.BIGINT, 1);
        AggregateCall aboutTexts = filtered(call(Function.APPROX_COUNT_DISTINCT, DataType.BIGINT, 2), 3);
        try (OperatorRun run = run(true, true, about, aboutTexts)) {
            run.rows(0, row(1L, 1L, "x"), row(1L, 1L, "y"), row(1L, 2L, "x"), row(2L, null, null))
                    .epochEnd();
            assertEquals(sum(Row.of(1L, 2L, 0L), Row.of(2L, 0L, 0L)), run.taken());
            assertTrue(run.metrics().stateBytes() > 1 << 12, "a sketch");
            run.restart()
                    .rows(0, Row.of(2L, 7L, "", true, null, null, null), row(1L, 2L))
                    .epochEnd();
            assertEquals(change(Row.of(2L, 0L, 0L), Row.of(2L, 1L, 1L)), run.taken());
        }
    }

    // ---- two phases

    @Test
    void aFirstPhaseForgetsWhatItPassedOn() {
        AggregateCall distinctTexts = distinct(call(Function.COUNT, DataType.BIGINT, 2));
        for (List<AggregateCall> calls : List.of(List.of(COUNT, MOST), List.of(COUNT, distinctTexts))) {
            Aggregate shape = new Aggregate(scan(INPUT), List.of(0), calls, Phase.PARTIAL, true, Schema.of());
            Aggregate partial =
                    new Aggregate(scan(INPUT), List.of(0), calls, Phase.PARTIAL, true, PartialSchemas.of(shape));
            try (OperatorRun run = new OperatorRun(
                    4,
                    () -> new PartialAggregateOperator(partial, new PartialLimit(10, 20), new PartialGain(1_000, 10)),
                    INPUT)) {
                Row[] rows = new Row[9];
                Arrays.setAll(rows, i -> row((long) i, 1L, "text " + i % 3));
                run.rows(0, rows).rows(0, rows);
                assertEquals(9, run.metrics().stateEntries());
                assertTrue(run.metrics().stateBytes() > 0);
                assertEquals(sum(), run.taken());
                run.rows(0, row(9L, 1L, "x")); // as many as the limit
                assertEquals(10, run.taken().rows().size());
                assertTrue(run.takenSizes().stream().allMatch(size -> size <= 4));
                assertEquals(0, run.metrics().stateEntries());
                run.rows(0, rows);
                assertFalse(run.epochEnd(1));
                run.epochEnd();
                assertEquals(9, run.taken().rows().size());
                run.epochEnd();
                assertEquals(sum(), run.taken());
            }
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> new AggregateOperator(
                        new Aggregate(scan(INPUT), List.of(0), List.of(COUNT), Phase.PARTIAL, true, INPUT)));
    }

    @Test
    void aSumThatDoesNotFitIsAnErrorOfItsQuery() {
        AggregateCall total = call(Function.SUM, DataType.BIGINT, 6);
        try (OperatorRun run = run(true, false, total)) {
            assertThrows(
                    MillraceException.class,
                    () -> run.weighted(0, Long.MAX_VALUE / 4, with(6, Integer.MAX_VALUE))
                            .weighted(0, Long.MAX_VALUE / 4, with(6, Integer.MAX_VALUE)));
        }
    }

    // ---- intervals

    private static final Schema INTERVALS =
            Schema.of(new Field("k", DataType.BIGINT, false), new Field("v", DataType.INTERVAL, true));

    private static Row interval(int months, int days, long micros) {
        return Row.of(1L, new Row.Interval(months, days, micros));
    }

    private static OperatorRun intervals(boolean appendOnly, Function... functions) {
        List<AggregateCall> calls = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (Function function : functions) {
            calls.add(call(function, DataType.INTERVAL, 1));
            fields.add(new Field("c" + fields.size(), DataType.INTERVAL, true));
        }
        Aggregate node = new Aggregate(scan(INTERVALS), List.of(), calls, Phase.SINGLE, appendOnly, new Schema(fields));
        return new OperatorRun(() -> new AggregateOperator(node), INTERVALS);
    }

    @Test
    void fractionsOfMonthsSpillIntoDaysAndThoseOfDaysIntoTime() {
        for (boolean appendOnly : new boolean[] {true, false}) {
            try (OperatorRun run = intervals(appendOnly, Function.SUM, Function.AVG, Function.MIN, Function.MAX)) {
                Row least = interval(0, 29, -1);
                run.rows(0, interval(1, 0, 5), interval(2, 11, 3), least, Row.of(1L, null))
                        .epochEnd();
                assertEquals(
                        sum(Row.of(
                                new Row.Interval(3, 40, 7),
                                new Row.Interval(1, 13, 28_800_000_002L),
                                least.get(1),
                                new Row.Interval(2, 11, 3))),
                        run.taken());
                if (!appendOnly) {
                    run.weighted(0, -1, least, interval(2, 11, 3)).epochEnd();
                    Row one = Row.of(
                            Collections.nCopies(4, new Row.Interval(1, 0, 5)).toArray());
                    assertTrue(run.taken()
                            .differences(change(
                                    Row.of(
                                            new Row.Interval(3, 40, 7),
                                            new Row.Interval(1, 13, 28_800_000_002L),
                                            least.get(1),
                                            new Row.Interval(2, 11, 3)),
                                    one))
                            .isEmpty());
                }
            }
        }
    }

    @Test
    void anIntervalThatDoesNotFitIsAnError() {
        for (Row most : List.of(
                interval(Integer.MAX_VALUE, 0, 0),
                interval(0, Integer.MAX_VALUE, 0),
                interval(0, 0, Long.MAX_VALUE / 1_000))) {
            try (OperatorRun run = intervals(true, Function.SUM)) {
                run.rows(0, most).epochEnd();
                assertEquals(sum(Row.of(most.get(1))), run.taken());
                run.rows(0, interval(1, 1, 1));
                assertThrows(MillraceException.class, run::epochEnd);
            }
        }
    }
}
