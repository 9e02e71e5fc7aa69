package dev.millrace.engine.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.view.VersionedView.Staged;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an ordered index gives is what is left of all rows, in its order, at whatever version and whatever is written. */
@Timeout(120)
class IndexScanTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("a", DataType.BIGINT, true),
            new Field("d", DataType.DOUBLE, true),
            new Field("t", DataType.TEXT, true),
            new Field("id", DataType.BIGINT, false));
    private static final List<Integer> ALL = List.of(0, 1, 2, 3);
    private static final double[] DOUBLES = {0.0, -0.0, 1.5, -1.5, Double.NaN, Double.POSITIVE_INFINITY, 1e300};
    private static final String[] TEXTS = {"", "a", "ab", "abcdefgh", "abcdefghi", "abcdefgi", "é", "z"};

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final AtomicLong current = new AtomicLong();

    private VersionedView newView() {
        VersionedView view = new VersionedView(SCHEMA, 7, memory.allocator());
        view.follow(current::get);
        return view;
    }

    private void commit(VersionedView view, List<Row> rows, long... weights) {
        try (Batch batch = TestBatches.weighted(SCHEMA, memory.allocator(), rows, weights)) {
            Staged staged = view.stage(List.of(batch));
            view.stamp(staged, current.get() + 1);
            current.incrementAndGet();
            view.reclaim();
        }
    }

    private static Row row(SplittableRandom random, int ids) {
        Long a = random.nextInt(8) == 0 ? null : (long) random.nextInt(6) - 2;
        Double d = random.nextInt(8) == 0 ? null : DOUBLES[random.nextInt(DOUBLES.length)];
        String t = random.nextInt(8) == 0 ? null : TEXTS[random.nextInt(TEXTS.length)];
        return Row.of(a, d != null && d == 0 ? Double.valueOf(0.0) : d, t, (long) random.nextInt(ids));
    }

    private static Expression value(Object value, int column) {
        DataType type = SCHEMA.type(column);
        return value == null ? new Null(type) : new Literal(value, type);
    }

    private static int compare(Object a, Object b, boolean descending, boolean nullsFirst) {
        if (a == null || b == null) {
            int order = a == b ? 0 : a == null ? -1 : 1;
            return nullsFirst ? order : -order;
        }
        int order;
        if (a instanceof Double x) {
            double y = (Double) b;
            order = x == y ? 0 : Double.compare(x, y);
        } else if (a instanceof Long x) {
            order = Long.compare(x, (Long) b);
        } else {
            order = ((String) a).compareTo((String) b);
        }
        return descending ? -order : order;
    }

    private static Comparator<Row> order(List<OrderKey> keys, int first) {
        return (x, y) -> {
            for (OrderKey key : keys.subList(0, first)) {
                int order = compare(
                        x.values().get(key.column()), y.values().get(key.column()), key.descending(), key.nullsFirst());
                if (order != 0) {
                    return order;
                }
            }
            return 0;
        };
    }

    private List<Row> read(IndexScan scan, int most) {
        List<Row> rows = new ArrayList<>();
        for (Optional<Batch> next = scan.next(most, memory.allocator());
                next.isPresent();
                next = scan.next(most, memory.allocator())) {
            try (Batch batch = next.get()) {
                for (int i = 0; i < batch.rowCount(); i++) {
                    int at = i;
                    Object[] values = IntStream.range(0, SCHEMA.size())
                            .mapToObj(column -> batch.column(column).isNull(at)
                                    ? null
                                    : batch.column(column).getObject(at))
                            .map(value -> value instanceof org.apache.arrow.vector.util.Text ? value.toString() : value)
                            .toArray();
                    long weight =
                            batch.weights().isPresent() ? batch.weights().get().get(i) : 1;
                    for (long copy = 0; copy < weight; copy++) {
                        rows.add(Row.of(values));
                    }
                }
            }
        }
        return rows;
    }

    private static Map<Row, Integer> counted(List<Row> rows) {
        Map<Row, Integer> counts = new HashMap<>();
        rows.forEach(row -> counts.merge(row, 1, Integer::sum));
        return counts;
    }

    private static OrderedColumns randomKey(SplittableRandom random) {
        List<Integer> columns = new ArrayList<>(List.of(0, 1, 2));
        List<OrderKey> keys = new ArrayList<>();
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            int column = columns.remove(random.nextInt(columns.size()));
            keys.add(new OrderKey(column, random.nextBoolean(), random.nextBoolean()));
        }
        return new OrderedColumns(keys);
    }

    /** Some ranges of one shape, as a condition on a prefix and the column after it would have them. */
    private static List<IndexRange> randomRanges(SplittableRandom random, List<OrderKey> keys) {
        int prefix = random.nextInt(keys.size() + 1);
        boolean more = prefix < keys.size();
        boolean from = more && random.nextBoolean();
        boolean to = more && random.nextBoolean();
        Row low = row(random, 1);
        Row high = row(random, 1);
        boolean fromIncluded = random.nextBoolean();
        boolean toIncluded = random.nextBoolean();
        List<IndexRange> ranges = new ArrayList<>();
        for (int i = prefix == 0 ? 1 : 1 + random.nextInt(4); i > 0; i--) {
            Row some = row(random, 1);
            List<Expression> begin = new ArrayList<>();
            for (OrderKey key : keys.subList(0, prefix)) {
                begin.add(value(some.values().get(key.column()), key.column()));
            }
            List<Expression> end = new ArrayList<>(begin);
            if (random.nextInt(4) == 0) {
                begin.replaceAll(value -> isZero(value) ? value(-0.0, 1) : value);
            }
            if (from) {
                int column = keys.get(prefix).column();
                begin.add(value(low.values().get(column), column));
            }
            if (to) {
                int column = keys.get(prefix).column();
                end.add(value(high.values().get(column), column));
            }
            ranges.add(new IndexRange(begin, !from || fromIncluded, end, !to || toIncluded));
        }
        return ranges;
    }

    private static boolean isZero(Expression value) {
        return value instanceof Literal literal && literal.value().equals(0.0);
    }

    private static Row keyRow(List<OrderKey> keys, List<Expression> values) {
        Object[] row = new Object[SCHEMA.size()];
        for (int i = 0; i < values.size(); i++) {
            row[keys.get(i).column()] = values.get(i) instanceof Literal literal ? literal.value() : null;
        }
        row[3] = 0L;
        return Row.of(row);
    }

    private static boolean isIn(IndexRange range, List<OrderKey> keys, Row row) {
        int from = order(keys, range.from().size()).compare(row, keyRow(keys, range.from()));
        int to = order(keys, range.to().size()).compare(row, keyRow(keys, range.to()));
        return (from > 0 || from == 0 && range.fromIncluded()) && (to < 0 || to == 0 && range.toIncluded());
    }

    private void check(IndexScan scan, List<Row> all, List<IndexRange> ranges, OrderedColumns key, boolean backward) {
        List<Row> expected = all.stream()
                .filter(row -> ranges.stream().anyMatch(range -> isIn(range, key.keys(), row)))
                .toList();
        List<Row> found = read(scan, 5);
        assertEquals(counted(expected), counted(found), () -> key + " " + ranges);
        Comparator<Row> order = order(key.keys(), key.keys().size());
        for (int i = 1; i < found.size(); i++) {
            int compared = order.compare(found.get(i - 1), found.get(i));
            assertTrue(backward ? compared >= 0 : compared <= 0, () -> key + " " + found);
        }
    }

    @Test
    void rangesOfAnyOrderAreThoseOfAllRowsAtTheVersionThatWasPinned() {
        for (int seed = 0; seed < 40; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            List<Row> rows = new ArrayList<>();
            try (VersionedView view = newView()) {
                List<OrderedColumns> keys =
                        IntStream.range(0, 3).mapToObj(i -> randomKey(random)).toList();
                view.indexes().make(keys.get(0));
                for (int step = 0; step < 25; step++) {
                    List<Row> changes = new ArrayList<>();
                    List<Long> weights = new ArrayList<>();
                    for (int i = random.nextInt(30); i > 0; i--) {
                        if (rows.isEmpty() || random.nextInt(5) < 3) {
                            changes.add(row(random, 20));
                            weights.add(1L + random.nextInt(2));
                            rows.add(changes.get(changes.size() - 1));
                            if (weights.get(weights.size() - 1) == 2) {
                                rows.add(changes.get(changes.size() - 1));
                            }
                        } else {
                            changes.add(rows.remove(random.nextInt(rows.size())));
                            weights.add(-1L);
                        }
                    }
                    commit(view, changes, weights.stream().mapToLong(w -> w).toArray());
                    OrderedColumns key = keys.get(random.nextInt(keys.size()));
                    List<IndexRange> ranges = randomRanges(random, key.keys());
                    boolean backward = random.nextBoolean();
                    List<Row> now = List.copyOf(rows);
                    try (IndexScan scan = view.indexes().scan(key, ranges, backward, ALL)) {
                        if (random.nextBoolean() && !rows.isEmpty()) { // changes that the scan does not see
                            commit(view, List.of(rows.remove(random.nextInt(rows.size()))), -1L);
                        }
                        check(scan, now, ranges, key, backward);
                    }
                    if (random.nextInt(10) == 0) {
                        view.indexes().drop(key);
                        assertFalse(view.indexes().has(key));
                    }
                }
            }
        }
    }

    @Test
    void whatIsReadOfManyRowsTouchesThoseOfTheRangeAndOneMore() {
        OrderedColumns key = new OrderedColumns(List.of(new OrderKey(0, false, false), new OrderKey(3, false, false)));
        try (VersionedView view = newView()) {
            List<Row> rows = new ArrayList<>();
            for (long i = 0; i < 20_000; i++) {
                rows.add(Row.of(i / 10, 1.0, "x", i));
            }
            commit(view, rows, IntStream.range(0, rows.size()).mapToLong(i -> 1).toArray());
            List<Expression> prefix = List.of(value(777L, 0));
            try (IndexScan scan =
                    view.indexes().scan(key, List.of(new IndexRange(prefix, true, prefix, true)), false, ALL)) {
                assertEquals(10, read(scan, 100).size());
                assertTrue(scan.touched() <= 11, () -> "touched " + scan.touched());
            }
            try (IndexScan scan = view.indexes().scan(key, List.of(IndexRange.ALL), true, ALL)) {
                try (Batch last = scan.next(3, memory.allocator()).orElseThrow()) {
                    assertEquals(3, last.rowCount());
                }
                assertEquals(3, scan.touched());
            }
        }
    }

    @Test
    void anIndexThatIsDroppedOrAViewThatIsClosedServesWhoReadsIt() {
        OrderedColumns key = new OrderedColumns(List.of(new OrderKey(0, false, false)));
        VersionedView view = newView();
        commit(view, List.of(Row.of(2L, 1.0, "x", 1L), Row.of(1L, 1.0, "x", 2L)), 1, 1);
        IndexScan scan = view.indexes().scan(key, List.of(IndexRange.ALL), false, ALL);
        view.indexes().drop(key);
        assertFalse(view.indexes().has(key));
        commit(view, List.of(Row.of(2L, 1.0, "x", 1L)), -1);
        view.close();
        assertEquals(List.of(Row.of(1L, 1.0, "x", 2L), Row.of(2L, 1.0, "x", 1L)), read(scan, 1));
        scan.close();
        MillraceException gone =
                assertThrows(MillraceException.class, () -> view.indexes().make(key));
        assertEquals(SqlState.UNDEFINED_TABLE, gone.sqlState());
    }

    @Test
    void makingAnIndexCanBeStoppedAndLeavesNothing() {
        OrderedColumns key = new OrderedColumns(List.of(new OrderKey(0, false, false)));
        try (VersionedView view = newView()) {
            commit(view, List.of(Row.of(2L, 1.0, "x", 1L)), 1);
            Interrupt interrupt = new Interrupt();
            interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "stopped"));
            try (Interrupt.Binding bound = interrupt.bind()) {
                assertThrows(MillraceException.class, () -> view.indexes().make(key));
            }
            assertFalse(view.indexes().has(key));
            view.indexes().make(key);
            assertTrue(view.indexes().has(key));
        }
    }

    @Test
    void memoryThatEndsWhereverItDoesLeavesWhatWasThere() {
        for (int after = 0; after < 40; after++) {
            try (BufferAllocator own = memory.allocator().newChildAllocator("own", 0, 1 << 20);
                    VersionedView view = new VersionedView(SCHEMA, 7, own)) {
                view.follow(() -> 0);
                OrderedColumns key = new OrderedColumns(List.of(new OrderKey(2, true, false)));
                List<Row> rows = new ArrayList<>();
                for (long i = 0; i < 1000; i++) {
                    rows.add(Row.of(i, 1.0, "text " + i, i));
                }
                try (Batch batch = TestBatches.weighted(
                        SCHEMA, own, rows, rows.stream().mapToLong(row -> 1).toArray())) {
                    view.fill(List.of(batch));
                    own.setLimit(own.getAllocatedMemory() + 2_000L * after);
                    try {
                        view.indexes().make(key);
                        Staged staged = view.stage(List.of(batch));
                        view.stamp(staged, 0);
                    } catch (OutOfMemoryException e) {
                        // as it may be
                    }
                    own.setLimit(1 << 20);
                }
                ZSet all = new ZSet();
                try (ViewScan scan = view.scan(ALL)) {
                    for (Optional<Batch> next = scan.next(own); next.isPresent(); next = scan.next(own)) {
                        try (Batch batch = next.get()) {
                            all.add(batch);
                        }
                    }
                }
                ZSet byIndex = new ZSet();
                try (IndexScan scan = view.indexes().scan(key, List.of(IndexRange.ALL), false, ALL)) {
                    for (Optional<Batch> next = scan.next(64, own); next.isPresent(); next = scan.next(64, own)) {
                        try (Batch batch = next.get()) {
                            byIndex.add(batch);
                        }
                    }
                }
                assertEquals(all, byIndex);
            }
        }
    }

    /** Two transfer between rows while others read by indexes, which are made and dropped meanwhile: the sum is always the same. */
    @Test
    void readersSeeWholeVersionsWhilePublishersWriteAndIndexesComeAndGo() throws Exception {
        int accounts = 200;
        OrderedColumns key = new OrderedColumns(List.of(new OrderKey(0, false, false)));
        try (VersionedView view = newView()) {
            long[] balances = new long[accounts];
            List<Row> rows = new ArrayList<>();
            for (long i = 0; i < accounts; i++) {
                balances[(int) i] = 100;
                rows.add(Row.of(100L, 1.0, "x", i));
            }
            commit(view, rows, rows.stream().mapToLong(row -> 1).toArray());
            AtomicBoolean done = new AtomicBoolean();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            List<Thread> readers = new ArrayList<>();
            for (int reader = 0; reader < 2; reader++) {
                boolean backward = reader == 1;
                Thread thread = new Thread(() -> {
                    try {
                        for (int round = 0; !done.get(); round++) {
                            try (IndexScan scan = view.indexes().scan(key, List.of(IndexRange.ALL), backward, ALL)) {
                                long sum = 0;
                                List<Row> seen = read(scan, 16);
                                for (Row row : seen) {
                                    sum += (Long) row.values().get(0);
                                }
                                assertEquals(accounts, seen.size());
                                assertEquals(100L * accounts, sum);
                            }
                            if (round % 5 == 0) {
                                view.indexes().drop(key);
                            }
                        }
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                });
                thread.start();
                readers.add(thread);
            }
            SplittableRandom random = new SplittableRandom(7);
            for (int i = 0; i < 4_000 && failure.get() == null; i++) {
                int from = random.nextInt(accounts);
                int to = (from + 1 + random.nextInt(accounts - 1)) % accounts;
                long amount = random.nextInt(50);
                List<Row> changes = List.of(
                        Row.of(balances[from], 1.0, "x", (long) from),
                        Row.of(balances[from] - amount, 1.0, "x", (long) from),
                        Row.of(balances[to], 1.0, "x", (long) to),
                        Row.of(balances[to] + amount, 1.0, "x", (long) to));
                balances[from] -= amount;
                balances[to] += amount;
                commit(view, changes, -1, 1, -1, 1);
            }
            done.set(true);
            for (Thread thread : readers) {
                thread.join();
            }
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
        }
    }
}
