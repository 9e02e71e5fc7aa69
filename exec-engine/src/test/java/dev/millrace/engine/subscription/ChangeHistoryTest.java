package dev.millrace.engine.subscription;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.WorkerThreads;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ChangeHistoryTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("n", DataType.BIGINT, false), new Field("t", DataType.TEXT, true));

    private final BufferAllocator allocator = PooledAllocation.newRoot(256L << 20);
    private final WorkerThreads workers = new WorkerThreads(1, SchedulingPolicies.named("fcfs"), Clock.system());

    @AfterEach
    void close() {
        workers.close();
        allocator.close(); // fails if a byte was left
    }

    private LocalSubscription subscription() {
        return new LocalSubscription(SCHEMA, SubscriptionOptions.changes(), workers, () -> {}, () -> {});
    }

    private List<Batch> epoch(List<Row> rows, boolean weighted) {
        long[] weights = rows.stream().mapToLong(row -> weighted ? 2 : 1).toArray();
        return rows.isEmpty()
                ? List.of()
                : List.of(
                        weighted
                                ? TestBatches.weighted(SCHEMA, allocator, rows, weights)
                                : TestBatches.of(SCHEMA, allocator, rows));
    }

    private static Row randomRow(SplittableRandom random) {
        String text = random.nextInt(5) == 0 ? null : "x".repeat(random.nextInt(random.nextInt(50) == 0 ? 3000 : 12));
        return Row.of(random.nextLong(), text);
    }

    /** Epochs of one row to hundreds, plain and weighted, long texts and NULLs, replayed from any point. */
    @Test
    void whatIsReplayedIsWhatWasAdded() {
        long seed = Long.getLong("seed", 1);
        System.out.println("change history: seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        List<ZSet> model = new ArrayList<>();
        try (ChangeHistory history = new ChangeHistory(SCHEMA, allocator)) {
            history.begin(0);
            for (int epoch = 1; epoch <= 600; epoch++) {
                List<Row> rows = new ArrayList<>();
                for (int i = random.nextInt(random.nextInt(20) == 0 ? 700 : 4); i > 0; i--) {
                    rows.add(randomRow(random));
                }
                List<Batch> batches = epoch(rows, random.nextBoolean());
                ZSet changes = new ZSet();
                batches.forEach(changes::add);
                model.add(changes);
                history.add(epoch, 10L * epoch, batches);
                Closing.all(batches);
                if (random.nextInt(20) == 0) {
                    checkReplay(history, model, random.nextInt(epoch + 1));
                }
            }
            checkReplay(history, model, 0);
        }
    }

    private void checkReplay(ChangeHistory history, List<ZSet> model, int after) {
        try (LocalSubscription subscription = subscription()) {
            history.replay("q", 10L * after, subscription);
            for (int epoch = after + 1; epoch <= model.size(); epoch++) {
                if (model.get(epoch - 1).rows().isEmpty()) {
                    continue;
                }
                try (EpochChanges changes = subscription.next(0).orElseThrow()) {
                    ZSet replayed = new ZSet();
                    changes.batches().forEach(replayed::add);
                    assertEquals(epoch, changes.epoch());
                    assertEquals(10L * epoch, changes.epochMicros());
                    assertEquals(model.get(epoch - 1), replayed);
                }
            }
            assertEquals(Optional.empty(), subscription.next(0));
        }
    }

    @Test
    void smallEpochsTakeLittleMemoryAndOldOnesGo() {
        try (ChangeHistory history = new ChangeHistory(SCHEMA, allocator)) {
            history.begin(0);
            List<Batch> batches = epoch(List.of(Row.of(1, "some text of a row")), true);
            for (int epoch = 1; epoch <= 500_000; epoch++) {
                history.add(epoch, epoch, batches);
                if (epoch == 10_000) {
                    long bytes = allocator.getAllocatedMemory();
                    assertTrue(bytes < 2 << 20, () -> bytes + " bytes for 10,000 rows");
                }
            }
            Closing.all(batches);
            long bytes = allocator.getAllocatedMemory();
            assertTrue(bytes < 17 << 20, () -> bytes + " bytes");
            MillraceException tooOld;
            try (LocalSubscription subscription = subscription()) {
                tooOld = assertThrows(MillraceException.class, () -> history.replay("q", 5, subscription));
            }
            assertEquals(SqlState.SNAPSHOT_TOO_OLD, tooOld.sqlState());
        }
    }
}
