package dev.millrace.planner;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.algebra.Translation;
import dev.millrace.planner.bound.BoundRules;
import dev.millrace.planner.clock.ClockCheck;
import dev.millrace.planner.clock.DecideByClock;
import dev.millrace.planner.clock.DrawnOnce;
import dev.millrace.planner.clock.RecognizeTimeFilter;
import dev.millrace.planner.condense.CondenseScans;
import dev.millrace.planner.explain.Fingerprint;
import dev.millrace.planner.explain.PlanText;
import dev.millrace.planner.fact.EventTimes;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.fact.UniqueKey;
import dev.millrace.planner.forget.ForgetState;
import dev.millrace.planner.join.MergeJoins;
import dev.millrace.planner.over.HoldUntilWatermark;
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
 * bound        what is asked of how far off values may be
 * order        joins, by what is known of their inputs' sizes
 * simplify     fold constants, merge, move filters down
 * clock        rows that come and leave as time passes
 * condense     scans that may give rows that are alike as one
 * recognize    windows that may emit once, at their close; joins of a window with its own extreme
 * forget       what state_ttl says
 * place        watermarks, and what is late
 * prune        unused columns, second reads of a stream, rows that readers need not give
 * merge        joins of one key that need not keep what lies between them
 * distribute   exchanges and two-phase aggregation, when there is more than one worker
 * </pre>
 *
 * What each of them needs of those before it is said by {@link Pass}, and asserted.
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
        boolean closing = !finite && query.emit() instanceof Emit.OnWindowClose;
        PlanNode translated =
                new Translation(context.relations(), finite, closing, context.folder()).translateQuery(query.rel());
        boolean asksBounds = BoundRules.areAsked(translated);
        PlanNode written = BoundRules.apply(
                translated,
                context.relations(),
                context.maxError(),
                query.schema().names());
        JoinSearch search = new JoinSearch(context, inference);
        if (!search.isWorthwhile(written)) {
            return physical(query, written, asksBounds, context, inference);
        }
        PlanNode ordered = search.ordered(written);
        return finite
                ? physical(query, ordered, asksBounds, context, inference)
                : search.better(written, ordered, plan -> physical(query, plan, asksBounds, context, inference));
    }

    /** All that follows once the order of joins is there. */
    private static PhysicalPlan physical(
            Query query, PlanNode ordered, boolean asksBounds, PlannerContext context, Inference inference) {
        boolean finite = inference.finite();
        boolean standing = !finite;
        Emit asked = query.emit();
        boolean closing = standing && asked instanceof Emit.OnWindowClose;
        boolean mayWait = finite || asked instanceof Emit.Unspecified || asked instanceof Emit.OnWindowClose;
        boolean bounded = mayWait || context.dropLate();
        boolean knowsTime = standing && context.nowMicros().isPresent();
        boolean forgets = standing && context.stateTtlMicros().isPresent();
        Simplification simplification = new Simplification(context.folderOfRows());

        EmissionCheck check = new EmissionCheck(inference, context.relations());

        Passes passes = new Passes(ordered)
                .run(Pass.SIMPLIFY, simplification::apply)
                .runIf(knowsTime, Pass.DECIDE_BY_CLOCK, plan -> {
                    long now = context.nowMicros().getAsLong();
                    return Rewriter.rewrite(plan, new DecideByClock(now, context.folderOfRows()));
                })
                .runIf(knowsTime, Pass.SIMPLIFY, simplification::apply)
                .runIf(standing, Pass.RECOGNIZE_TIME_FILTERS, plan -> Rewriter.rewrite(plan, new RecognizeTimeFilter()))
                .runIf(standing, Pass.SIMPLIFY, simplification::apply)
                .check(standing, Pass.CHECK_CLOCK, new ClockCheck(inference)::check)
                .runIf(finite, Pass.CONDENSE, plan -> CondenseScans.apply(plan, context.relations()))
                .runIf(mayWait, Pass.RECOGNIZE_WINDOWS, plan -> WindowRecognition.apply(plan, inference, closing))
                .runIf(mayWait, Pass.SIMPLIFY, simplification::apply)
                .runIf(
                        bounded,
                        Pass.RECOGNIZE_INTERVAL_JOINS,
                        plan -> Rewriter.rewrite(plan, new RecognizeIntervalJoin(inference, mayWait, closing)))
                .runIf(
                        bounded,
                        Pass.RECOGNIZE_LIFETIME_JOINS,
                        plan -> Rewriter.rewrite(plan, new RecognizeLifetimeJoin(inference, mayWait)))
                .run(Pass.CHECK_TIMED_JOINS, plan -> Rewriter.rewrite(plan, new TimedJoinCheck(inference, closing)))
                .check(closing, Pass.CHECK_SESSIONS, EmissionCheck::refuseOpenSessions)
                .run(Pass.RECOGNIZE_OVER, plan -> OverRecognition.apply(plan, inference, closing))
                .run(Pass.SIMPLIFY, simplification::apply)
                .runIf(
                        closing,
                        Pass.HOLD,
                        plan -> check.emitsOnWindowClose(plan) ? plan : HoldUntilWatermark.apply(plan, inference))
                .check(true, Pass.CHECK_MATCHES, new MatchCheck(inference)::check)
                .runIf(forgets, Pass.FORGET, plan -> {
                    long ttl = context.stateTtlMicros().getAsLong();
                    return Rewriter.rewrite(plan, new ForgetState(inference, ttl));
                })
                .runIf(
                        standing && asked instanceof Emit.Every,
                        Pass.PACE,
                        plan -> new PlanNode.Pace(plan, ((Emit.Every) asked).periodMicros()));

        PlanNode recognized = passes.plan();
        Emit emit = emission(asked, recognized, finite, check);
        boolean appendOnly = inference.of(recognized).appendOnly();
        Optional<RelationFacts.EventTime> declared = EventTimes.declared(recognized);

        passes.run(Pass.PLACE_WATERMARKS, plan -> WatermarkPlacement.apply(plan, context.dropLate()));
        Optional<RelationFacts.EventTime> eventTime = finite || !appendOnly
                ? Optional.empty()
                : EventTimes.settled(passes.plan(), inference).or(() -> declared);
        passes.run(Pass.PRUNE, PruneColumns::apply)
                .run(Pass.SHARE_SCANS, ShareScans::apply)
                .run(Pass.SIMPLIFY, simplification::apply)
                .run(Pass.PUSH_PREDICATES, plan -> PushPredicatesIntoScan.apply(plan, context.relations()))
                .run(Pass.PROMISE_APPEND_ONLY, plan -> promised(plan, inference))
                .run(Pass.KEEP_USER_STATES, plan -> Rewriter.rewrite(plan, new KeepUserStates(context.userStates())));

        Optional<List<Integer>> uniqueKey = new UniqueKey(context.relations()).of(passes.plan());
        PlanNode plan = passes.run(Pass.DRAW_ONCE, new DrawnOnce(inference)::apply)
                .runIf(finite, Pass.SETTLE_CONDENSED, drawn -> CondenseScans.apply(drawn, context.relations()))
                .run(Pass.MERGE_JOINS, merged -> MergeJoins.apply(merged, inference))
                .run(Pass.DISTRIBUTE, merged -> Parallelism.apply(merged, context.parallelism(), inference))
                .plan();
        plan = Nodes.named(Rewriter.shared(plan), query.schema().names());
        return new PhysicalPlan(
                plan, appendOnly, emit, uniqueKey, eventTime, Optional.empty(), asksBounds, Fingerprint.of(plan));
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
