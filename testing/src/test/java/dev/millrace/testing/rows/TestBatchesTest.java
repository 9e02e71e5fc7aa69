package dev.millrace.testing.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TestBatchesTest {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static Schema schemaOf(DataType... types) {
        return new Schema(
                Arrays.stream(types).map(type -> new Field("c", type, true)).toList());
    }

    @Test
    void everyTypeComesBackAsItWentIn() {
        DataType row =
                DataType.row(List.of(new Field("a", DataType.BIGINT, true), new Field("b", DataType.TEXT, true)));
        Schema schema = schemaOf(
                DataType.BOOLEAN,
                DataType.SMALLINT,
                DataType.INTEGER,
                DataType.BIGINT,
                DataType.REAL,
                DataType.DOUBLE,
                DataType.numeric(38, 2),
                DataType.TEXT,
                DataType.BYTEA,
                DataType.DATE,
                DataType.TIME,
                DataType.TIMESTAMP,
                DataType.TIMESTAMPTZ,
                DataType.INTERVAL,
                DataType.UUID,
                DataType.array(DataType.TEXT),
                row);
        Row full = Row.of(
                true,
                (long) Short.MIN_VALUE,
                (long) Integer.MIN_VALUE,
                Long.MIN_VALUE,
                1.5,
                Double.NaN,
                new BigDecimal("-999999999999999999999999999999999999.99"),
                "Grüße, 世界",
                List.of((byte) 0, (byte) -1),
                -1L,
                86_399_999_999L,
                -1L,
                Long.MAX_VALUE,
                new Row.Interval(-1, 2, -3),
                new UUID(-1, 5),
                Arrays.asList("x", null, ""),
                Arrays.asList(7L, null));
        Row empty = new Row(Arrays.asList(new Object[schema.size()]));
        List<Row> rows = List.of(full, empty, full, empty, empty, full);
        try (Batch batch = TestBatches.of(schema, memory.allocator(), rows)) {
            assertEquals(rows, TestBatches.rows(batch));
        }
    }

    @Test
    void weightsAddUpAndCancel() {
        Schema schema = schemaOf(DataType.BIGINT);
        List<Row> rows = List.of(Row.of(1L), Row.of(2L), Row.of(1L));
        try (Batch batch = TestBatches.weighted(schema, memory.allocator(), rows, new long[] {1, 3, -1})) {
            ZSet sum = new ZSet();
            sum.add(batch);
            assertEquals(List.of(Row.of(2L), Row.of(2L), Row.of(2L)), sum.rows());
        }
    }

    @Test
    void differencesAllowDoublesARoundingErrorAndNothingElse() {
        ZSet expected = ZSet.of(List.of(Row.of("a", 0.1 + 0.2), Row.of("b", 1.0)));
        assertEquals("", expected.differences(ZSet.of(List.of(Row.of("a", 0.3), Row.of("b", 1.0)))));
        String text = expected.differences(ZSet.of(List.of(Row.of("a", 0.3), Row.of("b", 1.001))));
        assertTrue(text.contains("[b, 1.0]") && text.contains("[b, 1.001]") && !text.contains("[a"), text);
    }
}
