package dev.millrace.sql.statement;

import java.util.List;
import java.util.Optional;

/** ALTER TABLE: actions in their order. The texts are as they were written; they are read when the table is known. */
public record AlterTable(String name, boolean ifExists, List<Action> actions) implements Statement.TableStatement {
    /** One of them. */
    public sealed interface Action {}

    /** ADD COLUMN; {@code definition} is what CREATE TABLE would have of it, the name first. */
    public record AddColumn(String column, boolean ifNotExists, String definition) implements Action {}

    /** DROP COLUMN; {@code cascade} takes generated columns along that are computed from it. */
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

    /** ADD of a constraint, as CREATE TABLE would have it. */
    public record AddConstraint(String definition) implements Action {}

    public record DropConstraint(String constraint, boolean ifExists, boolean cascade) implements Action {}

    public record RenameConstraint(String constraint, String newName) implements Action {}

    public AlterTable {
        actions = List.copyOf(actions);
    }
}
