package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.util.BitSet;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Packed rows of all types, as they are kept and as other codecs read them. */
final class PackedRowsTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("t", DataType.TEXT, true),
            new Field("b", DataType.BOOLEAN, true),
            new Field("w", DataType.BIGINT, true),
            new Field("i", DataType.INTEGER, true),
            new Field("s", DataType.SMALLINT, true),
            new Field("a", DataType.array(DataType.TEXT), true),
            new Field("n", DataType.numeric(38, 2), true),
            new Field("r", DataType.REAL, true),
            new Field("d", DataType.DOUBLE, true),
            new Field("u", DataType.UUID, false),
            new Field("z", DataType.TIMESTAMPTZ, true),
            new Field("strict", DataType.TEXT, false),
            new Field("row", DataType.row(List.of(new Field("x", DataType.BIGINT, true))), true));
    private static final int[] ALL = IntStream.range(0, SCHEMA.size()).toArray();
    private static final String SHARED = "a text that many rows share";

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private StateMemory memory;
    private PackedCodec codec;

    @BeforeEach
    void open() {
        memory = new StateMemory(leaks.allocator());
        codec = new PackedCodec(SCHEMA, leaks.allocator());
    }

    @AfterEach
    void close() {
        codec.close();
        memory.close();
    }

    private static Row row(int i) {
        String text = switch (i % 5) {
            case 0 -> "";
            case 1 -> SHARED;
            case 2 -> "x".repeat(i);
            case 3 -> "y".repeat(PackedLayout.LONG - 3 + i % 7);
            default -> "z".repeat(300);
        };
        Object[] values = {
            text,
            i % 2 == 0,
            1_000L * i,
            -i,
            i,
            List.of(text, "e"),
            new BigDecimal(i).movePointLeft(2),
            i / 2f,
            i / 4.0,
            new UUID(i, -i),
            5_000_000_000L + i,
            i % 3 == 0 ? SHARED : "n" + i,
            Arrays.asList((Object) (long) i)
        };
        for (int column = 0; column < values.length; column++) {
            if (SCHEMA.field(column).nullable() && (i + column) % 7 == 0) {
                values[column] = null;
            }
        }
        return TestBatches.canonical(SCHEMA, Row.of(values));
    }

    private static List<Row> rows(int from, int count) {
        return IntStream.range(from, from + count).mapToObj(PackedRowsTest::row).toList();
    }

    private long[] keep(List<Row> rows) {
        long[] kept = new long[rows.size()];
        try (Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows)) {
            codec.prepare(batch, Rows.all(kept.length), kept.length);
            for (int i = 0; i < kept.length; i++) {
                kept[i] = codec.store(i, memory, 16);
                assertEquals(codec.bytes(i), codec.length(kept[i]));
            }
        }
        return kept;
    }

    private List<Row> decode(PackedCodec with, long... rows) {
        List<FieldVector> vectors = new ArrayList<>();
        with.decode(SCHEMA, 0, rows, rows.length, vectors, leaks.allocator());
        vectors.forEach(vector -> assertEquals(rows.length, vector.getValueCount()));
        try (Batch batch = Batch.of(SCHEMA, vectors.toArray(FieldVector[]::new), rows.length)) {
            return TestBatches.rows(batch);
        }
    }

    @Test
    void rowsOfAllTypesAreReadBackWholeAndByColumn() {
        List<Row> rows = rows(0, 70);
        long[] kept = keep(rows);
        assertEquals(rows, decode(codec, kept));
        assertEquals(rows.subList(69, 70), decode(codec, kept[69]));
        for (int column = 0; column < SCHEMA.size(); column++) {
            Schema one = SCHEMA.select(List.of(column));
            FieldVector vector = codec.decode(column, SCHEMA.field(column), kept, 70, leaks.allocator());
            try (Batch batch = Batch.of(one, new FieldVector[] {vector}, 70)) {
                for (int i = 0; i < 70; i++) {
                    assertEquals(
                            rows.get(i).get(column), TestBatches.row(batch, i).get(0));
                }
            }
        }
        assertEquals(SCHEMA.size(), codec.columnCount());
        assertEquals(SCHEMA, codec.schema());
    }

    /** A second batch, larger than the first, and then a smaller one: each is read as it was. */
    @Test
    void batchesOfAnySizeFollowEachOther() {
        List<long[]> kept = new ArrayList<>();
        int[] sizes = {3, 40, 1, 64};
        for (int size : sizes) {
            kept.add(keep(rows(size, size)));
        }
        for (int i = 0; i < sizes.length; i++) {
            assertEquals(rows(sizes[i], sizes[i]), decode(codec, kept.get(i)));
        }
        assertTrue(codec.bytes() > 8 * 4 * 256); // of four dictionaries, in which there is a text
    }

    @Test
    void anUnpackedRowIsThatOfAPlainCodec() {
        List<Row> rows = rows(0, 70);
        long[] kept = keep(rows);
        try (Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows);
                RowCodec plain =
                        new RowCodec(SCHEMA.fields().stream().map(Field::type).toList(), false, leaks.allocator())) {
            plain.encode(batch, ALL, Rows.all(70), 70);
            for (int i = 0; i < 70; i++) {
                assertEquals(plain.length(i), codec.unpackedLength(kept[i]), "row " + i);
                long unpacked = codec.unpack(kept[i], memory);
                assertTrue(Memory.equal(plain.address(i), unpacked, plain.length(i)), "row " + i);
                memory.free(unpacked, plain.length(i));
            }
            assertEquals(plain.fixedBytes(), codec.plain().fixedBytes());
        }
    }

    /** Of another codec, which has seen none of these texts. */
    @Test
    void anInlinedRowIsReadByAnyCodec() {
        List<Row> rows = rows(0, 70);
        keep(rows(1_000, 70)); // so that rows are of several layouts
        long[] kept = keep(rows);
        try (PackedCodec other = new PackedCodec(SCHEMA, leaks.allocator())) {
            for (int i = 0; i < 70; i++) {
                long inlined = codec.inlined(kept[i]);
                long copy = memory.allocate(codec.length(inlined));
                Memory.copy(inlined, copy, codec.length(inlined));
                assertEquals(codec.length(inlined), other.length(copy));
                assertEquals(rows.subList(i, i + 1), decode(other, copy));
            }
        }
    }

    @Test
    void writtenRowsTakeWhatTheySay() {
        List<Row> rows = rows(0, 20);
        try (Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows)) {
            int[] chosen = {7, 3, 19};
            codec.prepare(batch, chosen, 3);
            for (int i = 0; i < 3; i++) {
                long block = memory.allocate(codec.bytes(i));
                codec.write(i, block);
                assertEquals(rows.subList(chosen[i], chosen[i] + 1), decode(codec, block));
            }
        }
    }

    @Test
    void columnsThatStayStillAreWhereTheySay() {
        BitSet still = new BitSet();
        still.set(0);
        still.set(2);
        int[] columns = {10, 2, 3, 4}; // z, w, i, s
        Schema part = SCHEMA.select(List.of(10, 2, 3, 4));
        List<Row> rows = rows(1, 4); // without NULLs in these
        try (PackedCodec some = new PackedCodec(SCHEMA, columns, still, leaks.allocator());
                Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), rows)) {
            assertEquals(part, some.schema());
            some.prepare(batch, Rows.all(4), 4);
            for (int i = 0; i < 4; i++) {
                long row = some.store(i, memory, 0);
                if (rows.get(i).get(10) != null) {
                    assertEquals(rows.get(i).get(10), Memory.getLong(row + some.slot(0)));
                }
                if (rows.get(i).get(3) != null) {
                    assertEquals(rows.get(i).get(3), (long) Memory.getInt(row + some.slot(2)));
                }
            }
        }
    }

    /** The widest first, so that none is moved by a shorter one; NULLs have a bit each, and zeros in their places. */
    @Test
    void aRowOfNullsIsZeros() {
        Object[] nulls = new Object[SCHEMA.size()];
        nulls[9] = new UUID(0, 0);
        nulls[11] = "";
        long row = keep(List.of(TestBatches.canonical(SCHEMA, Row.of(nulls))))[0];
        PackedLayout layout = new PackedLayout(SCHEMA, new BitSet());
        int fixed = 1 + 16 + 16 + 8 + 4 + 4 + 2 + 1;
        assertEquals(fixed, layout.nullsAt);
        assertEquals(fixed + 2, layout.marksAt);
        for (int at = 1; at < fixed; at++) {
            assertEquals(0, Memory.getByte(row + at));
        }
        assertEquals((short) 0b0111_1111_1111, Memory.getShort(row + fixed));
        for (int column = 0; column < SCHEMA.size(); column++) {
            assertEquals(SCHEMA.field(column).nullable(), layout.isNull(row, column));
        }
    }
}
