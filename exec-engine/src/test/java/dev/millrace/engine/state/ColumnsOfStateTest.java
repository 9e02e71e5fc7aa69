package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** From columns of batches to what state keeps, and back: hashes, words, equality, weights, images. */
final class ColumnsOfStateTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    static Stream<Arguments> values() {
        return Stream.of(
                Arguments.of(DataType.BOOLEAN, List.of(false, true)),
                Arguments.of(DataType.SMALLINT, List.of(-2, 3)),
                Arguments.of(DataType.INTEGER, List.of(-2, 3)),
                Arguments.of(DataType.BIGINT, List.of(-2L, 3L << 40)),
                Arguments.of(DataType.REAL, List.of(-2.5f, 3f)),
                Arguments.of(DataType.DOUBLE, List.of(-2.5, 3.0)),
                Arguments.of(DataType.DATE, List.of(-2, 3)),
                Arguments.of(DataType.TIMESTAMP, List.of(-2L, 3L << 40)),
                Arguments.of(
                        DataType.numeric(38, 0),
                        List.of(new BigDecimal("5"), new BigDecimal("18446744073709551621"), new BigDecimal("6"))),
                Arguments.of(DataType.UUID, List.of(new UUID(1, 2), new UUID(2, 2), new UUID(1, 3))),
                Arguments.of(
                        DataType.TEXT,
                        List.of("", "a", "b", "aa", "a long text of many bytes", "a long text of many bites")),
                Arguments.of(DataType.BYTEA, List.of(new byte[] {1}, new byte[] {1, 0})));
    }

    private static Schema schema(DataType type) {
        return Schema.of(new Field("before", DataType.BIGINT, false), new Field("v", type, true));
    }

    /** Each twice, and NULL twice. */
    private static List<Row> twice(List<Object> values) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            values.forEach(value -> rows.add(Row.of(1L, value)));
            rows.add(Row.of(1L, null));
        }
        return rows;
    }

    @ParameterizedTest
    @MethodSource("values")
    void valuesAreEqualAndHashTheSameIfTheyAreTheSame(DataType type, List<Object> values) {
        List<Row> rows = twice(values);
        int different = values.size() + 1;
        long[] hashes = new long[rows.size() + 1];
        hashes[rows.size()] = 77;
        try (Batch batch = TestBatches.of(schema(type), leaks.allocator(), rows);
                NestedImages images = new NestedImages(leaks.allocator())) {
            Hashing.hash(batch, new int[] {0, 1}, rows.size(), hashes, images);
            FieldVector vector = batch.column(1);
            for (int a = 0; a < rows.size(); a++) {
                for (int b = 0; b < rows.size(); b++) {
                    boolean same = a % different == b % different;
                    assertEquals(same, ValuesEqual.equal(vector, a, b), rows.get(a) + " and " + rows.get(b));
                    assertEquals(same, hashes[a] == hashes[b], rows.get(a) + " and " + rows.get(b));
                }
            }
            assertEquals(77, hashes[rows.size()]);
        }
    }

    @ParameterizedTest
    @MethodSource("values")
    void aHashIsAStepPerWordFromTheSeedOn(DataType type, List<Object> values) {
        List<Row> rows = twice(values);
        long[] hashes = new long[rows.size()];
        try (Batch batch = TestBatches.of(schema(type), leaks.allocator(), rows);
                NestedImages images = new NestedImages(leaks.allocator())) {
            Hashing.hash(batch, new int[] {1}, rows.size(), hashes, images);
            for (int row = 0; row < rows.size(); row++) {
                boolean isNull = rows.get(row).get(1) == null;
                long expected = Hashing.SEED;
                switch (SlotKind.of(type)) {
                    case WORD ->
                        expected = Hashing.step(
                                expected, isNull ? Hashing.NULL_BITS : Hashing.word(type, batch.dataAddress(1), row));
                    case WIDE -> {
                        long at = batch.dataAddress(1) + 16L * row;
                        expected = Hashing.step(expected, isNull ? Hashing.NULL_BITS : Memory.getLong(at));
                        expected = Hashing.step(expected, isNull ? 0 : Memory.getLong(at + 8));
                    }
                    case BYTES -> {
                        int start = Memory.getInt(batch.offsetsAddress(1) + 4L * row);
                        int length = Memory.getInt(batch.offsetsAddress(1) + 4L * row + 4) - start;
                        long at = batch.dataAddress(1) + start;
                        expected = Hashing.step(expected, isNull ? Hashing.NULL_BITS : ByteSlots.low(at, length));
                        expected = Hashing.step(expected, isNull ? 0 : ByteSlots.high(at, length));
                    }
                }
                assertEquals(Hashing.finish(expected), hashes[row]);
            }
        }
    }

    /** Snapshots name key groups by hashes: they are these for ever. */
    @Test
    void hashesStayWhatTheyAre() {
        assertEquals((5 ^ 7L) * 0x9E3779B97F4A7C15L ^ ((5 ^ 7L) * 0x9E3779B97F4A7C15L >>> 32), Hashing.step(5, 7));
        assertEquals(3 * 0xD6E8FEB86659FD93L, Hashing.finish(3));
        assertEquals(0, Hashing.canonical(-0.0));
        assertEquals(Double.doubleToRawLongBits(1.5), Hashing.canonical(1.5));
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            long text = memory.allocate(32);
            for (int i = 0; i < 32; i++) {
                Memory.putByte(text + i, (byte) (i + 1));
            }
            assertEquals(0, Hashing.bytes(text, 0));
            assertEquals(Hashing.step(3, 0x030201), Hashing.bytes(text, 3));
            assertEquals(Hashing.step(8, 0x0807060504030201L), Hashing.bytes(text, 8));
            assertEquals(
                    Hashing.step(Hashing.step(Hashing.step(17, 0x0807060504030201L), 0x100f0e0d0c0b0a09L), 17),
                    Hashing.bytes(text, 17));
        }
    }

    @Test
    void withoutColumnsTheHashIsZero() {
        long[] hashes = {1, 2, 3};
        try (Batch batch = TestBatches.of(schema(DataType.TEXT), leaks.allocator(), twice(List.of("a")));
                NestedImages images = new NestedImages(leaks.allocator())) {
            Hashing.hash(batch, new int[0], 2, hashes, images);
            assertArrayEquals(new long[] {0, 0, 3}, hashes);
            assertThrows(IllegalArgumentException.class, () -> Hashing.word(DataType.TEXT, 0, 0));
        }
    }

    @ParameterizedTest
    @MethodSource("values")
    void wordsOfEntriesBecomeColumns(DataType type, List<Object> values) {
        long[] entries = new long[19]; // more than two bytes of bits
        try (StateMemory memory = new StateMemory(leaks.allocator())) {
            if (SlotKind.of(type) != SlotKind.WORD) {
                assertThrows(
                        IllegalArgumentException.class,
                        () -> WordValues.copyOut(type, entries, 0, 1, memory.allocate(8)));
                return;
            }
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < entries.length; i++) {
                rows.add(Row.of(1L, values.get((i / 3) % values.size())));
            }
            try (Batch batch = TestBatches.of(schema(type), leaks.allocator(), rows)) {
                for (int i = 0; i < entries.length; i++) {
                    entries[i] = memory.allocate(24);
                    Memory.putLong(entries[i] + 16, Hashing.word(type, batch.dataAddress(1), i));
                }
                int bytes = type == DataType.BOOLEAN ? 3 : entries.length * type.fixedWidth();
                long copy = memory.allocate(bytes);
                WordValues.copyOut(type, entries, 16, entries.length, copy);
                for (int i = 0; i < entries.length; i++) {
                    assertEquals(
                            Hashing.word(type, batch.dataAddress(1), i), Hashing.word(type, copy, i), rows.get(i) + "");
                }
            }
        }
    }

    @Test
    void equalityIsNotForNestedTypes() {
        try (Batch batch = TestBatches.of(
                schema(DataType.array(DataType.BIGINT)),
                leaks.allocator(),
                Row.of(1L, List.of(1L)),
                Row.of(1L, List.of(1L)))) {
            assertThrows(UnsupportedOperationException.class, () -> ValuesEqual.equal(batch.column(1), 0, 1));
        }
    }

    private FieldVector[] columns(long... numbers) {
        Row[] rows = Arrays.stream(numbers).mapToObj(n -> Row.of(n)).toArray(Row[]::new);
        Schema schema = Schema.of(new Field("v", DataType.BIGINT, false));
        try (Batch batch = TestBatches.of(schema, leaks.allocator(), rows)) {
            var pair = batch.column(0).getTransferPair(leaks.allocator());
            pair.splitAndTransfer(0, numbers.length);
            return new FieldVector[] {(FieldVector) pair.getTo()};
        }
    }

    @Test
    void weightsAreKeptUnlessAllAreOne() {
        Schema schema = Schema.of(new Field("v", DataType.BIGINT, false));
        long[] weights = {9, 1, 1, -1, 5};
        try (Batch once = WeightedRows.batch(schema, columns(5, 6), 2, weights, 1, leaks.allocator());
                Batch weighted = WeightedRows.batch(schema, columns(5, 6, 7), 3, weights, 2, leaks.allocator());
                Batch first = WeightedRows.batch(schema, columns(5, 6), 2, weights, 0, leaks.allocator())) {
            assertEquals(0, once.weightsAddress());
            assertEquals(2, once.rowCount());
            assertEquals(3, weighted.rowCount());
            assertTrue(weighted.sizeInBytes() >= 3 * (8 + 8), "weights count as the values do");
            for (int i = 0; i < 3; i++) {
                assertEquals(weights[i + 2], TestBatches.weight(weighted, i));
            }
            assertEquals(9, TestBatches.weight(first, 0));
            assertEquals(1, TestBatches.weight(first, 1));
        }
    }

    @Test
    void columnsAreClosedWhenThereIsNoMemoryForWeights() {
        Schema schema = Schema.of(new Field("v", DataType.BIGINT, false));
        try (BufferAllocator none = leaks.allocator().newChildAllocator("none", 0, 0)) {
            FieldVector[] columns = columns(5);
            assertThrows(
                    OutOfMemoryException.class, () -> WeightedRows.batch(schema, columns, 1, new long[] {2}, 0, none));
        } // and nothing leaks
    }

    @Test
    void imagesAreMadeOncePerBatch() {
        Schema schema = Schema.of(
                new Field("t", DataType.TEXT, false),
                new Field("a", DataType.array(DataType.BIGINT), true),
                new Field("r", DataType.row(List.of(new Field("x", DataType.TEXT, true))), true));
        List<Row> rows = List.of(
                Row.of("x", List.of(1L), List.of("y")),
                Row.of("", null, null),
                Row.of("zz", List.of(1L), List.of("n")),
                Row.of("", null, null));
        try (Batch batch = TestBatches.of(schema, leaks.allocator(), rows);
                NestedImages images = new NestedImages(leaks.allocator())) {
            assertEquals(batch.dataAddress(0), images.dataAddress(batch, 0));
            assertEquals(batch.offsetsAddress(0), images.offsetsAddress(batch, 0));
            for (int column = 1; column < 3; column++) {
                long data = images.dataAddress(batch, column);
                long offsets = images.offsetsAddress(batch, column);
                assertEquals(data, images.dataAddress(batch, column));
                int first = Memory.getInt(offsets + 4);
                assertNotEquals(0, first);
                assertEquals(first, Memory.getInt(offsets + 8)); // of NULL there is nothing
                int second = Memory.getInt(offsets + 12) - first;
                assertEquals(first + second, Memory.getInt(offsets + 16));
                assertEquals(column == 1, first == second && Memory.equal(data, data + first, first));
            }
            long before = leaks.allocator().getAllocatedMemory();
            images.clear();
            assertNotEquals(before, leaks.allocator().getAllocatedMemory());
            assertNotEquals(0, images.dataAddress(batch, 1));
        }
    }

    @Test
    void positionsAreCountedOnceForAll() {
        int[] all = Rows.all(10);
        assertSame(all, Rows.all(all.length));
        int[] more = Rows.all(all.length + 1);
        for (int i = 0; i < more.length; i++) {
            assertEquals(i, more[i]);
        }
        assertSame(more, Rows.all(2 * all.length)); // it doubles
        assertTrue(Rows.all(100_000).length >= 100_000);
    }
}
