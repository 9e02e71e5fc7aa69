package dev.millrace.engine.runtime;

import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.statistic.LateRow;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/** A query that runs until it is dropped, fails or has read all there is. Safe on any thread. */
public interface StandingQuery {
    String name();

    PlanNode plan();

    Schema schema();

    boolean materialized();

    QueryState state();

    /**
     * The epoch that makes its first answer visible, over what tables and materialized queries held when it was started:
     * for {@link Engine#awaitEpoch}.
     */
    long firstEpoch();

    /**
     * Waits until its readers are as far as the caller wants, or the query does not run, and has the epoch under way end: what they have
     * read is in that one or in others before.
     *
     * @param read whether they are; looked at on the caller's thread
     * @return the epoch, for {@link Engine#awaitEpoch}
     * @throws dev.millrace.error.MillraceException why the caller is stopped
     */
    long awaitReaders(BooleanSupplier read);

    /** What the journal had come to when it was started or altered: rows of the entries behind that came to it, one by one. */
    long since();

    /** Whether its sink has rows that it shows when there is another checkpoint. */
    boolean waitsForCheckpoint();

    /** When it takes what has come. */
    Schedule schedule();

    /** Has it take what has come at other times, at once and while it runs: what waits it takes now. */
    void schedule(Schedule schedule);

    /** Has it take what has come now. @return the epoch of which that is, for {@link Engine#awaitEpoch} */
    long takeIn();

    /** The function of users that one of its threads has been in for a second or more, also after it failed. */
    Optional<String> stuckIn();

    /** Why it failed. */
    Optional<MillraceException> failure();

    /**
     * Its output from now on, epoch by epoch.
     *
     * @throws MillraceException if a snapshot is asked of a query that is not materialized (55000)
     */
    Subscription subscribe(SubscriptionOptions options);

    /**
     * Stops taking input, from an epoch's end on. Replayable sources are read on later; appended and live rows wait in
     * memory (and fail the query when they are more than an eighth of the limit). No effect unless RUNNING.
     */
    void pause();

    /**
     * Takes what waited, in one epoch, and goes on; or shows again what it makes, if rows that failed stopped it. No effect unless PAUSED or
     * {@linkplain #isStopped stopped}.
     *
     * @return the epoch of what waited; none if it does not run
     * @throws MillraceException what a row fails with that stops it still
     */
    OptionalLong resume();

    /**
     * Whether it is FAILED by nothing but rows of its own that failed. It has all else: it goes on with what comes, but nobody reads it or
     * subscribes to it until it is resumed.
     */
    boolean isStopped();

    /** Why rows that failed, its own or of what it reads, stop it. */
    Optional<MillraceException> whyStopped();

    /** What one of its rows fails with now. */
    Optional<MillraceException> failureOfRows();

    /** Leaves out the rows that fail now, as if they had not come. It is not resumed by that. Returns how many there were. */
    long leaveOutFailedRows();

    /** What was left out since it was made, by reasons. */
    List<FailedRows.LeftOut> rowsLeftOut();

    /**
     * Stops it and frees all it holds, before returning unless a step of it does not come back: what that needs is freed when it
     * does, and nobody waits for it. Queries that read it keep what they have.
     */
    void drop();

    /** Waits until it is FINISHED, FAILED or DROPPED and everything it made is visible; returns which. */
    QueryState await();

    /**
     * The state of all operators between two epochs. The query goes on. Of one that is FINISHED only the answer is left: a
     * query restored from it is FINISHED with that answer.
     *
     * @throws MillraceException if it is FAILED or DROPPED (55000)
     */
    QuerySnapshot snapshot();

    QueryStatistics statistics();

    /** The newest late rows, at most {@link LateRow#KEPT}, oldest first. */
    List<LateRow> lateRows();
}
