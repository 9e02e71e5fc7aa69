package dev.millrace.connectors.registry;

import dev.millrace.connectors.column.FieldNames;
import dev.millrace.format.DecoderContext;
import dev.millrace.type.Schema;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Says once of each field that it came, or that it went: schemas are held against the first that was met, as a relation may leave out
 * fields on purpose. Owned by one thread.
 */
public final class SchemaChanges {
    private static final int MOST_NOTES = 100;

    private final Schema columns;
    private final DecoderContext context;
    private final Set<String> said = new HashSet<>();
    private Optional<Set<String>> first = Optional.empty();

    public SchemaChanges(Schema columns, DecoderContext context) {
        this.columns = columns;
        this.context = context;
    }

    /** @param fields the names of a record's fields by a schema that was not met before */
    public void seen(String schema, Set<String> fields) {
        if (first.isEmpty()) {
            first = Optional.of(Set.copyOf(fields));
            return;
        }
        for (String field : fields) {
            boolean isColumn = FieldNames.find(columns.fields(), field) >= 0;
            if (!isColumn && !first.get().contains(field)) {
                note(field, schema + " has a field \"" + field + "\" that is no column: it is left out");
            }
        }
        for (String field : first.get()) {
            int column = FieldNames.find(columns.fields(), field);
            if (column >= 0 && !fields.contains(field)) {
                note(
                        field,
                        schema + " has no field \"" + field + "\" any more: column \""
                                + columns.field(column).name() + "\" is its default, or NULL");
            }
        }
    }

    private void note(String field, String text) {
        if (said.size() < MOST_NOTES && said.add(field)) {
            context.note(text);
        }
    }
}
