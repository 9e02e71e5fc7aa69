package dev.millrace.connectors.directory;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What DuckDB reads of files. */
public final class DuckFiles {
    private DuckFiles() {}

    /** Rows, columns joined by "|", NULL as "~". */
    public static List<String> rows(String sql) {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (result.next()) {
                StringBuilder row = new StringBuilder();
                for (int column = 1; column <= result.getMetaData().getColumnCount(); column++) {
                    String value = result.getString(column);
                    row.append(column == 1 ? "" : "|").append(value == null ? "~" : value);
                }
                rows.add(row.toString());
            }
            return rows;
        } catch (SQLException e) {
            throw new AssertionError(sql + ": " + e.getMessage(), e);
        }
    }
}
