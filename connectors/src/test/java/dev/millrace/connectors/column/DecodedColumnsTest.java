package dev.millrace.connectors.column;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DecodedColumnsTest {
    private static final Schema COLUMNS = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("name", DataType.TEXT, true),
            new Field("ok", DataType.BOOLEAN, true),
            new Field("tags", DataType.array(DataType.INTEGER), true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private DecodedColumns columns(Schema schema) {
        return new DecodedColumns(
                schema,
                Collections.nCopies(schema.size(), Optional.empty()),
                IntStream.range(0, schema.size()).boxed().toList(),
                memory.allocator());
    }

    private static List<Row> finish(DecodedColumns columns) {
        try (Batch batch = Batch.of(columns.declared(), columns.finish().toArray(FieldVector[]::new), columns.rows())) {
            return TestBatches.rows(batch);
        }
    }

    private static void putAll(DecodedColumns columns, long id) {
        columns.column(0).putInteger(id);
        columns.column(1).putText("name " + id);
        columns.column(2).putBoolean(true);
        NestedTarget tags = columns.column(3).nested();
        tags.beginArray();
        tags.element().putInteger(id);
        tags.endElement();
        tags.endElement(); // a NULL
    }

    @Test
    void aDroppedRowLeavesNothing() {
        try (DecodedColumns columns = columns(COLUMNS)) {
            columns.begin(5);
            putAll(columns, 1);
            columns.keep();
            putAll(columns, 2);
            columns.drop(1);
            columns.column(0).putInteger(3);
            columns.keep();
            putAll(columns, 4);
            columns.keep();
            putAll(columns, 5);
            columns.keep();
            columns.drop(3); // and what was kept from there on
            columns.column(0).putInteger(6);
            columns.keep();
            assertEquals(
                    List.of(
                            Row.of(1L, "name 1", true, Arrays.asList(1L, null)),
                            Row.of(3L, null, null, null),
                            Row.of(4L, "name 4", true, Arrays.asList(4L, null)),
                            Row.of(6L, null, null, null)),
                    finish(columns));
        }
    }

    @Test
    void theColumnThatFailedIsSaidUntilTheRowIsDropped() {
        try (DecodedColumns columns = columns(COLUMNS)) {
            columns.begin(2);
            assertEquals(
                    "23502",
                    assertThrows(MillraceException.class, columns::keep)
                            .sqlState()
                            .code());
            assertEquals("id", columns.failedColumn());
            columns.drop(0);
            assertEquals("", columns.failedColumn());
            NestedTarget tags = columns.column(3).nested();
            tags.beginArray();
            assertThrows(MillraceException.class, () -> tags.element().putInteger(1L << 40));
            assertEquals("tags", columns.failedColumn());
            columns.drop(0);
            putAll(columns, 1);
            columns.keep();
            assertEquals(1, finish(columns).size());
        }
    }

    /** What becomes of a value; the SQLSTATE of what is refused. */
    private Object put(DataType type, Consumer<ValueTarget> value) {
        Schema one = Schema.of(new Field("c", type, true));
        try (DecodedColumns columns = columns(one)) {
            columns.begin(1);
            try {
                value.accept(columns.column(0));
            } catch (MillraceException e) {
                columns.abandon();
                assertEquals("c", columns.failedColumn());
                return e.sqlState().code();
            }
            columns.keep();
            return finish(columns).get(0).get(0);
        }
    }

    @Test
    void valuesBecomeTheColumnsTypeAsAnAssignmentMakesThem() {
        assertEquals(7L, put(DataType.SMALLINT, to -> to.putInteger(7)));
        assertEquals("22003", put(DataType.SMALLINT, to -> to.putInteger(40_000)));
        assertEquals(7.0, put(DataType.DOUBLE, to -> to.putInteger(7)));
        assertEquals(new BigDecimal("7.00"), put(DataType.numeric(5, 2), to -> to.putInteger(7)));
        assertEquals("22003", put(DataType.numeric(5, 2), to -> to.putInteger(7000)));
        assertEquals("7", put(DataType.TEXT, to -> to.putInteger(7)));
        assertEquals("42804", put(DataType.DATE, to -> to.putInteger(7)));
        assertEquals(2L, put(DataType.INTEGER, to -> to.putDouble(2.5)));
        assertEquals("22003", put(DataType.BIGINT, to -> to.putDouble(Double.NaN)));
        assertEquals("22003", put(DataType.REAL, to -> to.putDouble(1e300)));
        assertEquals("0.1", put(DataType.TEXT, to -> to.putFloat(0.1f)));
        assertEquals(
                new BigDecimal("-1.24"), put(DataType.numeric(5, 2), to -> to.putDecimal(new BigDecimal("-1.235"))));
        assertEquals(-2L, put(DataType.BIGINT, to -> to.putDecimal(new BigDecimal("-1.5"))));
        assertEquals("22003", put(DataType.BIGINT, to -> to.putDecimal(new byte[10], 500)));
        assertEquals(true, put(DataType.BOOLEAN, to -> to.putText("yes")));
        assertEquals("22P02", put(DataType.INTEGER, to -> to.putText("x")));
        assertEquals(1_000_000L, put(DataType.TIMESTAMP, to -> to.putText("1970-01-01 00:00:01")));
        assertEquals(1L, put(DataType.DATE, to -> to.putTimestamp(86_400_000_001L)));
        assertEquals(86_400_000_000L, put(DataType.TIMESTAMP, to -> to.putDate(1)));
        assertEquals("22008", put(DataType.TIMESTAMP, to -> to.putDate(2_000_000_000L)));
        assertEquals("22008", put(DataType.TIMESTAMP, to -> to.putTimestamp(Long.MAX_VALUE - 1)));
        assertEquals(Long.MAX_VALUE, put(DataType.TIMESTAMP, to -> to.putTimestamp(Long.MAX_VALUE))); // infinity
        assertEquals("22008", put(DataType.TIME, to -> to.putTime(-1)));
        assertEquals("1970-01-02", put(DataType.TEXT, to -> to.putDate(1)));
        assertEquals(new Row.Interval(1, 2, 3), put(DataType.INTERVAL, to -> to.putInterval(1, 2, 3)));
        assertEquals("22008", put(DataType.INTERVAL, to -> to.putInterval(0, 0, Long.MAX_VALUE)));
        assertEquals("42804", put(DataType.INTEGER, to -> to.nested()));
        assertEquals(
                "42804", put(DataType.array(DataType.TEXT), to -> to.nested().beginRow()));
    }

    @Test
    void ofSeveralValuesTheLastCounts() {
        assertEquals("b", put(DataType.TEXT, to -> {
            to.putText("a long one that comes first");
            to.putText("b");
        }));
        assertEquals(null, put(DataType.BIGINT, to -> {
            to.putInteger(1);
            to.putNull();
        }));
    }
}
