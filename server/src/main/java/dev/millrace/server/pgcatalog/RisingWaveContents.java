package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * What is in the catalog as RisingWave's relations of {@code rw_catalog} show it, whose clients and dashboards read them: names, numbers,
 * owners and definitions. How a cluster runs them is not there to be shown. The numbers are those of {@code pg_class}; a sink and a function
 * have one as well.
 *
 * <p>Names and columns are those of the manual of RisingWave 2, "RisingWave catalogs".
 */
final class RisingWaveContents {
    private static final String SCHEMA = "rw_catalog.";

    private final DatabaseCatalog catalog;
    private final RoleContents roles;
    private final Oids oids;

    RisingWaveContents(DatabaseCatalog catalog, RoleContents roles, Oids oids) {
        this.catalog = catalog;
        this.roles = roles;
        this.oids = oids;
    }

    void addTo(Map<String, Consumer<NamedRows>> fillers) {
        fillers.put(SCHEMA + "rw_tables", rows -> objects(rows, ObjectKind.TABLE));
        fillers.put(SCHEMA + "rw_views", rows -> objects(rows, ObjectKind.VIEW));
        fillers.put(SCHEMA + "rw_materialized_views", rows -> objects(rows, ObjectKind.MATERIALIZED_VIEW));
        fillers.put(SCHEMA + "rw_sources", this::sources);
        fillers.put(SCHEMA + "rw_sinks", this::sinks);
        fillers.put(SCHEMA + "rw_indexes", this::indexes);
        fillers.put(SCHEMA + "rw_functions", this::functions);
        fillers.put(SCHEMA + "rw_relations", this::relations);
        fillers.put(SCHEMA + "rw_columns", this::columns);
        fillers.put(SCHEMA + "rw_depend", this::dependencies);
    }

    private List<CatalogObject> all(ObjectKind kind) {
        return catalog.objects(kind).stream()
                .filter(object -> !RelationNames.isOfSession(object.name()))
                .toList();
    }

    private int number(String name) {
        return oids.ofObject(catalog, name);
    }

    /** What each kind of object has. */
    private Object[] named(CatalogObject object, Object... more) {
        String schema = catalog.schemaOf(object.name());
        List<Object> values = new ArrayList<>(List.of(
                "id", number(object.name()),
                "name", catalog.withoutSchema(object.name()),
                "schema_id", oids.ofSchema(schema),
                "owner", roles.ownerOid(object.name()),
                "definition", definition(object)));
        values.addAll(Arrays.asList(more));
        return values.toArray();
    }

    /** None where options may have a password in them: all may read these relations. */
    private static Optional<String> definition(CatalogObject object) {
        boolean isOpen = switch (object.kind()) {
            case VIEW, MATERIALIZED_VIEW, INDEX -> true;
            case TABLE -> !object.options().containsKey("connector");
            case STREAM, SINK, CONTINUOUS_QUERY, QUERY_TEMPLATE, FUNCTION, SCHEMA -> false;
        };
        return Optional.of(object.definition()).filter(text -> isOpen);
    }

    private static Object[] made(CatalogObject object, Object... more) {
        List<Object> values = new ArrayList<>(
                List.of("initialized_at", object.createdMicros(), "created_at", object.createdMicros()));
        values.addAll(Arrays.asList(more));
        return values.toArray();
    }

    private void objects(NamedRows rows, ObjectKind kind) {
        for (CatalogObject object : all(kind)) {
            rows.add(
                    switch (kind) {
                        case TABLE -> named(object, made(object, "append_only", object.appendOnly()));
                        case MATERIALIZED_VIEW ->
                            named(
                                    object,
                                    made(
                                            object,
                                            "append_only",
                                            object.appendOnly(),
                                            "schema_name",
                                            catalog.schemaOf(object.name()),
                                            "background_ddl",
                                            false));
                        default -> named(object, made(object));
                    });
        }
    }

    /** Streams, and the tables that have a connector. */
    private void sources(NamedRows rows) {
        for (CatalogObject stream : all(ObjectKind.STREAM)) {
            source(rows, stream, Optional.empty());
        }
        for (CatalogObject table : all(ObjectKind.TABLE)) {
            if (table.options().containsKey("connector")) {
                source(rows, table, Optional.of(number(table.name())));
            }
        }
    }

    private void source(NamedRows rows, CatalogObject object, Optional<Integer> table) {
        rows.add(named(
                object,
                made(
                        object,
                        "connector",
                        Optional.ofNullable(object.options().get("connector")),
                        "columns",
                        object.schema().fields().stream().map(Field::name).toList(),
                        "append_only",
                        object.appendOnly(),
                        "associated_table_id",
                        table)));
    }

    private void sinks(NamedRows rows) {
        for (CatalogObject sink : all(ObjectKind.SINK)) {
            rows.add(named(
                    sink,
                    made(sink, "connector", Optional.ofNullable(sink.options().get("connector")))));
        }
    }

    private void indexes(NamedRows rows) {
        for (CatalogObject object : all(ObjectKind.INDEX)) {
            Index index = catalog.index(object.name()).orElseThrow();
            rows.add(named(
                    object,
                    made(
                            object,
                            "primary_table_id",
                            number(index.relation()),
                            "key_columns",
                            index.columns().stream().map(column -> column + 1).toList(),
                            "include_columns",
                            List.of())));
        }
    }

    private void functions(NamedRows rows) {
        for (CatalogObject object : all(ObjectKind.FUNCTION)) {
            UserFunction function = catalog.userFunction(object.name()).orElseThrow();
            rows.add(
                    "id",
                    number(object.name()),
                    "name",
                    function.name(),
                    "schema_id",
                    oids.ofSchema(catalog.schemaOf(object.name())),
                    "owner",
                    roles.ownerOid(object.name()),
                    "type",
                    function.kind().name().toLowerCase(Locale.ROOT),
                    "arg_type_ids",
                    function.parameters().stream()
                            .map(field -> PgType.oidOf(field.type()))
                            .toList(),
                    "return_type_id",
                    PgType.oidOf(function.returns()));
        }
    }

    private void relations(NamedRows rows) {
        for (CatalogObject object : catalog.objects()) {
            Optional<String> type = RelationNames.isOfSession(object.name()) ? Optional.empty() : type(object);
            type.ifPresent(of -> rows.add(named(object, "relation_type", of)));
        }
    }

    private static Optional<String> type(CatalogObject object) {
        return switch (object.kind()) {
            case STREAM -> Optional.of("source");
            case TABLE, VIEW, MATERIALIZED_VIEW, SINK, INDEX ->
                Optional.of(object.kind().sqlName());
            case CONTINUOUS_QUERY, QUERY_TEMPLATE, FUNCTION, SCHEMA -> Optional.empty();
        };
    }

    private void columns(NamedRows rows) {
        for (ShownRelation relation : ShownRelation.all(catalog)) {
            if (relation.object().isEmpty()) {
                continue;
            }
            CatalogObject object = relation.object().get();
            for (int column = 0; column < relation.schema().size(); column++) {
                Field field = relation.schema().field(column);
                rows.add(
                        "relation_id",
                        number(object.name()),
                        "name",
                        field.name(),
                        "position",
                        column + 1,
                        "is_hidden",
                        false,
                        "is_primary_key",
                        object.primaryKey().contains(column),
                        "is_generated",
                        RuleContents.of(relation, field.name())
                                .filter(rule -> rule.kind() == ColumnRule.Kind.GENERATED)
                                .isPresent(),
                        "is_nullable",
                        field.nullable(),
                        "data_type",
                        PgType.of(field.type()).sqlName(),
                        "type_oid",
                        PgType.oidOf(field.type()),
                        "type_len",
                        PgType.sizeOf(field.type()),
                        "udt_type",
                        PgType.of(field.type()).typeName());
            }
        }
    }

    private Stream<String> reads(CatalogObject object) {
        return object.kind() == ObjectKind.INDEX
                ? catalog.index(object.name()).map(Index::relation).stream()
                : object.reads().stream();
    }

    private void dependencies(NamedRows rows) {
        for (CatalogObject object : catalog.objects()) {
            if (type(object).isPresent() && !RelationNames.isOfSession(object.name())) {
                reads(object)
                        .filter(read -> catalog.object(read)
                                .flatMap(RisingWaveContents::type)
                                .isPresent())
                        .sorted()
                        .forEach(read -> rows.add("objid", number(object.name()), "refobjid", number(read)));
            }
        }
    }
}
