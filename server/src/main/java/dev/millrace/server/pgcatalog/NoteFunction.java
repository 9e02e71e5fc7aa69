package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.udf.ScalarFunction;
import java.util.List;
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
        Optional<String> name = oids.name(Integer.parseInt((String) values[0]));
        return name.flatMap(catalog::systemRelation)
                .flatMap(relation -> note(relation, column))
                .or(() -> name.flatMap(of -> catalog.object(RelationNames.inCatalog(of)))
                        .flatMap(relation -> note(relation, column)))
                .orElse(null);
    }

    private static Optional<String> note(SystemRelation relation, int column) {
        List<String> meanings = relation.columnMeanings();
        if (column == 0) {
            return Optional.of(relation.meaning()).filter(meaning -> !meanings.isEmpty());
        }
        return column <= meanings.size() ? Optional.of(meanings.get(column - 1)) : Optional.empty();
    }

    private Optional<String> note(CatalogObject relation, int column) {
        if (column == 0) {
            return notes.of(relation);
        }
        return column <= relation.schema().size()
                ? notes.of(relation, relation.schema().field(column - 1).name())
                : Optional.empty();
    }

    private static boolean isNumber(@Nullable Object text) {
        return text != null && ((String) text).matches("[0-9]{1,9}");
    }
}
