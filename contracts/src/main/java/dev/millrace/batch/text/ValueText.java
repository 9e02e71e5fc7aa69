package dev.millrace.batch.text;

import dev.millrace.batch.Batch;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ZoneClock;
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

    /** The same, instants as clocks of a time zone show them; empty for UTC. */
    public static Optional<String> format(Batch batch, int column, int row, Optional<ZoneClock> clock) {
        return format(batch.schema().type(column), batch.column(column), row, clock);
    }

    /** The text of a value, or empty when it is NULL. */
    public static Optional<String> format(DataType type, FieldVector vector, int row) {
        return format(type, vector, row, Optional.empty());
    }

    private static Optional<String> format(DataType type, FieldVector vector, int row, Optional<ZoneClock> clock) {
        if (type.kind() == DataType.Kind.NULL || vector.isNull(row)) {
            return Optional.empty();
        }
        try (TextBuffer text = new TextBuffer(vector.getAllocator(), 64)) {
            text.inZone(clock);
            VectorText.value(text, type, vector, row);
            return Optional.of(text.toString());
        }
    }
}
