package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.pgcatalog.ShownRelation.Key;
import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules.Check;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The relations of the SQL standard's {@code information_schema}. */
final class InformationSchema {
    private static final String CATALOG = Setting.DATABASE.defaultValue();

    private final DatabaseCatalog catalog;

    InformationSchema(DatabaseCatalog catalog) {
        this.catalog = catalog;
    }

    void addTo(Map<String, Consumer<NamedRows>> fillers) {
        fillers.put("information_schema.schemata", this::schemata);
        fillers.put("information_schema.tables", this::tables);
        fillers.put("information_schema.columns", this::columns);
        fillers.put("information_schema.views", this::views);
        fillers.put("information_schema.table_constraints", this::constraints);
        fillers.put("information_schema.check_constraints", this::checks);
        fillers.put("information_schema.key_column_usage", this::keyColumns);
        fillers.put("information_schema.constraint_column_usage", this::usedColumns);
        fillers.put("information_schema.referential_constraints", this::foreignKeys);
    }

    private void schemata(NamedRows rows) {
        for (String schema : SchemaContents.names(catalog)) {
            String owner = catalog.roles().owner(RelationNames.ofSchema(schema));
            rows.add("catalog_name", CATALOG, "schema_name", schema, "schema_owner", owner);
        }
    }

    /** Those of sessions among them: of others, too, as nobody says whose session asks. */
    private List<ShownRelation> relations() {
        return Stream.concat(ShownRelation.all(catalog).stream(), ShownRelation.temporary(catalog).stream())
                .toList();
    }

    private void tables(NamedRows rows) {
        for (ShownRelation relation : relations()) {
            boolean base = relation.kind().equals("r");
            boolean temporary = base && RelationNames.isOfSession(relation.catalogName());
            rows.add(
                    StandardName.of(relation),
                    "table_type",
                    temporary ? "LOCAL TEMPORARY" : base ? "BASE TABLE" : "VIEW",
                    "is_insertable_into",
                    base ? "YES" : "NO",
                    "is_typed",
                    "NO");
        }
    }

    private void columns(NamedRows rows) {
        for (ShownRelation relation : relations()) {
            for (int column = 0; column < relation.schema().size(); column++) {
                Field field = relation.schema().field(column);
                DataType type = field.type();
                boolean array = type.kind() == DataType.Kind.ARRAY;
                Optional<ColumnRule> identity =
                        RuleContents.of(relation, field.name()).filter(ColumnRule::isIdentity);
                Optional<String> byDefault = RuleContents.byDefault(relation, field.name());
                Optional<String> generation =
                        byDefault.isPresent() ? Optional.empty() : RuleContents.expression(relation, field.name());
                rows.add(
                        StandardName.of(relation),
                        "column_name",
                        field.name(),
                        "ordinal_position",
                        column + 1,
                        "is_nullable",
                        field.nullable() ? "YES" : "NO",
                        "data_type",
                        array ? "ARRAY" : PgType.of(type).sqlName(),
                        "character_maximum_length",
                        length(type),
                        "numeric_precision",
                        precision(type),
                        "numeric_precision_radix",
                        precision(type).map(digits -> isDecimal(type) ? 10 : 2),
                        "numeric_scale",
                        isDecimal(type) && type.precision() > 0 ? Optional.of(type.scale()) : Optional.empty(),
                        "datetime_precision",
                        isTime(type) ? Optional.of(6) : Optional.empty(),
                        "udt_catalog",
                        CATALOG,
                        "udt_schema",
                        "pg_catalog",
                        "udt_name",
                        (array ? "_" : "") + PgType.of(type).typeName(),
                        "column_default",
                        byDefault,
                        "is_identity",
                        identity.isPresent() ? "YES" : "NO",
                        "identity_generation",
                        identity.map(rule -> rule.kind() == ColumnRule.Kind.IDENTITY ? "BY DEFAULT" : "ALWAYS"),
                        "is_generated",
                        generation.isPresent() ? "ALWAYS" : "NEVER",
                        "generation_expression",
                        generation,
                        "is_updatable",
                        relation.kind().equals("r") ? "YES" : "NO");
            }
        }
    }

    private static Optional<Integer> length(DataType type) {
        boolean limited = type.kind() == DataType.Kind.VARCHAR || type.kind() == DataType.Kind.CHAR;
        return limited && type.precision() > 0 ? Optional.of(type.precision()) : Optional.empty();
    }

    private static Optional<Integer> precision(DataType type) {
        return switch (type.kind()) {
            case SMALLINT -> Optional.of(16);
            case INTEGER -> Optional.of(32);
            case BIGINT -> Optional.of(64);
            case REAL -> Optional.of(24);
            case DOUBLE -> Optional.of(53);
            case NUMERIC, BIGNUM -> type.precision() == 0 ? Optional.empty() : Optional.of(type.precision());
            default -> Optional.empty();
        };
    }

    private static boolean isDecimal(DataType type) {
        return type.isExact();
    }

    private static boolean isTime(DataType type) {
        return switch (type.kind()) {
            case TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL -> true;
            default -> false;
        };
    }

    private void views(NamedRows rows) {
        for (ShownRelation relation : ShownRelation.all(catalog)) {
            if (relation.kind().equals("v")) { // PostgreSQL has no materialized views there
                rows.add(
                        StandardName.of(relation),
                        "view_definition",
                        relation.query().map(query -> query + ";"),
                        "is_updatable",
                        "NO",
                        "is_insertable_into",
                        "NO");
            }
        }
    }

    private void checks(NamedRows rows) {
        for (ShownRelation relation : ShownRelation.all(catalog)) {
            for (Check check : RuleContents.checks(relation)) {
                rows.add(
                        new StandardName("constraint", relation.schemaName(), check.name()),
                        "check_clause",
                        check.text());
            }
        }
    }

    private void constraints(NamedRows rows) {
        for (ForeignKeyContents.Shown shown : references()) {
            rows.add(
                    List.of(name(shown), StandardName.of(shown.table())),
                    "constraint_type",
                    "FOREIGN KEY",
                    "is_deferrable",
                    shown.isDeferrable() ? "YES" : "NO",
                    "initially_deferred",
                    shown.isDeferred() ? "YES" : "NO");
        }
        for (ShownRelation relation : ShownRelation.all(catalog)) {
            for (Check check : RuleContents.checks(relation)) {
                rows.add(
                        List.of(
                                new StandardName("constraint", relation.schemaName(), check.name()),
                                StandardName.of(relation)),
                        "constraint_type",
                        "CHECK",
                        "is_deferrable",
                        "NO",
                        "initially_deferred",
                        "NO");
            }
            for (Key key : constraints(relation)) {
                rows.add(
                        keyNames(key),
                        "constraint_type",
                        key.primary() ? "PRIMARY KEY" : "UNIQUE",
                        "is_deferrable",
                        "NO",
                        "initially_deferred",
                        "NO");
            }
        }
    }

    private List<ForeignKeyContents.Shown> references() {
        return new ForeignKeyContents(catalog).all(ShownRelation.all(catalog));
    }

    private static StandardName name(ForeignKeyContents.Shown shown) {
        return new StandardName(
                "constraint", shown.table().schemaName(), shown.key().name());
    }

    private void foreignKeys(NamedRows rows) {
        for (ForeignKeyContents.Shown shown : references()) {
            rows.add(
                    List.of(
                            name(shown),
                            new StandardName(
                                    "unique_constraint",
                                    shown.referenced().schemaName(),
                                    shown.unique().name())),
                    "match_option",
                    shown.key().full() ? "FULL" : "NONE",
                    "update_rule",
                    shown.key().onUpdate().words(),
                    "delete_rule",
                    shown.key().onDelete().words());
        }
    }

    /** Of foreign keys the columns that are referenced. */
    private void usedColumns(NamedRows rows) {
        for (ForeignKeyContents.Shown shown : references()) {
            for (String column : shown.key().referenced()) {
                rows.add(List.of(name(shown), StandardName.of(shown.referenced())), "column_name", column);
            }
        }
        uniqueColumns(rows, false);
    }

    private void keyColumns(NamedRows rows) {
        for (ForeignKeyContents.Shown shown : references()) {
            for (int place = 0; place < shown.key().columns().size(); place++) {
                String referenced = shown.key().referenced().get(place);
                rows.add(
                        List.of(name(shown), StandardName.of(shown.table())),
                        "column_name",
                        shown.key().columns().get(place),
                        "ordinal_position",
                        place + 1,
                        "position_in_unique_constraint",
                        shown.unique().columnNames().indexOf(referenced) + 1);
            }
        }
        uniqueColumns(rows, true);
    }

    private void uniqueColumns(NamedRows rows, boolean ordered) {
        for (ShownRelation relation : ShownRelation.all(catalog)) {
            for (Key key : constraints(relation)) {
                for (int i = 0; i < key.columns().size(); i++) {
                    String column = key.columnNames().get(i);
                    rows.add(
                            keyNames(key),
                            "column_name",
                            column,
                            ordered ? "ordinal_position" : "column_name",
                            ordered ? (Object) (i + 1) : column);
                }
            }
        }
    }

    private List<Key> constraints(ShownRelation relation) {
        return relation.keys(catalog).stream().filter(Key::isConstraint).toList();
    }

    private static List<StandardName> keyNames(Key key) {
        return List.of(
                new StandardName("constraint", key.relation().schemaName(), key.name()),
                StandardName.of(key.relation()));
    }
}
