package dev.millrace.type;

import java.util.ArrayList;
import java.util.List;

/** The columns of a relation or batch, in order. Names need not be unique. */
public record Schema(List<Field> fields) {
    public Schema {
        fields = List.copyOf(fields);
    }

    public static Schema of(Field... fields) {
        return new Schema(List.of(fields));
    }

    public int size() {
        return fields.size();
    }

    public Field field(int column) {
        return fields.get(column);
    }

    public DataType type(int column) {
        return fields.get(column).type();
    }

    /** The first column of this name, or -1. */
    public int indexOf(String name) {
        for (int column = 0; column < fields.size(); column++) {
            if (fields.get(column).name().equals(name)) {
                return column;
            }
        }
        return -1;
    }

    public List<String> names() {
        return fields.stream().map(Field::name).toList();
    }

    public List<DataType> types() {
        return fields.stream().map(Field::type).toList();
    }

    /** The schema of the given columns, in that order. */
    public Schema select(List<Integer> columns) {
        return new Schema(columns.stream().map(fields::get).toList());
    }

    /** This schema followed by the columns of another. */
    public Schema concat(Schema other) {
        List<Field> all = new ArrayList<>(fields);
        all.addAll(other.fields);
        return new Schema(all);
    }

    @Override
    public String toString() {
        return String.join(", ", fields.stream().map(Field::toString).toList());
    }
}
