package dev.millrace.connectors.senml;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What a resolved record of SenML may have (RFC 8428, section 4.2), by its label and by a name that says more. */
enum SenmlField {
    NAME("n", "name", DataType.TEXT),
    UNIT("u", "unit", DataType.TEXT),
    VALUE("v", "value", DataType.DOUBLE),
    STRING("vs", "string_value", DataType.TEXT),
    BOOLEAN("vb", "boolean_value", DataType.BOOLEAN),
    DATA("vd", "data_value", DataType.BYTEA),
    SUM("s", "sum", DataType.DOUBLE),
    TIME("t", "time", DataType.TIMESTAMPTZ),
    UPDATE("ut", "update_time", DataType.DOUBLE);

    private final String label;
    private final String longName;
    private final DataType type;

    SenmlField(String label, String longName, DataType type) {
        this.label = label;
        this.longName = longName;
        this.type = type;
    }

    String label() {
        return label;
    }

    static Optional<SenmlField> named(String column) {
        return Arrays.stream(values())
                .filter(field -> field.label.equalsIgnoreCase(column) || field.longName.equalsIgnoreCase(column))
                .findFirst();
    }

    /** All of them as columns. */
    static Schema columns() {
        return new Schema(Arrays.stream(values())
                .map(field -> new Field(field.label, field.type, field != NAME && field != TIME))
                .toList());
    }

    static List<String> names() {
        return Arrays.stream(values())
                .map(field -> field.label + " or " + field.longName)
                .toList();
    }
}
