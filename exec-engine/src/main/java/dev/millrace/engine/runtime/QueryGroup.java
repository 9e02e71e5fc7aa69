package dev.millrace.engine.runtime;

import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.GroupPlan;
import java.util.List;
import java.util.Optional;

/**
 * Standing queries that differ in literals alone and share one task: what each row concerns is found for all of them at once, and what they keep of rows is each one's own. A member is a {@link StandingQuery} as any other: with its own subscribers, failures and
 * counters, and what it costs is a row. What a group cannot do for one member (be paused, altered, read by another query) has the member leave it, between two
 * epochs, and run by itself under its name: no row is lost by that, and none comes twice. The group ends with its last member. Safe on any thread.
 */
public interface QueryGroup {
    GroupPlan plan();

    /** How many members there are now. */
    int members();

    /**
     * Starts a query as a member: it sees what comes from now on, as one that {@link Engine#start} started.
     *
     * @param literals as many as the plan has parameters, and of their types
     * @return empty if {@link #isOver}, or the engine is being opened from a checkpoint that has the query by itself
     * @throws dev.millrace.error.MillraceException when the name is taken
     */
    Optional<StandingQuery> join(String name, List<Literal> literals);

    /** A member, and who hears all of it. */
    record Subscribed(StandingQuery query, Subscription subscription) {}

    /**
     * The same of a query that is for one subscriber, who hears it from its first row on.
     *
     * @throws dev.millrace.error.MillraceException when the name is taken, or there is no such subscription
     */
    Optional<Subscribed> subscribe(String name, List<Literal> literals, SubscriptionOptions subscriber);

    /** Whether nobody can join it any more: its last member is gone, or it failed. */
    boolean isOver();

    /** What all of them did together. */
    QueryStatistics statistics();
}
