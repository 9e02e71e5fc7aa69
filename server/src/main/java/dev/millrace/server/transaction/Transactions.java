package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.relation.Beside;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.TransactionModes;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The transactions of one session, one after the other.
 *
 * <pre>
 *            BEGIN                      error
 *   IDLE ------------> ACTIVE ----------------------> FAILED
 *    ^  \               |  ^ <--- ROLLBACK TO ---------|
 *    |   \ several      | COMMIT, ROLLBACK             | ROLLBACK, COMMIT (which rolls back)
 *    |    v statements  v                              v
 *    +-- IMPLICIT ------+------------------------------+
 * </pre>
 *
 * Belongs to the session's thread.
 */
public final class Transactions {
    private enum Mode {
        NONE,
        IMPLICIT,
        EXPLICIT
    }

    private record Savepoint(String name, Transaction.Mark mark, int definitions, SessionSettings.Saved settings) {}

    /** What definitions of the transaction under way changed. On the session's thread, or when that is done. */
    public interface Definitions {
        /** A place to go back to. */
        int mark();

        /** Undoes what came after a mark; before the same is done with rows. */
        void backTo(int mark);

        /**
         * Has them take effect for all, together with the rows.
         *
         * @param rows has the transaction's rows accepted, by what it is given, if there are any
         * @throws dev.millrace.error.MillraceException why they cannot; then nothing did, and they are to be undone
         */
        Optional<Accepted> commit(
                Function<Function<Map<WritableRelation, List<Batch>>, Accepted>, Optional<Accepted>> rows);

        /** Undoes all; before the rows are forgotten. Never fails. */
        void rollBack();
    }

    /** What has to hold of a transaction's changes that is not checked statement by statement. On the session's thread. */
    public interface Checks {
        /** Of all of them, before they take effect. @throws dev.millrace.error.MillraceException 23503 */
        void all(Transaction transaction);

        /** Of those that a table has a part in, which is to be another. @throws dev.millrace.error.MillraceException 55006 */
        void of(Transaction transaction, String table);
    }

    private static final class NoChecks implements Checks {
        @Override
        public void all(Transaction transaction) {}

        @Override
        public void of(Transaction transaction, String table) {}
    }

    private static final class NoDefinitions implements Definitions {
        private final Engine engine;

        NoDefinitions(Engine engine) {
            this.engine = engine;
        }

        @Override
        public int mark() {
            return 0;
        }

        @Override
        public void backTo(int mark) {}

        @Override
        public Optional<Accepted> commit(
                Function<Function<Map<WritableRelation, List<Batch>>, Accepted>, Optional<Accepted>> rows) {
            return rows.apply(batches -> engine.accept(batches, Beside.NOTHING));
        }

        @Override
        public void rollBack() {}
    }

    private final RowLocks locks;
    private final Engine engine;
    private final Clock clock;
    private final SessionSettings settings;
    private final Consumer<String> notices;
    private final List<Savepoint> savepoints = new ArrayList<>();
    private Consumer<Accepted> onCommit = accepted -> {};
    private Runnable onCommitted = () -> {};
    private Runnable onRolledBack = () -> {};
    private Mode mode = Mode.NONE;
    private boolean failed;
    private boolean toldOfViews;
    private long beganMicros; // of the transaction under way
    private volatile Optional<Transaction> current =
            Optional.empty(); // written by the session's thread, read by who asks who is waited for
    private volatile Optional<Transaction> waitsFor = Optional.empty(); // the same
    private SessionSettings.Saved settingsBefore;
    private Definitions definitions;
    private Checks checks = new NoChecks();

    public Transactions(
            RowLocks locks, Engine engine, Clock clock, SessionSettings settings, Consumer<String> notices) {
        this.locks = locks;
        this.engine = engine;
        this.clock = clock;
        this.settings = settings;
        this.notices = notices;
        this.settingsBefore = settings.save();
        this.definitions = new NoDefinitions(engine);
    }

    /** Says who knows what becomes of definitions. */
    public void definitions(Definitions ofSession) {
        definitions = ofSession;
    }

    /** Says who knows what has to hold. */
    public void checks(Checks ofSession) {
        checks = ofSession;
    }

    /** A table is about to be another, with the transaction's changes of its rows. */
    public void settle(String table) {
        current.ifPresent(transaction -> checks.of(transaction, table));
    }

    /** @param accepted told of each commit that changed something */
    public void onEnd(Consumer<Accepted> accepted, Runnable committed, Runnable rolledBack) {
        onCommit = accepted;
        onCommitted = committed;
        onRolledBack = rolledBack;
    }

    public TransactionState state() {
        if (mode != Mode.EXPLICIT) {
            return TransactionState.IDLE;
        }
        return failed ? TransactionState.FAILED : TransactionState.ACTIVE;
    }

    public boolean isExplicit() {
        return mode == Mode.EXPLICIT;
    }

    /** Whether the statement under way is of a transaction, begun or of several statements in one message. */
    public boolean isUnderWay() {
        return mode != Mode.NONE;
    }

    /** When the transaction under way began, in microseconds since 1970. */
    public OptionalLong beganMicros() {
        return mode == Mode.NONE ? OptionalLong.empty() : OptionalLong.of(beganMicros);
    }

    /** Where changes go that are not to take effect at once; none outside a transaction. */
    public Optional<Transaction> current() {
        if (mode != Mode.NONE && current.isEmpty()) {
            current = Optional.of(new Transaction(locks, engine.allocator(), engine.relations()));
        }
        return current;
    }

    /**
     * Waits until the transaction of another session, which holds rows, has ended. The caller holds no table's lock.
     *
     * @throws MillraceException as {@link RowLocks#await}
     */
    public void await(Transaction holder) {
        waitsFor = Optional.of(holder);
        try {
            locks.await(holder, current(), settings.millis(Setting.LOCK_TIMEOUT));
        } finally {
            waitsFor = Optional.empty();
        }
    }

    /** Whether the session waits for rows that a transaction holds, of any session. On any thread. */
    public boolean isWaiting() {
        return waitsFor.isPresent();
    }

    /** Whether the session waits for rows that another one's transaction holds. On any thread. */
    public boolean isWaitingFor(Transactions other) {
        Optional<Transaction> holder = waitsFor;
        return holder.isPresent() && holder.equals(other.current);
    }

    /** The transaction if it changed something. */
    public Optional<Transaction> withChanges() {
        return current.filter(transaction -> !transaction.changed().isEmpty());
    }

    /** @param what that another transaction which changed rows of a table is in the way of */
    public void requireUnchanged(String table, TableKeys keys, String what) {
        if (locks.isHeld(keys, current())) {
            throw MillraceException.user(
                            SqlState.OBJECT_IN_USE,
                            "cannot " + what + " \"" + table + "\" because a transaction has changed its rows")
                    .withHint("COMMIT or ROLLBACK it first");
        }
    }

    public long mostBytes() {
        return settings.bytes(Setting.TRANSACTION_MEMORY);
    }

    // ---- before and after statements -------------------------------------------------------------------------------

    /** After an error in a transaction only its end is taken, whatever else is wrong with a statement. */
    public void requireUsable(Syntax syntax) {
        boolean ends = syntax instanceof Syntax.Complete complete
                && (complete.statement() instanceof Statement.Commit
                        || complete.statement() instanceof Statement.Rollback
                        || complete.statement() instanceof Statement.RollbackTo);
        if (failed && !ends) {
            throw MillraceException.user(
                    SqlState.IN_FAILED_SQL_TRANSACTION,
                    "current transaction is aborted, commands ignored until end of transaction block");
        }
    }

    /** Refuses what cannot be done as the transaction stands. */
    public void check(Statement statement) {
        if (settings.isOn(Setting.TRANSACTION_READ_ONLY)) {
            Optional<String> change = StatementKinds.change(statement);
            if (change.isPresent()) {
                throw MillraceException.user(
                        SqlState.READ_ONLY_SQL_TRANSACTION,
                        "cannot execute " + change.get() + " in a read-only transaction");
            }
        }
        if (mode == Mode.EXPLICIT && !StatementKinds.canBeUndone(statement)) {
            throw MillraceException.user(
                            SqlState.ACTIVE_SQL_TRANSACTION,
                            StatementKinds.name(statement) + " cannot run inside a transaction block")
                    .withHint("what it does could not be undone: COMMIT first, or execute it outside BEGIN and COMMIT");
        }
        if (StatementKinds.isDefinition(statement)
                || statement instanceof Statement.AlterEdge
                || statement instanceof Statement.Flush) {
            commitImplicit();
        }
    }

    /** A statement failed: a transaction is good for nothing any more but ROLLBACK. */
    public void fail() {
        if (mode == Mode.EXPLICIT) {
            failed = true;
        } else if (mode == Mode.IMPLICIT) {
            rollBack();
        }
    }

    /** Views show changes once they are committed: those of several statements at once can be by now, others are told of. */
    public void readsViewOfOwnChanges(String view) {
        if (mode == Mode.IMPLICIT) {
            commitImplicit();
        } else if (!toldOfViews) {
            toldOfViews = true;
            notices.accept("\"" + view + "\" does not show this transaction's changes before COMMIT");
        }
    }

    // ---- several statements in one message -------------------------------------------------------------------------

    /** Statements up to {@link #endImplicit} take effect together; no effect within a transaction. */
    public void beginImplicit() {
        if (mode == Mode.NONE) {
            begin(Mode.IMPLICIT);
        }
    }

    public void endImplicit() {
        if (mode == Mode.IMPLICIT) {
            commit();
        }
    }

    private void commitImplicit() {
        if (mode == Mode.IMPLICIT && withChanges().isPresent()) {
            commit();
            beginImplicit();
        }
    }

    // ---- BEGIN to COMMIT -------------------------------------------------------------------------------------------

    private void begin(Mode newMode) {
        mode = newMode;
        beganMicros = clock.epochMicros();
        failed = false;
        toldOfViews = false;
        settingsBefore = settings.save();
    }

    public Command begin(TransactionModes modes) {
        if (mode == Mode.EXPLICIT) {
            notices.accept("there is already a transaction in progress");
            return Command.of("BEGIN");
        }
        if (mode == Mode.NONE) {
            begin(Mode.EXPLICIT);
        }
        mode = Mode.EXPLICIT;
        set(modes);
        return Command.of("BEGIN");
    }

    public Command set(Statement.SetTransaction set) {
        if (set.session()) {
            TransactionModes modes = set.modes();
            modes.isolation().ifPresent(level -> settings.set(Setting.DEFAULT_TRANSACTION_ISOLATION, level));
            modes.readOnly()
                    .ifPresent(only -> settings.set(Setting.DEFAULT_TRANSACTION_READ_ONLY, only ? "on" : "off"));
            modes.deferrable()
                    .ifPresent(may -> settings.set(Setting.DEFAULT_TRANSACTION_DEFERRABLE, may ? "on" : "off"));
        } else if (mode == Mode.NONE) {
            notices.accept("SET TRANSACTION can only be used in transaction blocks");
        } else {
            set(set.modes());
        }
        return Command.of("SET");
    }

    private void set(TransactionModes modes) {
        modes.isolation().ifPresent(level -> settings.setLocal(Setting.TRANSACTION_ISOLATION, level));
        modes.readOnly().ifPresent(only -> settings.setLocal(Setting.TRANSACTION_READ_ONLY, only ? "on" : "off"));
        modes.deferrable().ifPresent(may -> settings.setLocal(Setting.TRANSACTION_DEFERRABLE, may ? "on" : "off"));
    }

    public Command commit(boolean chain) {
        TransactionModes modes = modes();
        if (mode != Mode.EXPLICIT) {
            notices.accept("there is no transaction in progress");
            endImplicit();
            return Command.of("COMMIT");
        }
        boolean rolledBack = failed;
        if (failed) {
            rollBack();
        } else {
            commit();
        }
        if (chain) {
            begin(modes);
        }
        return Command.of(rolledBack ? "ROLLBACK" : "COMMIT");
    }

    public Command rollback(boolean chain) {
        TransactionModes modes = modes();
        if (mode != Mode.EXPLICIT) {
            notices.accept("there is no transaction in progress");
        }
        rollBack();
        if (chain) {
            begin(modes);
        }
        return Command.of("ROLLBACK");
    }

    private TransactionModes modes() {
        return new TransactionModes(
                Optional.of(settings.get(Setting.TRANSACTION_ISOLATION)),
                Optional.of(settings.isOn(Setting.TRANSACTION_READ_ONLY)),
                Optional.of(settings.isOn(Setting.TRANSACTION_DEFERRABLE)));
    }

    private void commit() {
        Optional<Transaction> ending = current;
        try {
            ending.ifPresent(checks::all);
            definitions
                    .commit(accept ->
                            ending.flatMap(transaction -> transaction.commit(accept, settings.waitsForDisk())))
                    .ifPresent(onCommit);
        } catch (RuntimeException e) {
            rollBack();
            throw e;
        }
        end();
        settings.endTransaction();
        onCommitted.run();
    }

    /** Forgets what was changed; of no effect outside a transaction. */
    public void rollBack() {
        if (mode == Mode.NONE) {
            return;
        }
        definitions.rollBack();
        current.ifPresent(Transaction::close);
        end();
        settings.restore(settingsBefore);
        onRolledBack.run();
    }

    private void end() {
        current = Optional.empty();
        savepoints.clear();
        failed = false;
        mode = Mode.NONE;
    }

    // ---- savepoints ------------------------------------------------------------------------------------------------

    private void requireBlock(String statement) {
        if (mode != Mode.EXPLICIT) {
            throw MillraceException.user(
                    SqlState.NO_ACTIVE_SQL_TRANSACTION, statement + " can only be used in transaction blocks");
        }
    }

    public Command savepoint(String name) {
        requireBlock("SAVEPOINT");
        savepoints.add(new Savepoint(name, current().orElseThrow().mark(), definitions.mark(), settings.save()));
        return Command.of("SAVEPOINT");
    }

    public Command rollbackTo(String name) {
        requireBlock("ROLLBACK TO SAVEPOINT");
        int place = place(name);
        Savepoint savepoint = savepoints.get(place);
        definitions.backTo(savepoint.definitions());
        current().orElseThrow().backTo(savepoint.mark());
        settings.restore(savepoint.settings());
        savepoints.subList(place + 1, savepoints.size()).clear();
        failed = false;
        return Command.of("ROLLBACK");
    }

    public Command release(String name) {
        requireBlock("RELEASE SAVEPOINT");
        savepoints.subList(place(name), savepoints.size()).clear();
        return Command.of("RELEASE");
    }

    private int place(String name) {
        for (int i = savepoints.size() - 1; i >= 0; i--) {
            if (savepoints.get(i).name().equals(name)) {
                return i;
            }
        }
        failed = true;
        throw MillraceException.user(
                SqlState.INVALID_SAVEPOINT_SPECIFICATION, "savepoint \"" + name + "\" does not exist");
    }
}
