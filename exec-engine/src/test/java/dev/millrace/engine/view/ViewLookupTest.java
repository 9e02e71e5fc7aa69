package dev.millrace.engine.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.view.VersionedView.Staged;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(120)
@Tag("long")
class ViewLookupTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("k", DataType.BIGINT, false), new Field("v", DataType.TEXT, true));
    private static final KeyColumns KEY = new KeyColumns(List.of(0));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final AtomicLong current = new AtomicLong();

    private VersionedView newView(BufferAllocator allocator) {
        VersionedView view = new VersionedView(SCHEMA, 64, allocator);
        view.follow(current::get);
        return view;
    }

    private static List<Literal> key(long value) {
        return List.of(new Literal(value, DataType.BIGINT));
    }

    private void commit(VersionedView view, BufferAllocator allocator, List<Row> rows, List<Long> weights) {
        try (Batch batch = TestBatches.weighted(
                SCHEMA,
                allocator,
                rows,
                weights.stream().mapToLong(weight -> weight).toArray())) {
            Staged staged = view.stage(List.of(batch));
            view.stamp(staged, current.get() + 1);
            current.incrementAndGet();
            view.reclaim();
        }
    }

    /** What a lookup of some keys finds; none if there are too many rows, or the view is gone. */
    private static ZSet find(ViewLookup lookup, LookupScratch scratch, BufferAllocator allocator, long... keys) {
        List<List<Literal>> all = new ArrayList<>();
        for (long key : keys) {
            all.add(key(key));
        }
        ZSet found = new ZSet();
        assertTrue(lookup.find(scratch, all, 1_000));
        if (lookup.count(scratch) > 0) {
            try (Batch batch = lookup.rows(scratch, List.of(0, 1), SCHEMA, allocator)) {
                found.add(batch);
            }
        }
        return found;
    }

    private static ZSet one(long key, String value) {
        ZSet rows = new ZSet();
        rows.add(Row.of(key, value), 1);
        return rows;
    }

    @Test
    void rowsAreFoundByKeyJustAsInAModelWhileTheViewGrowsAndShrinks() {
        BufferAllocator allocator = memory.allocator();
        SplittableRandom random = new SplittableRandom(11);
        Map<Long, String> model = new HashMap<>();
        try (VersionedView view = newView(allocator);
                LookupScratch scratch = new LookupScratch(allocator)) {
            ViewLookup lookup = view.lookup(KEY);
            for (int step = 0; step < 400; step++) {
                int keys = step % 100 < 70 ? 6_000 : 50; // shrinks in between
                List<Row> rows = new ArrayList<>();
                List<Long> weights = new ArrayList<>();
                for (int change = random.nextInt(300); change >= 0; change--) {
                    long key = random.nextInt(6_000);
                    String before = model.remove(key);
                    if (before != null) {
                        rows.add(Row.of(key, before));
                        weights.add(-1L);
                    }
                    if (key < keys) {
                        model.put(key, "v" + random.nextInt(5));
                        rows.add(Row.of(key, model.get(key)));
                        weights.add(1L);
                    }
                }
                commit(view, allocator, rows, weights);
                for (int look = 0; look < 50; look++) {
                    long key = random.nextInt(6_000);
                    String value = model.get(key);
                    assertEquals(
                            value == null ? new ZSet() : one(key, value),
                            find(lookup, scratch, allocator, key),
                            "step " + step);
                }
                assertEquals(model.size(), view.rowCount());
            }
            model.forEach((key, value) -> assertEquals(one(key, value), find(lookup, scratch, allocator, key)));
        }
    }

    @Test
    void aLookupFindsTheRowsOfItsVersionWhateverIsWrittenUntilItEnds() {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator);
                LookupScratch scratch = new LookupScratch(allocator);
                LookupScratch late = new LookupScratch(allocator)) {
            ViewLookup lookup = view.lookup(KEY);
            set(view, allocator, 0, 0, 300);
            long version = current.get();
            assertTrue(view.look(scratch.found, 10_000, () -> {
                for (int round = 1;
                        round < 20;
                        round++) { // the index grows, rows die, and others would take their memory
                    set(view, allocator, round, 0, 300 + 500 * round);
                }
                assertEquals(one(7, "version 19"), find(lookup, late, allocator, 7));
                for (long key = 0; key < 300; key++) {
                    scratch.key.begin(view.newCodec());
                    scratch.key.set(0, key(key).get(0));
                    indexOf(lookup).find(scratch.key.address(), scratch.found);
                }
            }));
            assertEquals(300, lookup.count(scratch), "as of version " + version);
            try (Batch found = lookup.rows(scratch, List.of(0, 1), SCHEMA, allocator)) {
                ZSet rows = new ZSet();
                rows.add(found);
                ZSet expected = new ZSet();
                for (long key = 0; key < 300; key++) {
                    expected.add(Row.of(key, "version 0"), 1);
                }
                assertEquals(expected, rows);
            }
        }
    }

    private static RowIndex indexOf(ViewLookup lookup) {
        return lookup.index();
    }

    /** Sets all of so many rows to a version. */
    private void set(VersionedView view, BufferAllocator allocator, int version, long from, long count) {
        List<Row> rows = new ArrayList<>();
        List<Long> weights = new ArrayList<>();
        for (long key = from; key < from + count; key++) {
            if (version > 0 && key < from + count - 500) { // those that were there before
                rows.add(Row.of(key, "version " + (version - 1)));
                weights.add(-1L);
            }
            rows.add(Row.of(key, "version " + version));
            weights.add(1L);
        }
        commit(view, allocator, rows, weights);
    }

    @Test
    void rowsThatDiedAreFreedAsSoonAsTheLookupThatMayHaveFoundThemHasEnded() {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator);
                LookupScratch scratch = new LookupScratch(allocator)) {
            view.lookup(KEY);
            commit(view, allocator, List.of(Row.of(1L, "0")), List.of(1L));
            long before = view.bytes();
            for (int round = 0; round < 20_000; round++) {
                List<Row> rows = List.of(Row.of(1L, "" + round), Row.of(1L, "" + (round + 1)));
                if (round % 10 == 0) {
                    assertTrue(view.look(scratch.found, 10, () -> commit(view, allocator, rows, List.of(-1L, 1L))));
                } else {
                    commit(view, allocator, rows, List.of(-1L, 1L));
                }
            }
            assertTrue(view.bytes() < before + (64 << 10), view.bytes() + " bytes");
        }
    }

    @Test
    void anIndexThatWasMadeHoldsNothingOfTheSmallerOnesThatItGrewFrom() {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator)) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            for (long key = 0; key < 50_000; key++) {
                rows.add(Row.of(key, "v"));
                weights.add(1L);
            }
            commit(view, allocator, rows, weights);
            long before = view.bytes();
            long allocated = allocator.getAllocatedMemory();
            view.lookup(KEY);
            assertEquals(8 << 17, view.bytes() - before);
            assertEquals(8 << 17, allocator.getAllocatedMemory() - allocated);
        }
    }

    @Test
    void nobodyWaitsForTheLockToFindARowByItsKey() throws InterruptedException {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator);
                LookupScratch scratch = new LookupScratch(allocator)) {
            commit(view, allocator, List.of(Row.of(1L, "one")), List.of(1L));
            ViewLookup lookup = view.lookup(KEY);
            AtomicReference<ZSet> found = new AtomicReference<>();
            Thread reader = new Thread(() -> found.set(find(lookup, scratch, allocator, 1)));
            view.look(
                    () -> { // as who publishes does
                        reader.start();
                        try {
                            reader.join();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    });
            assertEquals(one(1, "one"), found.get());
        }
    }

    @Test
    void whoIsOneOfTooManyFindsRowsWithTheLock() {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator);
                LookupScratch scratch = new LookupScratch(allocator)) {
            commit(view, allocator, List.of(Row.of(1L, "one")), List.of(1L));
            ViewLookup lookup = view.lookup(KEY);
            within(view, allocator, 20, () -> assertEquals(one(1, "one"), find(lookup, scratch, allocator, 1)));
        }
    }

    private static void within(VersionedView view, BufferAllocator allocator, int lookups, Runnable action) {
        if (lookups == 0) {
            action.run();
            return;
        }
        try (LookupScratch scratch = new LookupScratch(allocator)) {
            assertTrue(view.look(scratch.found, 10, () -> within(view, allocator, lookups - 1, action)));
        }
    }

    @Test
    void aViewThatIsClosedMeanwhileIsFreedByTheLookupThatWasUnderWay() {
        BufferAllocator allocator = memory.allocator();
        VersionedView view = newView(allocator);
        commit(view, allocator, List.of(Row.of(1L, "one")), List.of(1L));
        ViewLookup lookup = view.lookup(KEY);
        try (LookupScratch scratch = new LookupScratch(allocator)) {
            assertTrue(view.look(scratch.found, 10, () -> {
                view.close();
                assertFalse(view.isFreed());
                scratch.key.begin(view.newCodec());
                scratch.key.set(0, key(1).get(0));
                indexOf(lookup).find(scratch.key.address(), scratch.found);
            }));
            assertEquals(1, lookup.count(scratch));
            assertTrue(view.isFreed());
            assertTrue(lookup.isClosed());
            assertFalse(lookup.find(scratch, List.of(key(1)), 10));
        }
    }

    /** Each version sets all rows to its own number, and has some rows more or fewer: who reads two finds both, of one version. */
    @Test
    void readersBesideAWriterFindEachRowOfOneVersionOnce() throws InterruptedException {
        BufferAllocator allocator = memory.allocator();
        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicLong reads = new AtomicLong();
        int always = 400;
        try (VersionedView view = newView(allocator)) {
            List<Row> rows = new ArrayList<>();
            List<Long> weights = new ArrayList<>();
            for (long key = 0; key < always; key++) {
                rows.add(Row.of(key, "0"));
                weights.add(1L);
            }
            commit(view, allocator, rows, weights);
            List<Thread> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                SplittableRandom random = new SplittableRandom(i);
                readers.add(new Thread(() -> {
                    try (LookupScratch scratch = new LookupScratch(allocator)) {
                        ViewLookup lookup = view.lookup(KEY);
                        while (!done.get()) {
                            long first = random.nextInt(always);
                            long second = (first + 1 + random.nextInt(always - 1)) % always;
                            ZSet found = find(lookup, scratch, allocator, first, second);
                            assertEquals(2, found.rows().size(), found + " for " + first + " and " + second);
                            assertEquals(
                                    1,
                                    found.rows().stream()
                                            .map(row -> row.get(1))
                                            .distinct()
                                            .count(),
                                    found.toString());
                            reads.incrementAndGet();
                        }
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                }));
            }
            readers.forEach(Thread::start);
            int more = 0;
            for (int version = 1; version <= 300 || reads.get() < 1_000 && failure.get() == null; version++) {
                rows.clear();
                weights.clear();
                int now = version % 40 < 30 ? more + 150 : 0;
                for (long key = 0; key < always + Math.max(more, now); key++) {
                    if (key < always + more) {
                        rows.add(Row.of(key, "" + (version - 1)));
                        weights.add(-1L);
                    }
                    if (key < always + now) {
                        rows.add(Row.of(key, "" + version));
                        weights.add(1L);
                    }
                }
                more = now;
                commit(view, allocator, rows, weights);
            }
            done.set(true);
            for (Thread reader : readers) {
                reader.join();
            }
            assertNull(failure.get());
            assertEquals(always + more, view.rowCount());
        }
    }
}
