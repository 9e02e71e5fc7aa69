package dev.millrace.engine.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

class ExtremeValuesTest {
    /** Values of a type in ascending order. */
    private static Map<DataType, List<Object>> ordered() {
        Map<DataType, List<Object>> ordered = new LinkedHashMap<>();
        ordered.put(DataType.BOOLEAN, List.of(false, true));
        ordered.put(DataType.SMALLINT, List.of(-300, -1, 0, 7, 300));
        ordered.put(DataType.INTEGER, List.of(Integer.MIN_VALUE, -1, 0, 70_000, Integer.MAX_VALUE));
        ordered.put(DataType.DATE, List.of(-5, 0, 20_000));
        ordered.put(DataType.BIGINT, List.of(Long.MIN_VALUE + 1, -1L, 0L, 1L << 40, Long.MAX_VALUE - 1));
        ordered.put(DataType.TIMESTAMP, List.of(-5L, 0L, 1L << 50));
        ordered.put(DataType.REAL, List.of(Float.NEGATIVE_INFINITY, -2.5f, 0f, .5f, 3e38f, Float.NaN));
        ordered.put(DataType.DOUBLE, List.of(Double.NEGATIVE_INFINITY, -2.5, 0.0, .5, 1e300, Double.NaN));
        return ordered;
    }

    @Test
    void wordsOrderAsTheirValuesDo() {
        for (boolean maximum : new boolean[] {true, false}) {
            ordered().forEach((type, values) -> {
                assertTrue(ExtremeValues.fits(type));
                Schema schema = Schema.of(new Field("unused", DataType.BIGINT, false), new Field("v", type, false));
                List<Row> rows = new ArrayList<>();
                values.forEach(value -> rows.add(TestBatches.canonical(schema, Row.of(1L, value))));
                ExtremeValues words = new ExtremeValues(type, maximum);
                try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                        Batch first = TestBatches.of(schema, allocator, rows.subList(0, 1));
                        Batch batch = TestBatches.of(schema, allocator, rows)) {
                    words.load(first, 1);
                    long[] loaded = words.load(batch, 1);
                    for (int i = 1; i < rows.size(); i++) {
                        assertEquals(maximum, loaded[i - 1] < loaded[i], type + " " + values.get(i));
                        assertEquals(maximum, loaded[i - 1] <= loaded[i], type + " " + values.get(i));
                    }
                }
            });
        }
    }

    @Test
    void whatIsNoWordIsLeftToRows() {
        DataType number = DataType.numeric(10, 2);
        for (DataType type : List.of(DataType.TEXT, number, DataType.UUID, DataType.BYTEA, DataType.INTERVAL)) {
            assertFalse(ExtremeValues.fits(type), type.toString());
        }
        Schema schema = Schema.of(new Field("v", DataType.TEXT, false));
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                Batch batch = TestBatches.of(schema, allocator, Row.of("b"), Row.of("a"))) {
            long[] loaded = new ExtremeValues(DataType.TEXT, true).load(batch, 0);
            assertEquals(0, loaded[0]);
            assertEquals(0, loaded[1]);
        }
    }
}
