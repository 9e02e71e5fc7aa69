package dev.millrace.connectors.directory;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * In which directory a row goes: {@code day=2026-01-31/site=north}, as Hive has it. Columns that say so are not in the files. Immutable.
 *
 * @param columns that say so, in their order
 * @param others of the schema, in theirs
 */
public record PartitionColumns(Schema schema, List<Integer> columns, List<Integer> others) {
    private static final String NULL = "__HIVE_DEFAULT_PARTITION__";
    private static final int MOST_VALUE_BYTES = 200; // of a name of 255
    private static final Set<DataType.Kind> NESTED =
            Set.of(DataType.Kind.ARRAY, DataType.Kind.ROW, DataType.Kind.JSONB, DataType.Kind.BYTEA);

    public PartitionColumns {
        columns = List.copyOf(columns);
        others = List.copyOf(others);
    }

    /** As the option {@code partition_by} says: columns between commas. */
    public static PartitionColumns read(Schema schema, Options options) {
        List<Integer> columns = new ArrayList<>();
        for (String name : options.text("partition_by", "").split(",")) {
            String column = name.strip();
            if (column.isEmpty()) {
                continue;
            }
            int place = schema.indexOf(column);
            if (place < 0) {
                MillraceException error = MillraceException.user(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + column + "\" of option \"partition_by\" does not exist");
                throw Suggestion.nearest(column, schema.names())
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElse(error);
            }
            if (NESTED.contains(schema.type(place).kind()) || columns.contains(place)) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "column \"" + column + "\" of option \"partition_by\" "
                                + (columns.contains(place)
                                        ? "is there twice"
                                        : "has no values for names of directories"));
            }
            columns.add(place);
        }
        List<Integer> others = IntStream.range(0, schema.size())
                .filter(column -> !columns.contains(column))
                .boxed()
                .toList();
        if (others.isEmpty()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "option \"partition_by\" leaves no column for the files");
        }
        return new PartitionColumns(schema, columns, others);
    }

    /** The columns that are in the files. */
    public Schema written() {
        return schema.select(others);
    }

    /** The directory of a row, by "/"; empty where there are no such columns. */
    String place(Batch batch, int row, TextBuffer scratch) {
        if (columns.isEmpty()) {
            return "";
        }
        StringBuilder place = new StringBuilder();
        for (int column : columns) {
            place.append(place.isEmpty() ? "" : "/")
                    .append(escaped(schema.names().get(column)))
                    .append('=');
            if (batch.column(column).isNull(row)) {
                place.append(NULL);
                continue;
            }
            scratch.clear();
            VectorText.value(scratch, schema.type(column), batch.column(column), row);
            if (scratch.length() > MOST_VALUE_BYTES) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "a value of column \"" + schema.names().get(column) + "\" has " + scratch.length()
                                + " bytes, too many for the name of a directory");
            }
            place.append(escaped(new String(scratch.toBytes(), StandardCharsets.UTF_8)));
        }
        return place.toString();
    }

    /** As in addresses: what has a meaning to a file system, or to who reads the name, as %XX. */
    private static String escaped(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || "\"#%'*/:=?\\{[]^<>|\u007f".indexOf(c) >= 0 || i == 0 && c == '.') {
                out.append('%').append(String.format("%02X", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
