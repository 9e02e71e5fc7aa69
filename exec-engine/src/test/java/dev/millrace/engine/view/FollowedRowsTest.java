package dev.millrace.engine.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Each reader finds the rows of the epoch that it is at, wherever the view and other readers are. */
class FollowedRowsTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("k", DataType.TEXT, true), new Field("v", DataType.BIGINT, false));
    private static final List<DataType> TYPES = List.of(DataType.TEXT, DataType.BIGINT);

    private final RowCodec codec;
    private final BufferAllocator allocator = new RootAllocator();
    private long version;

    FollowedRowsTest() {
        codec = new RowCodec(TYPES, false, allocator);
    }

    /** A reader, and the epoch that it has passed. */
    private static final class Reader {
        private final FollowedRows rows;
        private long passed;
        private long reached;

        private Reader(FollowedRows rows, long epoch) {
            this.rows = rows;
            this.passed = epoch;
            this.reached = epoch;
        }
    }

    @Test
    void readersAtDifferentEpochsFindTheRowsOfTheirs() {
        for (long seed = 1; seed <= 30; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            TreeMap<Long, List<Row>> epochs = new TreeMap<>(Map.of(0L, List.of()));
            List<Reader> readers = new ArrayList<>();
            version = 0;
            VersionedView view = new VersionedView(SCHEMA, 16, allocator);
            view.follow(() -> version);
            for (int step = 0; step < 120; step++) {
                if (random.nextInt(8) == 0) {
                    FollowedRows rows = view.followers().follow(List.of(0), allocator, () -> {});
                    rows.begin();
                    readers.add(new Reader(rows, epochs.lastKey()));
                } else if (random.nextInt(10) == 0 && !readers.isEmpty()) {
                    readers.remove(random.nextInt(readers.size())).rows.close();
                } else if (random.nextInt(25) == 0) {
                    view = altered(view, epochs.lastEntry().getValue());
                } else {
                    publish(view, random, epochs);
                }
                for (Reader reader : readers) {
                    if (random.nextBoolean()) {
                        reader.passed = random.nextLong(reader.passed, epochs.lastKey() + 1);
                        reader.reached = Math.max(reader.reached, reader.rows.advance(reader.passed, epoch -> true));
                        assertEquals(epochs.floorKey(reader.passed), reader.reached, "seed " + seed);
                    }
                    assertEquals("", ZSet.of(epochs.get(reader.reached)).differences(all(reader.rows)), "seed " + seed);
                }
            }
            readers.forEach(reader -> reader.rows.close());
            view.close();
        }
        codec.close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    @Test
    void aReaderThatStoppedWhileItsViewWasAlteredHoldsNothingOfTheNewOne() {
        VersionedView view = new VersionedView(SCHEMA, 16, allocator);
        FollowedRows rows = view.followers().follow(List.of(0), allocator, () -> {});
        rows.begin();
        VersionedView next = new VersionedView(SCHEMA, 16, allocator);
        rows.close();
        rows.goOnIn(next);
        next.close();
        assertTrue(next.isFreed());
        view.close();
        assertTrue(view.isFreed());
        codec.close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    @Test
    void anIndexIsNotBegunOnceTheViewIsGone() {
        BufferAllocator own = allocator.newChildAllocator("view", 0, Long.MAX_VALUE);
        VersionedView view = new VersionedView(SCHEMA, 16, own);
        view.close();
        own.close();
        OrderedColumns byKey = new OrderedColumns(List.of(new OrderKey(0, false, false)));
        MillraceException gone =
                assertThrows(MillraceException.class, () -> view.indexes().make(byKey));
        assertEquals(SqlState.UNDEFINED_TABLE, gone.sqlState());
        codec.close();
        allocator.close();
    }

    private VersionedView altered(VersionedView view, List<Row> rows) {
        VersionedView next = new VersionedView(SCHEMA, 16, allocator);
        try (Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
            next.fill(List.of(batch));
        }
        next.follow(() -> version);
        view.followers().handOver(next);
        view.close();
        return next;
    }

    private void publish(VersionedView view, SplittableRandom random, TreeMap<Long, List<Row>> epochs) {
        List<Row> rows = new ArrayList<>(epochs.lastEntry().getValue());
        List<Row> changed = new ArrayList<>();
        List<Long> weights = new ArrayList<>();
        for (int left = random.nextInt(6); left > 0; left--) {
            if (!rows.isEmpty() && random.nextBoolean()) {
                changed.add(rows.remove(random.nextInt(rows.size())));
                weights.add(-1L);
            } else {
                Row row = Row.of(random.nextInt(9) == 0 ? null : key(random.nextInt(5)), (long) random.nextInt(4));
                rows.add(row);
                changed.add(row);
                weights.add(1L);
            }
        }
        long[] all = weights.stream().mapToLong(weight -> weight).toArray();
        try (Batch batch = TestBatches.weighted(SCHEMA, allocator, changed, all)) {
            view.stamp(view.stage(List.of(batch)), version + 1);
        }
        version++;
        long epoch = epochs.lastKey() + random.nextInt(1, 4);
        epochs.put(epoch, rows);
        view.followers().published(epoch);
        view.reclaim();
    }

    private static String key(int number) {
        return number % 2 == 0 ? "k" + number : "a key that is longer than fifteen bytes " + number;
    }

    /** All rows that have a key by looking each key up, and those without by reading all. */
    private ZSet all(FollowedRows rows) {
        ZSet found = new ZSet();
        List<Row> keys =
                IntStream.range(0, 6).mapToObj(key -> Row.of(key(key), 0L)).toList();
        try (Batch batch = TestBatches.of(SCHEMA, allocator, keys)) {
            codec.encode(batch, new int[] {0, 1}, IntStream.range(0, 6).toArray(), 6);
            long[] addresses = IntStream.range(0, 6).mapToLong(codec::address).toArray();
            rows.find(codec, List.of(0), addresses, 0, 6);
            for (int i = 0; i < rows.end(5); i++) {
                add(rows, rows.row(i), found);
            }
        }
        long[] some = new long[7];
        for (int count = rows.next(some); count > 0; count = rows.next(some)) {
            for (int i = 0; i < count; i++) {
                if (RowCodec.isNull(some[i], 0)) {
                    add(rows, some[i], found);
                }
            }
        }
        assertTrue(found.isPositive());
        return found;
    }

    private void add(FollowedRows rows, long row, ZSet to) {
        var keys = rows.decode(0, SCHEMA.field(0), new long[] {row}, 1, allocator);
        var values = rows.decode(1, SCHEMA.field(1), new long[] {row}, 1, allocator);
        try (Batch one = Batch.of(SCHEMA, new org.apache.arrow.vector.FieldVector[] {keys, values}, 1)) {
            to.add(TestBatches.row(one, 0), FollowedRows.weight(row));
        }
    }
}
