package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.pgcatalog.ShownRelation.Key;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.ForeignKey.Timing;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Foreign keys as PostgreSQL's catalog and the standard's show them. */
final class ForeignKeyContents {
    private final DatabaseCatalog catalog;

    ForeignKeyContents(DatabaseCatalog catalog) {
        this.catalog = catalog;
    }

    /**
     * A foreign key with its tables.
     *
     * @param unique the key that it references
     */
    record Shown(ShownRelation table, ForeignKey key, ShownRelation referenced, Key unique) {
        /** What its number is given for. */
        String numberedName() {
            return table.qualifiedName() + " foreign key " + key.name();
        }

        List<Integer> columns() {
            return numbers(table.schema(), key.columns());
        }

        List<Integer> referencedColumns() {
            return numbers(referenced.schema(), key.referenced());
        }

        private static List<Integer> numbers(Schema schema, List<String> columns) {
            return columns.stream().map(column -> schema.indexOf(column) + 1).toList();
        }

        boolean isDeferrable() {
            return key.timing() != Timing.NOT_DEFERRABLE;
        }

        boolean isDeferred() {
            return key.timing() == Timing.DEFERRED;
        }

        /** With the schema of the referenced table where it is not the one that is always searched. */
        String definition() {
            String name = Identifiers.quote(referenced.name());
            return key.text(
                    referenced.schemaName().equals("public")
                            ? name
                            : Identifiers.quote(referenced.schemaName()) + "." + name);
        }
    }

    /** All foreign keys of these relations, whose referenced tables are among them. */
    List<Shown> all(List<ShownRelation> relations) {
        List<Shown> all = new ArrayList<>();
        for (ShownRelation relation : relations) {
            List<ForeignKey> keys = relation.object()
                    .map(object -> object.rules().foreignKeys())
                    .orElse(List.of());
            for (ForeignKey key : keys) {
                Optional<ShownRelation> referenced = relations.stream()
                        .filter(other -> other.catalogName().equals(key.table()))
                        .findFirst();
                referenced
                        .flatMap(table -> unique(table, key))
                        .ifPresent(unique -> all.add(new Shown(relation, key, unique.relation(), unique)));
            }
        }
        return all;
    }

    private Optional<Key> unique(ShownRelation table, ForeignKey key) {
        Set<String> columns = new HashSet<>(key.referenced());
        return table.keys(catalog).stream()
                .filter(each -> each.isUnique()
                        && each.columns().size() == key.referenced().size()
                        && new HashSet<>(each.columnNames()).equals(columns))
                .findFirst();
    }
}
