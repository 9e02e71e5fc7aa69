package dev.millrace.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.RowIdLifetime;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** All of JDBC's meta data, which is one query over the catalog after the other. */
@Tag("long")
@Timeout(120)
class MetaDataTest {
    private static Connection connection;
    private static DatabaseMetaData meta;

    @BeforeAll
    static void open() throws SQLException {
        connection = DriverManager.getConnection("jdbc:millrace:mem:metadata");
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "CREATE STREAM orders (id BIGINT NOT NULL, shop VARCHAR(20), amount NUMERIC(10,2), tags TEXT[],"
                            + " at TIMESTAMPTZ)");
            statement.execute(
                    "CREATE TABLE rates (code CHAR(3), day DATE, rate DOUBLE PRECISION, PRIMARY KEY (code, day))");
            statement.execute(
                    "CREATE MATERIALIZED VIEW totals AS SELECT shop, sum(amount) AS total FROM orders GROUP BY shop");
            statement.execute("CREATE CONTINUOUS QUERY large AS SELECT * FROM orders WHERE amount > 100");
            statement.execute("CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT LANGUAGE SQL AS 'SELECT x * 2'");
        }
        meta = connection.getMetaData();
    }

    @AfterAll
    static void close() throws SQLException {
        connection.close();
    }

    /** The named columns of all rows, as texts. */
    private static List<String> rows(ResultSet result, String... columns) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (result) {
            while (result.next()) {
                List<String> cells = new ArrayList<>();
                for (String column : columns) {
                    cells.add(result.getString(column));
                }
                texts.add(String.join(" ", cells));
            }
        }
        return texts;
    }

    /** Whatever JDBC can be asked is answered, every column of every row can be read, and nothing is an error of ours. */
    @Test
    void everyMethodAnswers() throws Exception {
        List<String> failures = new ArrayList<>();
        int called = 0;
        for (Method method : DatabaseMetaData.class.getMethods()) {
            if (method.getDeclaringClass() != DatabaseMetaData.class) {
                continue;
            }
            for (boolean named : new boolean[] {false, true}) {
                Object[] arguments = Arrays.stream(method.getParameterTypes())
                        .map(type -> argument(type, named))
                        .toArray();
                called++;
                try {
                    if (method.invoke(meta, arguments) instanceof ResultSet result) {
                        readAll(result);
                    }
                } catch (InvocationTargetException e) {
                    if (!(e.getCause() instanceof SQLFeatureNotSupportedException)) {
                        failures.add(method.getName() + Arrays.toString(arguments) + ": " + e.getCause());
                    }
                }
            }
        }
        assertEquals(List.of(), failures);
        assertTrue(called > 300, called + " calls");
    }

    private static Object argument(Class<?> type, boolean named) {
        if (type == String.class) {
            return named ? "rates" : null;
        } else if (type == int.class) {
            return 1;
        } else if (type == boolean.class) {
            return named;
        } else if (type == RowIdLifetime.class) {
            return RowIdLifetime.ROWID_UNSUPPORTED;
        }
        return null;
    }

    private static void readAll(ResultSet result) throws SQLException {
        try (result) {
            ResultSetMetaData columns = result.getMetaData();
            while (result.next()) {
                for (int column = 1; column <= columns.getColumnCount(); column++) {
                    result.getObject(column);
                }
            }
        }
    }

    @Test
    void relationsHaveTheirKinds() throws SQLException {
        assertEquals(
                List.of("public rates TABLE", "public orders TABLE"),
                rows(
                                meta.getTables(null, "public", "%r%s", new String[] {"TABLE"}),
                                "TABLE_SCHEM",
                                "TABLE_NAME",
                                "TABLE_TYPE")
                        .stream()
                        .sorted(java.util.Comparator.reverseOrder())
                        .toList());
        assertEquals(List.of("large"), rows(meta.getTables(null, "public", null, new String[] {"VIEW"}), "TABLE_NAME"));
        assertEquals(
                List.of("totals"),
                rows(meta.getTables(null, "public", "%", new String[] {"MATERIALIZED VIEW"}), "TABLE_NAME"));
        assertTrue(rows(meta.getTableTypes(), "TABLE_TYPE").contains("TABLE"));
        assertTrue(rows(meta.getSchemas(), "TABLE_SCHEM").containsAll(List.of("public", "millrace", "pg_catalog")));
        assertEquals(List.of("millrace"), rows(meta.getCatalogs(), "TABLE_CAT"));
    }

    @Test
    void columnsHaveTheirTypes() throws SQLException {
        String[] shown = {
            "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "ORDINAL_POSITION"
        };
        List<String> columns = rows(meta.getColumns(null, "public", "orders", "%"), shown);
        assertEquals(5, columns.size());
        assertEquals("id " + Types.BIGINT + " int8 19 0 0 1", columns.get(0));
        assertEquals("shop " + Types.VARCHAR + " varchar 20 0 1 2", columns.get(1));
        assertEquals("amount " + Types.NUMERIC + " numeric 10 2 1 3", columns.get(2));
        assertTrue(columns.get(3).startsWith("tags " + Types.ARRAY + " _text"), columns.get(3));
        assertTrue(columns.get(4).startsWith("at " + Types.TIMESTAMP + " timestamptz"), columns.get(4));
    }

    @Test
    void keysAndIndexesAreThoseOfTheTable() throws SQLException {
        assertEquals(
                List.of("code 1 rates_pkey", "day 2 rates_pkey"),
                rows(meta.getPrimaryKeys(null, "public", "rates"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
        assertEquals(
                List.of("rates_pkey code f", "rates_pkey day f"),
                rows(
                        meta.getIndexInfo(null, "public", "rates", true, false),
                        "INDEX_NAME",
                        "COLUMN_NAME",
                        "NON_UNIQUE"));
        assertEquals(
                List.of("code", "day"),
                rows(
                        meta.getBestRowIdentifier(null, "public", "rates", DatabaseMetaData.bestRowSession, true),
                        "COLUMN_NAME"));
        assertEquals(List.of(), rows(meta.getImportedKeys(null, "public", "rates"), "FK_NAME"));
    }

    @Test
    void functionsHaveTheirParameters() throws SQLException {
        assertEquals(
                List.of("public twice"),
                rows(meta.getFunctions(null, "public", "%"), "FUNCTION_SCHEM", "FUNCTION_NAME"));
        assertEquals(
                List.of("returnValue int8", "x int8"),
                rows(meta.getFunctionColumns(null, "public", "twice", null), "COLUMN_NAME", "TYPE_NAME"));
    }

    @Test
    void typesAreKnownByTheirNames() throws SQLException {
        List<String> types = rows(meta.getTypeInfo(), "TYPE_NAME");
        assertTrue(
                types.containsAll(List.of("int8", "text", "numeric", "timestamptz", "bool", "uuid", "jsonb", "_int4")),
                types.toString());
    }
}
