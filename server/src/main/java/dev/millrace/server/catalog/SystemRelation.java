package dev.millrace.server.catalog;

import dev.millrace.server.rows.RowBuilder;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.function.Consumer;

/**
 * A relation that the system computes about itself at the moment it is read.
 *
 * @param name with its schema, such as {@code millrace.watermarks}
 * @param meaning one line for users
 * @param columnMeanings one line for each column in its order; none at all where PostgreSQL's documentation says it
 * @param rows adds the rows, on the thread that reads
 */
public record SystemRelation(
        String name, String meaning, Schema schema, List<String> columnMeanings, Consumer<RowBuilder> rows) {
    /**
     * A column that may be NULL, of the type that its factory is called after; times are {@code timestamptz}.
     *
     * @param meaning one line for users
     */
    public record Column(Field field, String meaning) {
        private static Column of(String name, DataType type, String meaning) {
            return new Column(new Field(name, type, true), meaning);
        }

        public static Column text(String name, String meaning) {
            return of(name, DataType.TEXT, meaning);
        }

        public static Column bigint(String name, String meaning) {
            return of(name, DataType.BIGINT, meaning);
        }

        public static Column real(String name, String meaning) {
            return of(name, DataType.DOUBLE, meaning);
        }

        public static Column bool(String name, String meaning) {
            return of(name, DataType.BOOLEAN, meaning);
        }

        public static Column timestamp(String name, String meaning) {
            return of(name, DataType.TIMESTAMPTZ, meaning);
        }
    }

    public SystemRelation {
        columnMeanings = List.copyOf(columnMeanings);
    }

    /** One of our own. */
    public static SystemRelation of(String name, String meaning, List<Column> columns, Consumer<RowBuilder> rows) {
        return new SystemRelation(
                name,
                meaning,
                new Schema(columns.stream().map(Column::field).toList()),
                columns.stream().map(Column::meaning).toList(),
                rows);
    }
}
