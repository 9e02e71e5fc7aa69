package dev.millrace.engine.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.view.VersionedView.Staged;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.testing.memory.FailingMemory;
import dev.millrace.testing.memory.LeakCheck;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(120)
class VersionedViewTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("k", DataType.BIGINT, false), new Field("v", DataType.TEXT, true));
    private static final int BATCH_ROWS = 7;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private final AtomicLong current = new AtomicLong();

    private VersionedView newView(BufferAllocator allocator, long mostDeadBytes) {
        VersionedView view = new VersionedView(SCHEMA, BATCH_ROWS, allocator, mostDeadBytes);
        view.follow(current::get);
        return view;
    }

    private static Row row(long key, long version) {
        return Row.of(key, version % 3 == 0 ? null : "v" + version);
    }

    private void commit(VersionedView view, BufferAllocator allocator, List<Row> rows, long... weights) {
        try (Batch batch = TestBatches.weighted(SCHEMA, allocator, rows, weights)) {
            Staged staged = view.stage(List.of(batch));
            view.stamp(staged, current.get() + 1);
            current.incrementAndGet();
            view.reclaim();
        }
    }

    private static ZSet read(ViewScan scan, BufferAllocator allocator) {
        ZSet rows = new ZSet();
        for (Optional<Batch> next = scan.next(allocator); next.isPresent(); next = scan.next(allocator)) {
            try (Batch batch = next.get()) {
                rows.add(batch);
            }
        }
        return rows;
    }

    private static ZSet answer(VersionedView view, BufferAllocator allocator) {
        try (ViewScan scan = view.scan(List.of(0, 1))) {
            return read(scan, allocator);
        }
    }

    @Test
    void everyScanSeesTheVersionThatWasCurrentWhenItBeganAndNoOther() {
        BufferAllocator allocator = memory.allocator();
        SplittableRandom random = new SplittableRandom(7);
        record Open(ViewScan scan, ZSet expected, ZSet seen) {}
        List<Open> open = new ArrayList<>();
        ZSet now = new ZSet();
        try (VersionedView view = newView(allocator, Long.MAX_VALUE / 4)) {
            for (int step = 0; step < 2_000; step++) {
                int action = random.nextInt(4);
                if (action == 0 && open.size() < 12) {
                    open.add(new Open(view.scan(List.of(0, 1)), now.copy(), new ZSet()));
                } else if (action == 1 && !open.isEmpty()) {
                    int which = random.nextInt(open.size());
                    Open one = open.get(which);
                    Optional<Batch> next = one.scan.next(allocator);
                    if (next.isPresent()) {
                        try (Batch batch = next.get()) {
                            one.seen.add(batch);
                        }
                    } else {
                        assertEquals(one.expected, one.seen, "at step " + step);
                        one.scan.close();
                        open.remove(which);
                    }
                } else {
                    List<Row> rows = new ArrayList<>();
                    long[] weights = new long[1 + random.nextInt(20)];
                    for (int i = 0; i < weights.length; i++) {
                        rows.add(row(random.nextInt(40), random.nextInt(3)));
                        weights[i] = random.nextInt(5) - 2; // 0 too, and less than nothing
                        if (weights[i] != 0) {
                            now.add(rows.get(i), weights[i]);
                        }
                    }
                    commit(view, allocator, rows, weights);
                    assertEquals(now, answer(view, allocator), "at step " + step);
                }
            }
            for (Open one : open) {
                one.seen.addAll(read(one.scan, allocator));
                assertEquals(one.expected, one.seen);
                one.scan.close();
            }
            assertEquals(now, answer(view, allocator));
        }
    }

    @Test
    void whatIsStampedIsSeenByNobodyUntilItsVersionIsCurrent() {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator, 0)) {
            commit(view, allocator, List.of(row(1, 1), row(2, 1)), 1, 3);
            ZSet before = answer(view, allocator);
            try (Batch batch = TestBatches.weighted(
                    SCHEMA, allocator, List.of(row(1, 1), row(2, 1), row(3, 1)), new long[] {-1, -1, 1})) {
                view.stamp(view.stage(List.of(batch)), current.get() + 1);
            }
            assertEquals(before, answer(view, allocator));
            current.incrementAndGet();
            ZSet after = new ZSet();
            after.add(row(2, 1), 2);
            after.add(row(3, 1), 1);
            assertEquals(after, answer(view, allocator));
        }
    }

    @Test
    void memoryThatEndsAtAnyAllocationLeavesTheViewAsItWas() {
        FailingMemory failing = new FailingMemory();
        try (RootAllocator limited = new RootAllocator(failing, Long.MAX_VALUE)) {
            List<Row> many = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                many.add(Row.of((long) i, "x".repeat(i % 50)));
            }
            boolean whole = false;
            for (int n = 1; !whole; n++) {
                try (VersionedView view = newView(limited, 0);
                        Batch batch = TestBatches.of(SCHEMA, limited, many)) {
                    commit(view, limited, List.of(row(1, 1), row(2, 1)), 1, 2);
                    ZSet before = answer(view, limited);
                    failing.failAt(n);
                    try {
                        Staged staged = view.stage(List.of(batch, batch));
                        failing.failAt(1); // from here on nothing is asked for
                        view.stamp(staged, current.get() + 1);
                        current.incrementAndGet();
                        view.reclaim();
                        assertFalse(failing.hasFailed());
                        failing.failNoMore();
                        ZSet after = before.copy();
                        many.forEach(row -> after.add(row, 2));
                        assertEquals(after, answer(view, limited));
                        whole = true;
                    } catch (OutOfMemoryException e) {
                        failing.failNoMore();
                        assertEquals(before, answer(view, limited));
                        commit(view, limited, List.of(row(1, 1)), -1); // and it goes on
                        commit(
                                view,
                                limited,
                                many,
                                many.stream().mapToLong(row -> 1).toArray());
                        assertEquals(3_001, view.rowCount());
                    }
                }
                assertTrue(n < 1_000);
            }
        }
    }

    @Test
    void whoReadsTooSlowlyLosesItsVersionAndNotTheViewItsMemory() {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator, 100_000);
                ViewScan slow = view.scan(List.of(0))) {
            for (int i = 0; i < 100; i++) {
                commit(view, allocator, List.of(row(i, 1)), 1);
            }
            try (ViewScan reading = view.scan(List.of(0))) {
                reading.next(allocator).orElseThrow().close();
                for (int round = 0; round < 10_000; round++) {
                    commit(view, allocator, List.of(row(50, round), row(50, round + 1)), -1, 1);
                }
                assertTrue(view.bytes() < 1_000_000, view.bytes() + " bytes");
                MillraceException lost = assertThrows(MillraceException.class, () -> reading.next(allocator));
                assertEquals(SqlState.SNAPSHOT_TOO_OLD, lost.sqlState());
            }
            assertThrows(MillraceException.class, () -> slow.next(allocator));
        }
    }

    @Test
    void aViewThatIsClosedIsStillReadByWhoBeganBefore() {
        BufferAllocator allocator = memory.allocator();
        VersionedView view = newView(allocator, 0);
        commit(view, allocator, List.of(row(1, 1), row(2, 1)), 1, 1);
        ZSet before = answer(view, allocator);
        ViewScan scan = view.scan(List.of(0, 1));
        view.close();
        assertTrue(view.isClosed());
        assertEquals(before, read(scan, allocator));
        scan.close();
        ViewScan late = view.scan(List.of(0, 1));
        assertThrows(MillraceException.class, () -> late.next(allocator));
        late.close();
        view.stamp(new VersionedView(SCHEMA, 1, allocator).stage(List.of()), 9);
        view.close();
    }

    /** Each version sets all of 500 rows to its own number: whoever reads two numbers has read two versions. */
    @Test
    void whoReadsWaitsForTheFirstRowsAndNobodyAfterThem() {
        try (BufferAllocator allocator = new RootAllocator();
                VersionedView view = new VersionedView(SCHEMA, BATCH_ROWS, allocator)) {
            int[] asked = new int[1];
            view.beginWith(() -> {
                if (++asked[0] == 1) {
                    throw new IllegalStateException("not there");
                }
            });
            assertThrows(IllegalStateException.class, () -> view.scan(List.of(0)));
            view.scan(List.of(0)).close();
            view.scan(List.of(0)).close();
            assertEquals(2, asked[0]);
        }
    }

    @Test
    void readersBesideAWriterNeverSeePartsOfAVersion() throws InterruptedException {
        BufferAllocator allocator = memory.allocator();
        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (VersionedView view = newView(allocator, Long.MAX_VALUE / 4)) {
            List<Thread> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                readers.add(new Thread(() -> {
                    try {
                        while (!done.get()) {
                            ZSet seen = answer(view, allocator);
                            assertTrue(
                                    seen.isEmpty() || seen.rows().size() == 500,
                                    seen.rows().size() + " rows");
                            assertTrue(seen.rows().stream()
                                            .map(row -> row.get(1))
                                            .distinct()
                                            .count()
                                    <= 1);
                        }
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                }));
            }
            readers.forEach(Thread::start);
            for (int version = 1; version <= 60; version++) {
                List<Row> rows = new ArrayList<>();
                List<Long> weights = new ArrayList<>();
                for (long key = 0; key < 500; key++) {
                    if (version > 1) {
                        rows.add(Row.of(key, "version " + (version - 1)));
                        weights.add(-1L);
                    }
                    rows.add(Row.of(key, "version " + version));
                    weights.add(1L);
                }
                commit(view, allocator, rows, weights.stream().mapToLong(w -> w).toArray());
            }
            done.set(true);
            for (Thread reader : readers) {
                reader.join();
            }
            assertEquals(null, failure.get());
            assertEquals(500, view.rowCount());
        }
    }

    @Test
    void savedRowsAreRestored() throws IOException {
        BufferAllocator allocator = memory.allocator();
        try (VersionedView view = newView(allocator, 0);
                VersionedView restored = newView(allocator, 0)) {
            commit(view, allocator, List.of(row(1, 1), row(2, 3), row(3, 1)), 1, -2, 5);
            commit(view, allocator, List.of(row(1, 1)), -1);
            ByteArrayOutputStream saved = new ByteArrayOutputStream();
            try (ViewScan scan = view.scanToSave()) {
                scan.save(new DataOutputStream(saved), () -> {});
            }
            restored.restore(new DataInputStream(new ByteArrayInputStream(saved.toByteArray())));
            assertEquals(answer(view, allocator), answer(restored, allocator));
            List<Batch> all = restored.snapshot(allocator);
            assertEquals(2, all.stream().mapToInt(Batch::rowCount).sum());
            Closing.all(all);
        }
    }

    @Test
    void restoredRowsAreFoundWhenTheyAreTakenBack() throws IOException {
        BufferAllocator allocator = memory.allocator();
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            rows.add(row(i, i % 100));
        }
        long[] weights = new long[rows.size()];
        Arrays.fill(weights, 1);
        ByteArrayOutputStream saved = new ByteArrayOutputStream();
        try (VersionedView view = newView(allocator, Long.MAX_VALUE / 4)) {
            commit(view, allocator, rows, weights);
            try (ViewScan scan = view.scanToSave()) {
                scan.save(new DataOutputStream(saved), () -> {});
            }
        }
        Arrays.fill(weights, -1);
        try (VersionedView view = newView(allocator, Long.MAX_VALUE / 4)) {
            view.restore(new DataInputStream(new ByteArrayInputStream(saved.toByteArray())));
            assertEquals(5_000, view.rowCount());
            commit(view, allocator, rows, weights);
            assertEquals(0, view.rowCount());
            assertEquals(new ZSet(), answer(view, allocator));
        }
    }
}
