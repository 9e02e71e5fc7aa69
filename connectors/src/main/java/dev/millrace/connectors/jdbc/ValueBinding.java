package dev.millrace.connectors.jdbc;

import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Optional;

/** Gives values of rows to prepared statements, in the form that a database takes for its columns. Stateless. */
final class ValueBinding {
    private ValueBinding() {}

    /** @param value as {@link RowBytes} has it */
    static void bind(PreparedStatement statement, int parameter, Dialect dialect, DataType type, Optional<byte[]> value)
            throws SQLException {
        if (value.isEmpty()) {
            statement.setNull(parameter, dialect.takesTexts() ? Types.OTHER : nullType(type));
            return;
        }
        if (type.kind() == DataType.Kind.BYTEA) {
            statement.setBytes(parameter, value.get());
            return;
        }
        String text = new String(value.get(), StandardCharsets.UTF_8);
        if (dialect.takesTexts()) {
            statement.setObject(parameter, text, Types.OTHER);
            return;
        }
        switch (type.kind()) {
            case BOOLEAN -> statement.setBoolean(parameter, text.equals("t"));
            case SMALLINT, INTEGER -> statement.setInt(parameter, Integer.parseInt(text));
            case BIGINT -> statement.setLong(parameter, Long.parseLong(text));
            case REAL, DOUBLE -> statement.setDouble(parameter, Double.parseDouble(text));
            case NUMERIC, BIGNUM -> statement.setBigDecimal(parameter, new BigDecimal(text));
            case TIMESTAMPTZ -> statement.setString(parameter, dialect == Dialect.MYSQL ? withoutZone(text) : text);
            default -> statement.setString(parameter, text);
        }
    }

    /** MySQL's timestamps have no zone; its session's is UTC, as ours in texts. */
    private static String withoutZone(String text) {
        return text.endsWith("+00") ? text.substring(0, text.length() - 3) : text;
    }

    private static int nullType(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> Types.BOOLEAN;
            case SMALLINT, INTEGER -> Types.INTEGER;
            case BIGINT -> Types.BIGINT;
            case REAL, DOUBLE -> Types.DOUBLE;
            case NUMERIC, BIGNUM -> Types.DECIMAL;
            case BYTEA -> Types.VARBINARY;
            default -> Types.VARCHAR;
        };
    }
}
