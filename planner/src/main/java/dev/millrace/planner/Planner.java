package dev.millrace.planner;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.algebra.Translation;
import dev.millrace.planner.clock.ClockCheck;
import dev.millrace.planner.clock.DecideByClock;
import dev.millrace.planner.clock.DrawnOnce;
import dev.millrace.planner.clock.RecognizeTimeFilter;
import dev.millrace.planner.explain.Fingerprint;
import dev.millrace.planner.explain.PlanText;
import dev.millrace.planner.fact.EventTimes;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.fact.UniqueKey;
import dev.millrace.planner.forget.ForgetState;
import dev.millrace.planner.join.MergeJoins;
import dev.millrace.planner.over.OverRecognition;
import dev.millrace.planner.parallel.Parallelism;
import dev.millrace.planner.prune.PruneColumns;
import dev.millrace.planner.prune.PushPredicatesIntoScan;
import dev.millrace.planner.prune.ShareScans;
import dev.millrace.planner.simplify.Simplification;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.planner.user.KeepUserStates;
import dev.millrace.planner.window.EmissionCheck;
import dev.millrace.planner.window.MatchCheck;
import dev.millrace.planner.window.RecognizeIntervalJoin;
import dev.millrace.planner.window.RecognizeLifetimeJoin;
import dev.millrace.planner.window.TimedJoinCheck;
import dev.millrace.planner.window.WatermarkPlacement;
import dev.millrace.planner.window.WindowRecognition;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Query;
import java.util.List;
import java.util.Optional;

/**
 * Plans validated queries. Stateless and safe on any thread; one call takes well under a millisecond for a simple query
 * once the JVM is warm. A query's algebra must not be used by others meanwhile.
 *
 * <pre>
 * translate    the algebra, node by node
 * order        joins, by what is known of their inputs' sizes
 * simplify     fold constants, merge, move filters down
 * clock        rows that come and leave as time passes
 * recognize    windows that may emit once, at their close; joins of a window with its own extreme
 * forget       what state_ttl says
 * place        watermarks, and what is late
 * prune        unused columns, second reads of a stream, rows that readers need not give
 * merge        joins of one key that need not keep what lies between them
 * distribute   exchanges and two-phase aggregation, when there is more than one worker
 * </pre>
 */
public final class Planner {
    private Planner() {}

    /**
     * Plans a query.
     *
     * @throws dev.millrace.error.MillraceException (0A000) when no operator can run it, saying what and the nearest
     *     thing that works
     */
    public static PhysicalPlan plan(Query query, PlannerContext context) {
        boolean finite = context.mode() == PlannerContext.Mode.PULL;
        Inference inference = new Inference(context.relations(), finite);
        PlanNode written = new Translation(context.relations(), finite, context.folder()).translateQuery(query.rel());
        JoinSearch search = new JoinSearch(context, inference);
        if (!search.isWorthwhile(written)) {
            return physical(query, written, context, inference);
        }
        PlanNode ordered = search.ordered(written);
        return finite
                ? physical(query, ordered, context, inference)
                : search.better(written, ordered, plan -> physical(query, plan, context, inference));
    }

    /** All that follows once the order of joins is there. */
    private static PhysicalPlan physical(Query query, PlanNode ordered, PlannerContext context, Inference inference) {
        boolean finite = inference.finite();
        Simplification simplification = new Simplification(context.folderOfRows());
        PlanNode plan = simplification.apply(ordered);
        if (!finite) {
            if (context.nowMicros().isPresent()) {
                long now = context.nowMicros().getAsLong();
                plan = simplification.apply(Rewriter.rewrite(plan, new DecideByClock(now, context.folderOfRows())));
            }
            plan = simplification.apply(Rewriter.rewrite(plan, new RecognizeTimeFilter()));
            new ClockCheck(inference).check(plan);
        }
        boolean mayWait =
                finite || query.emit() instanceof Emit.Unspecified || query.emit() instanceof Emit.OnWindowClose;
        boolean closing = !finite && query.emit() instanceof Emit.OnWindowClose;
        if (mayWait) {
            plan = simplification.apply(WindowRecognition.apply(plan, inference, closing));
        }
        if (mayWait || context.dropLate()) {
            plan = Rewriter.rewrite(plan, new RecognizeIntervalJoin(inference, mayWait, closing));
            plan = Rewriter.rewrite(plan, new RecognizeLifetimeJoin(inference, mayWait));
        }
        plan = Rewriter.rewrite(plan, new TimedJoinCheck(inference, closing));
        if (closing) {
            EmissionCheck.refuseOpenSessions(plan);
        }
        plan = simplification.apply(OverRecognition.apply(plan, inference, closing));
        new MatchCheck(inference).check(plan);
        if (!finite && context.stateTtlMicros().isPresent()) {
            plan = Rewriter.rewrite(
                    plan, new ForgetState(inference, context.stateTtlMicros().getAsLong()));
        }
        if (!finite && query.emit() instanceof Emit.Every every) {
            plan = new PlanNode.Pace(plan, every.periodMicros());
        }
        Emit emit = emission(query.emit(), plan, finite, new EmissionCheck(inference, context.relations()));
        boolean appendOnly = inference.of(plan).appendOnly();

        Optional<RelationFacts.EventTime> declared = EventTimes.declared(plan);
        plan = WatermarkPlacement.apply(plan, context.dropLate());
        Optional<RelationFacts.EventTime> eventTime = finite || !appendOnly
                ? Optional.empty()
                : EventTimes.settled(plan, inference).or(() -> declared);
        plan = simplification.apply(ShareScans.apply(PruneColumns.apply(plan)));
        plan = PushPredicatesIntoScan.apply(plan, context.relations());
        plan = promised(plan, inference);
        plan = Rewriter.rewrite(plan, new KeepUserStates(context.userStates()));
        Optional<List<Integer>> uniqueKey = new UniqueKey(context.relations()).of(plan);
        plan = MergeJoins.apply(new DrawnOnce(inference).apply(plan), inference);
        plan = Parallelism.apply(plan, context.parallelism(), inference);
        plan = Nodes.named(Rewriter.shared(plan), query.schema().names());
        return new PhysicalPlan(plan, appendOnly, emit, uniqueKey, eventTime, Optional.empty(), Fingerprint.of(plan));
    }

    /** What the user asked for if it is possible; else what the plan does. */
    private static Emit emission(Emit asked, PlanNode plan, boolean finite, EmissionCheck check) {
        if (!finite && asked instanceof Emit.OnWindowClose) {
            check.requireOnWindowClose(plan);
        }
        if (!(asked instanceof Emit.Unspecified)) {
            return asked;
        }
        return check.emitsOnWindowClose(plan) ? new Emit.OnWindowClose() : new Emit.Changes();
    }

    /**
     * A plan of this context as text for EXPLAIN.
     *
     * @param plan of {@link #plan} with an equal context
     */
    public static String explain(PlanNode plan, PlannerContext context) {
        return PlanText.of(
                plan,
                new Inference(context.relations(), context.mode() == PlannerContext.Mode.PULL),
                context.cardinality());
    }

    /** Aggregations and rankings of rows that are never retracted say so: they may keep smaller states. */
    private static PlanNode promised(PlanNode plan, Inference inference) {
        return Rewriter.rewrite(plan, node -> {
            if (node instanceof PlanNode.Aggregate aggregate
                    && !aggregate.appendOnlyInput()
                    && inference.of(aggregate.input()).appendOnly()) {
                return Optional.of(
                        Nodes.aggregate(aggregate.input(), aggregate.keys(), aggregate.calls(), aggregate.phase(), true)
                                .forgetting(aggregate.forgetting()));
            }
            if (node instanceof PlanNode.TopN topN
                    && !topN.appendOnlyInput()
                    && inference.of(topN.input()).appendOnly()) {
                return Optional.of(Nodes.promised(topN, true));
            }
            return Optional.empty();
        });
    }
}
