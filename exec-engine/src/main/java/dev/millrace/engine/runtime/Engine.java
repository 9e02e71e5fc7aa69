package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.alteration.Alteration;
import dev.millrace.engine.checkpoint.CheckpointReader;
import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.relation.Beside;
import dev.millrace.engine.relation.Relations;
import dev.millrace.engine.relation.WritableRelation;
import dev.millrace.engine.statistic.FlushProgress;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.memory.SpillSpace;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SchedulerStatistics;
import dev.millrace.time.Clock;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Runs physical plans: standing queries whose answers stay current, and pull queries that end. Safe on any thread; calls
 * that wait say so, are interruptible ({@code MillraceException} 57014), and must not be made from a sink or source.
 *
 * <pre>
 *   Engine engine = Engine.open(EngineOptions.defaults(), Clock.system());
 *   WritableRelation bids = engine.relations().addStream("bids", schema);
 *   StandingQuery totals = engine.start("totals", plan, QueryOptions.view());
 *   engine.awaitEpoch(bids.append(batch));
 *   try (Result rows = engine.run(new PlanNode.Scan("totals", ...))) { ... }
 * </pre>
 */
public interface Engine extends AutoCloseable {
    /** Starts the workers ({@code millrace-worker-N}) and the timer ({@code millrace-timer}). */
    static Engine open(EngineOptions options, Clock clock) {
        return open(options, clock, Journal.NONE);
    }

    /** @param journal where rows are written down that callers bring to relations with a number; stays the caller's */
    static Engine open(EngineOptions options, Clock clock, Journal journal) {
        return open(options, clock, journal, SpillSpace.NONE);
    }

    /** @param spill where state is that goes beyond the memory; is closed with the engine */
    static Engine open(EngineOptions options, Clock clock, Journal journal, SpillSpace spill) {
        return LocalEngine.threaded(options, clock, journal, spill);
    }

    /** An engine that runs on the threads of its callers, for tests: see {@link SteppedEngine}. */
    static SteppedEngine stepped(EngineOptions options, Clock clock, long seed) {
        return stepped(options, clock, seed, Journal.NONE, () -> false, () -> {});
    }

    /**
     * @param others does a part of what others than the engine do on this thread; false if they have nothing to do
     * @param pause lets some time pass by the clock, for who waits
     */
    static SteppedEngine stepped(
            EngineOptions options, Clock clock, long seed, Journal journal, BooleanSupplier others, Runnable pause) {
        return LocalEngine.stepped(options, clock, seed, journal, others, pause);
    }

    EngineOptions options();

    Relations relations();

    /**
     * For the batches that callers append. Whoever allocates here sees to it that it is freed before the engine closes.
     */
    BufferAllocator allocator();

    /**
     * Starts a standing query. Where it reads tables and materialized queries it begins with their rows as of the end of
     * one epoch and continues with all later changes; of unmaterialized ones and live streams it sees what comes from
     * now on; of replayable sources everything. Waits until the query is attached (for epochs under way to end:
     * milliseconds), not for any result.
     *
     * <p>Once started, failures are kept with the query: {@link StandingQuery#failure}.
     *
     * @throws dev.millrace.error.MillraceException when the name is taken, a relation is not there, a source cannot be
     *     opened; then nothing was started, and the sinks of the options were closed
     */
    StandingQuery start(String name, PlanNode plan, QueryOptions options);

    /**
     * Begins a group of queries that differ in literals alone, which has no members yet, and ends with the last of those that join.
     *
     * @param name of what runs, which no query has; by it a checkpoint knows what members keep, if they {@linkplain GroupPlan#keepsState keep} anything
     * @param options of each member
     * @throws dev.millrace.error.MillraceException as {@link #start}
     */
    QueryGroup group(String name, GroupPlan plan, QueryOptions options);

    /** Whether the engine is being opened from a checkpoint that has a query or a group of this name, which goes on with what it had. */
    boolean goesOn(String name);

    /**
     * Goes on with another plan under the same name, from the end of an epoch: operators keep their state or begin as
     * {@link #alteration} says, subscribers see the difference between the answers if their columns are the same, and
     * readers of the view see the new answer at once. Waits until it is there, which takes as long as what is read again;
     * meanwhile the query answers as before. Queries that read this one are not told: there must be none.
     *
     * @param options as for {@link #start}; sinks and restored state are not allowed
     * @return the query from now on; the former object is that of a dropped one. The same object if nothing changes
     * @throws dev.millrace.error.MillraceException 55000 if the query is paused; or what went wrong with the new plan,
     *     and then all is as before
     */
    StandingQuery alter(String name, PlanNode plan, QueryOptions options);

    /**
     * Has a query that runs under another name take the place of one, with its name, at the end of an epoch: subscribers of the one see the
     * difference between the answers if their columns are the same, those of the other go on, and readers of the view see its answer at
     * once. It keeps all that it has. That it has seen whatever the other has is the caller's to see to; a query that may be paused for that
     * ends here. Queries that read the one are not told: there must be none; nor may a checkpoint be under way.
     *
     * @param name of the query that ends
     * @param by the name that the other had until then
     * @param plan of the other, by the names that its sources have from then on
     * @param dropped sources that only the one read, and that are dropped
     * @param renamed new names of sources that only the other reads, by their names before
     * @return the other, under the name
     */
    StandingQuery replace(String name, String by, PlanNode plan, Set<String> dropped, Map<String, String> renamed);

    /**
     * Gives relations and queries other names, all at once, and no two of them one: with all that they have, and all who read them go on. No
     * checkpoint is under way.
     *
     * @param names the new ones, by those that they have; of names that nothing has nothing becomes
     * @param named a plan by the new names, which is the same but for them
     * @throws dev.millrace.error.MillraceException 42P07 if a name is taken, 0A000 where members of a group have one of the names or read
     *     what has; then nothing has another name
     */
    void rename(Map<String, String> names, UnaryOperator<PlanNode> named);

    /** What {@link #alter} would do now. */
    Alteration alteration(String name, PlanNode plan);

    /** The standing query of this name; one that finished or failed is there until it is dropped. A member leaves its group. */
    StandingQuery query(String name);

    /** All standing queries: those that run by themselves in order of their start, then the members of groups. */
    List<StandingQuery> queries();

    /**
     * Runs a finite query, in parallel with its reader. Tables and materialized queries are read as of one epoch for
     * all; replayable bounded sources from the first row to the end.
     *
     * @param nowMicros the time that all its expressions read, in microseconds since 1970: one, so that a row that is taken
     *     back is the row that was given
     * @throws dev.millrace.error.MillraceException when a relation is not there, keeps nothing to read (0A000), or
     *     cannot be opened; later failures come from {@link Result#next}
     */
    default Result run(PlanNode plan, long nowMicros) {
        return run(plan, nowMicros, Long.MAX_VALUE);
    }

    /** Runs a finite query, which fails (53200) before it holds more than {@code mostBytes}. */
    Result run(PlanNode plan, long nowMicros, long mostBytes);

    /** The rows of a table or view, to be read by a key; none if it keeps none, or its first answer is not whole yet. */
    Optional<VersionedView> kept(String relation);

    /** Runs a finite query whose expressions read the time at which this is called. */
    Result run(PlanNode plan);

    /**
     * Accepts rows of several streams and tables as part of one epoch, or none of them: nobody sees the ones without the
     * others. Relations that did not share their epochs do so from then on. Takes the batches over, also when it throws.
     * Waits as {@link dev.millrace.engine.relation.WritableRelation#append} does, whose rules hold for each relation.
     *
     * @param rows by the relations, whatever they are called by now; of at least one
     * @param beside what counts together with them
     * @return the epoch, for {@link #awaitEpoch}, and the journal's entry
     */
    Accepted accept(Map<WritableRelation, List<Batch>> rows, Beside beside);

    /** The same of rows alone, by the relations' names. */
    default Accepted accept(Map<String, List<Batch>> rows) {
        Map<WritableRelation, List<Batch>> of = new LinkedHashMap<>();
        try {
            rows.forEach((name, batches) -> of.put(relations().writable(name), batches));
        } catch (RuntimeException | Error e) {
            rows.values().forEach(Closing::all);
            throw e;
        }
        return accept(of, Beside.NOTHING);
    }

    /** The same; returns the epoch alone. */
    default long append(Map<String, List<Batch>> rows) {
        return accept(rows).epoch();
    }

    /**
     * Writes all that the engine keeps as of one moment, while rows flow: rows of tables and of answers, the state of all queries, and
     * where they are in their sources. Waits until it is written. Subscriptions and counters of statistics are not in
     * it; queries that are paused are in it without their state.
     *
     * <p>If it fails queries go on, and what was written is of no use.
     *
     * @param writer called on this thread
     * @param atCut called at the moment of the cut, on this thread: what the journal was given before is in, what it is given
     *     after is not. Takes no longer than to note how much that is. Given the number of the checkpoint: epochs that are in have
     *     smaller ones, those that are not have greater ones, also when the engine goes on from it
     * @throws dev.millrace.error.MillraceException 53200 without memory to spare, 55006 if an epoch does not end, 40001 if a query was altered or ended
     *     meanwhile, 58030 if the writer failed, 57014 if the caller was interrupted
     */
    CheckpointSummary checkpoint(CheckpointWriter writer, LongConsumer atCut);

    /** The same for who does not ask for the number. */
    default CheckpointSummary checkpoint(CheckpointWriter writer, Runnable atCut) {
        return checkpoint(writer, number -> atCut.run());
    }

    /**
     * A checkpoint outlives a crash from now on: sinks that go by checkpoints show what it has, each by a thread of its own. After {@link
     * #checkpoint}, before the next; not for one that came to nothing.
     *
     * @param number of the checkpoint
     */
    void published(long number);

    /**
     * Has the engine, in which no query, table or stream was declared yet but replayable sources, go on from a checkpoint: see {@link
     * Resumption}. Of what is declared all is read before the call returns by which it is, and that fails if this does.
     *
     * @throws dev.millrace.error.MillraceException XX001 if it is damaged; what is found to be later is told by who needs it
     */
    Resumption restore(CheckpointReader reader);

    /** The same, and quicker: all is read side by side, and what fails is told by {@link Resumption#await}. */
    Resumption restoreSideBySide(CheckpointReader reader);

    /**
     * Waits until the effects of an epoch are in all views and subscriptions (read your writes). Returns at once for an
     * epoch that had no rows.
     */
    void awaitEpoch(long epoch);

    /**
     * Waits until an epoch is visible in some relations, whoever else is still at work on it; in all, if the epochs of one of
     * them are not known.
     *
     * @return whether it is visible everywhere
     */
    boolean awaitEpoch(long epoch, Collection<String> relations);

    /**
     * Waits so long at most until an epoch is visible in a relation; where its epochs are not known, in all.
     *
     * @param mostNanos 0 to have a look only
     * @return whether it is
     */
    boolean awaitVisible(long epoch, String relation, long mostNanos);

    /**
     * Runs an action in which the calling thread may write the journal, and then shows on it what became visible by that, where otherwise
     * another thread would be woken. For threads that may be held up.
     */
    <T> T showing(Supplier<T> action);

    /**
     * Waits until all that was accepted before the call is in all views: appended rows, what live sources gave, and
     * bounded sources to their end. Paused, failed and dropped queries are not waited for.
     *
     * @param progress told some ten times a second, on the calling thread
     */
    void flush(Consumer<FlushProgress> progress);

    /**
     * Sets what may be in memory and on disk, in bytes, from now on: what is in memory stays there. At least 1 MB of memory.
     */
    void setMemoryLimits(long memoryBytes, long spillBytes);

    /** Changes who runs next, at once; names as in {@link EngineOptions#schedulingPolicy}. */
    void setSchedulingPolicy(String name);

    /** Its name now. */
    String schedulingPolicy();

    /** What workers did so far. */
    SchedulerStatistics scheduler();

    /** Bytes of batches and state in memory now. */
    long allocatedBytes();

    /** Bytes of state on disk now. */
    long spilledBytes();

    /** Stops everything; pull queries and subscriptions end with 57P01. Fails if a byte was left allocated. */
    @Override
    void close();
}
