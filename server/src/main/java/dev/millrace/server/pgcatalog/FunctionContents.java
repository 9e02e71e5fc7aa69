package dev.millrace.server.pgcatalog;

import dev.millrace.expressions.user.UserCode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.server.role.AccessItem;
import dev.millrace.server.role.Language;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Functions as PostgreSQL's relations show them: those that users made. */
final class FunctionContents {

    private final DatabaseCatalog catalog;
    private final RoleContents roles;
    private final Oids oids;

    FunctionContents(DatabaseCatalog catalog, RoleContents roles, Oids oids) {
        this.catalog = catalog;
        this.roles = roles;
        this.oids = oids;
    }

    void addTo(Map<String, Consumer<NamedRows>> fillers) {
        fillers.put("pg_catalog.pg_proc", this::functions);
        fillers.put("pg_catalog.pg_function_texts", this::texts);
        fillers.put("information_schema.routines", this::routines);
        fillers.put("information_schema.parameters", this::parameters);
        fillers.put("pg_catalog.pg_routine_grants", this::grants);
    }

    /** A user's function with the object that it is in the catalog. */
    private record Made(CatalogObject object, UserFunction function) {
        String result() {
            return function.kind() == UserFunction.Kind.TABLE
                    ? "TABLE(" + list(function.returns().fields()) + ")"
                    : nameOf(function.returns());
        }

        String arguments() {
            return list(function.parameters());
        }

        /** An oidvector's text. */
        String typeNumbers() {
            return function.parameters().stream()
                    .map(field -> String.valueOf(PgType.oidOf(field.type())))
                    .collect(Collectors.joining(" "));
        }

        String types() {
            return function.parameters().stream()
                    .map(field -> nameOf(field.type()))
                    .collect(Collectors.joining(", "));
        }

        private static String list(List<Field> fields) {
            return fields.stream()
                    .map(field -> (field.name().startsWith("$") ? "" : field.name() + " ") + nameOf(field.type()))
                    .collect(Collectors.joining(", "));
        }

        boolean isSql() {
            return language() == Language.SQL;
        }

        Language language() {
            return switch (function.kind()) {
                case SQL, SQL_TABLE -> Language.SQL;
                case SCALAR, AGGREGATE, TABLE ->
                    Language.named(UserCode.language(function.code())).orElseThrow();
            };
        }
    }

    private static String nameOf(DataType type) {
        return type.kind() == DataType.Kind.ARRAY
                ? PgType.of(type).sqlName() + "[]"
                : PgType.of(type).sqlName();
    }

    private List<Made> made() {
        return catalog.objects().stream()
                .filter(object -> object.kind() == ObjectKind.FUNCTION)
                .flatMap(object -> catalog.userFunction(object.name()).stream().map(found -> new Made(object, found)))
                .toList();
    }

    private String schema(Made made) {
        return catalog.schemaOf(made.object().name());
    }

    private String name(Made made) {
        return catalog.withoutSchema(made.object().name());
    }

    private int oid(Made made) {
        return oids.of(schema(made) + "." + name(made) + "()");
    }

    private void functions(NamedRows rows) {
        builtIn(rows);
        for (Made made : made()) {
            UserFunction function = made.function();
            rows.add(
                    "oid",
                    oid(made),
                    "proname",
                    name(made),
                    "pronamespace",
                    oids.ofSchema(schema(made)),
                    "proowner",
                    roles.ownerOid(made.object().name()),
                    "prolang",
                    made.language().oid(),
                    "prokind",
                    function.kind() == UserFunction.Kind.AGGREGATE ? "a" : "f",
                    "prosecdef",
                    false,
                    "proretset",
                    function.kind() == UserFunction.Kind.TABLE,
                    "provolatile",
                    "i",
                    "pronargs",
                    function.parameters().size(),
                    "prorettype",
                    PgType.oidOf(function.returns()),
                    "proargtypes",
                    made.typeNumbers(),
                    "proargnames",
                    function.parameters().stream().map(Field::name).toList(),
                    "prosrc",
                    function.code(),
                    "proparallel",
                    "s",
                    "proisstrict",
                    false,
                    "proacl",
                    roles.access(Securable.function(made.object().name())));
        }
    }

    /** What is there without being made, and the functions that types are read and written by: drivers ask for both by name. */
    private void builtIn(NamedRows rows) {
        named(rows, FixedContents.typeFunctions(), "f");
        named(rows, Frontend.functions(true), "a");
        named(rows, Frontend.functions(false), "f");
    }

    private void named(NamedRows rows, Set<String> names, String kind) {
        for (String name : names) {
            if (name.indexOf(' ') >= 0) {
                continue; // a form of syntax
            }
            rows.add(
                    "oid",
                    oids.of("pg_catalog." + name + "()"),
                    "proname",
                    name,
                    "pronamespace",
                    Oids.PG_CATALOG,
                    "proowner",
                    Oids.OWNER,
                    "prolang",
                    Language.SQL.oid(),
                    "prokind",
                    kind,
                    "proretset",
                    false,
                    "provolatile",
                    "i",
                    "pronargs",
                    1,
                    "prorettype",
                    0,
                    "proargtypes",
                    "");
        }
    }

    /** What {@code pg_get_functiondef} and its kin give; of ours, PostgreSQL computes it. */
    private void texts(NamedRows rows) {
        for (Made made : made()) {
            rows.add(
                    "oid", oid(made),
                    "result", made.result(),
                    "arguments", made.arguments(),
                    "definition", made.object().definition(),
                    "type_numbers", made.typeNumbers(),
                    "types", made.types());
        }
    }

    private void routines(NamedRows rows) {
        for (Made made : made()) {
            rows.add(
                    names(made),
                    "routine_type",
                    "FUNCTION",
                    "data_type",
                    made.function().kind() == UserFunction.Kind.TABLE ? "record" : made.result(),
                    "routine_body",
                    made.isSql() ? "SQL" : "EXTERNAL",
                    "routine_definition",
                    made.function().code(),
                    "external_language",
                    made.language().name(),
                    "is_deterministic",
                    "YES",
                    "security_type",
                    "INVOKER");
        }
    }

    private void parameters(NamedRows rows) {
        for (Made made : made()) {
            int position = 0;
            for (Field parameter : made.function().parameters()) {
                rows.add(
                        specificName(made),
                        "ordinal_position",
                        ++position,
                        "parameter_mode",
                        "IN",
                        "parameter_name",
                        parameter.name().startsWith("$") ? Optional.empty() : parameter.name(),
                        "data_type",
                        nameOf(parameter.type()),
                        "udt_schema",
                        "pg_catalog",
                        "udt_name",
                        PgType.of(parameter.type()).typeName());
            }
        }
    }

    private void grants(NamedRows rows) {
        for (Made made : made()) {
            for (AccessItem item : roles.all(Securable.function(made.object().name()))) {
                rows.add(
                        names(made),
                        "grantor",
                        item.grantor(),
                        "grantee",
                        item.grantee().isEmpty() ? "PUBLIC" : item.grantee(),
                        "role",
                        item.grantee(),
                        "privilege_type",
                        item.privilege().name(),
                        "is_grantable",
                        item.grantable() ? "YES" : "NO");
            }
        }
    }

    private List<StandardName> names(Made made) {
        return List.of(specificName(made), new StandardName("routine", schema(made), name(made)));
    }

    private StandardName specificName(Made made) {
        return new StandardName("specific", schema(made), name(made) + "_" + oid(made));
    }
}
