package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A relation as PostgreSQL's catalog shows it.
 *
 * @param kind {@code relkind}: r, v or m
 * @param object ours, but for system relations
 */
record ShownRelation(String schemaName, String name, String kind, Schema schema, Optional<CatalogObject> object) {

    /** What our functions over the catalog read, and functions without arguments that are relations here. */
    private static final Set<String> INTERNAL = Set.of(
            "pg_catalog.pg_definitions",
            "pg_catalog.pg_function_texts",
            "pg_catalog.pg_get_keywords",
            "pg_catalog.pg_routine_grants",
            "pg_catalog.pg_table_grants",
            "pg_catalog.pg_listening_channels");

    static List<ShownRelation> all(DatabaseCatalog catalog) {
        Stream<ShownRelation> made = made(catalog, false);
        Stream<ShownRelation> system = catalog.systemRelations().stream()
                .filter(relation ->
                        !INTERNAL.contains(relation.name()) && !relation.name().startsWith("rw_catalog."))
                .map(ShownRelation::of);
        return Stream.concat(made, system).toList();
    }

    /** Those of sessions, each in the schema of its session. */
    static List<ShownRelation> temporary(DatabaseCatalog catalog) {
        return made(catalog, true).toList();
    }

    private static Stream<ShownRelation> made(DatabaseCatalog catalog, boolean temporary) {
        return catalog.objects().stream()
                .filter(object -> RelationNames.isOfSession(object.name()) == temporary)
                .flatMap(object -> kindOf(object).stream()
                        .map(kind -> new ShownRelation(
                                temporary ? RelationNames.prefix(object.name()) : catalog.schemaOf(object.name()),
                                temporary ? RelationNames.shown(object.name()) : catalog.withoutSchema(object.name()),
                                kind,
                                object.schema(),
                                Optional.of(object))));
    }

    private static ShownRelation of(SystemRelation relation) {
        int dot = relation.name().indexOf('.');
        return new ShownRelation(
                relation.name().substring(0, dot),
                relation.name().substring(dot + 1),
                "v",
                withoutOwnNumber(relation.schema()),
                Optional.empty());
    }

    /** PostgreSQL counts {@code tableoid} and {@code xmin} among the system's columns, which are not listed. */
    private static Schema withoutOwnNumber(Schema schema) {
        return new Schema(RelationList.listed(schema));
    }

    /** The query of a view without what is before it: PostgreSQL shows that apart; all of the text where it has none. */
    Optional<String> query() {
        return object.map(CatalogObject::queryText);
    }

    private static Optional<String> kindOf(CatalogObject object) {
        return switch (object.kind()) {
            case STREAM, TABLE -> Optional.of("r");
            case CONTINUOUS_QUERY, VIEW -> Optional.of("v");
            case MATERIALIZED_VIEW -> Optional.of("m");
            case SINK, QUERY_TEMPLATE, FUNCTION, INDEX, SCHEMA -> Optional.empty();
        };
    }

    /** The name in the catalog. */
    String catalogName() {
        return RelationNames.in(schemaName, name);
    }

    String qualifiedName() {
        return schemaName + "." + name;
    }

    /**
     * An index: of columns whose values are unique together, or one that was created.
     *
     * @param primary whether it is of the primary key
     * @param created if it was created by itself; else it is of a constraint
     */
    record Key(ShownRelation relation, String name, List<Integer> columns, boolean primary, Optional<Index> created) {
        boolean isConstraint() {
            return created.isEmpty();
        }

        /** Whether it is the key of a materialized view, which follows from its query. */
        boolean isOfView() {
            return primary && relation.kind.equals("m");
        }

        boolean isUnique() {
            return created.map(Index::unique).orElse(true);
        }

        String method() {
            return created.map(Index::method).orElse("btree");
        }

        /** Of each column PostgreSQL's bits: 1 for DESC, 2 for NULLS FIRST. */
        List<Integer> options() {
            return created.isEmpty()
                    ? columns.stream().map(column -> 0).toList()
                    : created.get().keys().stream()
                            .map(key -> (key.descending() ? 1 : 0) + (key.nullsFirst() ? 2 : 0))
                            .toList();
        }

        String indexName() {
            return relation.schemaName + "." + name;
        }

        String constraintName() {
            return relation.qualifiedName() + (primary ? " primary key" : " unique " + name);
        }

        List<String> columnNames() {
            return columns.stream()
                    .map(column -> relation.schema.field(column).name())
                    .toList();
        }

        /** The columns, counted from 1. */
        List<Integer> numbers() {
            return columns.stream().map(column -> column + 1).toList();
        }

        String indexDefinition() {
            String texts = created.map(index -> index.columnTexts(relation.schema))
                    .orElseGet(() -> String.join(
                            ", ", columnNames().stream().map(Identifiers::quote).toList()));
            return "CREATE " + (isUnique() ? "UNIQUE " : "") + "INDEX " + Identifiers.quote(name) + " ON "
                    + Identifiers.quote(relation.schemaName) + "." + Identifiers.quote(relation.name) + " USING "
                    + method() + " (" + texts
                    + ")";
        }

        String definition() {
            return (primary ? "PRIMARY KEY (" : "UNIQUE (") + String.join(", ", columnNames()) + ")";
        }
    }

    /** The indexes: of the primary key, of what else is unique, and those that were created. */
    List<Key> keys(DatabaseCatalog catalog) {
        List<Key> keys = new ArrayList<>();
        object.filter(table -> !table.primaryKey().isEmpty())
                .ifPresent(
                        table -> keys.add(new Key(this, name + "_pkey", table.primaryKey(), true, Optional.empty())));
        List<Index> created = object.isPresent() ? catalog.indexes(object.get().name()) : List.of();
        object.stream()
                .flatMap(table -> table.rules().uniques().stream())
                .filter(unique ->
                        created.stream().noneMatch(index -> index.name().equals(unique.name())))
                .forEach(unique -> {
                    List<Integer> columns =
                            unique.columns().stream().map(schema::indexOf).toList();
                    keys.add(new Key(this, unique.name(), columns, false, Optional.empty()));
                });
        created.forEach(index -> keys.add(
                new Key(this, catalog.withoutSchema(index.name()), index.columns(), false, Optional.of(index))));
        return keys;
    }
}
