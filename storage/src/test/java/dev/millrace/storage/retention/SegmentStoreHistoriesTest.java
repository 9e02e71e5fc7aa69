package dev.millrace.storage.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.simulation.DiskFault;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Stores that are killed, refused and given errors by their disk, beside a log that loses nothing: each row of the log is read once, in its
 * place, or was dropped because it was old; whatever was published stays.
 */
@ExtendWith(MemoryCheckExtension.class)
class SegmentStoreHistoriesTest {
    private static final int HISTORIES = Integer.getInteger("millrace.segment.histories", 60);
    private static final int LIVES = 6;
    private static final long AGE = 8000;
    private static final Schema SCHEMA =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("text", DataType.TEXT, true));
    private static final RetentionOptions OPTIONS = new RetentionOptions(
            Optional.empty(), new RetentionPolicy(OptionalLong.of(AGE), false, OptionalLong.empty()), 1 << 20);

    /** An entry of the log: rows of the ids from one to before another. */
    private record Entry(long number, long arrival, long firstId, long endId) {}

    private final List<Entry> log = new ArrayList<>();
    private final Map<DiskFault, Integer> faults = new EnumMap<>(DiskFault.class);
    private int published;
    private int merged;
    private int dropped;

    @Test
    void eachRowIsReadOnceWhateverHappens() {
        for (long seed = 1; seed <= HISTORIES; seed++) {
            try (BufferAllocator allocator = new RootAllocator(64 << 20)) {
                log.clear();
                run(seed, allocator);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertTrue(
                published > 5 * HISTORIES && merged > HISTORIES / 2 && dropped > HISTORIES,
                published + " published, " + merged + " merged, " + dropped + " dropped");
        assertTrue(
                faults.keySet()
                        .containsAll(List.of(
                                DiskFault.KILL,
                                DiskFault.LOST_NAME,
                                DiskFault.FORCE_ERROR,
                                DiskFault.WRITE_ERROR,
                                DiskFault.LOST_WRITE,
                                DiskFault.FULL)),
                faults.toString());
    }

    private void run(long seed, BufferAllocator allocator) {
        Random random = new Random(seed);
        SimulatedDisk disk = new SimulatedDisk(seed);
        long certain = 0; // the last entry that was flushed for certain
        long now = 0;
        for (int life = 0; life < LIVES; life++) {
            try (Life of = new Life(disk, random, allocator)) {
                of.assertOnDisk(certain, now);
                of.replay();
                disk.killIn(random.nextInt(400));
                disk.chances().forceErrorOneIn = random.nextInt(3) == 0 ? 20 : 0;
                disk.chances().writeErrorOneIn = random.nextInt(3) == 0 ? 30 : 0;
                disk.chances().fullOneIn = random.nextInt(3) == 0 ? 30 : 0;
                try {
                    while (true) {
                        now = Math.max(now, of.step());
                        certain = Math.max(certain, of.store.lastEntry());
                    }
                } catch (SimulatedCrash e) {
                    now = Math.max(now, of.now);
                    disk.calm();
                }
            }
            SimulatedDisk before = disk;
            disk = disk.crash();
            before.happened().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
        }
    }

    /** From one start to a crash. */
    private final class Life implements AutoCloseable {
        private final SimulatedDisk disk;
        private final Random random;
        private final BufferAllocator allocator;
        private final SegmentStore store;
        private Optional<StoreScan> scan = Optional.empty();
        private List<Row> scanned = new ArrayList<>();
        private long scannedFrom; // the first id that the scan has to give
        private long now = log.isEmpty() ? 0 : log.get(log.size() - 1).arrival();

        Life(SimulatedDisk disk, Random random, BufferAllocator allocator) {
            this.disk = disk;
            this.random = random;
            this.allocator = allocator;
            this.store = SegmentStore.open(disk, SCHEMA, OPTIONS, KnownPast.NOTHING, allocator);
        }

        void assertOnDisk(long certain, long latest) {
            assertTrue(store.lastEntry() >= certain, store.lastEntry() + " after " + certain);
            long end = 0;
            for (Entry entry : log) {
                if (entry.number() <= store.lastEntry()) {
                    end = entry.endId();
                }
                if (entry.firstId() < store.droppedRows()) {
                    assertTrue(entry.arrival() < latest - AGE, entry + " was dropped before " + latest);
                }
            }
            try (StoreScan all = store.scan(List.of(0, 1, 2, 3), List.of(), allocator)) {
                assertEquals(rows(store.droppedRows(), end), drain(all));
            }
            try {
                assertEquals(1 + store.segments().size(), disk.list().size(), "nothing else is there");
                assertTrue(RetentionVerification.run(disk, SCHEMA, KnownPast.NOTHING).stream()
                        .allMatch(FileReport::isWhole));
            } catch (java.io.IOException e) {
                throw new AssertionError(e);
            }
        }

        void replay() {
            long last = store.lastEntry();
            log.stream().filter(entry -> entry.number() > last).forEach(this::append);
        }

        private void append(Entry entry) {
            List<Row> rows = new ArrayList<>();
            for (long id = entry.firstId(); id < entry.endId(); id++) {
                rows.add(Row.of(id, text(id)));
            }
            try (Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
                store.append(entry.number(), entry.arrival(), List.of(batch));
            }
        }

        /** Does something; gives the time. */
        long step() {
            try {
                switch (random.nextInt(8)) {
                    case 0, 1, 2 -> accept();
                    case 3, 4 -> {
                        long before = store.lastEntry();
                        store.flush();
                        published += store.lastEntry() > before ? 1 : 0;
                    }
                    case 5 -> merged += store.merge() ? 1 : 0;
                    case 6 -> {
                        now += random.nextInt(3) == 0 ? random.nextInt(6000) : 0;
                        dropped += store.drop(now) > 0 ? 1 : 0;
                    }
                    default -> readOn();
                }
            } catch (MillraceException e) {
                assertTrue(e.sqlState() == SqlState.IO_ERROR || e.sqlState() == SqlState.DISK_FULL, e.toString());
            }
            return now;
        }

        private void accept() {
            Entry last = log.isEmpty() ? new Entry(0, 0, 0, 0) : log.get(log.size() - 1);
            now += random.nextInt(30);
            Entry next = new Entry(
                    last.number() + 1 + random.nextInt(3), now, last.endId(), last.endId() + random.nextInt(60));
            log.add(next);
            append(next);
        }

        /** A scan goes on over many steps. */
        private void readOn() {
            if (scan.isEmpty()) {
                scannedFrom = store.droppedRows();
                scanned = new ArrayList<>();
                scan = Optional.of(store.scan(List.of(0, 1, 2, 3), List.of(), allocator));
            }
            StoreScan reading = scan.get();
            for (int batches = random.nextInt(4); batches >= 0; batches--) {
                Optional<Batch> next = reading.next();
                if (next.isEmpty()) {
                    long end = log.stream()
                            .filter(entry -> entry.number() <= reading.lastEntry())
                            .mapToLong(Entry::endId)
                            .max()
                            .orElse(0);
                    assertEquals(rows(scannedFrom, end), scanned);
                    reading.close();
                    scan = Optional.empty();
                    return;
                }
                try (Batch batch = next.get()) {
                    scanned.addAll(TestBatches.rows(batch));
                }
            }
        }

        @Override
        public void close() {
            boolean closed = scan.isEmpty();
            while (!closed) {
                try {
                    scan.get().close();
                    closed = true;
                } catch (SimulatedCrash e) {
                    closed = false; // one file less to let go of
                }
            }
            store.close();
        }
    }

    private static String text(long id) {
        return id % 5 == 0 ? null : "text " + id * 0x9E3779B97F4A7C15L;
    }

    private List<Row> rows(long from, long end) {
        List<Row> rows = new ArrayList<>();
        for (Entry entry : log) {
            for (long id = Math.max(from, entry.firstId()); id < Math.min(end, entry.endId()); id++) {
                rows.add(Row.of(id, text(id), entry.number(), entry.arrival()));
            }
        }
        return rows;
    }

    private static List<Row> drain(StoreScan scan) {
        List<Row> rows = new ArrayList<>();
        for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
            try (Batch batch = next.get()) {
                rows.addAll(TestBatches.rows(batch));
            }
        }
        return rows;
    }
}
