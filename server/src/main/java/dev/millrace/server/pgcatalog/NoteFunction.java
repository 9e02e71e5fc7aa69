package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.udf.ScalarFunction;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What {@code obj_description} and {@code col_description} are short for: {@code relation_note(number, column)}, both as texts, the column counted from 1, or 0 for
 * the relation. NULL where there is nothing to say. Safe on any thread.
 */
final class NoteFunction implements ScalarFunction {
    static final String NAME = "relation_note";

    private final DatabaseCatalog catalog;
    private final Oids oids;
    private final RelationNotes notes;

    NoteFunction(DatabaseCatalog catalog, Oids oids, RelationNotes notes) {
        this.catalog = catalog;
        this.oids = oids;
        this.notes = notes;
    }

    @Override
    public @Nullable Object call(Object[] values) {
        if (!isNumber(values[0]) || !isNumber(values[1])) {
            return null;
        }
        int column = Integer.parseInt((String) values[1]);
        Optional<CatalogObject> relation = oids.name(Integer.parseInt((String) values[0]))
                .flatMap(name -> catalog.object(RelationNames.inCatalog(name)));
        return relation.flatMap(of -> column == 0
                        ? notes.of(of)
                        : column <= of.schema().size()
                                ? notes.of(of, of.schema().field(column - 1).name())
                                : Optional.empty())
                .orElse(null);
    }

    private static boolean isNumber(@Nullable Object text) {
        return text != null && ((String) text).matches("[0-9]{1,9}");
    }
}
