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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Values that fit a layout or just do not, NULLs of each kind of column, and rows without words. */
final class PackedWordsTest {
    private static final Schema NULLABLE = Schema.of(new Field("a", DataType.BIGINT, true));
    private static final Schema STRICT = Schema.of(new Field("a", DataType.BIGINT, false));

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private StateMemory memory;

    @BeforeEach
    void open() {
        memory = new StateMemory(leaks.allocator());
    }

    @AfterEach
    void close() {
        memory.close();
    }

    private long[] keep(PackedCodec codec, List<Row> rows) {
        long[] kept = new long[rows.size()];
        try (Batch batch = TestBatches.of(codec.schema(), leaks.allocator(), rows)) {
            codec.prepare(batch, Rows.all(kept.length), kept.length);
            for (int i = 0; i < kept.length; i++) {
                kept[i] = codec.store(i, memory, 0);
            }
        }
        return kept;
    }

    private List<Row> read(PackedCodec codec, long... rows) {
        List<FieldVector> vectors = new ArrayList<>();
        codec.decode(codec.schema(), 0, rows, rows.length, vectors, leaks.allocator());
        try (Batch batch = Batch.of(codec.schema(), vectors.toArray(FieldVector[]::new), rows.length)) {
            return TestBatches.rows(batch);
        }
    }

    private PackedCodec codec(Schema schema) {
        return new PackedCodec(schema, leaks.allocator());
    }

    private static Row row(Object value) {
        return new Row(Arrays.asList(value));
    }

    /** A value, and behind it NULL where there may be. */
    private static List<Row> withNull(Schema schema, long value) {
        return schema.equals(NULLABLE) ? List.of(row(value), row(null)) : List.of(row(value));
    }

    /** Of a base and a width that suit the first, the second is on the other side of zero, beyond by a power, or just beyond. */
    @Test
    void valuesThatDoNotFitAreReadBack() {
        for (Schema schema : List.of(NULLABLE, STRICT)) {
            for (long first : new long[] {1_000, -1_000, 70_000, 1L << 40, 0}) {
                for (long second : new long[] {-first, first - 200, first + 193, first + 256, 2 * first, -2 * first}) {
                    for (int near = -70; near <= 70; near++) {
                        try (PackedCodec codec = codec(schema)) {
                            long a = keep(codec, withNull(schema, first))[0];
                            long b = keep(codec, withNull(schema, second + near))[0];
                            assertEquals(List.of(row(first), row(second + near)), read(codec, a, b));
                        }
                    }
                }
            }
        }
    }

    @Test
    void valuesFurtherApartThanALongAreReadBack() {
        for (long low : new long[] {-10, -1, Long.MIN_VALUE, Long.MIN_VALUE + 5, -(1L << 62) - 1}) {
            for (long high : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 3, 1L << 62}) {
                try (PackedCodec codec = codec(STRICT)) {
                    List<Row> rows = List.of(row(low), row(high), row(0L));
                    assertEquals(rows, read(codec, keep(codec, rows)));
                }
            }
        }
    }

    /** Room below the first would be beyond the least of all values. */
    @Test
    void valuesAtTheEndsOfTheirRangeAreReadBackAndTakeFewBytes() {
        for (long first :
                new long[] {Long.MIN_VALUE, Long.MIN_VALUE + 3, Long.MAX_VALUE, Long.MAX_VALUE - 3, -(1L << 40)}) {
            try (PackedCodec codec = codec(STRICT)) {
                long step = first < 0 ? 1 : -1;
                List<Row> rows = List.of(row(first), row(first + step), row(first + 2 * step));
                long[] kept = keep(codec, rows);
                assertEquals(rows, read(codec, kept));
                Schema two = Schema.of(new Field("a", DataType.BIGINT, false), new Field("b", DataType.BIGINT, false));
                try (PackedCodec pairs = codec(two)) {
                    long pair = keep(pairs, List.of(Row.of(first, first), Row.of(first + step, first)))[0];
                    assertEquals(1 + 1 + 8, pairs.length(pair)); // a byte, and what the last may touch
                }
            }
        }
    }

    @Test
    void numbersThatStayNearTakeFewBytesHoweverManyBatchesCome() {
        Schema schema = Schema.of(
                new Field("near", DataType.BIGINT, false),
                new Field("far", DataType.BIGINT, false),
                new Field("last", DataType.BIGINT, false));
        try (PackedCodec codec = codec(schema)) {
            for (int batch = 0; batch < 200; batch++) {
                long far = batch < 3 ? 1L << 20 * batch : 5;
                long row = keep(codec, List.of(Row.of(100L + batch % 10, far, 7L)))[0];
                assertEquals(List.of(Row.of(100L + batch % 10, far, 7L)), read(codec, row));
                int farBytes = batch == 0 ? 1 : batch == 1 ? 3 : 5;
                assertEquals(1 + 1 + farBytes + 8, codec.length(row), "batch " + batch);
            }
        }
    }

    /** One column of a kind: nothing else says that there are NULLs, or that there are none. */
    @Test
    void nullsOfEachKindOfColumnAreReadBack() {
        for (DataType type : List.of(DataType.BIGINT, DataType.INTEGER, DataType.DOUBLE, DataType.TEXT)) {
            Object value = type.equals(DataType.TEXT) ? "x" : type.equals(DataType.DOUBLE) ? (Object) 1.5 : 1L;
            Schema schema = Schema.of(
                    new Field("n", type, true),
                    new Field("strict", DataType.BIGINT, false),
                    new Field("text", DataType.TEXT, false),
                    new Field("small", DataType.SMALLINT, false));
            List<Row> rows = new ArrayList<>();
            for (Object each : Arrays.asList(value, null, value, null)) {
                rows.add(TestBatches.canonical(schema, Row.of(each, 5L, "t", 3)));
            }
            try (PackedCodec codec = codec(schema)) {
                assertEquals(rows, read(codec, keep(codec, rows)));
                assertEquals(rows.subList(1, 2), read(codec, keep(codec, rows.subList(1, 2))));
            }
            Schema alone = schema.select(List.of(0));
            List<Row> values = rows.stream().map(each -> row(each.get(0))).toList();
            try (PackedCodec codec = codec(alone)) {
                assertEquals(values, read(codec, keep(codec, values)));
            }
        }
    }

    @Test
    void rowsWithoutWordsAreReadBackAndInlined() {
        Schema schema = Schema.of(new Field("d", DataType.DOUBLE, false), new Field("t", DataType.TEXT, false));
        try (PackedCodec codec = codec(schema);
                PackedCodec other = codec(schema)) {
            List<Row> rows = List.of(Row.of(1.1, "a"), Row.of(-0.3, "b"));
            long[] kept = keep(codec, rows);
            assertEquals(rows, read(codec, kept));
            long inlined = codec.inlined(kept[1]);
            long copy = memory.allocate(codec.length(inlined));
            Memory.copy(inlined, copy, codec.length(inlined));
            assertEquals(rows.subList(1, 2), read(other, copy));
        }
    }

    /** Red zones look at the copy when the next is made. */
    @Test
    void inlinedCopiesOfLongTextsStayInTheirMemoryAndTakeItOnce() {
        Schema schema = Schema.of(new Field("t", DataType.TEXT, false), new Field("w", DataType.BIGINT, false));
        try (PackedCodec codec = codec(schema)) {
            List<Row> rows = IntStream.range(0, 20)
                    .mapToObj(i -> Row.of("l".repeat(PackedLayout.LONG - 5 + i), (long) i))
                    .toList();
            long[] kept = keep(codec, rows);
            codec.inlined(kept[19]);
            long bytes = leaks.allocator().getAllocatedMemory();
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < kept.length; i++) {
                    assertEquals(rows.subList(i, i + 1), read(codec, codec.inlined(kept[i])));
                }
            }
            assertEquals(bytes, leaks.allocator().getAllocatedMemory());
        }
    }

    /** Their bits take two words of a plain row. */
    @Test
    void nullsOfMoreThanSixtyFourColumnsAreUnpacked() {
        Schema schema = new Schema(IntStream.range(0, 130)
                .mapToObj(i -> new Field("c" + i, DataType.INTEGER, true))
                .toList());
        Object[] values = new Object[130];
        for (int i = 0; i < values.length; i++) {
            values[i] = i % 3 == 0 ? null : (Object) (long) i;
        }
        List<Row> rows = List.of(Row.of(values));
        try (PackedCodec codec = codec(schema);
                Batch batch = TestBatches.of(schema, leaks.allocator(), rows);
                RowCodec plain =
                        new RowCodec(schema.fields().stream().map(Field::type).toList(), false, leaks.allocator())) {
            long row = keep(codec, rows)[0];
            plain.encode(batch, IntStream.range(0, 130).toArray(), Rows.all(1), 1);
            long unpacked = codec.unpack(row, memory);
            assertEquals(plain.length(0), codec.unpackedLength(row));
            assertTrue(Memory.equal(plain.address(0), unpacked, plain.length(0)));
        }
    }

    @Test
    void oneColumnOfManyRowsIsReadBeforeAnythingElse() {
        Schema schema = Schema.of(new Field("t", DataType.TEXT, true));
        List<Row> rows = IntStream.range(0, 300).mapToObj(i -> row("text " + i)).toList();
        try (PackedCodec codec = codec(schema)) {
            long[] kept = keep(codec, rows);
            FieldVector vector = codec.decode(0, schema.field(0), kept, 300, leaks.allocator());
            try (Batch batch = Batch.of(schema, new FieldVector[] {vector}, 300)) {
                assertEquals(rows, TestBatches.rows(batch));
            }
        }
    }
}
