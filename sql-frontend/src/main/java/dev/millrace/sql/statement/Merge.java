package dev.millrace.sql.statement;

import java.util.List;
import java.util.Optional;

/**
 * MERGE.
 *
 * @param changes gives for each row that an action applies to all columns of the row that is there (NULL where there is
 *     none), all columns of the row in its place, the number of the action, and where RETURNING wants them the source's
 * @param returning over the source's columns, those of the row as it is now or was deleted, and the action's name
 */
public record Merge(String relation, Query changes, List<Action> actions, Optional<Statement.Returning> returning)
        implements Statement.TableStatement {
    /** What is done with a row. */
    public enum Kind {
        UPDATE,
        DELETE,
        INSERT
    }

    /**
     * An action.
     *
     * @param columns of an INSERT: those that it gives a value; the others are made by the server, or NULL
     */
    public record Action(Kind kind, List<Integer> columns) {}
}
