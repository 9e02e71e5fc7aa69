package dev.millrace.server.pgcatalog;

import dev.millrace.expressions.user.UserCode;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.pgcatalog.ShownRelation.Key;
import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.server.role.Roles;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.settings.SystemSettings;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Securable;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/** The relations and functions of {@code pg_catalog}, {@code information_schema} and {@code rw_catalog} for one database. Safe on any thread. */
public final class PgCatalog implements AutoCloseable {
    private static final int TYPE_OF_ROWS = 0;

    private final DatabaseCatalog catalog;
    private final RoleContents roles;
    private final Oids oids = new Oids();
    private final RuleContents rules = new RuleContents(oids);
    private final Map<String, Consumer<NamedRows>> fillers = new HashMap<>();
    private final Map<String, UserFunction> provided = new HashMap<>();
    private final List<SystemRelation> relations = new ArrayList<>();
    private final Map<String, UserFunction> views;
    private final UserFunction allSettings;

    /**
     * @param system how settings stand that are everybody's
     * @param notes what is said of relations
     */
    public PgCatalog(
            DatabaseCatalog catalog, Function<Setting, Optional<SystemSettings.Shown>> system, RelationNotes notes) {
        this.catalog = catalog;
        this.roles = new RoleContents(catalog);
        catalog.addListener(oids);
        fillers.put("pg_catalog.pg_namespace", rows -> new SchemaContents(catalog, roles, oids).namespaces(rows));
        fillers.put("pg_catalog.pg_default_acl", rows -> new SchemaContents(catalog, roles, oids).defaultAccess(rows));
        fillers.put("pg_catalog.pg_class", this::classes);
        fillers.put("pg_catalog.pg_attribute", this::attributes);
        fillers.put("pg_catalog.pg_attrdef", rows -> rules.defaults(shown(), rows));
        fillers.put("pg_catalog.pg_type", rows -> FixedContents.types(rows, oids));
        fillers.put("pg_catalog.pg_index", this::indexes);
        fillers.put("pg_catalog.pg_constraint", this::constraints);
        fillers.put("pg_catalog.pg_definitions", this::definitions);
        fillers.put("pg_catalog.pg_database", rows -> FixedContents.databases(rows, roles));
        fillers.put("pg_catalog.pg_am", FixedContents::accessMethods);
        fillers.put("pg_catalog.pg_language", rows -> FixedContents.languages(rows, roles));
        fillers.put("pg_catalog.pg_collation", FixedContents::collations);
        fillers.put("pg_catalog.pg_settings", rows -> FixedContents.settings(rows, catalog.serverSettings(), system));
        fillers.put("pg_catalog.pg_tables", this::tables);
        fillers.put("pg_catalog.pg_views", this::views);
        fillers.put("pg_catalog.pg_matviews", this::materializedViews);
        fillers.put("pg_catalog.pg_indexes", this::indexDefinitions);
        fillers.put("pg_catalog.pg_tablespace", FixedContents::tablespaces);
        new InformationSchema(catalog).addTo(fillers);
        roles.addTo(fillers);
        fillers.put("pg_catalog.pg_get_keywords", FixedContents::keywords);
        new FunctionContents(catalog, roles, oids).addTo(fillers);
        new CommentContents(catalog, oids).addTo(fillers);
        new DependencyContents(oids, this::shown, catalog).addTo(fillers);
        new RisingWaveContents(catalog, roles, oids).addTo(fillers);
        RelationList.read(oids)
                .forEach((name, schema) -> relations.add(new SystemRelation(
                        name, "as PostgreSQL has it", schema, List.of(), rows -> fill(name, schema, rows))));
        views = PgViews.read(relations);
        allSettings = PgViews.function("pg_show_all_settings", "pg_catalog.pg_settings", relations);
        provideFunctions(notes);
    }

    /** The relations, most of which are empty; each is computed when it is read. */
    public List<SystemRelation> relations() {
        return List.copyOf(relations);
    }

    /** A function of PostgreSQL's over its catalog. */
    public Optional<UserFunction> function(String name) {
        return Optional.ofNullable(name.equals(allSettings.name()) ? allSettings : provided.get(name))
                .or(() -> PgFunctions.function(name));
    }

    /** The query that a relation is short for whose rows depend on who reads it. */
    public Optional<UserFunction> view(String name) {
        boolean whole = name.indexOf('.') >= 0;
        return Optional.ofNullable(views.get(name))
                .or(() -> Optional.ofNullable(whole ? null : views.get("pg_catalog." + name)))
                .or(() -> Optional.ofNullable(whole ? null : views.get("rw_catalog." + name)));
    }

    /** Ends the functions: queries that call them fail from then on. */
    @Override
    public void close() {
        provided.values().forEach(function -> UserCode.withdraw(function.code()));
    }

    private void provideFunctions(RelationNotes notes) {
        List<Field> texts = new ArrayList<>();
        for (int i = 1; i <= PrivilegeQuestions.ARGUMENTS; i++) {
            texts.add(new Field("arg" + i, DataType.TEXT, true));
        }
        String privileges = UserCode.provide(PrivilegeQuestions.NAME, new PrivilegeQuestions(catalog, oids));
        provided.put(
                PrivilegeQuestions.NAME,
                new UserFunction(
                        PrivilegeQuestions.NAME, UserFunction.Kind.SCALAR, texts, DataType.BOOLEAN, privileges));
        provided.put(
                NoteFunction.NAME,
                new UserFunction(
                        NoteFunction.NAME,
                        UserFunction.Kind.SCALAR,
                        texts.subList(0, 2),
                        DataType.TEXT,
                        UserCode.provide(NoteFunction.NAME, new NoteFunction(catalog, oids, notes))));
        provided.put(
                PathFunction.NAME,
                new UserFunction(
                        PathFunction.NAME,
                        UserFunction.Kind.SCALAR,
                        texts.subList(0, 3),
                        DataType.TEXT,
                        UserCode.provide(PathFunction.NAME, new PathFunction(catalog, oids))));
        String items = UserCode.provide(AccessRows.NAME, new AccessRows(catalog.roles()));
        provided.put(
                AccessRows.NAME,
                new UserFunction(
                        AccessRows.NAME, UserFunction.Kind.TABLE, AccessRows.PARAMETERS, AccessRows.ROW, items));
    }

    private void fill(String name, Schema schema, RowBuilder rows) {
        fillers.getOrDefault(name, none -> {}).accept(new NamedRows(schema, rows, oids.of(name)));
    }

    private List<ShownRelation> shown() {
        return ShownRelation.all(catalog);
    }

    private int oid(ShownRelation relation) {
        return oids.of(relation.qualifiedName());
    }

    private int indexOid(Key key) {
        return oids.of(key.indexName());
    }

    private int constraintOid(Key key) {
        return oids.of(key.constraintName());
    }

    private void classes(NamedRows rows) {
        for (ShownRelation relation : shown()) {
            List<Key> keys = relation.keys(catalog);
            int columns = relation.schema().size();
            int accessMethod = relation.kind().equals("v") ? 0 : Oids.HEAP;
            relation(
                    rows,
                    oid(relation),
                    relation,
                    relation.name(),
                    relation.kind(),
                    columns,
                    !keys.isEmpty(),
                    accessMethod);
            for (Key key : keys) {
                relation(
                        rows,
                        indexOid(key),
                        relation,
                        key.name(),
                        "i",
                        key.columns().size(),
                        false,
                        key.method().equals("hash") ? Oids.HASH : Oids.BTREE);
            }
        }
    }

    private void relation(
            NamedRows rows,
            int oid,
            ShownRelation of,
            String name,
            String kind,
            int columns,
            boolean hasIndex,
            int accessMethod) {
        rows.add(
                "oid",
                oid,
                "relname",
                name,
                "relnamespace",
                oids.ofSchema(of.schemaName()),
                "reltype",
                TYPE_OF_ROWS,
                "reloftype",
                0,
                "relowner",
                of.object().isPresent() ? roles.ownerOid(of.catalogName()) : Oids.OWNER,
                "relacl",
                of.object().isPresent() && !kind.equals("i")
                        ? roles.access(Securable.relation(of.catalogName()))
                        : Optional.empty(),
                "relam",
                accessMethod,
                "relfilenode",
                oid,
                "reltablespace",
                0,
                "relpages",
                0,
                "reltuples",
                -1.0,
                "relallvisible",
                0,
                "reltoastrelid",
                0,
                "relhasindex",
                hasIndex,
                "relisshared",
                false,
                "relpersistence",
                "p",
                "relkind",
                kind,
                "relnatts",
                columns,
                "relchecks",
                kind.equals("i") ? 0 : RuleContents.checks(of).size(),
                "relhasrules",
                false,
                "relhastriggers", // as PostgreSQL has for foreign keys, which tools ask about then
                catalog.hasReferences(of.catalogName()) && name.equals(of.name()),
                "relhassubclass",
                false,
                "relrowsecurity",
                false,
                "relforcerowsecurity",
                false,
                "relispopulated",
                true,
                "relreplident",
                "d",
                "relispartition",
                false);
    }

    private void attributes(NamedRows rows) {
        for (ShownRelation relation : shown()) {
            for (int column = 0; column < relation.schema().size(); column++) {
                Field field = relation.schema().field(column);
                attribute(
                        rows,
                        oid(relation),
                        field,
                        RuleContents.modifier(relation, field),
                        column + 1,
                        RuleContents.of(relation, field.name()));
            }
            for (Key key : relation.keys(catalog)) {
                for (int i = 0; i < key.columns().size(); i++) {
                    Field field = relation.schema().field(key.columns().get(i));
                    attribute(
                            rows,
                            indexOid(key),
                            field,
                            RuleContents.modifier(relation, field),
                            i + 1,
                            Optional.empty());
                }
            }
        }
    }

    private static void attribute(
            NamedRows rows, int relation, Field field, int modifier, int number, Optional<ColumnRule> rule) {
        DataType type = field.type();
        rows.add(
                "attrelid",
                relation,
                "attname",
                field.name(),
                "atttypid",
                PgType.oidOf(type),
                "attstattarget",
                -1,
                "attlen",
                PgType.sizeOf(type),
                "attnum",
                number,
                "attndims",
                type.kind() == DataType.Kind.ARRAY ? 1 : 0,
                "attcacheoff",
                -1,
                "atttypmod",
                modifier,
                "attbyval",
                PgType.sizeOf(type) > 0 && PgType.sizeOf(type) <= 8,
                "attstorage",
                "p",
                "attalign",
                "i",
                "attcompression",
                "",
                "attnotnull",
                !field.nullable(),
                "atthasdef",
                rule.filter(of -> !of.isIdentity()).isPresent(),
                "atthasmissing",
                false,
                "attidentity",
                rule.filter(ColumnRule::isIdentity)
                        .map(of -> of.kind() == ColumnRule.Kind.IDENTITY ? "d" : "a")
                        .orElse(""),
                "attgenerated",
                rule.filter(of -> of.kind() == ColumnRule.Kind.GENERATED).isPresent() ? "s" : "",
                "attisdropped",
                false,
                "attislocal",
                true,
                "attinhcount",
                0,
                "attcollation",
                PgType.of(type).category().equals("S") && type.kind() != DataType.Kind.ARRAY
                        ? Oids.DEFAULT_COLLATION
                        : 0);
    }

    private void indexes(NamedRows rows) {
        for (Key unique : keys()) {
            List<Integer> key = unique.numbers();
            rows.add(
                    "indexrelid", indexOid(unique),
                    "indrelid", oid(unique.relation()),
                    "indnatts", key.size(),
                    "indnkeyatts", key.size(),
                    "indisunique", unique.isUnique(),
                    "indnullsnotdistinct", false,
                    "indisprimary", unique.primary(),
                    "indisexclusion", false,
                    "indimmediate", true,
                    "indisclustered", false,
                    "indisvalid", true,
                    "indcheckxmin", false,
                    "indisready", true,
                    "indislive", true,
                    "indisreplident", false,
                    "indkey", key,
                    "indoption", unique.options());
        }
    }

    private List<Key> keys() {
        return shown().stream()
                .flatMap(relation -> relation.keys(catalog).stream())
                .toList();
    }

    private List<ForeignKeyContents.Shown> foreignKeys() {
        return new ForeignKeyContents(catalog).all(shown());
    }

    private void constraints(NamedRows rows) {
        rules.constraints(shown(), rows);
        rules.foreignKeys(foreignKeys(), this::indexOid, rows);
        for (Key key : keys()) {
            if (!key.isConstraint() || key.isOfView()) {
                continue;
            }
            rows.addBoth(
                    rules.constraint(key.name(), key.primary() ? "p" : "u", key.relation()),
                    "oid",
                    constraintOid(key),
                    "conindid",
                    indexOid(key),
                    "confupdtype",
                    " ",
                    "confdeltype",
                    " ",
                    "confmatchtype",
                    " ",
                    "connoinherit",
                    true,
                    "conkey",
                    key.numbers());
        }
    }

    /** The texts that functions like {@code pg_get_viewdef} give, of ours: PostgreSQL computes them. */
    private void definitions(NamedRows rows) {
        for (ShownRelation relation : shown()) {
            relation.query().ifPresent(query -> rows.add("oid", oid(relation), "definition", query + ";"));
        }
        for (Key key : keys()) {
            rows.add("oid", indexOid(key), "definition", key.indexDefinition());
            if (key.isConstraint()) {
                rows.add("oid", constraintOid(key), "definition", key.definition());
            }
        }
        rules.definitions(shown(), rows);
        for (ForeignKeyContents.Shown shown : foreignKeys()) {
            rows.add("oid", oids.of(shown.numberedName()), "definition", shown.definition());
        }
    }

    private void tables(NamedRows rows) {
        for (ShownRelation relation : shown()) {
            if (relation.kind().equals("r")) {
                rows.add(
                        "schemaname",
                        relation.schemaName(),
                        "tablename",
                        relation.name(),
                        "tableowner",
                        owner(relation),
                        "hasindexes",
                        !relation.keys(catalog).isEmpty(),
                        "hasrules",
                        false,
                        "hastriggers",
                        false,
                        "rowsecurity",
                        false);
            }
        }
    }

    private String owner(ShownRelation relation) {
        return relation.object().isPresent() ? catalog.roles().owner(relation.catalogName()) : Roles.OWNER;
    }

    private void views(NamedRows rows) {
        for (ShownRelation relation : shown()) {
            if (relation.kind().equals("v")) {
                rows.add(
                        "schemaname", relation.schemaName(),
                        "viewname", relation.name(),
                        "viewowner", owner(relation),
                        "definition", relation.query().map(query -> query + ";"));
            }
        }
    }

    private void materializedViews(NamedRows rows) {
        for (ShownRelation relation : shown()) {
            if (relation.kind().equals("m")) {
                rows.add(
                        "schemaname",
                        relation.schemaName(),
                        "matviewname",
                        relation.name(),
                        "matviewowner",
                        owner(relation),
                        "hasindexes",
                        !relation.keys(catalog).isEmpty(),
                        "ispopulated",
                        true,
                        "definition",
                        relation.query().map(query -> query + ";"));
            }
        }
    }

    private void indexDefinitions(NamedRows rows) {
        for (Key key : keys()) {
            rows.add(
                    "schemaname", key.relation().schemaName(),
                    "tablename", key.relation().name(),
                    "indexname", key.name(),
                    "indexdef", key.indexDefinition());
        }
    }
}
