package dev.millrace.server.pgcatalog;

import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.server.role.Language;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.settings.SystemSettings;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.text.Keywords;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What is the same in every database: schemas, types, the owner, settings. */
final class FixedContents {
    private static final int UTF8 = 6;
    private static final String ARRAY_PREFIX = "array_";

    /** A function that is not there, as the type regproc has it. */
    private static final String NO_FUNCTION = "-";

    private FixedContents() {}

    /** Types that columns here do not have, and that clients look for. */
    private record ForeignType(int oid, String name, int size, String category, int element, int array) {}

    private static final List<ForeignType> FOREIGN_TYPES = List.of(
            new ForeignType(18, "char", 1, "Z", 0, 1002),
            new ForeignType(19, "name", 64, "S", 18, 1003),
            new ForeignType(22, "int2vector", -1, "A", 21, 1006),
            new ForeignType(24, "regproc", 4, "N", 0, 1008),
            new ForeignType(26, "oid", 4, "N", 0, 1028),
            new ForeignType(30, "oidvector", -1, "A", 26, 1013),
            new ForeignType(114, "json", -1, "U", 0, 199),
            new ForeignType(2205, "regclass", 4, "N", 0, 2210),
            new ForeignType(2206, "regtype", 4, "N", 0, 2211),
            new ForeignType(4089, "regnamespace", 4, "N", 0, 4090),
            new ForeignType(4096, "regrole", 4, "N", 0, 4097));

    static void types(NamedRows rows, Oids oids) {
        for (PgType type : PgType.values()) {
            String name = type.typeName();
            boolean pseudo = type == PgType.UNKNOWN || type == PgType.RECORD;
            type(rows, oids, type.oid(), name, type.size(), pseudo ? "p" : "b", type.category(), 0, type.arrayOid());
            if (type.arrayOid() != 0) {
                type(rows, oids, type.arrayOid(), "_" + name, -1, pseudo ? "p" : "b", "A", type.oid(), 0);
            }
        }
        for (ForeignType type : FOREIGN_TYPES) {
            type(rows, oids, type.oid, type.name, type.size, "b", type.category, type.element, type.array);
            type(rows, oids, type.array, "_" + type.name, -1, "b", "A", type.oid, 0);
        }
    }

    /** The names of the functions that types are read and written by. */
    static Set<String> typeFunctions() {
        Stream<String> names = Stream.concat(
                Stream.of(PgType.values()).map(PgType::typeName),
                FOREIGN_TYPES.stream().map(ForeignType::name));
        return Stream.concat(names, Stream.of(ARRAY_PREFIX))
                .flatMap(name -> Stream.of("in", "out", "recv", "send").map(end -> name + end))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void type(
            NamedRows rows,
            Oids oids,
            int oid,
            String name,
            int size,
            String kind,
            String category,
            int element,
            int array) {
        String inOut = name.startsWith("_") ? ARRAY_PREFIX : name;
        rows.add(
                "oid",
                oid,
                "typname",
                name,
                "typnamespace",
                Oids.PG_CATALOG,
                "typowner",
                Oids.OWNER,
                "typlen",
                size,
                "typbyval",
                size > 0 && size <= 8,
                "typtype",
                kind,
                "typcategory",
                category,
                "typispreferred",
                name.equals("text") || name.equals("float8") || name.equals("timestamptz"),
                "typisdefined",
                true,
                "typdelim",
                ",",
                "typrelid",
                0,
                "typsubscript",
                name.startsWith("_") ? "array_subscript_handler" : "-",
                "typelem",
                element,
                "typarray",
                array,
                "typinput",
                oids.of("pg_catalog." + inOut + "in()"),
                "typoutput",
                oids.of("pg_catalog." + inOut + "out()"),
                "typreceive",
                oids.of("pg_catalog." + inOut + "recv()"),
                "typsend",
                oids.of("pg_catalog." + inOut + "send()"),
                "typalign",
                "i",
                "typstorage",
                "p",
                "typnotnull",
                false,
                "typbasetype",
                0,
                "typtypmod",
                -1,
                "typndims",
                0,
                "typcollation",
                category.equals("S") ? Oids.DEFAULT_COLLATION : 0);
    }

    static void keywords(NamedRows rows) {
        for (String word : Keywords.all()) {
            boolean reserved = Keywords.isReserved(word);
            rows.add(
                    "word", word,
                    "catcode", reserved ? "R" : "U",
                    "catdesc", reserved ? "reserved" : "unreserved");
        }
    }

    static void databases(NamedRows rows, RoleContents roles) {
        rows.add(
                "oid",
                Oids.DATABASE,
                "datname",
                Setting.DATABASE.defaultValue(),
                "datdba",
                Oids.OWNER,
                "encoding",
                UTF8,
                "datlocprovider",
                "c",
                "datistemplate",
                false,
                "datallowconn",
                true,
                "datconnlimit",
                -1,
                "dattablespace",
                Oids.DEFAULT_TABLESPACE,
                "datcollate",
                "C.UTF-8",
                "datctype",
                "C.UTF-8",
                "datacl",
                roles.access(new Securable(Securable.Kind.DATABASE, Setting.DATABASE.defaultValue())));
    }

    static void accessMethods(NamedRows rows) {
        rows.add("oid", Oids.HEAP, "amname", "heap", "amhandler", NO_FUNCTION, "amtype", "t");
        rows.add("oid", Oids.BTREE, "amname", "btree", "amhandler", NO_FUNCTION, "amtype", "i");
        rows.add("oid", Oids.HASH, "amname", "hash", "amhandler", NO_FUNCTION, "amtype", "i");
    }

    static void languages(NamedRows rows, RoleContents roles) {
        for (Language language : Language.values()) {
            boolean procedural = language != Language.SQL;
            rows.add(
                    "oid",
                    language.oid(),
                    "lanname",
                    language.sqlName(),
                    "lanowner",
                    Oids.OWNER,
                    "lanispl",
                    procedural,
                    "lanpltrusted",
                    language.isTrusted(),
                    "lanplcallfoid",
                    procedural ? language.oid() : 0,
                    "lanacl",
                    roles.access(new Securable(Securable.Kind.LANGUAGE, language.sqlName())));
        }
    }

    static void collations(NamedRows rows) {
        rows.add(
                "oid",
                Oids.DEFAULT_COLLATION,
                "collowner",
                Oids.OWNER,
                "collname",
                "default",
                "collnamespace",
                Oids.PG_CATALOG,
                "collprovider",
                "d",
                "collisdeterministic",
                true,
                "collencoding",
                -1);
    }

    static void tablespaces(NamedRows rows) {
        rows.add("oid", Oids.DEFAULT_TABLESPACE, "spcname", "pg_default", "spcowner", Oids.OWNER);
        rows.add("oid", Oids.SHARED_TABLESPACE, "spcname", "pg_global", "spcowner", Oids.OWNER);
    }

    /**
     * @param server values that the server was started with, by name
     * @param system how those stand that are everybody's
     */
    static void settings(
            NamedRows rows, Map<String, String> server, Function<Setting, Optional<SystemSettings.Shown>> system) {
        rows.add("name", "max_index_keys", "setting", "32", "context", "internal", "vartype", "integer");
        PassiveSettings.defaults()
                .forEach((name, value) -> rows.add(
                        "name",
                        name,
                        "setting",
                        value,
                        "category",
                        "PostgreSQL",
                        "short_desc",
                        PassiveSettings.MEANING,
                        "context",
                        "user",
                        "vartype",
                        "string",
                        "boot_val",
                        value,
                        "reset_val",
                        value));
        for (Setting setting : Setting.values()) {
            String value = server.getOrDefault(setting.settingName(), setting.defaultValue());
            SystemSettings.Shown shown = system.apply(setting)
                    .orElse(new SystemSettings.Shown(
                            value,
                            server.containsKey(setting.settingName()) ? "configuration file" : "default",
                            value,
                            setting.defaultValue()));
            rows.add(
                    "name",
                    setting.settingName(),
                    "setting",
                    shown.value(),
                    "category",
                    "Millrace",
                    "short_desc",
                    setting.meaning(),
                    "context",
                    setting.isForSuperusers() ? "superuser" : "user",
                    "vartype",
                    setting.valueType(),
                    "source",
                    shown.source(),
                    "boot_val",
                    shown.standard(),
                    "reset_val",
                    shown.begins(),
                    "pending_restart",
                    false);
        }
    }
}
