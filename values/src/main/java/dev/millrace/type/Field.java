package dev.millrace.type;

import java.util.Objects;

/** A named, typed column. {@code nullable} false promises that no value is NULL. */
public record Field(String name, DataType type, boolean nullable) {
    public Field {
        Objects.requireNonNull(name);
        Objects.requireNonNull(type);
    }

    public Field withName(String newName) {
        return new Field(newName, type, nullable);
    }

    @Override
    public String toString() {
        return name + " " + type + (nullable ? "" : " not null");
    }
}
