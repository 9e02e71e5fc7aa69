package dev.millrace.batch.text;

import dev.millrace.batch.Batch;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.DataType;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** Values as strings, for shells, messages and tests; hot paths use {@link VectorText}. */
public final class ValueText {
    private ValueText() {}

    /** The text of a value, or empty when it is NULL. */
    public static Optional<String> format(Batch batch, int column, int row) {
        return format(batch.schema().type(column), batch.column(column), row);
    }

    /** The same, dates and times in a style. */
    public static Optional<String> format(Batch batch, int column, int row, TimeStyle style) {
        return format(batch.schema().type(column), batch.column(column), row, style);
    }

    /** The text of a value, or empty when it is NULL. */
    public static Optional<String> format(DataType type, FieldVector vector, int row) {
        return format(type, vector, row, TimeStyle.PLAIN);
    }

    private static Optional<String> format(DataType type, FieldVector vector, int row, TimeStyle style) {
        if (type.kind() == DataType.Kind.NULL || vector.isNull(row)) {
            return Optional.empty();
        }
        try (TextBuffer text = new TextBuffer(vector.getAllocator(), 64)) {
            text.inStyle(style);
            VectorText.value(text, type, vector, row);
            return Optional.of(text.toString());
        }
    }
}
