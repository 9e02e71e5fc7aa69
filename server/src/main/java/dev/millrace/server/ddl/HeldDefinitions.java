package dev.millrace.server.ddl;

import dev.millrace.batch.Batch;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.relation.Beside;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.checkpoint.DatabaseCheckpoint;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.role.Roles;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What the definitions of one session's transaction did. Each takes effect at once, out of sight of others, and says how it is undone and
 * what is left to do when it stays: a rollback undoes all of it, the last first; COMMIT writes one record, and the transaction's rows with it.
 * Outside a transaction what a definition does stays at once.
 *
 * <p>Belongs to the session's thread, or to who ends the session when that is done.
 *
 * <pre>
 *   COMMIT   record of definitions, with a mark  ->  entry of rows, with the same mark  ->  what was dropped is freed, others see all
 *            (without rows the record alone, without a mark)
 * </pre>
 */
public final class HeldDefinitions implements Transactions.Definitions {
    private static final EventLog LOG = EventLog.named("storage");

    private final Instance database;
    private final SessionSettings settings;
    private final Transactions transactions;
    private final List<Step> steps = new ArrayList<>();
    private boolean hasBegun; // to define, in the transaction under way
    private boolean changesAccess; // roles and privileges, perhaps
    private boolean altersState; // of queries that go on
    private final Set<String> taken =
            new HashSet<>(); // names of what was dropped and has its place in the engine still

    /**
     * @param undo has it never have been; does not fail
     * @param stays what is left to do; does not fail
     * @param kept what the catalog's store was about to keep before it
     */
    private record Step(Runnable undo, Runnable stays, int kept) {}

    public HeldDefinitions(Instance database, SessionSettings settings, Transactions transactions) {
        this.database = database;
        this.settings = settings;
        this.transactions = transactions;
    }

    /** Whether what a definition does may be undone. */
    public boolean areHeld() {
        return transactions.isExplicit();
    }

    /** Those of the session. */
    Transactions transactions() {
        return transactions;
    }

    private Optional<Transaction> own() {
        return transactions.isUnderWay() ? transactions.current() : Optional.empty();
    }

    /** How long the session waits for what others hold; 0 for ever. */
    public long lockTimeoutMillis() {
        return settings.millis(Setting.LOCK_TIMEOUT);
    }

    /** Whether what has a name is there for this session; waits for a transaction of another that has altered or dropped it. */
    public boolean sees(String name) {
        return !database.uncommitted().areThere() || database.uncommitted().sees(name, own(), lockTimeoutMillis());
    }

    /** Executes a definition, when no other transaction has changed any. */
    public <T> T alone(Supplier<T> definition) {
        lock();
        try {
            return definition.get();
        } finally {
            database.definitionLock().unlock();
        }
    }

    /** Takes the lock of definitions, when no other transaction has changed any. */
    public void lock() {
        Optional<Transaction> own = own();
        while (true) {
            database.uncommitted().await(own, lockTimeoutMillis());
            database.lockDefinitions();
            if (!database.uncommitted().areOfAnother(own)) {
                return;
            }
            database.definitionLock().unlock();
        }
    }

    /** The transaction is about to change definitions. With the lock of definitions held. */
    public void begin(Statement statement) {
        database.uncommitted().begin(transactions.current().orElseThrow());
        hasBegun = true;
        Roles roles = database.catalog().roles();
        Roles.Saved before = roles.save();
        changesAccess |= statement instanceof Statement.RoleStatement
                || statement instanceof Statement.Drop
                || statement instanceof RenameStatement
                || roles.hasDefaults();
        step(() -> roles.restore(before), () -> {});
    }

    /** Something was done that is undone by one of these, or ends with the other, now or at the end of the transaction. */
    public void step(Runnable undo, Runnable stays) {
        if (areHeld()) {
            steps.add(new Step(undo, stays, database.catalogStore().mark()));
        } else {
            stays.run();
        }
    }

    /** An object is there that was not. */
    void made(String name, Runnable undo) {
        if (areHeld()) {
            database.uncommitted().made(name);
            step(
                    () -> {
                        transactions
                                .current()
                                .ifPresent(transaction ->
                                        transaction.setAside(name).close());
                        undo.run();
                    },
                    () -> {});
        }
    }

    /**
     * Objects have other names.
     *
     * @param names the new ones, by those that they had
     * @param others what says these names, and is another by that
     * @param undo has all have the names that they had
     */
    void renamed(Map<String, String> names, Collection<String> others, Runnable undo) {
        transactions.current().ifPresent(transaction -> transaction.rename(names));
        if (!areHeld()) {
            return;
        }
        names.forEach((name, newName) -> {
            database.uncommitted().changed(name);
            database.uncommitted().made(newName);
        });
        others.forEach(database.uncommitted()::changed);
        Map<String, String> back = new HashMap<>();
        names.forEach((name, newName) -> back.put(newName, name));
        step(
                () -> {
                    transactions.current().ifPresent(transaction -> transaction.rename(back));
                    undo.run();
                },
                () -> {});
    }

    /** Queries go on over a table that is another: that they do is kept by a checkpoint. */
    void altersState() {
        altersState = true;
    }

    /** An object is another, or gone. */
    void changed(String name) {
        if (areHeld()) {
            database.uncommitted().changed(name);
        }
    }

    /** A table is another: the transaction's changes of its rows, if there are any, are in what it is now. */
    void absorbed(String table) {
        transactions.current().filter(transaction -> areHeld()).ifPresent(transaction -> {
            Transaction.Aside aside = transaction.setAside(table);
            step(() -> transaction.putBack(aside), aside::close);
        });
    }

    /** Whether the transaction has changed rows of a table that are in none but itself. */
    boolean hasChanged(String table) {
        return transactions
                .withChanges()
                .filter(transaction -> transaction.changed().contains(table))
                .isPresent();
    }

    /** What has a name goes when the transaction ends, and has its place until then. */
    void takes(String name) {
        taken.add(name);
        step(() -> taken.remove(name), () -> {});
    }

    /** The names of all such. */
    Set<String> taken() {
        return taken;
    }

    /**
     * Refuses what would come in the place of something that is there until the transaction ends.
     *
     * @throws MillraceException 0A000
     */
    void requireFree(String name) {
        if (taken.contains(name)) {
            throw notAgain(name);
        }
    }

    /**
     * Refuses to put something in the place of what cannot go before the transaction ends.
     *
     * @throws MillraceException 0A000
     */
    void requireReplaceable(CatalogObject object) {
        if (areHeld() && !keepsNothing(object) && !isPlainTable(object)) {
            throw notAgain(object.name());
        }
    }

    private static MillraceException notAgain(String name) {
        return MillraceException.notAvailableYet("\"" + name + "\" once more in the transaction that drops it")
                .withHint("COMMIT between the two, or execute both outside BEGIN and COMMIT");
    }

    /** Whether it is no more than what the catalog has of it. */
    static boolean keepsNothing(CatalogObject object) {
        return object.kind() == ObjectKind.VIEW
                || object.kind() == ObjectKind.FUNCTION
                || object.kind() == ObjectKind.SCHEMA;
    }

    /** Whether it is a table of which the engine has nothing but rows. */
    boolean isPlainTable(CatalogObject object) {
        return object.kind() == ObjectKind.TABLE && !database.feeds().isFed(object.name());
    }

    /**
     * Refuses what a transaction cannot take back.
     *
     * @throws MillraceException 25001
     */
    void requireOutside(String what) {
        if (areHeld()) {
            throw MillraceException.user(
                            SqlState.ACTIVE_SQL_TRANSACTION, what + " cannot run inside a transaction block")
                    .withHint("what it does could not be undone: COMMIT first, or execute it outside BEGIN and COMMIT,"
                            + " with a client that begins transactions by itself in its autocommit mode");
        }
    }

    /**
     * Refuses what is for all, and would wait for the transaction that it is part of, if that has changed definitions.
     *
     * @throws MillraceException 25001
     */
    public void requireNone(String what) {
        if (hasBegun) {
            requireOutside(what);
        }
    }

    // ---- the end of the transaction --------------------------------------------------------------------------------

    @Override
    public int mark() {
        return steps.size();
    }

    @Override
    public void backTo(int mark) {
        if (steps.size() > mark) {
            uninterrupted(() -> undo(mark));
        }
    }

    @Override
    public void rollBack() {
        if (hasBegun) {
            uninterrupted(() -> {
                try {
                    undo(0);
                } finally { // others wait for it
                    ends();
                }
            });
        }
    }

    /** Half of it would be worse than all: whoever stops the statement has it stopped when this is done. */
    private void uninterrupted(Runnable action) {
        try (Interrupt.Binding shield = Interrupt.shield()) {
            database.lockDefinitions();
            try {
                action.run();
            } finally {
                database.definitionLock().unlock();
            }
        }
    }

    private void undo(int mark) {
        int kept = mark < steps.size()
                ? steps.get(mark).kept()
                : database.catalogStore().mark();
        for (int last = steps.size() - 1; last >= mark; last--) {
            try {
                steps.remove(last).undo().run();
            } catch (RuntimeException e) {
                LOG.warning("a definition could not be undone", "reason", String.valueOf(e.getMessage()));
            }
        }
        database.catalogStore().backTo(kept);
    }

    private void ends() {
        steps.clear();
        taken.clear();
        altersState = false;
        changesAccess = false;
        hasBegun = false;
        database.catalog().roles().forgetSaved();
        database.uncommitted().end();
    }

    @Override
    public Optional<Accepted> commit(
            Function<Function<Map<WritableRelation, List<Batch>>, Accepted>, Optional<Accepted>> rows) {
        if (!hasBegun) {
            return rows.apply(batches -> database.engine().accept(batches, Beside.NOTHING));
        }
        boolean checkpoints = altersState && database.journal().isWriting();
        if (checkpoints) {
            Interrupt.lock(database.journal().checkpointing());
        }
        try {
            database.lockDefinitions();
            try {
                Optional<Accepted> accepted = commitLocked(rows);
                if (checkpoints) {
                    new DatabaseCheckpoint(database).runBehind();
                }
                return accepted;
            } finally {
                database.definitionLock().unlock();
            }
        } finally {
            if (checkpoints) {
                database.journal().checkpointing().unlock();
            }
        }
    }

    private Optional<Accepted> commitLocked(
            Function<Function<Map<WritableRelation, List<Batch>>, Accepted>, Optional<Accepted>> rows) {
        DefinitionsBesideRows beside = new DefinitionsBesideRows();
        Optional<Accepted> accepted;
        try {
            accepted = rows.apply(batches -> database.engine().accept(batches, beside));
            if (!beside.isWritten) {
                database.catalogStore().keepTogether(OptionalLong.empty(), changesAccess);
            }
        } catch (RuntimeException | Error e) {
            database.catalogStore().takeBack();
            throw e;
        }
        accepted.ifPresent(entry ->
                database.catalogStore().confirmAfter(() -> database.journal().awaitDurable(entry.entry())));
        try {
            database.catalogStore().confirm();
        } finally { // it is committed, whatever comes
            stay();
        }
        return accepted;
    }

    private void stay() {
        try (Interrupt.Binding shield = Interrupt.shield()) {
            try {
                steps.forEach(HeldDefinitions::stay);
            } finally { // likewise
                ends();
            }
            database.histories().definitionsAreKept();
        }
    }

    private static void stay(Step step) {
        try {
            step.stays().run();
        } catch (RuntimeException e) {
            LOG.warning("what was dropped is not freed", "reason", String.valueOf(e.getMessage()));
        }
    }

    /** The record of definitions, which counts with the entry of the rows. */
    private final class DefinitionsBesideRows implements Beside {
        private final OptionalLong mark = database.journal().isWriting()
                ? OptionalLong.of(database.catalogStore().newMark())
                : OptionalLong.empty();
        private boolean isWritten;

        @Override
        public OptionalLong mark() {
            return mark;
        }

        @Override
        public void write() {
            database.catalogStore().keepTogether(mark, changesAccess);
            isWritten = true;
        }
    }
}
