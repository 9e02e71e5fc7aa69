package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.TimeStampMilliTZVector;
import org.apache.arrow.vector.TimeStampMilliVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database called directly, as a program that embeds it does. */
@Timeout(120)
class EmbeddedTest {
    private Database database;
    private BufferAllocator allocator;

    @BeforeEach
    void open() {
        database = Millrace.open();
        allocator = new RootAllocator();
    }

    @AfterEach
    void close() {
        allocator.close(); // fails if a vector is left
        database.close();
    }

    private List<String> rows(String sql, Object... parameters) {
        List<String> texts = new ArrayList<>();
        try (StatementResult.Rows rows = database.query(sql, parameters)) {
            rows.forEach(batch -> {
                for (int row = 0; row < batch.rowCount(); row++) {
                    List<String> cells = new ArrayList<>();
                    for (int column = 0; column < batch.columnCount(); column++) {
                        cells.add(String.valueOf(batch.column(column).getObject(row)));
                    }
                    texts.add(String.join(" ", cells));
                }
            });
        }
        return texts;
    }

    private String failure(Runnable work) {
        return assertThrows(MillraceException.class, work::run).sqlState().code();
    }

    /** Inserts columns of this test's own allocator, and frees them. */
    private long insert(String relation, int rows, Consumer<List<FieldVector>> fill) {
        List<FieldVector> vectors = new ArrayList<>();
        fill.accept(vectors);
        vectors.forEach(vector -> vector.setValueCount(rows));
        try (VectorSchemaRoot root = new VectorSchemaRoot(vectors)) {
            root.setRowCount(rows);
            return database.insert(relation, root);
        }
    }

    private VarCharVector text(String name, String... values) {
        VarCharVector vector = new VarCharVector(name, allocator);
        vector.allocateNew();
        for (int row = 0; row < values.length; row++) {
            if (values[row].equals("NULL")) {
                vector.setNull(row);
            } else {
                vector.setSafe(row, values[row].getBytes(StandardCharsets.UTF_8));
            }
        }
        return vector;
    }

    private BigIntVector numbers(String name, long... values) {
        BigIntVector vector = new BigIntVector(name, allocator);
        for (int row = 0; row < values.length; row++) {
            vector.setSafe(row, values[row]);
        }
        return vector;
    }

    @Test
    void callsSeeWhatEarlierCallsWrote() {
        database.execute("CREATE STREAM s (k TEXT, v BIGINT);"
                + " CREATE MATERIALIZED VIEW totals AS SELECT k, sum(v) AS total FROM s GROUP BY k");
        for (int i = 1; i <= 50; i++) {
            assertEquals(2, database.execute("INSERT INTO s VALUES ($1, $2), ('other', 0)", "a", i));
            assertEquals(List.of("" + i * (i + 1) / 2), rows("SELECT total FROM totals WHERE k = $1", "a"));
        }
    }

    @Test
    void whatIsNoQueryIsRefused() {
        database.execute("CREATE STREAM s (v BIGINT)");
        assertEquals("42809", failure(() -> database.query("SUBSCRIBE TO s")));
        assertEquals("42809", failure(() -> database.query("INSERT INTO s VALUES (1)")));
        assertEquals("42601", failure(() -> database.query("SELECT 1; SELECT 2")));
        assertEquals("42601", failure(() -> database.query("")));
        assertEquals("42809", failure(() -> database.execute("SUBSCRIBE TO s")));
        assertEquals("42P01", failure(() -> database.query("SELECT * FROM nowhere")));
        assertEquals(List.of("1"), rows("SELECT 1"));
    }

    @Test
    void arrowRowsAreInsertedByTheNamesOfTheirColumns() {
        database.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, missing DOUBLE PRECISION)");
        assertEquals(3, insert("t", 3, columns -> {
            columns.add(text("name", "a", "NULL", "grün"));
            columns.add(numbers("id", 1, 2, 3));
        }));
        assertEquals(List.of("1 a null", "2 null null", "3 grün null"), rows("SELECT * FROM t ORDER BY id"));
        assertEquals(0, insert("t", 0, columns -> columns.add(numbers("id"))));
        assertEquals("23505", failure(() -> insert("t", 2, columns -> columns.add(numbers("id", 4, 1)))));
        assertEquals("42703", failure(() -> insert("t", 1, columns -> columns.add(numbers("nope", 4)))));
        assertEquals("23502", failure(() -> insert("t", 1, columns -> columns.add(text("name", "no key")))));
        assertEquals("42P01", failure(() -> insert("nowhere", 1, columns -> columns.add(numbers("id", 4)))));
        assertEquals(
                "42809", failure(() -> insert("pg_catalog.pg_class", 1, columns -> columns.add(numbers("oid", 4)))));
        assertEquals(List.of("3"), rows("SELECT count(*) FROM t"));
    }

    @Test
    void aRoleNeedsThePrivilegeToInsert() {
        database.execute("CREATE TABLE t (id BIGINT); CREATE ROLE ada LOGIN");
        try (Session session = database.session("ada");
                BigIntVector ids = numbers("id", 1)) {
            ids.setValueCount(1);
            VectorSchemaRoot root = new VectorSchemaRoot(List.of(ids));
            assertEquals("42501", failure(() -> session.insert("t", root)));
            database.execute("GRANT INSERT ON t TO ada");
            assertEquals(1, session.insert("t", root));
        }
    }

    @Test
    void otherArrowTypesAreTakenWhereTheirTextWouldBe() {
        database.execute(
                "CREATE TABLE t (i INTEGER, b BIGINT, d DOUBLE PRECISION, n NUMERIC(10,2), v VARCHAR(3), f DATE,"
                        + " ts TIMESTAMP, tz TIMESTAMPTZ, j JSONB, u UUID, x BYTEA, o BOOLEAN)");
        insert("t", 2, columns -> {
            columns.add(numbers("i", 7, 8));
            TinyIntVector tiny = new TinyIntVector("b", allocator);
            tiny.setSafe(0, -5);
            tiny.setNull(1);
            columns.add(tiny);
            IntVector whole = new IntVector("d", allocator);
            whole.setSafe(0, 3);
            columns.add(whole);
            DecimalVector decimal = new DecimalVector("n", allocator, 20, 4);
            decimal.setSafe(0, new BigDecimal("12.3456"));
            columns.add(decimal);
            columns.add(text("v", "abc", "NULL"));
            DateMilliVector date = new DateMilliVector("f", allocator);
            date.setSafe(0, 86_400_000L);
            columns.add(date);
            TimeStampMilliVector local = new TimeStampMilliVector("ts", allocator);
            local.setSafe(0, 1_700_000_000_123L);
            columns.add(local);
            TimeStampMilliTZVector instant = new TimeStampMilliTZVector("tz", allocator, "Europe/Paris");
            instant.setSafe(0, 1_700_000_000_123L);
            columns.add(instant);
            columns.add(text("j", "{\"b\": 1,\"a\":2}", "NULL"));
            columns.add(text("u", "6F2C1C1E-53a5-4f0b-93a5-0f5d3f6b7a01", "NULL"));
            VarBinaryVector bytes = new VarBinaryVector("x", allocator);
            bytes.setSafe(0, new byte[] {0, -1});
            columns.add(bytes);
            BitVector flag = new BitVector("o", allocator);
            flag.setSafe(0, 1);
            columns.add(flag);
        });
        assertEquals(
                List.of("7 -5 3.0 12.35 abc 1970-01-02 2023-11-14 22:13:20.123 2023-11-14 22:13:20.123+00"
                        + " {\"a\": 2, \"b\": 1} 6f2c1c1e-53a5-4f0b-93a5-0f5d3f6b7a01 \\x00ff true"),
                rows(
                        "SELECT i, b, d, n, v, f::text, ts::text, tz::text, j::text, u::text, x::text, o FROM t WHERE i = 7"));
        assertEquals(List.of("null null null null null"), rows("SELECT b, d, v, tz, o FROM t WHERE i = 8"));
        assertEquals("22003", failure(() -> insert("t", 1, columns -> columns.add(numbers("i", 1L << 40)))));
        assertEquals("22001", failure(() -> insert("t", 1, columns -> columns.add(text("v", "too long")))));
        assertEquals("22P02", failure(() -> insert("t", 1, columns -> columns.add(text("i", "word")))));
        assertEquals(
                "42804",
                failure(() -> insert("t", 1, columns -> {
                    VarBinaryVector bytes = new VarBinaryVector("i", allocator);
                    bytes.setSafe(0, new byte[4]);
                    columns.add(bytes);
                })));
        assertEquals(
                "22021",
                failure(() -> insert("t", 1, columns -> {
                    VarCharVector broken = new VarCharVector("v", allocator);
                    broken.setSafe(0, new byte[] {(byte) 0xC3});
                    columns.add(broken);
                })));
    }

    @Test
    void manyArrowRowsArriveAsTheyAre() {
        database.execute("CREATE STREAM s (k TEXT, v DOUBLE PRECISION);"
                + " CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n, sum(v) AS total, max(k) AS k FROM s");
        int rows = 200_000;
        insert("s", rows, columns -> {
            VarCharVector keys = new VarCharVector("k", allocator);
            Float8Vector values = new Float8Vector("v", allocator);
            for (int row = 0; row < rows; row++) {
                keys.setSafe(row, ("key " + row % 10).getBytes(StandardCharsets.UTF_8));
                values.setSafe(row, row);
            }
            columns.add(keys);
            columns.add(values);
        });
        assertEquals(List.of("200000 1.99999E10 key 9"), rows("SELECT n, total, k FROM mv"));
    }

    @Test
    void aBatchOfOneAnswerGoesIntoAnotherRelation() {
        database.execute("CREATE TABLE t (id BIGINT); CREATE TABLE u (id BIGINT); INSERT INTO t VALUES (1), (2)");
        try (StatementResult.Rows rows = database.query("SELECT * FROM t")) {
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                database.insert("u", next.get()); // which takes it over
            }
        }
        assertEquals(List.of("2"), rows("SELECT count(*) FROM u"));
        assertFalse(rows("SELECT 1").isEmpty());
        assertTrue(database.allocator().getAllocatedMemory() >= 0);
    }
}
