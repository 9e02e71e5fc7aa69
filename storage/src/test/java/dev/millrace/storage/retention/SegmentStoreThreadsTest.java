package dev.millrace.storage.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(MemoryCheckExtension.class)
class SegmentStoreThreadsTest {
    private static final Schema SCHEMA = Schema.of(new Field("id", DataType.BIGINT, false));
    private static final int ENTRIES = 600;
    private static final int ROWS = 50;

    /** Scans give rows without gap up to what was appended when they began, while others write, merge and drop. */
    @Test
    void scansAreWholeWhileEverythingElseGoesOn(@TempDir Path directory) throws Exception {
        RetentionPolicy policy = new RetentionPolicy(OptionalLong.of(300), false, OptionalLong.empty());
        ExecutorService threads = Executors.newFixedThreadPool(4);
        AtomicBoolean done = new AtomicBoolean();
        try (BufferAllocator allocator = new RootAllocator();
                SegmentStore store = SegmentStore.open(
                        new RealDisk(directory),
                        SCHEMA,
                        RetentionOptions.of(Optional.empty(), policy),
                        KnownPast.NOTHING,
                        allocator)) {
            List<Future<?>> work = new ArrayList<>();
            work.add(threads.submit(appending(store, allocator, done)));
            work.add(threads.submit((Callable<Void>) () -> {
                while (!done.get()) {
                    store.flush();
                    store.merge();
                    store.drop(store.lastEntry());
                }
                return null;
            }));
            for (int reader = 0; reader < 2; reader++) {
                work.add(threads.submit((Callable<Void>) () -> {
                    long least = 0;
                    do {
                        least = assertWhole(store, allocator, least);
                    } while (!done.get());
                    return null;
                }));
            }
            for (Future<?> each : work) {
                each.get();
            }
            store.flush();
            store.drop(ENTRIES);
            assertTrue(store.droppedRows() > 0);
            try (Stream<Path> files = Files.list(directory)) {
                assertEquals(1 + store.segments().size(), files.count(), "what was dropped is gone");
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static Callable<Void> appending(SegmentStore store, BufferAllocator allocator, AtomicBoolean done) {
        return () -> {
            try {
                for (long entry = 1; entry <= ENTRIES; entry++) {
                    List<Row> rows = new ArrayList<>();
                    for (int row = 0; row < ROWS; row++) {
                        rows.add(Row.of((entry - 1) * ROWS + row));
                    }
                    try (Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
                        store.append(entry, entry, List.of(batch));
                    }
                    if (entry % 25 == 0) {
                        store.flush();
                    }
                }
                return null;
            } finally {
                done.set(true);
            }
        };
    }

    /** Gives the first row that there was, which is not before that of a scan before. */
    private static long assertWhole(SegmentStore store, BufferAllocator allocator, long least) {
        long first = -1;
        long next = -1;
        try (StoreScan scan = store.scan(List.of(0), List.of(), allocator)) {
            for (Optional<Batch> rows = scan.next(); rows.isPresent(); rows = scan.next()) {
                try (Batch batch = rows.get()) {
                    BigIntVector ids = (BigIntVector) batch.column(0);
                    for (int row = 0; row < batch.rowCount(); row++) {
                        first = first < 0 ? ids.get(row) : first;
                        assertEquals(next < 0 ? first : next, ids.get(row));
                        next = ids.get(row) + 1;
                    }
                }
            }
            assertTrue(first >= least || first < 0, first + " comes before " + least);
            if (next >= 0) {
                assertEquals(scan.lastEntry() * ROWS, next);
            }
        }
        return Math.max(first, least);
    }
}
