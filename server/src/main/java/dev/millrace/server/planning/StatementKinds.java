package dev.millrace.server.planning;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.CommentStatement;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.SchemaStatement;
import dev.millrace.sql.statement.SecretStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.SubscriptionStatement;
import dev.millrace.sql.statement.WithChanges;
import java.util.Locale;
import java.util.Optional;

/** What statements have in common. */
public final class StatementKinds {
    private StatementKinds() {}

    /** Whether a statement changes the catalog. */
    public static boolean isDefinition(Statement statement) {
        return statement instanceof Statement.RoleStatement
                || statement instanceof Statement.CreateStream
                || statement instanceof Statement.CreateStreamAs
                || statement instanceof Statement.CreateTable
                || statement instanceof Statement.CreateContinuousQuery
                || statement instanceof Statement.CreateMaterializedView
                || statement instanceof Statement.CreateView
                || statement instanceof Statement.CreateTableAs
                || statement instanceof Statement.CreateSink
                || statement instanceof Statement.CreateQueryTemplate
                || statement instanceof Statement.CreateFunction
                || statement instanceof Statement.Drop
                || statement instanceof Statement.AlterQuery
                || statement instanceof AlterTable
                || statement instanceof IndexStatement
                || statement instanceof SchemaStatement
                || statement instanceof RenameStatement
                || statement instanceof CommentStatement
                || statement instanceof SubscriptionStatement
                || statement instanceof SecretStatement
                || statement instanceof Statement.AlterOptions
                || statement instanceof Statement.Pause
                || statement instanceof Statement.Resume
                || statement instanceof Statement.Reprocess
                || statement instanceof Statement.ApplyReplacement;
    }

    /** Whether a statement may be part of a transaction: what a definition does to the outside, or to queries that run, cannot be undone. */
    public static boolean canBeUndone(Statement statement) {
        boolean reachesOut = statement instanceof Statement.CreateSink
                || statement instanceof SubscriptionStatement
                || statement instanceof SecretStatement;
        boolean altersQueries = statement instanceof Statement.AlterQuery
                || statement instanceof Statement.Pause
                || statement instanceof Statement.Resume
                || statement instanceof Statement.Reprocess
                || statement instanceof Statement.ApplyReplacement
                || statement instanceof Statement.AlterOptions alter
                        && alter.kind() != Statement.ObjectKind.TABLE
                        && alter.kind() != Statement.ObjectKind.INDEX;
        return !reachesOut && !altersQueries;
    }

    /** The query of a statement that defines what is made of one. */
    public static Optional<Query> query(Statement statement) {
        if (statement instanceof Statement.CreateStreamAs create) {
            return Optional.of(create.query());
        } else if (statement instanceof Statement.CreateContinuousQuery create) {
            return Optional.of(create.query());
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            return Optional.of(create.query());
        } else if (statement instanceof Statement.CreateView create) {
            return Optional.of(create.query());
        } else if (statement instanceof Statement.CreateSink create) {
            return Optional.of(create.query());
        } else if (statement instanceof Statement.AlterQuery alter) {
            return Optional.of(alter.query());
        }
        return Optional.empty();
    }

    /** Whether a statement is INSERT, UPDATE, DELETE or MERGE. */
    public static boolean changesRows(Statement statement) {
        return statement instanceof Statement.Insert
                || statement instanceof Statement.Update
                || statement instanceof Statement.Delete
                || statement instanceof Merge;
    }

    /** The name of a statement that changes something, which a read-only transaction does not. */
    public static Optional<String> change(Statement statement) {
        if (statement instanceof WithChanges with) {
            return change(with.parts().get(0).change());
        }
        boolean changes = isDefinition(statement)
                || changesRows(statement)
                || statement instanceof Statement.CreateFromTemplate // which writes a row
                || statement instanceof Statement.Truncate
                || statement instanceof Statement.CopyFrom
                || statement instanceof Statement.AlterEdge;
        return changes ? Optional.of(name(statement)) : Optional.empty();
    }

    /** The statement's name as a user knows it: {@code CreateQueryTemplate} is CREATE QUERY TEMPLATE. */
    public static String name(Statement statement) {
        return statement
                .getClass()
                .getSimpleName()
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toUpperCase(Locale.ROOT);
    }

    /** What a statement is told of a name that means something else than it asks for. */
    public static MillraceException wrongKind(String name, String is, String wanted) {
        return MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "\"" + name + "\" is a " + is + ", not a " + wanted);
    }
}
