package dev.millrace.server.pgcatalog;

import dev.millrace.server.settings.Setting;

/**
 * How the SQL standard names a thing in its {@code information_schema}: in three columns, {@code what_catalog}, {@code
 * what_schema} and {@code what_name}.
 */
record StandardName(String what, String schema, String name) {
    static StandardName of(ShownRelation relation) {
        return new StandardName("table", relation.schemaName(), relation.name());
    }

    Object[] columns() {
        return new Object[] {
            what + "_catalog", Setting.DATABASE.defaultValue(), what + "_schema", schema, what + "_name", name
        };
    }
}
