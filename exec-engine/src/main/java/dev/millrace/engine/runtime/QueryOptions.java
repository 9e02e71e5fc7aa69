package dev.millrace.engine.runtime;

import dev.millrace.connector.Sink;
import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.task.MemoryLimits;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * How a standing query runs.
 *
 * @param materialized whether its current answer is kept, for pull queries, for queries that start later, and for
 *     subscriptions with a snapshot
 * @param sinks where its output goes from the first row; the query owns and closes them
 * @param priority greater runs sooner, whatever the policy but {@code random}
 * @param restore state of an earlier run of the same plan to begin with: it has seen the rows that the relations it
 *     reads have now, and goes on with what comes next
 * @param mostRowNanos how long it may be at one row before it fails
 * @param mostSinkNanos how long a sink that is called apart may take nothing while the query waits for it, before it fails
 * @param memory what it may hold, and where
 * @param kept what keeps its rows, of a query that is not materialized and never takes one back
 * @param schedule when it takes what has come
 */
public record QueryOptions(
        boolean materialized,
        List<Sink> sinks,
        int priority,
        Optional<SavedQuery> restore,
        long mostRowNanos,
        long mostSinkNanos,
        MemoryLimits memory,
        Optional<KeptOutput> kept,
        Schedule schedule) {
    /** How long a query may be at one row unless it says otherwise. */
    public static final long MOST_ROW_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** How long it waits for a sink that takes nothing unless it says otherwise. */
    public static final long MOST_SINK_NANOS = TimeUnit.SECONDS.toNanos(30);

    public QueryOptions {
        sinks = List.copyOf(sinks);
    }

    /** A query whose output only flows: to sinks, subscribers and other queries. */
    public static QueryOptions streaming() {
        return new QueryOptions(
                false,
                List.of(),
                0,
                Optional.empty(),
                MOST_ROW_NANOS,
                MOST_SINK_NANOS,
                MemoryLimits.NONE,
                Optional.empty(),
                Schedule.DATA);
    }

    /** A query whose answer is kept. */
    public static QueryOptions view() {
        return new QueryOptions(
                true,
                List.of(),
                0,
                Optional.empty(),
                MOST_ROW_NANOS,
                MOST_SINK_NANOS,
                MemoryLimits.NONE,
                Optional.empty(),
                Schedule.DATA);
    }

    /** The same of a query whose answer is kept elsewhere, or not at all. */
    QueryOptions withoutAnswer() {
        return new QueryOptions(false, sinks, priority, restore, mostRowNanos, mostSinkNanos, memory, kept, schedule);
    }

    public QueryOptions withSink(Sink sink) {
        List<Sink> more = new java.util.ArrayList<>(sinks);
        more.add(sink);
        return new QueryOptions(
                materialized, more, priority, restore, mostRowNanos, mostSinkNanos, memory, kept, schedule);
    }

    public QueryOptions withPriority(int newPriority) {
        return new QueryOptions(
                materialized, sinks, newPriority, restore, mostRowNanos, mostSinkNanos, memory, kept, schedule);
    }

    public QueryOptions withRestore(SavedQuery snapshot) {
        return new QueryOptions(
                materialized,
                sinks,
                priority,
                Optional.of(snapshot),
                mostRowNanos,
                mostSinkNanos,
                memory,
                kept,
                schedule);
    }

    /** Fails it when it is at one row for so long; {@code Long.MAX_VALUE} for never. */
    public QueryOptions withMostRowNanos(long nanos) {
        return new QueryOptions(materialized, sinks, priority, restore, nanos, mostSinkNanos, memory, kept, schedule);
    }

    /** Fails a sink that takes nothing for so long; {@code Long.MAX_VALUE} for never. */
    public QueryOptions withMostSinkNanos(long nanos) {
        return new QueryOptions(materialized, sinks, priority, restore, mostRowNanos, nanos, memory, kept, schedule);
    }

    /** Fails it before it holds more than so much; {@code Long.MAX_VALUE} for as much as there is. */
    public QueryOptions withMostBytes(long bytes) {
        return withMemory(memory.withMostBytes(bytes));
    }

    public QueryOptions withMemory(MemoryLimits limits) {
        return new QueryOptions(
                materialized, sinks, priority, restore, mostRowNanos, mostSinkNanos, limits, kept, schedule);
    }

    /** Has its rows kept. */
    public QueryOptions withKept(KeptOutput output) {
        return new QueryOptions(
                materialized,
                sinks,
                priority,
                restore,
                mostRowNanos,
                mostSinkNanos,
                memory,
                Optional.of(output),
                schedule);
    }

    /** Has it take what has come at such times. */
    public QueryOptions withSchedule(Schedule newSchedule) {
        return new QueryOptions(
                materialized, sinks, priority, restore, mostRowNanos, mostSinkNanos, memory, kept, newSchedule);
    }
}
