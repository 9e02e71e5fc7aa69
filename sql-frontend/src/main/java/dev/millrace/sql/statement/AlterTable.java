package dev.millrace.sql.statement;

import dev.millrace.sql.catalog.ForeignKey;
import java.util.List;
import java.util.Optional;

/** ALTER TABLE: actions in their order. The texts are as they were written; they are read when the table is known. */
public record AlterTable(String name, boolean ifExists, List<Action> actions) implements Statement.TableStatement {
    /** One of them. */
    public sealed interface Action {}

    /**
     * ADD COLUMN.
     *
     * @param definition what CREATE TABLE would have of it, the name first
     * @param foreignKeys what REFERENCES in it say
     */
    public record AddColumn(String column, boolean ifNotExists, String definition, List<ForeignKey> foreignKeys)
            implements Action {
        public AddColumn {
            foreignKeys = List.copyOf(foreignKeys);
        }
    }

    /** DROP COLUMN. @param cascade what depends on it goes, too */
    public record DropColumn(String column, boolean ifExists, boolean cascade) implements Action {}

    public record RenameColumn(String column, String newName) implements Action {}

    /** SET DEFAULT; none is DROP DEFAULT. */
    public record SetDefault(String column, Optional<String> expression) implements Action {}

    /** SET or DROP NOT NULL. */
    public record SetNotNull(String column, boolean notNull) implements Action {}

    /** ALTER COLUMN TYPE. */
    public record SetType(String column, String type, Optional<String> using) implements Action {}

    /** RESTART of an identity or serial column: the next number that it gives, from 1 on. */
    public record Restart(String column, long next) implements Action {}

    /** ADD of a constraint, as CREATE TABLE would have it. @param foreignKey if it is one */
    public record AddConstraint(String definition, Optional<ForeignKey> foreignKey) implements Action {}

    /** DROP of a constraint. @param cascade foreign keys that reference it go, too */
    public record DropConstraint(String constraint, boolean ifExists, boolean cascade) implements Action {}

    public record RenameConstraint(String constraint, String newName) implements Action {}

    public AlterTable {
        actions = List.copyOf(actions);
    }
}
