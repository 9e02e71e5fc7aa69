package dev.millrace.server.catalog;

import dev.millrace.sql.catalog.ForeignKey;

/** A foreign key of a table. @param table the referencing one, by its name in the catalog */
public record Reference(String table, ForeignKey key) {
    /** What it is known by among those of all tables. */
    public String id() {
        return table + "\0" + key.name();
    }
}
