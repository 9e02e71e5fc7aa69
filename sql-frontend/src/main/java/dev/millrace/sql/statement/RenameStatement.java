package dev.millrace.sql.statement;

import dev.millrace.sql.statement.Statement.ObjectKind;

/**
 * Statements by which what is there has another name, and stays what it is. ALTER INDEX .. RENAME TO is an {@link IndexStatement}, of
 * columns an {@link AlterTable}.
 */
public sealed interface RenameStatement extends Statement.TableStatement {
    /** As what it is altered; TABLE may be said of any relation. */
    ObjectKind kind();

    /** The name that it has; of a schema, that in the catalog. */
    String name();

    /** ALTER .. RENAME TO: in its schema. @param newName of a schema, that in the catalog */
    record Rename(ObjectKind kind, String name, boolean ifExists, String newName) implements RenameStatement {}

    /** ALTER .. SET SCHEMA. */
    record SetSchema(ObjectKind kind, String name, boolean ifExists, String schema) implements RenameStatement {}

    /** RisingWave's ALTER .. SWAP WITH: each has the other's name then. */
    record Swap(ObjectKind kind, String name, String other) implements RenameStatement {}
}
