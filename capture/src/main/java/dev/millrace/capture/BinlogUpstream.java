package dev.millrace.capture;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * MariaDB and MySQL, by their binary logs, as a replica. Immutable.
 *
 * @param connector Debezium's class for it
 * @param serverId by which the database knows its replicas: no two have the same
 */
record BinlogUpstream(String connector, String title, long serverId) implements Upstream {
    private static String url(SourceTable table) {
        return "jdbc:mariadb://" + table.resolvedHost() + ":" + table.port() + "/" + table.area();
    }

    @Override
    public Map<String, String> properties(SourceTable table) {
        Map<String, String> all = new HashMap<>();
        all.put("connector.class", connector);
        all.put("database.server.id", Long.toString(serverId));
        all.put("database.include.list", PostgresUpstream.literally(table.area()));
        all.put(
                "table.include.list",
                PostgresUpstream.literally(table.area()) + "\\." + PostgresUpstream.literally(table.name()));
        all.put("include.schema.changes", "false");
        all.put("bigint.unsigned.handling.mode", "precise");
        all.put("schema.history.internal", DefinitionsOfRun.class.getName());
        all.put("schema.history.internal.store.only.captured.tables.ddl", "true");
        return all;
    }

    @Override
    public void check(SourceTable table) {
        try (Connection connection = table.connect(url(table))) {
            requireKind(table, connection);
            Map<String, String> settings = new HashMap<>();
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(
                            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format', 'binlog_row_image')")) {
                while (rows.next()) {
                    settings.put(rows.getString(1), rows.getString(2));
                }
            }
            require(table, settings, "log_bin", "ON", "log_bin = binlog");
            require(table, settings, "binlog_format", "ROW", "binlog_format = ROW");
            require(table, settings, "binlog_row_image", "FULL", "binlog_row_image = FULL");
            table.checkColumns(connection, true);
        } catch (SQLException e) {
            throw table.failure(e);
        }
    }

    /** Each connector reads the rows of either database, and understands the log of its own alone. */
    private void requireKind(SourceTable table, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT version()")) {
            String version = rows.next() ? String.valueOf(rows.getString(1)) : "";
            String there = version.contains("MariaDB") ? "MariaDB" : "MySQL";
            if (!there.equals(title)) {
                throw MillraceException.user(
                                SqlState.WRONG_OBJECT_TYPE,
                                "the database of " + table + " is a " + there + " (" + version + "), not a " + title)
                        .withHint("connector = '" + there.toLowerCase(Locale.ROOT) + "-cdc'");
            }
        }
    }

    private static void require(
            SourceTable table, Map<String, String> settings, String name, String value, String configuration) {
        if (!value.equalsIgnoreCase(settings.getOrDefault(name, ""))) {
            throw MillraceException.external(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "the log of " + table + " cannot be followed: " + name + " is not " + value)
                    .withHint("in its configuration: " + configuration);
        }
    }

    @Override
    public void checkGoesOn(SourceTable table, Map<String, Object> offset) {
        Set<String> files = new HashSet<>();
        try (Connection connection = table.connect(url(table));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW BINARY LOGS")) {
            while (rows.next()) {
                files.add(rows.getString(1));
            }
        } catch (SQLException e) {
            throw table.failure(e);
        }
        String file = String.valueOf(offset.get("file"));
        if (!files.contains(file)) {
            throw MillraceException.external(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "what changed in " + table + " since cannot be had: " + file
                                    + " is not among the binary logs of " + title + " any more")
                    .withHint("DROP TABLE and create it again: it is read anew");
        }
    }

    @Override
    public void forget(SourceTable table) {
        // the database keeps nothing of replicas that have gone
    }

    @Override
    public String text(Map<String, Object> offset) {
        return offset.containsKey("file") ? offset.get("file") + ":" + offset.get("pos") : "";
    }
}
