package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;

class RowTableTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("bool", DataType.BOOLEAN, true),
            new Field("small", DataType.SMALLINT, true),
            new Field("int", DataType.INTEGER, true),
            new Field("big", DataType.BIGINT, true),
            new Field("real", DataType.REAL, true),
            new Field("double", DataType.DOUBLE, true),
            new Field("numeric", DataType.numeric(38, 5), true),
            new Field("text", DataType.TEXT, true),
            new Field("bytes", DataType.BYTEA, true),
            new Field("date", DataType.DATE, true),
            new Field("time", DataType.TIME, true),
            new Field("timestamp", DataType.TIMESTAMP, true),
            new Field("zoned", DataType.TIMESTAMPTZ, true),
            new Field("interval", DataType.INTERVAL, true),
            new Field("uuid", DataType.UUID, true),
            new Field("json", DataType.JSONB, true),
            new Field("array", DataType.array(DataType.TEXT), true),
            new Field("nested", DataType.array(DataType.array(DataType.numeric(20, 2))), true),
            new Field(
                    "row",
                    DataType.row(List.of(
                            new Field("a", DataType.BOOLEAN, true),
                            new Field("b", DataType.array(DataType.INTEGER), true))),
                    true));

    private static final List<DataType> TYPES =
            SCHEMA.fields().stream().map(Field::type).toList();

    private static Row row(RandomGenerator random) {
        Object[] values = {
            random.nextBoolean(),
            random.nextInt(5) - 2,
            random.nextInt(),
            random.nextLong(),
            (float) random.nextDouble(),
            random.nextDouble(),
            new BigDecimal("-123456789012345678901234567890.12345"),
            "é".repeat(random.nextInt(20)),
            new byte[random.nextInt(20)],
            random.nextInt(10_000),
            random.nextLong(86_400_000_000L),
            random.nextLong(),
            random.nextLong(),
            new Row.Interval(random.nextInt(20), random.nextInt(), random.nextLong(1L << 40)),
            new UUID(random.nextLong(), random.nextLong()),
            "{}",
            Arrays.asList("x".repeat(random.nextInt(9)), null),
            Arrays.asList(List.of(new BigDecimal("1.25")), null, List.of()),
            Arrays.asList(random.nextBoolean(), List.of(1, 2, random.nextInt(3)))
        };
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextInt(5) == 0 ? null : values[i];
        }
        return Row.of(values);
    }

    private static int[] columns() {
        int[] columns = new int[SCHEMA.size()];
        Arrays.setAll(columns, column -> column);
        return columns;
    }

    private static List<Row> decode(RowCodec codec, long[] addresses, int count, RootAllocator allocator) {
        FieldVector[] vectors = new FieldVector[SCHEMA.size()];
        for (int column = 0; column < vectors.length; column++) {
            vectors[column] = codec.decode(column, SCHEMA.field(column), addresses, count, allocator);
        }
        try (Batch batch = Batch.of(SCHEMA, vectors, count)) {
            return TestBatches.rows(batch);
        }
    }

    @Test
    void everyTypeSurvivesEncoding() {
        RandomGenerator random = new SplittableRandom(1);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            rows.add(TestBatches.canonical(SCHEMA, row(random)));
        }
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                RowCodec codec = new RowCodec(TYPES, false, allocator);
                Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
            codec.encode(batch, columns(), Rows.all(300), 300);
            long[] addresses = new long[300];
            for (int i = 0; i < 300; i++) {
                addresses[i] = codec.address(i);
            }
            assertEquals(rows, decode(codec, addresses, 300, allocator));
        }
    }

    @Test
    void equalRowsHaveEqualBytesWhateverLiesUnderNulls() {
        RandomGenerator random = new SplittableRandom(2);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            rows.add(i % 2 == 0 ? TestBatches.canonical(SCHEMA, row(random)) : rows.get(i - 1));
        }
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                RowCodec codec = new RowCodec(TYPES, true, allocator);
                Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
            codec.encode(batch, columns(), Rows.all(200), 200);
            for (int i = 0; i < 200; i += 2) {
                assertEquals(codec.length(i), codec.length(i + 1));
                assertTrue(Memory.equal(codec.address(i), codec.address(i + 1), codec.length(i)), "row " + i);
            }
        }
    }

    @Test
    void zerosAndNansAreOneKey() {
        Schema schema = Schema.of(new Field("d", DataType.DOUBLE, false));
        double otherNan = Double.longBitsToDouble(0x7ff8000000000001L);
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                NestedImages images = new NestedImages(allocator);
                Batch batch = TestBatches.of(
                        schema,
                        allocator,
                        Row.of(0.0),
                        Row.of(-0.0),
                        Row.of(Double.NaN),
                        Row.of(otherNan),
                        Row.of(1.0))) {
            long[] hashes = new long[5];
            Hashing.hash(batch, new int[] {0}, 5, hashes, images);
            assertEquals(hashes[0], hashes[1]);
            assertEquals(hashes[2], hashes[3]);
            assertNotEquals(hashes[0], hashes[4]);
        }
    }

    @Test
    void weightsAddUpAndVanish() {
        RandomGenerator random = new SplittableRandom(3);
        List<Row> pool = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            pool.add(TestBatches.canonical(SCHEMA, row(random)));
        }
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 28);
                RowCodec codec = new RowCodec(TYPES, false, allocator);
                StateMemory lists = new StateMemory(allocator);
                RowTable table = new RowTable(allocator);
                Batch batch = TestBatches.of(SCHEMA, allocator, pool)) {
            long[] list = {lists.allocate(RowTable.LIST_BYTES), lists.allocate(RowTable.LIST_BYTES)};
            RowTable.initList(list[0]);
            RowTable.initList(list[1]);
            codec.encode(batch, columns(), Rows.all(60), 60);
            List<ZSet> expected = List.of(new ZSet(), new ZSet());
            for (int step = 0; step < 5_000; step++) {
                int which = random.nextInt(2);
                int row = random.nextInt(60);
                long weight = random.nextInt(3) - 1;
                if (weight != 0) {
                    table.add(list[which], codec.address(row), codec.length(row), weight);
                    expected.get(which).add(pool.get(row), weight);
                }
            }
            for (int which = 0; which < 2; which++) {
                long[] rows = new long[100];
                int count = RowTable.collect(RowTable.first(list[which]), rows);
                List<Row> decoded = decode(codec, rows, count, allocator);
                ZSet actual = new ZSet();
                for (int i = 0; i < count; i++) {
                    actual.add(decoded.get(i), RowTable.weight(rows[i]));
                }
                assertEquals(expected.get(which), actual);
            }
            table.clear(list[0]);
            table.clear(list[1]);
            assertEquals(0, table.size());
        }
    }
}
