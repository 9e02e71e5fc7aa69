package dev.millrace.server.catalog;

import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.type.Field;

/** The types of columns as they were declared, with the digits of seconds or the fields that a relation's rules know. */
public final class DeclaredTypes {
    private DeclaredTypes() {}

    /** {@code timestamp(3) with time zone}, {@code interval minute}; most types by their name alone. */
    public static String text(Field field, TableRules rules) {
        Integer digits = rules.digits().get(field.name());
        String type = field.type().toString();
        if (digits == null) {
            return type;
        }
        return IntervalFields.ofNumber(digits)
                .map(fields -> type + " " + fields.lastName())
                .orElseGet(() -> type.replaceFirst("^[a-z]+", "$0(" + digits + ")"));
    }
}
