package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.alteration.Alteration;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.graph.PlanGraph;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QuerySnapshot.Part;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.LocalSubscription;
import dev.millrace.engine.task.EntryStage;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.view.View;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.arrow.memory.BufferAllocator;

/**
 * One query in the place of another. Both run side by side for a while, over the same epochs:
 *
 * <pre>
 *   at rest     the new one is built with the states that are kept, and attached
 *   running     the old one answers; the new one makes its answer, reads again what can be read again
 *   at rest     subscribers and the name go over, with the difference of the answers; the old one ends
 * </pre>
 *
 * As both see each row between the two rests, none is lost and none counts twice. By who holds the lock of changes.
 */
final class HandOver {
    private final LocalEngine engine;
    private final Resources resources;
    private final RelationRegistry relations;
    private final Function<PlanNode, Operator> operators;

    HandOver(
            LocalEngine engine,
            Resources resources,
            RelationRegistry relations,
            Function<PlanNode, Operator> operators) {
        this.engine = engine;
        this.resources = resources;
        this.relations = relations;
        this.operators = operators;
    }

    LocalStandingQuery run(LocalStandingQuery old, PlanNode plan, QueryOptions options, Alteration alteration) {
        LocalStandingQuery query = begin(old, plan, options, alteration);
        try {
            catchUp(old, query);
            if (query.failure().isPresent()) { // also of rows that are there now
                throw query.failure().get();
            }
        } catch (RuntimeException | Error e) {
            query.retire();
            throw e;
        }
        whileResting(old, query, () -> {
            takeSubscribers(old, query);
            engine.replace(old, query, () -> {});
        });
        old.retire();
        return query;
    }

    /**
     * The same with one that has run under another name, with all that it has: whatever the old one was shown, it has seen.
     *
     * @param plan the same, with the names that its sources have from then on
     * @param renameSources gives them these, when nobody reads what had them
     */
    void run(LocalStandingQuery old, LocalStandingQuery by, PlanNode plan, Runnable renameSources) {
        whileResting(old, by, () -> {
            takeSubscribers(old, by);
            engine.forgetName(by);
            by.rename(old.name(), plan);
            engine.replace(old, by, renameSources);
        });
        old.retire();
    }

    private LocalStandingQuery begin(
            LocalStandingQuery old, PlanNode plan, QueryOptions options, Alteration alteration) {
        Set<EpochDomain> domains = new LinkedHashSet<>(); // in an order that a seed repeats
        if (old.state() == QueryState.RUNNING && alteration.keepsAny()) {
            domains.add(old.domain());
        }
        for (Scan scan : LocalEngine.scans(plan)) {
            if (relations.scannable(scan.relation()) instanceof Scannable.Feed feed) {
                domains.add(feed.domain().get());
            }
        }
        LocalStandingQuery[] made = new LocalStandingQuery[1];
        try {
            if (domains.isEmpty()) {
                made[0] = build(old, plan, options, alteration);
                made[0].attach(resources.epochs().newDomain());
            } else {
                engine.atRest(domains, domain -> {
                    made[0] = build(old, plan, options, alteration);
                    made[0].attach(domain);
                });
            }
        } catch (RuntimeException | Error e) {
            if (made[0] != null) {
                discard(made[0]);
            }
            throw QueryTasks.explain(e);
        }
        made[0].tasks().start();
        made[0].beginFirstEpoch();
        return made[0];
    }

    private LocalStandingQuery build(
            LocalStandingQuery old, PlanNode plan, QueryOptions options, Alteration alteration) {
        // states go over task by task where they follow no key groups
        int tasks = alteration.keepsAny() ? old.parallelism() : engine.options().workers();
        LocalStandingQuery query = new LocalStandingQuery(old.name(), plan, options, tasks, engine, resources);
        try {
            Optional<QuerySnapshot> state =
                    alteration.keepsAny() ? Optional.of(keptState(old, plan, alteration)) : Optional.empty();
            query.goOnWith(alteration);
            new TaskBuilder(
                            query.tasks(),
                            plan,
                            relations,
                            query.parallelism(),
                            true,
                            operators,
                            query.output(),
                            state,
                            query::isSeen)
                    .build();
            query.replay(alteration);
            return query;
        } catch (RuntimeException | Error e) {
            discard(query);
            throw e;
        }
    }

    private void discard(LocalStandingQuery notStarted) {
        notStarted.abandon();
        resources.memory().release(notStarted.tasks().memory());
    }

    /** The states of operators that are kept, under the numbers that the new plan's graph gives them. */
    private static QuerySnapshot keptState(LocalStandingQuery old, PlanNode plan, Alteration alteration) {
        Map<PlanNode, Integer> numbers = new HashMap<>();
        for (PlanGraph.Node node : new PlanGraph(plan, 1, scan -> false, true).nodes()) {
            numbers.put(node.plan(), node.id());
        }
        Map<String, List<Part>> all = OperatorSnapshots.take(old.tasks());
        Map<String, List<Part>> kept = new HashMap<>();
        for (PlacedStage placed : old.tasks().stages) {
            Optional<PlanNode> successor = alteration.successor(placed.node().plan());
            List<Part> parts = all.get(placed.node().id() + "/" + placed.instance());
            if (parts != null && successor.isPresent()) {
                kept.put(numbers.get(successor.get()) + "/" + placed.instance(), parts);
            }
        }
        return new QuerySnapshot(old.output().publishedEpoch(), old.parallelism(), false, kept, List.of());
    }

    /** Until the new answer is visible, and as much has been read again as the old query had read. */
    private void catchUp(LocalStandingQuery old, LocalStandingQuery query) {
        long rows = sourceRows(old);
        engine.await(() -> query.state() != QueryState.RUNNING
                || resources.epochs().isCommitted(query.firstEpoch())
                        && (query.tasks().sources.isEmpty() || Flush.hasReadAll(query) || sourceRows(query) >= rows));
    }

    private static long sourceRows(LocalStandingQuery query) {
        Set<PlanGraph.Node> read = query.tasks().sources.stream()
                .map(QueryTasks.PlacedSource::node)
                .collect(Collectors.toSet());
        return query.tasks().stages.stream()
                .filter(placed -> read.contains(placed.node()) && placed.stage() instanceof EntryStage)
                .mapToLong(placed -> ((EntryStage) placed.stage()).rowsIn())
                .sum();
    }

    private void whileResting(LocalStandingQuery old, LocalStandingQuery next, Runnable action) {
        Set<EpochDomain> domains = new LinkedHashSet<>();
        for (LocalStandingQuery query : List.of(old, next)) {
            if (query.lifeState() == QueryState.RUNNING || query.lifeState() == QueryState.PAUSED) {
                domains.add(query.domain());
            }
        }
        if (domains.isEmpty()) {
            old.exclusively(() -> next.exclusively(action));
        } else {
            engine.atRest(domains, domain -> action.run());
        }
    }

    /** Those of the old query go on with the new one, and see the difference. While both are at rest. */
    private void takeSubscribers(LocalStandingQuery old, LocalStandingQuery query) {
        List<LocalSubscription> moved = old.output().releaseSubscriptions();
        QueryOutput output = query.output();
        output.goOnAfter(
                Math.max(old.output().publishedEpoch(), output.publishedEpoch()),
                Math.max(old.output().publishedMicros(), output.publishedMicros()));
        boolean same = query.schema().types().equals(old.schema().types());
        if (moved.isEmpty() || !same) {
            Optional<MillraceException> why = Optional.of(MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + query.name() + "\" was altered and has other columns now")
                    .withHint("subscribe again"));
            moved.forEach(subscription -> subscription.end(why));
            return;
        }
        long micros = output.nextMicros();
        List<Batch> difference = query.materialized() && old.materialized() ? difference(old, query) : List.of();
        try {
            for (LocalSubscription subscription : moved) {
                subscription.deliver(output.publishedEpoch(), micros, difference, false);
                subscription.moveTo(query.tasks()::wakeAll, () -> output.remove(subscription));
                output.add(subscription);
            }
        } finally {
            Closing.all(difference);
        }
    }

    /** How the new answer differs from the old. */
    private List<Batch> difference(LocalStandingQuery old, LocalStandingQuery query) {
        BufferAllocator allocator = query.tasks().memory().own();
        List<Batch> now = query.output().view().orElseThrow().snapshot(allocator);
        List<Batch> before = old.output().view().orElseThrow().snapshot(allocator);
        return View.difference(query.schema(), now, before, resources.batchRows(), allocator);
    }
}
