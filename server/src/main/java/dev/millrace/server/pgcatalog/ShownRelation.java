package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A relation as PostgreSQL's catalog shows it.
 *
 * @param kind {@code relkind}: r, v or m
 * @param object ours, but for system relations
 */
record ShownRelation(String schemaName, String name, String kind, Schema schema, Optional<CatalogObject> object) {

    static List<ShownRelation> all(DatabaseCatalog catalog) {
        Stream<ShownRelation> made = catalog.objects().stream()
                .flatMap(object -> kindOf(object).stream()
                        .map(kind -> new ShownRelation(
                                "public", object.name(), kind, object.schema(), Optional.of(object))));
        return Stream.concat(made, catalog.systemRelations().stream().map(ShownRelation::of))
                .toList();
    }

    private static ShownRelation of(SystemRelation relation) {
        int dot = relation.name().indexOf('.');
        return new ShownRelation(
                relation.name().substring(0, dot),
                relation.name().substring(dot + 1),
                "v",
                relation.schema(),
                Optional.empty());
    }

    private static Optional<String> kindOf(CatalogObject object) {
        return switch (object.kind()) {
            case STREAM, TABLE -> Optional.of("r");
            case CONTINUOUS_QUERY -> Optional.of("v");
            case MATERIALIZED_VIEW -> Optional.of("m");
            case SINK, QUERY_TEMPLATE, FUNCTION -> Optional.empty();
        };
    }

    String qualifiedName() {
        return schemaName + "." + name;
    }

    List<Integer> primaryKey() {
        return object.map(CatalogObject::primaryKey).orElse(List.of());
    }

    String keyName() {
        return name + "_pkey";
    }

    /** The columns of the key, as a definition names them. */
    String keyColumns() {
        return String.join(
                ", ",
                primaryKey().stream().map(column -> schema.field(column).name()).toList());
    }
}
