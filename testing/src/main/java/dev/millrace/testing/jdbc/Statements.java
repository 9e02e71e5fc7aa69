package dev.millrace.testing.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Assertions;

/** What a test does with a connection, in a line each. */
public final class Statements {
    private Statements() {}

    /** Executes statements one after the other; their rows do not matter. */
    public static void run(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** The rows of a query in their order, values as text between bars, NULL as {@code null}. */
    public static List<String> rows(Connection connection, String sql) throws SQLException {
        return rows(connection, sql, column -> true);
    }

    /** The same of the columns that are wanted by their names. */
    public static List<String> rows(Connection connection, String sql, Predicate<String> columns) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> texts = new ArrayList<>();
            while (rows.next()) {
                List<String> row = new ArrayList<>();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    if (columns.test(rows.getMetaData().getColumnName(i))) {
                        row.add(String.valueOf(rows.getString(i)));
                    }
                }
                texts.add(String.join("|", row));
            }
            return texts;
        }
    }

    /** The error of a statement that must fail. */
    public static SQLException failure(Connection connection, String sql) {
        return Assertions.assertThrows(SQLException.class, () -> run(connection, sql));
    }

    /** The SQLSTATE of a statement that must fail. */
    public static String state(Connection connection, String sql) {
        return failure(connection, sql).getSQLState();
    }
}
