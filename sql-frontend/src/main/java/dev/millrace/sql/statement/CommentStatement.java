package dev.millrace.sql.statement;

import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Optional;

/** COMMENT ON .. IS: what somebody says of a thing. Of a role it is a {@link Statement.CommentOnRole}. */
public sealed interface CommentStatement extends Statement.TableStatement {
    /** None takes the comment away. */
    Optional<String> text();

    /**
     * COMMENT ON TABLE and the like.
     *
     * @param kind TABLE may be said of any relation, VIEW of all that PostgreSQL's catalog shows as views
     * @param name of a schema, that in the catalog
     */
    record OnObject(ObjectKind kind, String name, Optional<String> text) implements CommentStatement {}

    /** COMMENT ON COLUMN. */
    record OnColumn(String relation, String column, Optional<String> text) implements CommentStatement {}

    /** COMMENT ON CONSTRAINT .. ON a table. */
    record OnConstraint(String relation, String constraint, Optional<String> text) implements CommentStatement {}

    /** COMMENT ON DATABASE. */
    record OnDatabase(String database, Optional<String> text) implements CommentStatement {}
}
