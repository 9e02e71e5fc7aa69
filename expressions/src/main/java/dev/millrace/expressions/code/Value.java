package dev.millrace.expressions.code;

import dev.millrace.type.DataType;
import java.util.List;

/**
 * A computed value: Java expressions without side effects, cheap enough to be repeated (locals, fields, constants).
 *
 * @param isNull whether it is NULL, a boolean expression; {@link #NEVER} when it cannot be
 * @param parts one expression per part of {@code repr}; defined but meaningless where the value is NULL
 */
record Value(DataType type, Repr repr, String isNull, List<String> parts) {
    static final String NEVER = "false";
    static final String ALWAYS = "true";

    Value {
        parts = List.copyOf(parts);
        assert parts.size() == repr.javaTypes().size() : repr + " of " + parts;
    }

    static Value of(DataType type, String isNull, String... parts) {
        return new Value(type, Repr.of(type), isNull, List.of(parts));
    }

    static Value nullOf(DataType type) {
        Repr repr = Repr.of(type);
        return new Value(
                type, repr, ALWAYS, repr.javaTypes().stream().map(Repr::zero).toList());
    }

    boolean neverNull() {
        return isNull.equals(NEVER);
    }

    /** The only part. */
    String code() {
        assert parts.size() == 1 : repr + " has several parts";
        return parts.get(0);
    }

    String part(int index) {
        return parts.get(index);
    }

    /** The high half of a NUMERIC. */
    String high() {
        return repr == Repr.WIDE ? parts.get(0) : "(" + parts.get(0) + " >> 63)";
    }

    /** The low half of a NUMERIC. */
    String low() {
        return repr == Repr.WIDE ? parts.get(1) : parts.get(0);
    }

    /** As arguments of a call. */
    String arguments() {
        return String.join(", ", parts);
    }

    /** The same value with another type of the same representation. */
    Value as(DataType newType) {
        return new Value(newType, repr, isNull, parts);
    }

    /** An expression for "any of these is NULL". */
    static String anyNull(List<Value> values) {
        List<String> flags = values.stream()
                .map(Value::isNull)
                .filter(flag -> !flag.equals(NEVER))
                .distinct()
                .toList();
        if (flags.isEmpty()) {
            return NEVER;
        }
        return flags.contains(ALWAYS) ? ALWAYS : String.join(" | ", flags);
    }
}
