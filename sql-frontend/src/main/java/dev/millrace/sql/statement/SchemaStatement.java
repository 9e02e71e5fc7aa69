package dev.millrace.sql.statement;

import java.util.Optional;

/** Statements about schemas. DROP SCHEMA is a {@link Statement.Drop}, ALTER SCHEMA .. OWNER TO a {@link Statement.ChangeOwner}. */
public sealed interface SchemaStatement extends Statement.TableStatement {
    /**
     * CREATE SCHEMA.
     *
     * @param name without one it is called as its owner is
     * @param owner AUTHORIZATION; without one who makes it
     */
    record CreateSchema(Optional<String> name, boolean ifNotExists, Optional<String> owner)
            implements SchemaStatement {}
}
