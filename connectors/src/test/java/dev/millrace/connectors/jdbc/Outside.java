package dev.millrace.connectors.jdbc;

import dev.millrace.testing.database.DatabaseServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A database that a sink writes to, of one of the dialects; those in files are made by their drivers. */
record Outside(Dialect dialect, String url, String user) {
    /** All that this machine has. */
    static List<Outside> all(Path folder, Map<Dialect, DatabaseServer> servers) {
        List<Outside> all = new ArrayList<>();
        all.add(new Outside(Dialect.SQLITE, "jdbc:sqlite:" + folder.resolve("sqlite.db"), ""));
        all.add(new Outside(Dialect.DUCKDB, "jdbc:duckdb:" + folder.resolve("duck.db"), ""));
        servers.forEach((dialect, server) -> all.add(of(dialect, server)));
        return all;
    }

    static Outside of(Dialect dialect, DatabaseServer server) {
        String url = dialect == Dialect.MYSQL ? server.url() + "test" : server.url();
        return new Outside(dialect, url, server.user());
    }

    Connection connect() throws SQLException {
        return user.isEmpty() ? DriverManager.getConnection(url) : DriverManager.getConnection(url, user, "");
    }

    void run(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(dialect + ": " + e.getMessage(), e);
        }
    }

    List<String> rows(String sql) {
        List<String> rows = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet results = statement.executeQuery(sql)) {
            int columns = results.getMetaData().getColumnCount();
            while (results.next()) {
                List<String> values = new ArrayList<>();
                for (int column = 1; column <= columns; column++) {
                    values.add(String.valueOf(results.getString(column)));
                }
                rows.add(String.join("|", values));
            }
        } catch (SQLException e) {
            throw new IllegalStateException(dialect + ": " + e.getMessage(), e);
        }
        return rows;
    }

    @Override
    public String toString() {
        return dialect.title();
    }
}
