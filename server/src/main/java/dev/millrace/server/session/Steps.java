package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Deadlines;
import dev.millrace.server.cancellation.Failures;
import dev.millrace.server.cancellation.Offload;
import dev.millrace.server.query.OwnEpochs;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.TransactionState;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Runs the steps of a session's statements, one after the other: each within the statement's time, seen by who looks at what sessions
 * do, and so that other threads can stop it. After the session's end it runs none.
 *
 * <pre>
 *   begin (its text is read) -> look (it is described) -> execute -> goOn (rows are sent, or taken) ... -> statementEnds
 * </pre>
 *
 * Of these each may be left out but the last. Belongs to the session's thread, but for {@link #endedBy}, {@link #onEnd} and what follows them.
 */
final class Steps {
    private final Clock clock;
    private final SessionSettings settings;
    private final Transactions transactions;
    private final OwnEpochs written;
    private final Cancellation cancellation;
    private final Offload offload;
    private final Deadlines deadlines;
    private final Activity activity;
    private volatile Consumer<MillraceException> ending =
            why -> {}; // written by whoever serves the session, read by all
    private volatile Optional<MillraceException> ended =
            Optional.empty(); // written by whoever ends it, read by its thread
    private volatile boolean closed; // written by whoever closes the session or the database

    Steps(
            Clock clock,
            SessionSettings settings,
            Transactions transactions,
            OwnEpochs written,
            Cancellation cancellation,
            Offload offload,
            Deadlines deadlines,
            Activity activity) {
        this.clock = clock;
        this.settings = settings;
        this.transactions = transactions;
        this.written = written;
        this.cancellation = cancellation;
        this.offload = offload;
        this.deadlines = deadlines;
        this.activity = activity;
    }

    /** Runs the step that reads a text of any number of statements. */
    <T> T begin(String text, Supplier<T> step) {
        deadlines.statementPrepares();
        cancellation.begins();
        activity.begins(text);
        offload.begins(text);
        try {
            return run(() -> offload.run(step));
        } catch (MillraceException e) {
            statementFails();
            throw e;
        }
    }

    /** Runs a step that finds something about a statement, and does not execute it. */
    <T> T look(ParsedStatement statement, Supplier<T> step) {
        requireOpen();
        transactions.requireUsable(statement.syntax());
        deadlines.statementPrepares();
        cancellation.goesOn();
        offload.begins(statement.text());
        try {
            return run(step);
        } finally {
            offload.ends();
        }
    }

    /**
     * Runs the step that executes a statement.
     *
     * @param step gives nothing if the statement has to be executed in another way
     * @param executed is told how long a statement took that was executed, nanoseconds
     */
    Optional<StatementResult> execute(String text, Supplier<Optional<StatementResult>> step, LongConsumer executed) {
        requireOpen();
        long start = clock.nanoTime();
        deadlines.statementBegins();
        cancellation.goesOn();
        activity.begins(text);
        boolean done = true;
        try {
            Optional<StatementResult> result = run(step);
            done = result.isPresent();
            if (done && result.get() instanceof StatementResult.Command) {
                statementEnds();
            }
            return result;
        } catch (RuntimeException e) {
            statementFails();
            throw e;
        } finally {
            offload.ends();
            if (done) { // else it is yet to be executed
                executed.accept(clock.nanoTime() - start);
            }
        }
    }

    /**
     * Runs the step that reads and executes a statement on a thread that may not wait. It is under way until {@link #statementEnds}, as what it
     * wrote is not acknowledged.
     *
     * @param step gives nothing if the statement has to be executed in another way, as if it had not begun
     */
    <T> Optional<T> attempt(String text, Supplier<Optional<T>> step, LongConsumer executed) {
        requireOpen();
        long start = clock.nanoTime();
        deadlines.statementBegins();
        cancellation.begins();
        activity.begins(text);
        Optional<T> result = Failures.translate(() -> cancellation.run(step));
        if (result.isPresent()) {
            executed.accept(clock.nanoTime() - start);
        }
        return result;
    }

    /** Runs a step that takes more of an open result, or gives more to it. */
    <T> T goOn(Supplier<T> step) {
        deadlines.statementGoesOn();
        cancellation.goesOn();
        return run(step);
    }

    /** Runs a step that belongs to no statement, and so has no time of its own. */
    <T> T run(Supplier<T> step) {
        return Failures.translate(() -> cancellation.run(() -> acknowledged(step.get())));
    }

    /** What the step wrote is on disk before anybody hears what it gives. */
    private <T> T acknowledged(T given) {
        try {
            written.acknowledge();
            return given;
        } catch (RuntimeException e) {
            if (given instanceof Optional<?> result && result.orElse(null) instanceof StatementResult open) {
                open.close();
            }
            throw e;
        }
    }

    /** The statement under way is no more: it takes no more of its time, and nothing stops it. */
    void statementEnds() {
        offload.ends();
        deadlines.statementEnds();
        cancellation.ends();
        activity.ends(transactions.state(), settings.get(Setting.APPLICATION_NAME));
    }

    /** The statement under way is no more, and failed: so did the transaction that it is part of. */
    void statementFails() {
        statementEnds();
        transactions.fail();
    }

    /** Nothing more is planned of a statement, for now at least: the room that planning took is for others. */
    void planningEnds() {
        offload.ends();
    }

    /** The client is heard. */
    void clientSpeaks() {
        deadlines.speaks();
    }

    /** The client has its answer, and the word. */
    void clientListens() {
        deadlines.listens(transactions.state() != TransactionState.IDLE);
    }

    /** @throws MillraceException after the session's end */
    void requireOpen() {
        if (ended.isPresent()) {
            throw ended.get();
        }
        if (closed) {
            throw MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the session is closed");
        }
    }

    // ---- of any thread ---------------------------------------------------------------------------------------------

    /** Why somebody else ended the session, if that is so. */
    Optional<MillraceException> endedBy() {
        return ended;
    }

    /** Calls back when somebody else ends the session, at once if that has been; on the thread of who ends it. */
    void onEnd(Consumer<MillraceException> listener) {
        ending = listener;
        ended.ifPresent(listener); // before anybody listened
    }

    /** Ends the session from outside: the step under way is stopped, and whatever comes after is refused with this error. */
    void end(MillraceException why) {
        ended = Optional.of(why);
        cancellation.end("the end of the session");
        ending.accept(why);
    }

    /** Stops the statement under way, or the result being read; no effect when idle. */
    void cancel(String why) {
        cancellation.request(why);
    }

    /**
     * Cancels a statement, or ends a session, that lasts too long.
     *
     * @return how many nanoseconds are left until the next deadline, or {@link Deadlines#NONE}
     */
    long checkDeadlines(long nowNanos) {
        return deadlines.check(nowNanos, this::cancel, this::end);
    }

    Transactions transactions() {
        return transactions;
    }

    /** What the session is at. */
    Activity.Seen activity() {
        return activity.see();
    }

    /** The step under way. */
    Optional<Cancellation.Step> current() {
        return cancellation.step();
    }

    /** The threads that do a step. */
    List<Thread> threads(Cancellation.Step step) {
        List<Thread> threads = new ArrayList<>(List.of(step.thread()));
        offload.worker().ifPresent(threads::add);
        return threads;
    }

    /** Stops a step with this error, unless it has ended. */
    void stop(Cancellation.Step step, MillraceException why) {
        cancellation.stop(step, why);
    }

    /** Stops what there is, and runs nothing any more; whether it is the first to do so. */
    boolean close() {
        if (closed) {
            return false;
        }
        closed = true;
        cancellation.end("closing of the session");
        return true;
    }
}
