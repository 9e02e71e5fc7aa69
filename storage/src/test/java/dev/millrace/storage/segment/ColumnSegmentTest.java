package dev.millrace.storage.segment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.RandomRows;
import dev.millrace.storage.column.SortKey;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("long")
@ExtendWith(MemoryCheckExtension.class)
class ColumnSegmentTest {
    private static final long SEED = Long.getLong("millrace.segment.seed", 1);
    private static final String NAME = "s.columns";

    private final BufferAllocator allocator = new RootAllocator(512 << 20);
    private final Random random = new Random(SEED);
    private final RandomRows generator = new RandomRows(random);
    private SimulatedDisk disk = new SimulatedDisk(1);

    @AfterEach
    void nothingIsLeft() {
        assertEquals(0, allocator.getAllocatedMemory(), "seed " + SEED);
        allocator.close();
    }

    private SegmentFile write(Schema schema, List<Row> rows) {
        disk = new SimulatedDisk(1);
        try (ColumnSegmentWriter out = ColumnSegmentWriter.create(disk, NAME, schema)) {
            for (int from = 0; from < rows.size(); ) {
                int end = Math.min(rows.size(), from + 1 + random.nextInt(6000));
                try (Batch batch = TestBatches.of(schema, allocator, rows.subList(from, end))) {
                    out.append(batch);
                }
                from = end;
            }
            assertEquals(rows.size(), out.rows());
            return out.finish();
        }
    }

    private static List<Integer> all(Schema schema) {
        return IntStream.range(0, schema.size()).boxed().toList();
    }

    private List<Row> read(SegmentScan scan) {
        List<Row> rows = new ArrayList<>();
        for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
            try (Batch batch = next.get()) {
                rows.addAll(TestBatches.rows(batch));
            }
        }
        return rows;
    }

    @Test
    void whatIsWrittenIsReadInAllTypesAndPatterns() {
        for (int run = 0; run < 120; run++) {
            Schema schema = generator.schema();
            int count = run % 20 == 19 ? 30_000 + random.nextInt(40_000) : random.nextInt(3000);
            List<Row> rows = generator.rows(schema, schema.size() > 3 ? count / 4 : count);
            SegmentFile file = write(schema, rows);
            try (ColumnSegment segment = ColumnSegment.open(disk, file, schema)) {
                assertEquals(rows.size(), segment.rows());
                assertEquals(List.of(), segment.verify());
                List<Row> expected = rows.stream()
                        .map(row -> TestBatches.canonical(schema, row))
                        .toList();
                assertEquals(expected, read(segment.scan(all(schema), List.of(), allocator)));
                List<Integer> some =
                        random.ints(random.nextInt(3), 0, schema.size()).boxed().toList();
                List<Row> projected = expected.stream()
                        .map(row -> new Row(some.stream().map(row::get).toList()))
                        .toList();
                assertEquals(projected, read(segment.scan(some, List.of(), allocator)));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + SEED + ", run " + run + ": " + schema, e);
            }
        }
    }

    @Test
    void nothingButWholeRowsOfAnyLengthIsABlock() {
        Schema schema = Schema.of(new Field("t", DataType.TEXT, true), new Field("i", DataType.INTEGER, true));
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            rows.add(Row.of(i == 77 ? "x".repeat(20 << 20) : "y".repeat(random.nextInt(200_000)), (long) i));
        }
        SegmentFile file = write(schema, rows);
        try (ColumnSegment segment = ColumnSegment.open(disk, file, schema)) {
            assertEquals(rows, read(segment.scan(all(schema), List.of(), allocator)));
            assertTrue(segment.blocks().size() > 3, segment.blocks().size() + " blocks");
        }
    }

    // ---- skipping --------------------------------------------------------------------------------------------------

    private static final Schema SORTED = Schema.of(
            new Field("i", DataType.BIGINT, true),
            new Field("d", DataType.DOUBLE, true),
            new Field("f", DataType.REAL, true),
            new Field("n", DataType.numeric(30, 2), true),
            new Field("t", DataType.TEXT, true),
            new Field("u", DataType.UUID, true),
            new Field("b", DataType.BOOLEAN, true));

    private Object key(int column, long number) {
        return switch (column) {
            case 0 -> number;
            case 1 -> number % 97 == 0 ? Double.NaN : number % 89 == 0 ? -0.0 : number / 8.0;
            case 2 -> (double) (number / 8.0f);
            case 3 ->
                BigDecimal.valueOf(number)
                        .multiply(new BigDecimal("12345678901234567"))
                        .setScale(2);
            case 4 ->
                "a common beginning of thirty bytes".substring(0, 30)
                        + (char) ('a' + Math.floorMod(number, 26))
                        + number;
            case 5 -> new UUID(number << 40, number);
            default -> number > 0;
        };
    }

    /** Each range, of any column, gives at least the rows that are in it, and skips what it can. */
    @Test
    void noRowInARangeIsSkipped() {
        List<Row> rows = new ArrayList<>();
        int blocks = 4;
        for (int block = 0; block < blocks; block++) {
            for (int i = 0; i < SegmentLayout.BLOCK_ROWS; i++) {
                long number = (long) (block - blocks / 2) * 1000 + random.nextInt(1000);
                List<Object> values = new ArrayList<>();
                for (int column = 0; column < SORTED.size(); column++) {
                    values.add(random.nextInt(20) == 0 || block == 2 && column == 4 ? null : key(column, number));
                }
                rows.add(new Row(values));
            }
        }
        SegmentFile file = write(SORTED, rows);
        List<Row> canonical =
                rows.stream().map(row -> TestBatches.canonical(SORTED, row)).toList();
        int[] skippedOf = new int[SORTED.size()];
        try (ColumnSegment segment = ColumnSegment.open(disk, file, SORTED)) {
            for (int run = 0; run < 70; run++) {
                int column = run % SORTED.size();
                DataType type = SORTED.type(column);
                Object low =
                        random.nextInt(4) == 0 ? null : canonical(column, random.nextInt(blocks * 1000) - blocks * 500);
                Object high =
                        random.nextInt(4) == 0 ? null : canonical(column, random.nextInt(blocks * 1000) - blocks * 500);
                ColumnRange range = new ColumnRange(
                        column,
                        Optional.ofNullable(low).flatMap(value -> SortKey.of(value, type)),
                        Optional.ofNullable(high).flatMap(value -> SortKey.of(value, type)));
                SegmentScan scan = segment.scan(List.of(column), List.of(range), allocator);
                long found = read(scan).stream()
                        .filter(row -> isIn(row.get(0), low, high))
                        .count();
                long expected = canonical.stream()
                        .filter(row -> isIn(row.get(column), low, high))
                        .count();
                assertEquals(expected, found, "seed " + SEED + ", column " + SORTED.field(column));
                assertEquals(blocks, scan.blocksRead() + scan.blocksSkipped());
                skippedOf[column] += scan.blocksSkipped();
            }
        }
        for (int column = 0; column < SORTED.size(); column++) {
            assertTrue(skippedOf[column] > 0, "nothing was skipped by " + SORTED.field(column));
        }
    }

    private Object canonical(int column, long number) {
        return column == 6
                ? (Object) (number > 0)
                : TestBatches.canonical(Schema.of(SORTED.field(column)), Row.of(key(column, number)))
                        .get(0);
    }

    /** By the order that SQL has. */
    private static boolean isIn(Object value, Object low, Object high) {
        return value != null
                && (low == null || compare(value, low) >= 0)
                && (high == null || compare(value, high) <= 0);
    }

    private static int compare(Object a, Object b) {
        if (a instanceof UUID first && b instanceof UUID second) { // Java compares the halves with their signs
            return first.toString().compareTo(second.toString());
        }
        if (a instanceof Double first && b instanceof Double second) {
            return Double.compare(first + 0.0, second + 0.0);
        }
        @SuppressWarnings("unchecked")
        Comparable<Object> first = (Comparable<Object>) a;
        return first.compareTo(b);
    }

    // ---- damage ----------------------------------------------------------------------------------------------------

    private static final Schema SMALL = Schema.of(
            new Field("at", DataType.TIMESTAMPTZ, false),
            new Field("device", DataType.TEXT, true),
            new Field("value", DataType.DOUBLE, true));

    private SegmentFile writeSmall() {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            rows.add(Row.of(1_700_000_000_000_000L + i * 1000L, "device " + i % 7, i % 11 == 0 ? null : i / 10.0));
        }
        return write(SMALL, rows);
    }

    private String damage(SegmentFile file) {
        try (ColumnSegment segment = ColumnSegment.open(disk, file, SMALL)) {
            return String.join(", ", segment.verify());
        } catch (MillraceException e) {
            assertTrue(
                    List.of(SqlState.DATA_CORRUPTED, SqlState.CONFIG_FILE_ERROR).contains(e.sqlState()), e.toString());
            return e.getMessage();
        }
    }

    @Test
    void everyChangedBitIsFoundAndNamed() {
        SegmentFile file = writeSmall();
        byte[] bytes = disk.bytes(NAME);
        for (int at = 0; at < bytes.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] changed = bytes.clone();
                changed[at] ^= (byte) (1 << bit);
                disk.put(NAME, changed);
                String found = damage(file);
                assertTrue(found.contains(NAME), at + ": " + found);
            }
        }
        byte[] changed = bytes.clone();
        changed[SegmentLayout.HEADER + 2] ^= 1;
        disk.put(NAME, changed);
        assertEquals(NAME + " is damaged at byte 32: column at of block 0 is not what was written", damage(file));
        try (ColumnSegment segment = ColumnSegment.open(disk, file, SMALL)) {
            assertEquals(
                    300, read(segment.scan(List.of(1, 2), List.of(), allocator)).size(), "others are read");
            MillraceException e = assertThrows(
                    MillraceException.class, () -> read(segment.scan(List.of(1, 0), List.of(), allocator)));
            assertEquals(SqlState.DATA_CORRUPTED, e.sqlState());
        }
    }

    @Test
    void everyOtherLengthIsFound() {
        SegmentFile file = writeSmall();
        byte[] bytes = disk.bytes(NAME);
        for (int length = 0; length < bytes.length + 60; length++) {
            if (length != bytes.length) {
                disk.put(NAME, Arrays.copyOf(bytes, length));
                assertTrue(damage(file).contains(NAME), "cut to " + length);
            }
        }
        disk.remove(NAME);
        assertTrue(damage(file).contains(NAME + " is missing"));
    }

    @Test
    void anotherFileOfTheNameIsFound() {
        SegmentFile file = writeSmall();
        SegmentFile other = new SegmentFile(NAME, file.bytes(), file.checksum() + 1, file.rows());
        assertTrue(damage(other).contains("not the segment of this name"));
        Schema wrong = Schema.of(SMALL.field(0), SMALL.field(1), new Field("value", DataType.BIGINT, true));
        MillraceException e = assertThrows(
                MillraceException.class,
                () -> ColumnSegment.open(disk, file, wrong).close());
        assertTrue(e.getMessage().contains("other types"), e.getMessage());
    }

    @Test
    void aFileThatWasNotFinishedIsRemoved() throws Exception {
        try (ColumnSegmentWriter out = ColumnSegmentWriter.create(disk, NAME, SMALL);
                Batch batch = TestBatches.of(SMALL, allocator, Row.of(1L, "a", 2.0))) {
            out.append(batch);
        }
        assertEquals(List.of(), disk.list());
    }
}
