package dev.millrace.connectors.column;

import dev.millrace.type.Field;
import java.util.List;

/** Finds columns by the names that records have. */
public final class FieldNames {
    private FieldNames() {}

    /** The number of the field of that name, in any case if it is not there exactly; -1 if there is none. */
    public static int find(List<Field> fields, String name) {
        int folded = -1;
        for (int i = 0; i < fields.size(); i++) {
            if (fields.get(i).name().equals(name)) {
                return i;
            }
            if (folded < 0 && fields.get(i).name().equalsIgnoreCase(name)) {
                folded = i;
            }
        }
        return folded;
    }
}
