package dev.millrace.connectors.jdbc;

import dev.millrace.type.DataType;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.Optional;

/** Values of results as the texts that our columns take. Stateless. */
final class ValueReading {
    private ValueReading() {}

    /** The value of a column; empty if it is NULL. */
    static Optional<String> text(ResultSet results, int column, DataType type) throws SQLException {
        if (type.kind() == DataType.Kind.BYTEA) {
            return Optional.ofNullable(results.getBytes(column))
                    .map(bytes -> "\\x" + HexFormat.of().formatHex(bytes));
        }
        return Optional.ofNullable(results.getString(column));
    }
}
