package dev.millrace.server.session;

import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.checkpoint.DatabaseCheckpoint;
import dev.millrace.server.ddl.Drops;
import dev.millrace.server.ddl.HeldDefinitions;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.query.OwnEpochs;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.storage.CatalogRecord;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.Statement;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Answers statements that change what is kept when that is on disk: changes are kept in the order in which they are made. Belongs to the
 * session's thread.
 */
final class KeptStatements {
    private final Instance database;
    private final OwnEpochs epochs;
    private final Drops drops;
    private final HeldDefinitions held;

    KeptStatements(Instance database, OwnEpochs epochs, Drops drops, HeldDefinitions held) {
        this.held = held;
        this.database = database;
        this.epochs = epochs;
        this.drops = drops;
    }

    /** @param change executes the statement */
    StatementResult keep(Statement statement, Supplier<StatementResult> change) {
        boolean renames = database.journal().isWriting() && statement instanceof RenameStatement;
        if (held.areHeld() && StatementKinds.isDefinition(statement)) {
            return renames ? whileNoCheckpoint(() -> hold(statement, change)) : hold(statement, change);
        }
        held.requireNone(StatementKinds.name(statement));
        boolean altersState = database.journal().isWriting() && altersState(statement);
        while (true) {
            database.uncommitted().await(Optional.empty(), held.lockTimeoutMillis());
            if (altersState || renames) {
                Interrupt.lock(database.journal().checkpointing());
            }
            try {
                Optional<StatementResult> result = keep(statement, change, altersState);
                if (result.isPresent()) {
                    return result.get();
                }
            } finally {
                if (altersState || renames) {
                    database.journal().checkpointing().unlock();
                }
            }
        }
    }

    private <T> T whileNoCheckpoint(Supplier<T> action) {
        Interrupt.lock(database.journal().checkpointing());
        try {
            return action.get();
        } finally {
            database.journal().checkpointing().unlock();
        }
    }

    /** The statement is part of a transaction: it is kept with the others, at the end. */
    private StatementResult hold(Statement statement, Supplier<StatementResult> change) {
        return held.alone(() -> {
            held.begin(statement);
            StatementResult result = change.get();
            epochs.force();
            return result;
        });
    }

    /** Whether something goes on with other state under its name: that it does, and the state, are kept together, in a checkpoint. */
    private boolean altersState(Statement statement) {
        return statement instanceof AlterTable
                || statement instanceof Statement.AlterQuery
                || statement instanceof Statement.ApplyReplacement
                || statement instanceof Statement.AlterOptions // those that have an effect
                || statement instanceof Statement.Resume resume
                        && (resume.skipRow()
                                || database.standing(resume.name())
                                        .filter(query -> query.state() == QueryState.FAILED)
                                        .isPresent());
    }

    /** Whether there are queries whose state goes on; a table that nothing reads has its rows in the log. */
    private boolean isRead(Statement statement) {
        return !(statement instanceof AlterTable table)
                || !database.catalog().dependents(table.name()).isEmpty();
    }

    /** Empty if there is a transaction that has changed definitions, whose end is to be waited for first. */
    private Optional<StatementResult> keep(Statement statement, Supplier<StatementResult> change, boolean altersState) {
        Predicate<CatalogRecord> checkpoint =
                record -> altersState && new DatabaseCheckpoint(database).run(record, isRead(statement));
        database.lockDefinitions();
        try {
            if (database.uncommitted().areThere()) {
                return Optional.empty();
            }
            StatementResult result;
            try {
                result = change.get();
            } catch (RuntimeException e) {
                try {
                    database.catalogStore().keep(statement, false, checkpoint); // what it did before it failed
                } catch (MillraceException unkept) {
                    e.addSuppressed(unkept);
                }
                throw e;
            }
            epochs.force(); // a table that is made of rows is there with them
            database.catalogStore().keep(statement, true, checkpoint).ifPresent(failure -> {
                failure.made().forEach(drops::takeBack);
                throw failure.why();
            });
            database.histories().definitionsAreKept();
            return Optional.of(result);
        } finally {
            database.definitionLock().unlock();
        }
    }
}
