package dev.millrace.testing.oracle;

import dev.millrace.batch.Batch;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * A DuckDB in memory that answers what we ought to answer. It runs in UTC and sorts NULLs as PostgreSQL does.
 *
 * <p>What to know when writing SQL for it: {@code /} between integers is a floating-point division ({@code //} is ours),
 * a division by zero is NULL, averages and deviations of exact numbers are doubles (compared within 1e-9), and a
 * percentile of a DECIMAL is a DECIMAL.
 */
public final class Oracle implements AutoCloseable {
    private final Connection connection;
    private final Map<String, Schema> tables = new HashMap<>();

    private Oracle(Connection connection) {
        this.connection = connection;
    }

    /** An empty database of its own. */
    public static Oracle open() {
        try {
            Oracle oracle = new Oracle(DriverManager.getConnection("jdbc:duckdb:"));
            oracle.execute("SET TimeZone = 'UTC'");
            oracle.execute("SET default_null_order = 'postgres'");
            oracle.execute("SET threads = 1");
            return oracle;
        } catch (SQLException e) {
            throw new OracleException("opening DuckDB", e);
        }
    }

    /** Creates a table, or replaces it by an empty one. */
    public void create(String table, Schema schema) {
        String columns = schema.fields().stream()
                .map(field -> quoted(field.name()) + " " + DuckTypes.nameOf(field.type()))
                .collect(Collectors.joining(", "));
        execute("CREATE OR REPLACE TABLE " + quoted(table) + " (" + columns + ")");
        tables.put(table, schema);
    }

    /** Adds rows to a table that {@link #create} made. */
    public void insert(String table, List<Row> rows) {
        Schema schema = Objects.requireNonNull(tables.get(table));
        try (DuckDBAppender appender = ((DuckDBConnection) connection).createAppender(table)) {
            for (Row each : rows) {
                Row row = TestBatches.canonical(schema, each);
                appender.beginRow();
                for (int column = 0; column < schema.size(); column++) {
                    DuckTypes.append(appender, schema.type(column), row.get(column));
                }
                appender.endRow();
            }
        } catch (SQLException e) {
            throw new OracleException("inserting into " + table, e);
        }
    }

    /** Adds the rows of an append-only batch; does not take it over. */
    public void insert(String table, Batch batch) {
        insert(table, TestBatches.rows(batch));
    }

    public void execute(String sql) {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new OracleException(sql, e);
        }
    }

    /** The rows of a query in its order, each value in the form that {@link Row} gives the types of {@code schema}. */
    public List<Row> query(String sql, Schema schema) {
        try (Statement statement = connection.createStatement();
                ResultSet results = statement.executeQuery(sql)) {
            int columns = results.getMetaData().getColumnCount();
            if (columns != schema.size()) {
                throw new AssertionError("DuckDB gives " + columns + " columns for (" + schema + "): " + sql);
            }
            List<Row> rows = new ArrayList<>();
            while (results.next()) {
                List<Object> values = new ArrayList<>(columns);
                for (int column = 0; column < columns; column++) {
                    Field field = schema.field(column);
                    values.add(DuckTypes.read(results, column + 1, field.type()));
                }
                rows.add(new Row(values));
            }
            return rows;
        } catch (SQLException e) {
            throw new OracleException(sql, e);
        }
    }

    /** How the multiset of {@code actual} differs from the query's; empty when it does not. */
    public String differences(String sql, Schema schema, ZSet actual) {
        return ZSet.of(query(sql, schema)).differences(actual);
    }

    /** How the rows in their order differ from the query's; empty when they do not. */
    public String differencesInOrder(String sql, Schema schema, List<Row> actual) {
        List<Row> expected = query(sql, schema);
        for (int row = 0; row < Math.min(expected.size(), actual.size()); row++) {
            if (!ZSet.nearlyEqual(expected.get(row).values(), actual.get(row).values())) {
                return "row " + (row + 1) + " is " + actual.get(row) + ", expected " + expected.get(row) + "\n";
            }
        }
        return expected.size() == actual.size() ? "" : actual.size() + " rows, expected " + expected.size() + "\n";
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new OracleException("closing DuckDB", e);
        }
    }

    /** DuckDB refused something; {@code getMessage} has its reason and the statement. */
    public static final class OracleException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OracleException(String statement, SQLException cause) {
            super(cause.getMessage() + "\nin: " + statement, cause);
        }
    }
}
