package dev.millrace.connectors.jdbc;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The table that a sink writes to. Immutable.
 *
 * @param key places of the columns that identify a row; none if rows are only added
 */
record TargetTable(String name, Schema schema, List<Integer> key) {
    TargetTable {
        key = List.copyOf(key);
    }

    List<Integer> allColumns() {
        return IntStream.range(0, schema.size()).boxed().toList();
    }

    List<String> keyNames() {
        return key.stream().map(column -> schema.field(column).name()).toList();
    }

    /**
     * Looks whether the table is there with all columns, and whether its key is one.
     *
     * @throws MillraceException 42P01, 42703 or 42P10 if it is not; what the driver says for all else
     */
    void check(Connection connection, DatabaseAddress address) {
        String select = address.dialect().select(name, schema.names()) + " WHERE 1 = 0";
        try (PreparedStatement statement = connection.prepareStatement(select)) {
            statement.executeQuery().close();
        } catch (SQLException e) {
            throw MillraceException.external(
                            SqlState.UNDEFINED_TABLE,
                            "table \"" + name + "\" of " + address + " cannot be written to: " + address.reason(e))
                    .withHint("the table has to be there, with columns " + String.join(", ", schema.names())
                            + " (case counts)");
        }
        try {
            if (!key.isEmpty()
                    && !(address.dialect().checksKeys() ? takesUpserts(connection, address) : hasKey(connection))) {
                throw MillraceException.user(
                                SqlState.INVALID_COLUMN_REFERENCE,
                                "columns " + String.join(", ", keyNames())
                                        + " of option \"key\" are not a key of table \"" + name + "\" of " + address)
                        .withHint("it needs a PRIMARY KEY, or a unique index, of these columns and no others");
            }
        } catch (SQLException e) {
            throw address.failure(e);
        }
    }

    private boolean takesUpserts(Connection connection, DatabaseAddress address) {
        String upsert = address.dialect().upsert(name, schema.names(), keyNames());
        try (PreparedStatement statement = connection.prepareStatement(upsert)) {
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private boolean hasKey(Connection connection) throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        String[] parts = name.split("\\.", -1);
        String table = parts[parts.length - 1];
        String above = parts.length > 1 ? parts[parts.length - 2] : null;
        boolean isCatalog = !data.supportsSchemasInTableDefinitions(); // what MySQL calls a database
        String catalog = isCatalog && above != null ? above : connection.getCatalog();
        String schemaName = isCatalog ? null : above;
        Set<String> wanted = new HashSet<>(lower(keyNames()));
        List<String> primary = new ArrayList<>();
        try (ResultSet columns = data.getPrimaryKeys(catalog, schemaName, table)) {
            while (columns.next()) {
                primary.add(columns.getString("COLUMN_NAME"));
            }
        }
        if (wanted.equals(new HashSet<>(lower(primary)))) {
            return true;
        }
        Map<String, Set<String>> unique = new TreeMap<>();
        try (ResultSet columns = data.getIndexInfo(catalog, schemaName, table, true, true)) {
            while (columns.next()) {
                String column = columns.getString("COLUMN_NAME");
                if (column != null) {
                    unique.computeIfAbsent(columns.getString("INDEX_NAME"), index -> new HashSet<>())
                            .addAll(lower(List.of(column.replace("\"", ""))));
                }
            }
        }
        return unique.containsValue(wanted);
    }

    private static List<String> lower(List<String> names) {
        return names.stream().map(each -> each.toLowerCase(Locale.ROOT)).toList();
    }
}
