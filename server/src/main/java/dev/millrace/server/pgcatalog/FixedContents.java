package dev.millrace.server.pgcatalog;

import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.server.settings.Setting;
import java.util.List;
import java.util.Map;

/** What is the same in every database: schemas, types, the owner, settings. */
final class FixedContents {
    private static final int UTF8 = 6;

    private FixedContents() {}

    static void namespaces(NamedRows rows) {
        for (String schema : List.of("pg_catalog", "information_schema", "millrace", "public")) {
            rows.add("oid", Oids.ofSchema(schema), "nspname", schema, "nspowner", Oids.OWNER);
        }
    }

    static void types(NamedRows rows) {
        for (PgType type : PgType.values()) {
            String name = type.typeName();
            boolean pseudo = type == PgType.UNKNOWN || type == PgType.RECORD;
            type(rows, type.oid(), name, type.size(), pseudo ? "p" : "b", type.category(), 0, type.arrayOid());
            if (type.arrayOid() != 0) {
                type(rows, type.arrayOid(), "_" + name, -1, pseudo ? "p" : "b", "A", type.oid(), 0);
            }
        }
    }

    private static void type(
            NamedRows rows, int oid, String name, int size, String kind, String category, int element, int array) {
        String inOut = element == 0 ? name : "array_";
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
                element == 0 ? "-" : "array_subscript_handler",
                "typelem",
                element,
                "typarray",
                array,
                "typinput",
                inOut + "in",
                "typoutput",
                inOut + "out",
                "typreceive",
                inOut + "recv",
                "typsend",
                inOut + "send",
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

    static void databases(NamedRows rows) {
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
                0,
                "datcollate",
                "C.UTF-8",
                "datctype",
                "C.UTF-8");
    }

    static void accessMethods(NamedRows rows) {
        rows.add("oid", Oids.HEAP, "amname", "heap", "amhandler", "heap_tableam_handler", "amtype", "t");
        rows.add("oid", Oids.BTREE, "amname", "btree", "amhandler", "bthandler", "amtype", "i");
    }

    static void languages(NamedRows rows) {
        rows.add(
                "oid",
                Oids.SQL_LANGUAGE,
                "lanname",
                "sql",
                "lanowner",
                Oids.OWNER,
                "lanispl",
                false,
                "lanpltrusted",
                true);
    }

    static void collations(NamedRows rows) {
        rows.add(
                "oid",
                Oids.DEFAULT_COLLATION,
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
        rows.add("oid", 1663, "spcname", "pg_default", "spcowner", Oids.OWNER);
    }

    /** @param server values that the server was started with, by name */
    static void settings(NamedRows rows, Map<String, String> server) {
        for (Setting setting : Setting.values()) {
            String value = server.getOrDefault(setting.settingName(), setting.defaultValue());
            rows.add(
                    "name",
                    setting.settingName(),
                    "setting",
                    value,
                    "category",
                    "Millrace",
                    "short_desc",
                    setting.meaning(),
                    "context",
                    setting.isForSuperusers() ? "superuser" : "user",
                    "vartype",
                    setting.valueType(),
                    "source",
                    "default",
                    "boot_val",
                    setting.defaultValue(),
                    "reset_val",
                    value,
                    "pending_restart",
                    false);
        }
    }
}
