package dev.millrace.engine.runtime;

import com.sun.management.ThreadMXBean;
import dev.millrace.batch.Closing;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.engine.epoch.Quiescence;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QueryTasks.FeedScan;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.Restores;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * How a query comes to run: its tasks are built, with the state that it goes on with; it joins the epochs of what it reads; others
 * see it; its tasks begin. Where one step fails what was made is freed, and nobody has seen it. By who holds the lock of changes.
 */
final class QueryStart {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final LocalEngine engine;
    private final Resources resources;
    private final RelationRegistry relations;
    private final Function<PlanNode, Operator> operators;
    private final Quiescence quiescence;
    private final Optional<Restores> restores;
    private Consumer<LocalStandingQuery> whenMade = query -> {};
    private Consumer<LocalStandingQuery> attaching = this::attach;

    /** @param restores by which states are read while their queries wait for them; if there is none, before they are started */
    QueryStart(
            LocalEngine engine,
            Resources resources,
            RelationRegistry relations,
            Function<PlanNode, Operator> operators,
            Quiescence quiescence,
            Optional<Restores> restores) {
        this.engine = engine;
        this.resources = resources;
        this.relations = relations;
        this.operators = operators;
        this.quiescence = quiescence;
        this.restores = restores;
    }

    /** Has something done with the query before its tasks are built. */
    QueryStart whenMade(Consumer<LocalStandingQuery> action) {
        whenMade = action;
        return this;
    }

    /** Has somebody else {@linkplain LocalStandingQuery#attach join} the query to the epochs of what it reads, when its tasks are built. */
    QueryStart attaching(Consumer<LocalStandingQuery> action) {
        attaching = action;
        return this;
    }

    /** @param taken of the Java heap, told how many bytes making the query allocated */
    LocalStandingQuery run(String name, PlanNode plan, QueryOptions options, LongFunction<HeapBudget.Taken> taken) {
        long allocatedBefore = THREADS.getCurrentThreadAllocatedBytes();
        LocalStandingQuery query;
        try {
            query = new LocalStandingQuery(name, plan, options, engine.options().workers(), engine, resources);
        } catch (RuntimeException | Error e) {
            Closing.all(options.sinks());
            throw e;
        }
        Optional<MillraceException> failure = options.restore().flatMap(SavedQuery::failure);
        boolean finished = options.restore().map(SavedQuery::finished).orElse(false);
        try {
            whenMade.accept(query);
            Runnable answer = () -> options.restore().ifPresent(query::restoreAnswer);
            long allocatedElsewhere = 0;
            if (finished || failure.isPresent()) {
                answer.run();
            } else {
                TaskBuilder tasks = new TaskBuilder(
                                query.tasks(),
                                plan,
                                relations,
                                query.parallelism(),
                                true,
                                operators,
                                query.output(),
                                options.restore(),
                                query::isSeen)
                        .besides(answer);
                if (options.restore().isPresent() && restores.isPresent()) {
                    tasks.build(restores.get());
                    query.beginRestored();
                } else {
                    allocatedElsewhere = tasks.build();
                }
            }
            attaching.accept(query);
            engine.add(query);
            query.tasks().start();
            if (!query.isRestored()) {
                query.beginFirstEpoch();
            }
            query.took(taken.apply(THREADS.getCurrentThreadAllocatedBytes() - allocatedBefore + allocatedElsewhere));
            if (finished) {
                query.endAtOnce();
            }
            failure.ifPresent(query::failed);
        } catch (RuntimeException | Error e) {
            query.abandon();
            resources.memory().release(query.tasks().memory());
            throw QueryTasks.explain(e);
        }
        return query;
    }

    private void attach(LocalStandingQuery query) {
        Set<EpochDomain> domains = new LinkedHashSet<>(); // in an order that a seed repeats
        for (FeedScan scan : query.tasks().feeds) {
            domains.add(scan.feed().domain().get());
        }
        if (domains.isEmpty()) {
            query.attach(resources.epochs().newDomain());
        } else {
            join(domains, query);
        }
    }

    /**
     * Has a query read on from between two epochs of what it reads. Other readers may be behind, which is waited for only where
     * domains become one, or the rows that a view keeps are read first.
     */
    private void join(Set<EpochDomain> domains, LocalStandingQuery query) {
        Epochs epochs = resources.epochs();
        List<Scannable.Feed> feeds =
                query.tasks().feeds.stream().map(FeedScan::feed).toList();
        if (domains.size() > 1 || feeds.stream().anyMatch(feed -> feed.view().isPresent())) {
            BooleanSupplier all = () -> feeds.stream()
                    .allMatch(feed -> epochs.hasPassedOn(feed.domain().get(), feed.fanout()::hasEnded));
            quiescence.atRest(domains, all, query::attach);
        } else {
            EpochDomain first = domains.iterator().next();
            quiescence.between(
                    first,
                    epoch -> feeds.stream().allMatch(feed -> feed.fanout().hasEnded(epoch)),
                    () -> query.attach(first));
        }
    }
}
