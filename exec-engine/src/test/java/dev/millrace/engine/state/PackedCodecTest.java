package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PackedCodecTest {
    private static final int ROWS = 50; // of a batch
    private static final Schema SCHEMA = Schema.of(
            new Field("ascending", DataType.BIGINT, false),
            new Field("text", DataType.TEXT, true),
            new Field("wide", DataType.BIGINT, true),
            new Field("small", DataType.INTEGER, true),
            new Field("still", DataType.BIGINT, false),
            new Field("real", DataType.DOUBLE, false));
    private static final Schema NUMBERS = Schema.of(new Field("a", DataType.BIGINT, false));

    /** Rows of all layouts that came to be are read back, as they are and as another codec reads them. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void valuesOfAnyRangeAreReadBack(long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        BitSet still = new BitSet();
        still.set(4);
        List<Row> expected = new ArrayList<>();
        List<Row> copied = new ArrayList<>();
        try (BufferAllocator allocator = new RootAllocator();
                StateMemory memory = new StateMemory(allocator);
                PackedCodec codec = new PackedCodec(SCHEMA, columns(SCHEMA), still, allocator);
                PackedCodec other = new PackedCodec(SCHEMA, columns(SCHEMA), still, allocator)) {
            List<Long> kept = new ArrayList<>();
            for (int batch = 0; batch < 80; batch++) {
                int bits = Math.min(63, batch);
                List<Row> rows = IntStream.range(0, ROWS)
                        .mapToObj(i -> row(random, bits, kept.size() + i))
                        .toList();
                expected.addAll(rows);
                keep(codec, SCHEMA, rows, memory, allocator, kept);
            }
            for (int i = 0; i < kept.size(); i++) {
                assertEquals(expected.get(i).get(4), Memory.getLong(kept.get(i) + codec.slot(4)));
            }
            assertSame(expected, read(codec, SCHEMA, kept, allocator));
            for (long row : kept) {
                long inlined = codec.inlined(row);
                long copy = memory.allocate(codec.length(inlined));
                Memory.copy(inlined, copy, codec.length(inlined));
                assertEquals(codec.length(inlined), other.length(copy));
                copied.addAll(read(other, SCHEMA, List.of(copy), allocator));
            }
            assertSame(expected, copied);
        }
    }

    private static void assertSame(List<Row> expected, List<Row> rows) {
        assertEquals(expected.size(), rows.size());
        for (int i = 0; i < rows.size(); i++) {
            assertEquals(expected.get(i), rows.get(i), "row " + i);
        }
    }

    private static Row row(RandomGenerator random, int bits, long ascending) {
        long wide = bits == 63 ? random.nextLong() : random.nextLong(1L << bits) - (1L << bits) / 2;
        return Row.of(
                1_000_000_000_000L + 1000 * ascending,
                random.nextInt(5) == 0 ? null : "x".repeat(random.nextInt(40)) + random.nextInt(3),
                random.nextInt(5) == 0 ? null : wide,
                random.nextInt(5) == 0 ? null : (long) random.nextInt(),
                random.nextLong(),
                random.nextDouble());
    }

    /** A row of little else than one number takes no more than the number would. */
    @Test
    void nearNumbersTakeFewBytes() {
        try (BufferAllocator allocator = new RootAllocator();
                StateMemory memory = new StateMemory(allocator);
                PackedCodec codec = new PackedCodec(SCHEMA, columns(SCHEMA), new BitSet(), allocator);
                PackedCodec numbers = new PackedCodec(NUMBERS, columns(NUMBERS), new BitSet(), allocator)) {
            List<Long> kept = new ArrayList<>();
            keep(codec, SCHEMA, List.of(Row.of(1L << 60, "", 5L, 1, -(1L << 50), 1.0)), memory, allocator, kept);
            int fixed = 1 + 8 + 4 + 1 + 2;
            assertEquals(fixed + 2 + 8, codec.length(kept.get(0))); // two words and what the last may touch
            keep(numbers, NUMBERS, List.of(Row.of(Long.MIN_VALUE), Row.of(Long.MAX_VALUE)), memory, allocator, kept);
            assertEquals(9, numbers.length(kept.get(2)));
            assertEquals(
                    List.of(Row.of(Long.MIN_VALUE), Row.of(Long.MAX_VALUE)),
                    read(numbers, NUMBERS, kept.subList(1, 3), allocator));
        }
    }

    /** More layouts than there are numbers for: rows then have words of eight bytes. */
    @Test
    void rowsAreReadWhenAllLayoutsAreUsed() {
        List<Field> fields = IntStream.range(0, 20)
                .mapToObj(i -> new Field("c" + i, DataType.BIGINT, false))
                .toList();
        Schema schema = new Schema(fields);
        try (BufferAllocator allocator = new RootAllocator();
                StateMemory memory = new StateMemory(allocator);
                PackedCodec codec = new PackedCodec(schema, columns(schema), new BitSet(), allocator)) {
            List<Long> kept = new ArrayList<>();
            List<Row> expected = new ArrayList<>();
            for (int bits = 0; bits < 60; bits++) {
                for (int column = 0; column < 20; column++) {
                    Object[] values = new Object[20];
                    for (int i = 0; i < 20; i++) {
                        values[i] = i > column && bits == 0 ? 0L : (i > column ? 1L << bits - 1 : 1L << bits);
                    }
                    expected.add(Row.of(values));
                    keep(codec, schema, List.of(Row.of(values)), memory, allocator, kept);
                }
            }
            assertEquals(expected, read(codec, schema, kept, allocator));
            assertTrue(codec.length(kept.get(0)) < 40);
            assertEquals(1 + 20 * 8, codec.length(kept.get(kept.size() - 1)));
        }
    }

    private static int[] columns(Schema schema) {
        return IntStream.range(0, schema.size()).toArray();
    }

    static void keep(
            PackedCodec codec,
            Schema schema,
            List<Row> rows,
            StateMemory memory,
            BufferAllocator allocator,
            List<Long> to) {
        try (Batch batch = TestBatches.of(schema, allocator, rows)) {
            codec.prepare(batch, columns(rows.size()), rows.size());
            for (int i = 0; i < rows.size(); i++) {
                long row = codec.store(i, memory, 0);
                assertEquals(codec.bytes(i), codec.length(row));
                to.add(row);
            }
        }
    }

    private static int[] columns(int count) {
        return IntStream.range(0, count).toArray();
    }

    private static List<Row> read(PackedCodec codec, Schema schema, List<Long> rows, BufferAllocator allocator) {
        List<FieldVector> vectors = new ArrayList<>();
        long[] addresses = rows.stream().mapToLong(Long::longValue).toArray();
        codec.decode(schema, 0, addresses, addresses.length, vectors, allocator);
        try (Batch batch = Batch.of(schema, vectors.toArray(FieldVector[]::new), addresses.length)) {
            return TestBatches.rows(batch);
        }
    }
}
