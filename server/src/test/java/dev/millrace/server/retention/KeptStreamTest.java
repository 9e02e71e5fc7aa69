package dev.millrace.server.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.storage.retention.KnownPast;
import dev.millrace.storage.retention.RetentionOptions;
import dev.millrace.storage.retention.RetentionPolicy;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A derived stream can be cut back to a checkpoint, whenever its rows are written. */
@ExtendWith(MemoryCheckExtension.class)
class KeptStreamTest {
    private static final Schema SCHEMA = Schema.of(new Field("id", DataType.BIGINT, false));
    private static final long MINUTE = 60_000_000;

    private final BufferAllocator allocator = new RootAllocator(64 << 20);
    private final SegmentStore store = SegmentStore.open(
            new SimulatedDisk(1),
            SCHEMA,
            RetentionOptions.of(Optional.empty(), RetentionPolicy.FOREVER),
            KnownPast.NOTHING,
            allocator);
    private final KeptStream stream = new KeptStream(1, SCHEMA, Optional.empty(), store, true, () -> 0, 0);

    @AfterEach
    void nothingIsLeft() {
        store.close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private void append(long epoch) {
        try (Batch batch = TestBatches.of(SCHEMA, allocator, List.of(Row.of(epoch)))) {
            store.append(epoch, epoch, List.of(batch));
        }
    }

    private List<String> segments() {
        return store.segments().stream()
                .map(segment -> segment.firstEntry() + "-" + segment.lastEntry())
                .toList();
    }

    @Test
    void rowsBeforeAndBehindACutComeToDifferentSegments() {
        append(3);
        append(5);
        append(8);
        stream.maintain(MINUTE - 1, () -> 6);
        assertEquals(List.of(), segments());
        stream.maintain(MINUTE, () -> 6);
        assertEquals(List.of("3-5", "8-8"), segments());
        store.cutBack(store.lastEntry(6));
        assertEquals(List.of("3-5"), segments());
    }

    @Test
    void whatComesWhileRowsAreWrittenWaits() {
        append(3);
        stream.flush(() -> {
            append(4); // of an epoch that was not shown yet when the checkpoint was cut
            append(9);
            return 6;
        });
        assertEquals(List.of("3-3"), segments());
        stream.flush(() -> 6);
        assertEquals(List.of("3-3", "4-4", "9-9"), segments());
    }

    @Test
    void segmentsAreMergedUpToTheCheckpointOnDisk() {
        for (int epoch = 1; epoch <= 12; epoch++) {
            append(epoch);
            stream.flush(() -> 0);
        }
        stream.maintain(1, () -> 7);
        assertEquals(12, segments().size());
        assertEquals(12, stream.unsettled());
        stream.published(7);
        assertEquals(5, stream.unsettled());
        stream.maintain(1, () -> 7);
        assertEquals(List.of("1-7", "8-8", "9-9", "10-10", "11-11", "12-12"), segments());
    }
}
