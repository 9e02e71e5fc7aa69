package dev.millrace.storage.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(MemoryCheckExtension.class)
class SegmentStoreTest {
    private static final Schema SCHEMA =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("ts", DataType.TIMESTAMP, true));
    private static final RetentionOptions FOREVER = RetentionOptions.of(Optional.of(1), RetentionPolicy.FOREVER);
    private static final int ENTRY = 2;
    private static final int ARRIVAL = 3;

    private final BufferAllocator allocator = new RootAllocator(64 << 20);
    private final SimulatedDisk disk = new SimulatedDisk(1);

    @AfterEach
    void nothingIsLeft() {
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private SegmentStore open(RetentionOptions options) {
        return SegmentStore.open(disk, SCHEMA, options, KnownPast.NOTHING, allocator);
    }

    /** One entry with rows of these ids, each with ten times its id as event time. */
    private void append(SegmentStore store, long entry, long arrival, long... ids) {
        List<Row> rows = LongStream.of(ids).mapToObj(id -> Row.of(id, 10 * id)).toList();
        try (Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
            store.append(entry, arrival, List.of(batch));
        }
    }

    private static List<Row> read(StoreScan scan) {
        List<Row> rows = new ArrayList<>();
        try (scan) {
            for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
                try (Batch batch = next.get()) {
                    rows.addAll(TestBatches.rows(batch));
                }
            }
        }
        return rows;
    }

    private List<Row> read(SegmentStore store, Integer... columns) {
        return read(store.scan(List.of(columns), List.of(), allocator));
    }

    private static List<Row> ids(long... ids) {
        return LongStream.of(ids).mapToObj(Row::of).toList();
    }

    @Test
    void rowsAreReadWithTheirEntryAndArrivalWhetherFlushedOrNot() {
        List<Row> expected = List.of(Row.of(1L, 3L, 100L), Row.of(2L, 3L, 100L), Row.of(3L, 7L, 200L));
        try (SegmentStore store = open(FOREVER)) {
            append(store, 3, 100, 1, 2);
            append(store, 7, 200, 3);
            assertEquals(OptionalLong.of(3), store.firstEntryNeeded());
            assertEquals(expected, read(store, 0, ENTRY, ARRIVAL));
            assertEquals(0, store.lastEntry());
            store.flush();
            assertEquals(expected, read(store, 0, ENTRY, ARRIVAL));
            assertEquals(7, store.lastEntry());
            assertEquals(OptionalLong.empty(), store.firstEntryNeeded());
            assertEquals(0, store.pendingBytes());
            append(store, 8, 150, 4); // the clock was set back
            assertThrows(IllegalArgumentException.class, () -> append(store, 8, 300, 5));
        }
        try (SegmentStore store = open(FOREVER)) {
            assertEquals(7, store.lastEntry(), "what was not flushed is the log's to give again");
            append(store, 8, 150, 4);
            assertEquals(Row.of(4L, 8L, 200L), read(store, 0, ENTRY, ARRIVAL).get(3));
        }
    }

    /** An INSERT of one row is an entry: a batch for each would take longer to read than the rows. */
    @Test
    void entriesOfFewRowsAreReadTogether() {
        List<Row> expected = new ArrayList<>();
        try (SegmentStore store = open(FOREVER)) {
            for (long entry = 1; entry <= 3000; entry++) {
                long rows = entry == 1500 ? 5000 : 1 + entry % 2;
                append(store, entry, 7 * entry, LongStream.range(0, rows).toArray());
                for (long id = 0; id < rows; id++) {
                    expected.add(Row.of(7 * entry, 10 * id, entry));
                }
            }
            int batches = 0;
            List<Row> read = new ArrayList<>();
            try (StoreScan scan = store.scan(List.of(ARRIVAL, 1, ENTRY), List.of(), allocator)) {
                for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next(), batches++) {
                    try (Batch batch = next.get()) {
                        read.addAll(TestBatches.rows(batch));
                    }
                }
            }
            assertEquals(expected, read);
            assertTrue(batches < 10, batches + " batches");
            try (StoreScan scan = store.scan(List.of(0), List.of(), allocator)) {
                scan.next().orElseThrow().close(); // and the others are let go
            }
            store.flush();
            assertEquals(expected, read(store, ARRIVAL, 1, ENTRY));
        }
    }

    /** Blocks are what readers share: a large segment is read by all, and with its neighbours each row once and in order. */
    @Test
    void severalScansShareOneLargeSegment() {
        long[] large = LongStream.range(2, 200_002).toArray();
        List<Row> all = LongStream.range(1, 200_003).mapToObj(Row::of).toList();
        try (SegmentStore store = open(FOREVER)) {
            append(store, 1, 1, 1);
            store.flush();
            append(store, 2, 2, large);
            store.flush();
            append(store, 3, 3, 200_002);
            for (int most = 1; most <= 9; most++) {
                List<StoreScan> scans = store.scans(List.of(0), List.of(), Long.MAX_VALUE, most, allocator);
                List<Row> read = new ArrayList<>();
                long leastRows = Long.MAX_VALUE;
                for (StoreScan scan : scans) {
                    List<Row> rows = read(scan);
                    read.addAll(rows);
                    leastRows = Math.min(leastRows, rows.size());
                }
                assertEquals(all, read);
                assertEquals(most, scans.size());
                assertTrue(most > 3 || leastRows > 200_000 / most / 2, leastRows + " of " + most);
                assertEquals(
                        2, scans.stream().mapToLong(StoreScan::segmentsRead).sum());
                assertFalse(store.isRead());
            }
            List<StoreScan> unread = store.scans(List.of(0), List.of(), Long.MAX_VALUE, 3, allocator);
            unread.get(0).close();
            assertTrue(store.isRead(), "by the others");
            unread.forEach(StoreScan::close);
            assertFalse(store.isRead());
        }
    }

    @Test
    void aScanSeesWhatWasThereAndItsFilesStayUntilItIsClosed() throws Exception {
        RetentionPolicy policy = new RetentionPolicy(OptionalLong.of(1000), false, OptionalLong.empty());
        try (SegmentStore store = open(RetentionOptions.of(Optional.of(1), policy))) {
            for (long entry = 1; entry <= 4; entry++) {
                append(store, entry, entry, entry);
                store.flush();
            }
            append(store, 5, 5, 5);
            StoreScan before = store.scan(List.of(0), List.of(), allocator);
            append(store, 6, 6, 6);
            store.flush();
            assertTrue(store.merge());
            assertFalse(store.merge(), "there is one");
            assertEquals(6, store.drop(100_000));
            assertEquals(List.of(), store.segments());
            assertEquals(6, store.droppedRows());
            assertEquals(4 + 1, disk.list().size(), disk.list() + ": four are read, and the list");
            assertEquals(ids(1, 2, 3, 4, 5), read(before));
            assertEquals(5, before.lastEntry());
            assertEquals(List.of("segments"), disk.list());
            assertEquals(List.of(), read(store, 0));
        }
        try (SegmentStore store = open(FOREVER)) {
            assertEquals(6, store.lastEntry(), "what was dropped does not come back");
        }
    }

    @Test
    void oldSegmentsGoByArrivalByEventTimeAndBySize() {
        RetentionPolicy byArrival = new RetentionPolicy(OptionalLong.of(100), false, OptionalLong.empty());
        try (SegmentStore store = open(RetentionOptions.of(Optional.of(1), byArrival))) {
            for (long entry = 1; entry <= 3; entry++) {
                append(store, entry, 1000 * entry, 10 - entry, 20 + entry);
                store.flush();
            }
            assertEquals(0, store.drop(1100), "just as old as it may be");
            assertEquals(2, store.drop(1101));
            assertEquals(ids(8, 22, 7, 23), read(store, 0));
        }
        RetentionPolicy byEvent = new RetentionPolicy(OptionalLong.of(50), true, OptionalLong.empty());
        try (SegmentStore store = open(RetentionOptions.of(Optional.of(1), byEvent))) {
            assertEquals(0, store.drop(270));
            assertEquals(2, store.drop(271), "the greatest event time was 220");
            assertEquals(ids(7, 23), read(store, 0));
            append(store, 4, 5000, 40);
            store.flush();
        }
        long size = store(FOREVER).segments().get(1).file().bytes();
        RetentionPolicy bySize = new RetentionPolicy(OptionalLong.empty(), false, OptionalLong.of(size));
        try (SegmentStore store = open(RetentionOptions.of(Optional.of(1), bySize))) {
            assertEquals(2, store.drop(0));
            assertEquals(ids(40), read(store, 0));
        }
    }

    private SegmentStore store(RetentionOptions options) {
        try (SegmentStore store = open(options)) {
            return store;
        }
    }

    @Test
    void rangesOfTimeAndEntryPassSegmentsBy() {
        try (SegmentStore store = open(FOREVER)) {
            for (long entry = 1; entry <= 5; entry++) {
                append(store, entry, 1000 * entry, entry);
                store.flush();
            }
            for (ColumnRange range : List.of(
                    ColumnRange.of(1, 20, 30), ColumnRange.of(ENTRY, 2, 3), ColumnRange.of(ARRIVAL, 1500, 3999))) {
                StoreScan scan = store.scan(List.of(0), List.of(range), allocator);
                assertEquals(ids(2, 3), read(scan));
                assertEquals(2, scan.blocksRead() + scan.blocksSkipped(), "the others were not opened");
            }
            for (long entry = 11; entry <= 15; entry++) {
                append(store, entry, 1000 * entry, entry); // and waits
            }
            for (ColumnRange range : List.of(ColumnRange.of(ENTRY, 12, 13), ColumnRange.of(ARRIVAL, 11_500, 13_999))) {
                assertEquals(ids(12, 13), read(store.scan(List.of(0), List.of(range), allocator)));
            }
        }
    }

    @Test
    void smallSegmentsBecomeFewAndRowsAreWrittenAgainSeldom() {
        long written = 0;
        try (SegmentStore store = open(new RetentionOptions(Optional.empty(), RetentionPolicy.FOREVER, 4 << 20))) {
            for (long entry = 1; entry <= 300; entry++) {
                append(store, entry, entry, entry);
                store.flush();
                while (store.merge()) {
                    written += 1;
                }
            }
            assertTrue(store.segments().size() < 20, store.segments().size() + " segments");
            assertTrue(written <= 100, written + " merges");
            assertEquals(LongStream.rangeClosed(1, 300).mapToObj(Row::of).toList(), read(store, 0));
        }
    }

    @Test
    void mergedSegmentsDoNotSpanMuchOfTheTimeThatRowsAreKept() {
        RetentionPolicy policy = new RetentionPolicy(OptionalLong.of(16_000), false, OptionalLong.empty());
        try (SegmentStore store = open(RetentionOptions.of(Optional.empty(), policy))) {
            for (long entry = 1; entry <= 40; entry++) {
                append(store, entry, 200 * entry, entry);
                store.flush();
            }
            while (store.merge()) {}
            for (KeptSegment segment : store.segments()) {
                assertTrue(segment.lastArrival() - segment.firstArrival() <= 1000, segment.toString());
            }
            assertTrue(store.segments().size() < 12, store.segments().size() + " segments");
        }
    }

    @Test
    void aFullDiskChangesNothingAndIsOverWhenThereIsRoom() {
        try (SegmentStore store = open(FOREVER)) {
            append(store, 1, 1, 1);
            store.flush();
            append(store, 2, 2, 2);
            disk.setCapacity(disk.usedBytes() + 100);
            MillraceException e = assertThrows(MillraceException.class, store::flush);
            assertEquals(SqlState.DISK_FULL, e.sqlState());
            assertEquals(ids(1, 2), read(store, 0));
            disk.setCapacity(Long.MAX_VALUE);
            store.flush();
            assertEquals(2, store.segments().size());
            assertEquals(ids(1, 2), read(store, 0));
        }
    }

    @Test
    void everyDamageToAFileIsNamed() throws Exception {
        try (SegmentStore store = open(FOREVER)) {
            append(store, 1, 1, 1, 2, 3);
            store.flush();
            append(store, 2, 2, 4);
            store.flush();
        }
        assertEquals(
                List.of("segments 2", "000000000001.columns 3 rows", "000000000002.columns 1 rows"),
                RetentionVerification.run(disk, SCHEMA, KnownPast.NOTHING).stream()
                        .map(file -> file.name() + " "
                                + file.contents().substring(0, file.name().endsWith("columns") ? 6 : 1))
                        .toList());
        for (String name : disk.list()) {
            byte[] bytes = disk.bytes(name);
            for (int at = 0; at < bytes.length; at++) {
                SimulatedDisk damaged = disk.copy();
                byte[] changed = bytes.clone();
                changed[at] ^= (byte) (1 << at % 8);
                damaged.put(name, changed);
                assertTrue(damage(damaged).contains(name), name + " at " + at);
            }
            for (int length = 0; length < bytes.length; length++) {
                SimulatedDisk damaged = disk.copy();
                damaged.put(name, Arrays.copyOf(bytes, length));
                assertTrue(damage(damaged).contains(name), name + " cut to " + length);
                assertRefused(damaged, name);
            }
            SimulatedDisk without = disk.copy();
            without.remove(name);
            assertTrue(damage(without).contains(name), name);
            assertRefused(without, name);
        }
        SimulatedDisk later = disk.copy();
        byte[] bytes = disk.bytes("segments");
        bytes[8] = SegmentList.VERSION + 1;
        later.put("segments", bytes);
        assertEquals(
                SqlState.CONFIG_FILE_ERROR,
                assertThrows(
                                MillraceException.class,
                                () -> SegmentStore.open(later, SCHEMA, FOREVER, KnownPast.NOTHING, allocator))
                        .sqlState());
    }

    /** What is said of files that are damaged. */
    private static String damage(SimulatedDisk disk) {
        return RetentionVerification.run(disk, SCHEMA, KnownPast.NOTHING).stream()
                .flatMap(file -> file.damage().stream())
                .toList()
                .toString();
    }

    @Test
    void filesThatDoNotCountAreNamedByVerification() {
        try (SegmentStore store = open(FOREVER)) {
            append(store, 1, 1, 1);
            store.flush();
        }
        disk.put("000000000009.columns", new byte[5]);
        disk.put("segments.new", new byte[3]);
        disk.put("notes.txt", new byte[2]);
        List<String> others = RetentionVerification.run(disk, SCHEMA, KnownPast.NOTHING).stream()
                .skip(2)
                .map(file -> file.name() + " " + file.bytes() + " " + file.known() + " " + file.contents())
                .toList();
        assertEquals(
                List.of(
                        "000000000009.columns 5 true a segment that does not count",
                        "notes.txt 2 false no file of Millrace's",
                        "segments.new 3 true not finished: does not count"),
                others);
        assertEquals("[]", damage(disk));
        disk.remove("segments");
        assertTrue(damage(disk).contains("segments is missing"), damage(disk));
    }

    /** Damage of the list keeps a store from opening; that of a segment is told, and is what scans fail with. */
    private void assertRefused(SimulatedDisk damaged, String name) {
        MillraceException e = assertThrows(MillraceException.class, () -> {
            try (SegmentStore store = SegmentStore.open(damaged, SCHEMA, FOREVER, KnownPast.NOTHING, allocator);
                    StoreScan scan = store.scan(List.of(0), List.of(), allocator)) {
                assertTrue(store.damage().get(0).getMessage().contains(name), name);
                for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
                    next.get().close();
                }
            }
        });
        assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
        assertTrue(e.getMessage().contains(name), e.getMessage());
    }

    @Test
    void aStoreIsCutBackToWhatCounts() {
        RetentionOptions small = RetentionOptions.of(Optional.of(1), RetentionPolicy.FOREVER);
        try (SegmentStore store = open(small)) {
            for (int entry = 1; entry <= 12; entry++) {
                append(store, entry, 100 + entry, entry);
                store.flush();
            }
            assertEquals(7, store.lastEntry(7));
            while (store.merge(7)) {}
            assertEquals(7, store.lastEntry(7));
            assertEquals(12, store.lastEntry());
            assertTrue(store.segments().size() < 12, store.segments().toString());
        }
        try (SegmentStore again = open(small)) {
            again.cutBack(7);
            assertEquals(7, again.lastEntry());
            assertEquals(7, again.lastAppended());
            assertEquals(ids(1, 2, 3, 4, 5, 6, 7), read(again, 0));
            append(again, 8, 90, 80);
            again.flush();
        }
        try (SegmentStore last = open(small)) {
            last.cutBack(100); // nothing is behind that
            assertEquals(ids(1, 2, 3, 4, 5, 6, 7, 80), read(last, 0));
            last.cutBack(0);
            assertEquals(List.of(), read(last, 0));
            append(last, 1, 10, 1);
            assertEquals(ids(1), read(last, 0));
        }
    }

    @Test
    void aSegmentOfBothSidesIsNotCut() {
        try (SegmentStore store = open(FOREVER)) {
            append(store, 1, 100, 1);
            append(store, 2, 100, 2);
            store.flush();
            MillraceException damage = assertThrows(MillraceException.class, () -> store.cutBack(1));
            assertEquals(SqlState.DATA_CORRUPTED, damage.sqlState());
            assertEquals(ids(1, 2), read(store, 0));
        }
    }

    @Test
    void whatWasDroppedBehindACutWasNeverDropped() {
        RetentionOptions few = RetentionOptions.of(
                Optional.of(1), new RetentionPolicy(OptionalLong.of(10), false, OptionalLong.empty()));
        try (SegmentStore store = open(few)) {
            append(store, 1, 100, 1);
            store.flush();
            append(store, 5, 200, 5);
            store.flush();
            assertEquals(2, store.drop(1_000));
            assertEquals(3, store.lastEntry(3)); // what it was is not known any more
            store.cutBack(1);
        }
        try (SegmentStore again = open(few)) { // a list that says otherwise is refused
            assertEquals(1, again.lastEntry());
        }
    }

    @Test
    void otherColumnsAreRefused() {
        open(FOREVER).close();
        Schema other = Schema.of(SCHEMA.field(0));
        MillraceException e = assertThrows(
                MillraceException.class, () -> SegmentStore.open(disk, other, FOREVER, KnownPast.NOTHING, allocator));
        assertTrue(e.getMessage().contains("other columns"), e.getMessage());
    }

    @Test
    void filesOfAnotherDatabaseAndOlderCopiesAreRefused() {
        KnownPast known = new KnownPast(OptionalLong.of(17), 0);
        try (SegmentStore store = SegmentStore.open(disk, SCHEMA, FOREVER, known, allocator)) {
            append(store, 5, 10, 1);
            store.flush();
        }
        for (KnownPast other : List.of(new KnownPast(OptionalLong.of(18), 5), new KnownPast(OptionalLong.of(17), 6))) {
            MillraceException refused = assertThrows(
                    MillraceException.class, () -> SegmentStore.open(disk, SCHEMA, FOREVER, other, allocator));
            assertEquals(SqlState.DATA_CORRUPTED, refused.sqlState());
            assertTrue(refused.getMessage().contains("segments"), refused::getMessage);
            assertTrue(RetentionVerification.run(disk, SCHEMA, other).stream().anyMatch(file -> !file.isWhole()));
        }
        SegmentStore.open(disk, SCHEMA, FOREVER, new KnownPast(OptionalLong.of(17), 5), allocator)
                .close();
    }
}
