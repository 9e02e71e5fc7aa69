package dev.millrace.jdbc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.math.BigDecimal;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches of INSERT, whichever way they travel. */
@Timeout(120)
class InsertBatchTest {
    private Connection connection;
    private Statement statement;

    @BeforeEach
    void open() throws SQLException {
        connection = DriverManager.getConnection("jdbc:millrace:mem:batches");
        statement = connection.createStatement();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private List<String> rows(String sql) throws SQLException {
        return MillraceDriverTest.rows(connection, sql);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO s VALUES (?, ?, ?)", // as COPY
                "insert into public.s (a, b, \"C d\") values ( ?,?, ? ) ;",
                "INSERT INTO s VALUES (?, ?::bigint + 0, ?)" // as pgjdbc has it
            })
    void everyRowArrivesOnceAsItIs(String sql) throws SQLException {
        statement.execute("CREATE TABLE s (a TEXT, b BIGINT, \"C d\" DOUBLE PRECISION)");
        String odd = "tab\tline\nreturn\rback\\slash \\N \\. grün ☃ 'q' \"d\"";
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            for (int i = 0; i < 3000; i++) {
                insert.setString(1, i % 3 == 0 ? null : odd + i);
                insert.setLong(2, i % 2 == 0 ? i : -i);
                insert.setDouble(3, i / 8.0);
                insert.addBatch();
            }
            int[] counts = insert.executeBatch();
            assertEquals(3000, counts.length);
            assertTrue(Arrays.stream(counts).allMatch(count -> count == 1 || count == Statement.SUCCESS_NO_INFO));
            assertEquals(0, insert.executeBatch().length);
        }
        assertEquals(
                List.of("3000 3000 1499 562312.5"),
                rows("SELECT count(*), count(DISTINCT b), sum(CASE WHEN b > 0 THEN 1 END), sum(\"C d\") FROM s"));
        assertEquals(List.of(odd + "7"), rows("SELECT a FROM s WHERE b = -7"));
        assertEquals(List.of("1000"), rows("SELECT count(*) FROM s WHERE a IS NULL"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everyTypeMeansTheSameAsWithoutABatch(boolean batch) throws SQLException {
        statement.execute("CREATE TABLE t (a SMALLINT, b INTEGER, c REAL, d NUMERIC(20,6), e BYTEA, f DATE, g TIME,"
                + " h TIMESTAMP, i TIMESTAMPTZ, j UUID, k BOOLEAN, l TIMESTAMP, m TIMESTAMPTZ, n DATE, o TEXT)");
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            for (int row = 0; row < 2; row++) {
                insert.setShort(1, (short) -3);
                insert.setObject(2, Integer.MIN_VALUE);
                insert.setFloat(3, 1.5f);
                insert.setBigDecimal(4, new BigDecimal("-12E3"));
                insert.setBytes(5, new byte[] {0, -1, 92, 10});
                insert.setObject(6, LocalDate.of(1969, 7, 20));
                insert.setObject(7, LocalTime.of(1, 2, 3, 4_000));
                insert.setObject(8, LocalDateTime.of(1999, 12, 31, 23, 59, 59, 1_000));
                insert.setObject(9, OffsetDateTime.parse("2024-02-29T12:00:00+05:30"));
                insert.setObject(10, UUID.fromString("6f2c1c1e-53a5-4f0b-93a5-0f5d3f6b7a01"));
                insert.setBoolean(11, true);
                insert.setTimestamp(12, Timestamp.valueOf("2024-07-01 10:00:00.5"));
                insert.setTimestamp(13, new Timestamp(1_700_000_000_123L));
                insert.setDate(14, Date.valueOf("2024-03-01"));
                insert.setNull(15, Types.VARCHAR);
                if (batch) {
                    insert.addBatch();
                } else {
                    assertEquals(1, insert.executeUpdate());
                }
            }
            if (batch) {
                assertArrayEquals(new long[] {1, 1}, insert.executeLargeBatch());
            }
        }
        assertEquals(
                List.of("-3 -2147483648 1.5 -12000.000000 \\x00ff5c0a 1969-07-20 01:02:03.000004"
                        + " 1999-12-31 23:59:59.000001 2024-02-29 06:30:00+00 6f2c1c1e-53a5-4f0b-93a5-0f5d3f6b7a01 true"
                        + " 2024-07-01 10:00:00.5 2023-11-14 22:13:20.123+00 2024-03-01 null 2"),
                rows(
                        "SELECT a, b, c, d, e::text, f::text, g::text, h::text, i::text, j, k::text, l::text, m::text, n::text, o,"
                                + " count(*) FROM t GROUP BY a, b, c, d, e, f, g, h, i, j, k, l, m, n, o"));
    }

    @Test
    void aValueThatCopyDoesNotTakeGoesWithWhatFollowsAnotherWay() throws SQLException {
        statement.execute("CREATE TABLE t (id BIGINT, name TEXT)");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (?, ?)")) {
            for (int i = 0; i < 10; i++) {
                insert.setInt(1, i);
                if (i == 4) {
                    insert.setCharacterStream(2, new StringReader("streamed"));
                } else {
                    insert.setString(2, "plain");
                }
                insert.addBatch();
            }
            assertEquals(10, insert.executeBatch().length);
        }
        assertEquals(List.of("10 9"), rows("SELECT count(*), sum(CASE name WHEN 'plain' THEN 1 END) FROM t"));
    }

    @Test
    void aBatchThatFailsSaysSoAndLeavesATableAlone() throws SQLException {
        statement.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (?)")) {
            for (long id : new long[] {1, 2, 1}) {
                insert.setLong(1, id);
                insert.addBatch();
            }
            BatchUpdateException failure = assertThrows(BatchUpdateException.class, insert::executeBatch);
            assertEquals("23505", failure.getSQLState());
            assertEquals(3, failure.getUpdateCounts().length);
            insert.setLong(1, 3);
            insert.addBatch();
            assertArrayEquals(new int[] {1}, insert.executeBatch());
            insert.setLong(1, 4);
            assertEquals(1, insert.executeUpdate());
            insert.setLong(1, 5);
            insert.addBatch();
            insert.clearBatch();
            assertEquals(0, insert.executeBatch().length);
        }
        assertEquals(List.of("3", "4"), rows("SELECT id FROM t ORDER BY id"));
    }

    @Test
    void whatIsNotAPlainInsertIsLeftAlone() {
        assertEquals(
                "COPY s FROM STDIN",
                InsertAsCopy.of("INSERT INTO s VALUES(?)").orElseThrow().sql());
        assertEquals(
                2,
                InsertAsCopy.of("INSERT INTO a.b (x, y) VALUES (?, ?)")
                        .orElseThrow()
                        .parameters());
        for (String other : List.of(
                "INSERT INTO s VALUES (?) RETURNING v",
                "INSERT INTO s VALUES (?) ON CONFLICT DO NOTHING",
                "INSERT INTO s VALUES (?, 1)",
                "INSERT INTO s VALUES (?), (?)",
                "INSERT INTO s VALUES (? ?)",
                "INSERT INTO s VALUES (?,)",
                "INSERT INTO s SELECT ?",
                "UPDATE s SET v = ?")) {
            assertTrue(InsertAsCopy.of(other).isEmpty(), other);
        }
    }
}
