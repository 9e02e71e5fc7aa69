package dev.millrace.testing.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OracleTest {
    private static final Schema SCHEMA = Schema.of(
            field("b", DataType.BOOLEAN),
            field("s", DataType.SMALLINT),
            field("i", DataType.INTEGER),
            field("l", DataType.BIGINT),
            field("r", DataType.REAL),
            field("d", DataType.DOUBLE),
            field("n", DataType.numeric(20, 3)),
            field("t", DataType.TEXT),
            field("y", DataType.BYTEA),
            field("day", DataType.DATE),
            field("at", DataType.TIME),
            field("ts", DataType.TIMESTAMP),
            field("tz", DataType.TIMESTAMPTZ),
            field("u", DataType.UUID),
            field("a", DataType.array(DataType.BIGINT)));

    private static final Row FULL = Row.of(
            true,
            -3L,
            4L,
            Long.MIN_VALUE + 1,
            0.5,
            Double.NaN,
            new BigDecimal("-12345678901234567.125"),
            "Grüße",
            List.of((byte) 1, (byte) -1),
            -5L,
            3_600_000_001L,
            -1L,
            1_700_000_000_123_456L,
            new UUID(-1, 2),
            Arrays.asList(1L, null, 3L));

    private static Field field(String name, DataType type) {
        return new Field(name, type, true);
    }

    @Test
    void rowsOfEveryTypeComeBackAsTheyWentIn() {
        try (Oracle oracle = Oracle.open()) {
            List<Row> rows = List.of(FULL, new Row(Arrays.asList(new Object[SCHEMA.size()])), FULL);
            oracle.create("t", SCHEMA);
            oracle.insert("t", rows);
            assertEquals("", oracle.differences("SELECT * FROM t", SCHEMA, ZSet.of(rows)));
        }
    }

    @Test
    void differencesAreSeen() {
        Schema schema = Schema.of(field("g", DataType.BIGINT), field("avg", DataType.numeric(38, 16)));
        try (Oracle oracle = Oracle.open()) {
            oracle.create("t", Schema.of(field("g", DataType.BIGINT), field("v", DataType.BIGINT)));
            oracle.insert("t", List.of(Row.of(1, 1), Row.of(1, 2), Row.of(1, 2)));
            String sql = "SELECT g, avg(v) FROM t GROUP BY g";
            Row right = Row.of(1L, new BigDecimal("1.6666666666666667"));
            assertEquals("", oracle.differences(sql, schema, ZSet.of(List.of(right))));
            assertEquals("", oracle.differencesInOrder(sql, schema, List.of(right)));
            Row wrong = Row.of(1L, new BigDecimal("1.6666666000000000"));
            assertTrue(oracle.differences(sql, schema, ZSet.of(List.of(wrong))).contains("1.6666666000000000"));
            assertTrue(oracle.differencesInOrder(sql, schema, List.of(wrong)).startsWith("row 1 is"));
            assertThrows(Oracle.OracleException.class, () -> oracle.query("SELECT x FROM t", schema));
        }
    }
}
