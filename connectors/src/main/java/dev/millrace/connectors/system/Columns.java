package dev.millrace.connectors.system;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/** Writes schemas of the tables short: "name" doubles, "name:bigint", "name:text", "?" behind what may be NULL. */
final class Columns {
    private Columns() {}

    /** {@code ts} and the given columns. */
    static Schema of(String... columns) {
        List<Field> fields = new ArrayList<>();
        fields.add(new Field("ts", DataType.TIMESTAMPTZ, false));
        for (String column : columns) {
            boolean nullable = column.endsWith("?");
            String[] parts = (nullable ? column.substring(0, column.length() - 1) : column).split(":");
            fields.add(new Field(parts[0], parts.length == 1 ? DataType.DOUBLE : type(parts[1]), nullable));
        }
        return new Schema(fields);
    }

    private static DataType type(String name) {
        return switch (name) {
            case "bigint" -> DataType.BIGINT;
            case "integer" -> DataType.INTEGER;
            case "text" -> DataType.TEXT;
            default -> throw new IllegalArgumentException(name);
        };
    }
}
