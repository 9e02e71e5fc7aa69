package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
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
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows as bytes: where what lies, and what is shared with columns as batches have them. */
final class RowCodecTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("d", DataType.DOUBLE, true),
            new Field("r", DataType.REAL, true),
            new Field("n", DataType.numeric(38, 2), true),
            new Field("t", DataType.TEXT, true),
            new Field("i", DataType.INTEGER, true),
            new Field("a", DataType.array(DataType.TEXT), true),
            new Field("u", DataType.TEXT, false),
            new Field("b", DataType.BOOLEAN, false));
    private static final List<DataType> TYPES =
            SCHEMA.fields().stream().map(Field::type).toList();
    private static final int[] COLUMNS = IntStream.range(0, 8).toArray();
    private static final int NULLS = 0b0011_1111;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static Row row(Double d, String t, List<String> a, String u) {
        return TestBatches.canonical(
                SCHEMA,
                Row.of(
                        d,
                        d == null ? null : (Object) (float) (double) d,
                        d == null ? null : new BigDecimal("-1.25"),
                        t,
                        d == null ? null : (Object) (-3),
                        a,
                        u,
                        d == null));
    }

    private static List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (int length = 0; length < 20; length++) {
            rows.add(row((double) length, "x".repeat(length), List.of("y".repeat(length)), "z"));
            rows.add(row(null, null, null, "z".repeat(length)));
        }
        return rows;
    }

    @Test
    void aRowHasItsNullsItsSlotsItsTextsAndZeros() {
        List<Row> rows = rows();
        try (RowCodec codec = new RowCodec(TYPES, false, leaks.allocator());
                Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows)) {
            assertEquals(8, codec.columnCount());
            assertEquals(DataType.TEXT, codec.type(3));
            assertEquals(8 + 7 * 8 + 16, codec.fixedBytes());
            codec.encode(batch, COLUMNS, Rows.all(rows.size()), rows.size());
            for (int i = 0; i < rows.size(); i++) {
                long row = codec.address(i);
                assertEquals(0, codec.length(i) & 7);
                boolean isNull = i % 2 == 1;
                assertEquals(isNull ? NULLS : 0, Memory.getLong(row));
                int end = codec.fixedBytes();
                for (int column : new int[] {3, 5, 6}) {
                    long slot = row + codec.slot(column);
                    if (isNull && column != 6) {
                        assertEquals(0, Memory.getLong(slot));
                    } else {
                        assertEquals(end, Memory.getInt(slot));
                        end += Memory.getInt(slot + 4);
                    }
                }
                assertEquals((end + 7) & -8, codec.length(i));
                for (int at = end; at < codec.length(i); at++) {
                    assertEquals(0, Memory.getByte(row + at));
                }
                if (isNull) {
                    assertEquals(0, Memory.getLong(row + codec.slot(0)));
                    assertEquals(0, Memory.getLong(row + codec.slot(1)));
                    assertEquals(0, Memory.getLong(row + codec.slot(2)));
                    assertEquals(0, Memory.getLong(row + codec.slot(2) + 8));
                    assertEquals(0, Memory.getLong(row + codec.slot(4)));
                } else {
                    assertEquals(i / 2, Memory.getDouble(row + codec.slot(0)));
                    assertEquals(i / 2, Memory.getDouble(row + codec.slot(1)));
                    assertEquals(-125, Memory.getLong(row + codec.slot(2)));
                    assertEquals(-1, Memory.getLong(row + codec.slot(2) + 8));
                    assertEquals(-3, Memory.getLong(row + codec.slot(4)));
                }
            }
        }
    }

    @Test
    void chosenRowsOfChosenColumnsAreEncodedAndDecoded() {
        List<Row> rows = rows();
        int[] chosen = {39, 3, 2, 0, 38, 5};
        Schema part = SCHEMA.select(List.of(6, 3, 2, 7));
        try (RowCodec codec =
                        new RowCodec(part.fields().stream().map(Field::type).toList(), true, leaks.allocator());
                Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows)) {
            for (int count : new int[] {1, 6, 2, 0}) { // more than before, and fewer
                codec.encode(batch, new int[] {6, 3, 2, 7}, chosen, count);
                long[] addresses = new long[count];
                Arrays.setAll(addresses, codec::address);
                List<FieldVector> vectors = new ArrayList<>();
                Schema behind = Schema.of(
                        new Field("x", DataType.TEXT, true),
                        part.field(0),
                        part.field(1),
                        part.field(2),
                        part.field(3));
                codec.decode(behind, 1, addresses, count, vectors, leaks.allocator());
                int bytes = 0;
                for (int i = 0; i < count; i++) {
                    bytes += ((String) rows.get(chosen[i]).get(6)).length();
                }
                assertEquals(bytes, vectors.get(0).getDataBuffer().writerIndex());
                vectors.forEach(vector -> assertEquals(addresses.length, vector.getValueCount()));
                try (Batch decoded = Batch.of(part, vectors.toArray(FieldVector[]::new), count)) {
                    for (int i = 0; i < count; i++) {
                        Row from = rows.get(chosen[i]);
                        assertEquals(
                                Row.of(from.get(6), from.get(3), from.get(2), from.get(7)),
                                TestBatches.row(decoded, i));
                    }
                }
            }
        }
    }

    @Test
    void nestedValuesAreThoseOfTheBatchAtHand() {
        Schema schema = Schema.of(new Field("a", DataType.array(DataType.BIGINT), true));
        try (RowCodec codec = new RowCodec(List.of(schema.type(0)), false, leaks.allocator())) {
            for (long number = 0; number < 3; number++) {
                List<Row> rows = List.of(Row.of(List.of(number)), Row.of((Object) null), Row.of(List.of(7L, number)));
                try (Batch batch = TestBatches.of(schema, leaks.allocator(), rows)) {
                    codec.encode(batch, new int[] {0}, Rows.all(3), 3);
                    long[] addresses = {codec.address(0), codec.address(1), codec.address(2)};
                    FieldVector vector = codec.decode(0, schema.field(0), addresses, 3, leaks.allocator());
                    assertEquals(3, vector.getValueCount());
                    try (Batch decoded = Batch.of(schema, new FieldVector[] {vector}, 3)) {
                        assertEquals(rows, TestBatches.rows(decoded));
                    }
                }
            }
        }
    }

    @Test
    void aCanonicalCodecKnowsOneZeroAndOneNan() {
        double otherNan = Double.longBitsToDouble(0x7ff8000000000001L);
        for (DataType type : List.of(DataType.DOUBLE, DataType.REAL)) {
            Schema schema = Schema.of(new Field("v", type, true));
            for (boolean canonical : new boolean[] {false, true}) {
                try (RowCodec codec = new RowCodec(List.of(type), canonical, leaks.allocator());
                        Batch batch = TestBatches.of(
                                schema, leaks.allocator(), Row.of(0.0), Row.of(1.0), Row.of(Double.NaN), Row.of(2.0))) {
                    long data = batch.dataAddress(0);
                    if (type == DataType.DOUBLE) {
                        Memory.putDouble(data + 8, -0.0);
                        Memory.putLong(data + 24, Double.doubleToRawLongBits(otherNan));
                    } else {
                        Memory.putInt(data + 4, Float.floatToRawIntBits(-0f));
                        Memory.putInt(data + 12, 0x7fc00001);
                    }
                    codec.encode(batch, new int[] {0}, Rows.all(4), 4);
                    for (int i = 0; i < 4; i += 2) {
                        long a = Memory.getLong(codec.address(i) + codec.slot(0));
                        long b = Memory.getLong(codec.address(i + 1) + codec.slot(0));
                        assertEquals(canonical, a == b);
                        assertEquals(i == 0 ? 0 : Double.doubleToLongBits(Double.NaN), a);
                    }
                }
            }
        }
    }

    @Test
    void aRowOfNullsIsWrittenAndItsBitsAreOfItsColumns() {
        List<Field> fields = IntStream.range(0, 70)
                .mapToObj(i -> new Field("c" + i, DataType.BIGINT, true))
                .toList();
        Schema schema = new Schema(fields);
        List<DataType> types = fields.stream().map(Field::type).toList();
        Object[] values = new Object[70];
        for (int i = 0; i < 70; i++) {
            values[i] = i == 3 || i == 67 ? null : (Object) (long) i;
        }
        try (RowCodec codec = new RowCodec(types, false, leaks.allocator());
                StateMemory memory = new StateMemory(leaks.allocator());
                Batch batch = TestBatches.of(schema, leaks.allocator(), Row.of(values))) {
            assertEquals(16 + 70 * 8, codec.fixedBytes());
            long nulls = memory.allocate(codec.fixedBytes());
            codec.writeNulls(nulls);
            codec.encode(batch, IntStream.range(0, 70).toArray(), Rows.all(1), 1);
            for (int i = 0; i < 70; i++) {
                assertTrue(RowCodec.isNull(nulls, i));
                assertEquals(0, Memory.getLong(nulls + codec.slot(i)));
                assertEquals(i == 3 || i == 67, RowCodec.isNull(codec.address(0), i));
                assertEquals(i == 3 || i == 67 ? 0 : i, Memory.getLong(codec.address(0) + codec.slot(i)));
                try (FieldVector vector =
                        codec.decode(i, fields.get(i), new long[] {nulls, codec.address(0)}, 2, leaks.allocator())) {
                    assertTrue(vector.isNull(0));
                    assertEquals(i == 3 || i == 67, vector.isNull(1));
                }
            }
            assertEquals((1L << 70 - 64) - 1, Memory.getLong(nulls + 8));
            assertEquals(1L << 3, Memory.getLong(codec.address(0)));
            assertEquals(1L << 67 - 64, Memory.getLong(codec.address(0) + 8));
        }
    }

    /** As a join's other side is NULL in a column that is none, and is left out again. */
    @Test
    void aColumnThatIsNeverNullIsDecodedAsSuch() {
        Field strict = new Field("v", DataType.BIGINT, false);
        try (RowCodec codec = new RowCodec(List.of(DataType.BIGINT), false, leaks.allocator());
                StateMemory memory = new StateMemory(leaks.allocator())) {
            long row = memory.allocate(codec.fixedBytes());
            codec.writeNulls(row);
            try (FieldVector vector = codec.decode(0, strict, new long[] {row}, 1, leaks.allocator())) {
                assertFalse(vector.isNull(0));
            }
        }
    }

    @Test
    void aCodecWithoutColumnsHasEmptyRows() {
        try (RowCodec codec = new RowCodec(List.of(), false, leaks.allocator());
                Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows())) {
            codec.encode(batch, new int[0], Rows.all(3), 3);
            assertEquals(0, codec.fixedBytes());
            assertEquals(0, codec.length(2));
        }
    }

    @Test
    void aClosedCodecIsUsedAgainAndAUsedOneKeepsItsMemory() {
        List<Row> rows = rows();
        try (RowCodec codec = new RowCodec(TYPES, false, leaks.allocator());
                Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows)) {
            long before = leaks.allocator().getAllocatedMemory();
            codec.encode(batch, COLUMNS, Rows.all(1), 1);
            long first = codec.address(0);
            codec.encode(batch, COLUMNS, Rows.all(2), 2);
            assertEquals(first, codec.address(0));
            codec.encode(batch, COLUMNS, Rows.all(40), 40); // takes more room than there is
            assertTrue(codec.address(39) + codec.length(39) - codec.address(0) > 4_096);
            codec.close();
            assertEquals(before, leaks.allocator().getAllocatedMemory());
            codec.encode(batch, COLUMNS, Rows.all(40), 40);
            assertEquals(NULLS, Memory.getLong(codec.address(39)));
        }
    }
}
