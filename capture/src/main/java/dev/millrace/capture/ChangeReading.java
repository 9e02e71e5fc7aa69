package dev.millrace.capture;

import dev.millrace.connector.RowChange;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/** Makes changes of rows of Debezium's records. Owned by one thread. */
final class ChangeReading {
    /** What Debezium writes for a large value that PostgreSQL does not tell, as it did not change. */
    static final String UNAVAILABLE = "__millrace_unavailable_value";

    private final Schema schema;
    private final List<Integer> key;
    private final Consumer<String> notes;
    private final Set<String> noted = new HashSet<>();

    /** @param notes is told of each column that is there and not here, or here and not there, once */
    ChangeReading(Schema schema, List<Integer> key, Consumer<String> notes) {
        this.schema = schema;
        this.key = key;
        this.notes = notes;
    }

    /** What a record is about; empty for one that is no change of a row. */
    static Optional<String> operation(SourceRecord record) {
        return record.value() instanceof Struct envelope
                        && envelope.schema().field("op") != null
                        && envelope.schema().field("source") != null
                ? Optional.ofNullable(envelope.getString("op"))
                : Optional.empty();
    }

    /** The change that a record tells of. */
    RowChange change(SourceRecord record, boolean isDelete) {
        Struct envelope = (Struct) record.value();
        Struct row = isDelete ? envelope.getStruct("before") : envelope.getStruct("after");
        if (row == null) {
            throw MillraceException.external(
                    SqlState.DATA_EXCEPTION,
                    "a change has no row, as the log does not have whole rows: " + record.topic());
        }
        noteColumns(row);
        List<Optional<String>> values = new ArrayList<>(schema.size());
        Set<Integer> kept = new HashSet<>();
        for (int column = 0; column < schema.size(); column++) {
            Field field = schema.field(column);
            boolean isThere = row.schema().field(field.name()) != null && (!isDelete || key.contains(column));
            Object value = isThere ? row.get(field.name()) : null;
            if (UNAVAILABLE.equals(value) || isUnavailableBytes(value)) {
                kept.add(column);
                value = null;
            }
            values.add(text(field, value));
        }
        return isDelete ? RowChange.delete(values) : new RowChange(false, values, kept);
    }

    private static boolean isUnavailableBytes(@Nullable Object value) {
        return value instanceof String text
                && text.equals(HexFormat.of().formatHex(UNAVAILABLE.getBytes(StandardCharsets.UTF_8)));
    }

    private void noteColumns(Struct row) {
        row.schema().fields().stream()
                .map(org.apache.kafka.connect.data.Field::name)
                .filter(name -> schema.indexOf(name) < 0 && noted.add(name))
                .forEach(name -> notes.accept("column \"" + name + "\" is not one of the table, and is left out"));
        schema.names().stream()
                .filter(name -> row.schema().field(name) == null && noted.add(name))
                .forEach(
                        name -> notes.accept("column \"" + name + "\" is not there any more, and is NULL from now on"));
    }

    private static Optional<String> text(Field field, @Nullable Object value) {
        if (value == null) {
            return Optional.empty();
        } else if (value instanceof String text) {
            return Optional.of(adapted(field.type(), text));
        } else if (value instanceof BigDecimal number) {
            return Optional.of(number.toPlainString());
        } else if (value instanceof Number || value instanceof Boolean) {
            return Optional.of(value.toString());
        } else if (value instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return Optional.of("\\x" + HexFormat.of().formatHex(bytes));
        } else if (value instanceof byte[] bytes) {
            return Optional.of("\\x" + HexFormat.of().formatHex(bytes));
        }
        throw MillraceException.external(
                SqlState.DATATYPE_MISMATCH,
                "column \"" + field.name() + "\" is of a type there that is not read: "
                        + value.getClass().getSimpleName());
    }

    /** Debezium writes bytes as hexadecimal digits, and times of no zone as if it were UTC. */
    private static String adapted(DataType type, String text) {
        return switch (type.kind()) {
            case BYTEA -> text.startsWith("\\x") ? text : "\\x" + text;
            case DATE, TIME, TIMESTAMP -> text.endsWith("Z") ? text.substring(0, text.length() - 1) : text;
            default -> text;
        };
    }
}
