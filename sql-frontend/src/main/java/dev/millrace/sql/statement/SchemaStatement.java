package dev.millrace.sql.statement;

import java.util.List;
import java.util.Optional;

/** Statements about schemas. DROP SCHEMA is a {@link Statement.Drop}, ALTER SCHEMA .. OWNER TO a {@link Statement.ChangeOwner}. */
public sealed interface SchemaStatement extends Statement.TableStatement {
    /**
     * CREATE SCHEMA.
     *
     * @param name without one it is called as its owner is
     * @param owner AUTHORIZATION; without one who makes it
     * @param elements the statements that make what is in it, in the order in which they are to be executed
     */
    record CreateSchema(Optional<String> name, boolean ifNotExists, Optional<String> owner, List<String> elements)
            implements SchemaStatement {
        public CreateSchema {
            elements = List.copyOf(elements);
        }
    }
}
