package dev.millrace.engine.alteration;

import dev.millrace.engine.join.JoinAnswer;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.SharedSides;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What becomes of each operator when a standing query goes on with another plan. An operator keeps its state if the plan
 * below it, literals included, is the same as before but for how long it keeps what is old, if the rows it has seen cannot be or need not be read again, and if
 * those above it that are new can begin with its answer: updating aggregations, top-N and joins tell theirs again, windows
 * and row patterns go on with what is open. All others begin with the rows that are kept: tables, views, replayable streams.
 */
public final class Alteration {
    /** What becomes of an operator, or of a scan. */
    public enum Fate {
        /** An operator that keeps nothing. */
        STATELESS,
        /** Its state is as before. */
        KEPT,
        /** Its state is made anew from rows that are there. */
        REBUILT,
        /** Its state begins empty: some of the rows below are not kept. */
        STARTS_NOW,
        /** The scan goes on where it was. */
        GOES_ON,
        /** The scan begins with all rows there are. */
        READ_AGAIN,
        /** The scan sees rows from now on. */
        FROM_NOW
    }

    private final PlanNode after;
    private final boolean changesNothing;
    private final Function<String, Scannable> relations;
    private final SharedSides sharedBefore;
    private final SharedSides sharedAfter;
    private final Set<PlanNode> frontier = new LinkedHashSet<>(); // kept, below something that is not
    private final Set<PlanNode> kept = new HashSet<>(); // these and all below

    /** @param state of the query: one that runs has state that can be taken over */
    public Alteration(PlanNode before, PlanNode after, QueryState state, Function<String, Scannable> relations) {
        this.after = after;
        this.changesNothing = before.equals(after) && state != QueryState.FAILED;
        this.relations = relations;
        this.sharedBefore = sharedSides(before);
        this.sharedAfter = sharedSides(after);
        if (state == QueryState.RUNNING) {
            Set<PlanNode> known = below(before);
            Set<PlanNode> refused = new HashSet<>();
            do {
                frontier.clear();
                kept.clear();
                findFrontier(after, known, refused);
                frontier.forEach(node -> kept.addAll(below(node)));
            } while (refuseConflicts(refused));
        }
    }

    private SharedSides sharedSides(PlanNode plan) {
        return SharedSides.of(
                plan,
                relation -> relations.apply(relation) instanceof Scannable.Feed feed
                        && feed.view().isPresent());
    }

    private static Set<PlanNode> below(PlanNode node) {
        Set<PlanNode> all = new HashSet<>();
        collect(node, all);
        return all;
    }

    private static void collect(PlanNode node, Set<PlanNode> into) {
        if (into.add(node)) {
            node.inputs().forEach(input -> collect(input, into));
        }
    }

    private void findFrontier(PlanNode node, Set<PlanNode> known, Set<PlanNode> refused) {
        boolean isKnown = known.stream()
                .anyMatch(before -> SamePlans.same(before, node) && keepTheSame(before, node, new HashSet<>()));
        if (isKnown && !refused.contains(node) && canKeep(node)) {
            frontier.add(node);
        } else {
            node.inputs().forEach(input -> findFrontier(input, known, refused));
        }
    }

    /** Whether what joins below equal nodes have in their state is rows of the same sides. */
    private boolean keepTheSame(PlanNode before, PlanNode now, Set<PlanNode> seen) {
        if (!seen.add(now)) {
            return true;
        }
        if (before instanceof PlanNode.Join old
                && now instanceof PlanNode.Join join
                && (sharedBefore.isShared(old, 0) != sharedAfter.isShared(join, 0)
                        || sharedBefore.isShared(old, 1) != sharedAfter.isShared(join, 1))) {
            return false;
        }
        return IntStream.range(0, now.inputs().size())
                .allMatch(input ->
                        keepTheSame(before.inputs().get(input), now.inputs().get(input), seen));
    }

    private boolean canKeep(PlanNode node) {
        boolean goesOn = replays(node) || emitsOnce(node);
        return goesOn && below(node).stream().allMatch(this::hasPosition);
    }

    /** Whether what reads there again would not find it where it was. */
    private boolean hasPosition(PlanNode node) {
        return node instanceof PlanNode.Scan scan
                ? relations.apply(scan.relation()) instanceof Scannable.Feed feed
                        && !feed.fanout().isEnded()
                : !(node instanceof PlanNode.Values);
    }

    private static boolean replays(PlanNode node) {
        return node instanceof PlanNode.Aggregate aggregate && aggregate.phase() != Phase.PARTIAL
                || node instanceof PlanNode.TopN topN && topN.windowEnd().isEmpty()
                || node instanceof PlanNode.Join join && JoinAnswer.isKept(join)
                || node instanceof PlanNode.MultiJoin;
    }

    private static boolean emitsOnce(PlanNode node) {
        return node instanceof PlanNode.WindowAggregate aggregate && aggregate.phase() != Phase.PARTIAL
                || node instanceof PlanNode.WindowExtreme extreme && extreme.phase() != Phase.PARTIAL
                || node instanceof PlanNode.Match
                || node instanceof PlanNode.TopN topN && topN.windowEnd().isPresent();
    }

    /** What is both kept and new would give its rows twice, or not at all: then those above it are new. */
    private boolean refuseConflicts(Set<PlanNode> refused) {
        Set<PlanNode> anew = new HashSet<>();
        collectNew(after, anew);
        boolean changed = false;
        for (PlanNode node : List.copyOf(frontier)) {
            Set<PlanNode> inside = below(node);
            inside.remove(node);
            boolean conflicts = inside.stream()
                    .anyMatch(each -> frontier.contains(each) || anew.contains(each) && beginsWithRows(each));
            if (conflicts && refused.add(node)) {
                changed = true;
            }
        }
        return changed;
    }

    private void collectNew(PlanNode node, Set<PlanNode> into) {
        if (!frontier.contains(node) && into.add(node)) {
            node.inputs().forEach(input -> collectNew(input, into));
        }
    }

    private boolean beginsWithRows(PlanNode node) {
        if (node instanceof PlanNode.Scan scan) {
            return hasRows(scan);
        }
        return isStateful(node) && !(node instanceof PlanNode.Watermark);
    }

    private boolean hasRows(PlanNode.Scan scan) {
        Scannable scannable = relations.apply(scan.relation());
        return !(scannable instanceof Scannable.Feed feed) || feed.view().isPresent();
    }

    private static boolean isStateful(PlanNode node) {
        return !(node instanceof PlanNode.Calc
                || node instanceof PlanNode.Scan
                || node instanceof PlanNode.Values
                || node instanceof PlanNode.Union
                || node instanceof PlanNode.Exchange
                || node instanceof PlanNode.WindowAssign
                || node instanceof PlanNode.WindowExtreme extreme && extreme.phase() == Phase.PARTIAL
                || node instanceof PlanNode.Aggregate aggregate && aggregate.phase() == Phase.PARTIAL);
    }

    /** Whether the plans are equal. */
    public boolean changesNothing() {
        return changesNothing;
    }

    /** What becomes of a node of the new plan. */
    public Fate fate(PlanNode node) {
        if (node instanceof PlanNode.Scan scan) {
            return kept.contains(node) ? Fate.GOES_ON : hasRows(scan) ? Fate.READ_AGAIN : Fate.FROM_NOW;
        }
        if (!isStateful(node)) {
            return Fate.STATELESS;
        }
        if (kept.contains(node)) {
            return Fate.KEPT;
        }
        return lost(node).isEmpty() ? Fate.REBUILT : Fate.STARTS_NOW;
    }

    /** The relations whose former rows a node that starts now will not see. */
    public Set<String> lost(PlanNode node) {
        if (frontier.contains(node)) {
            return replays(node) ? Set.of() : scans(node);
        }
        if (node instanceof PlanNode.Scan scan) {
            return hasRows(scan) ? Set.of() : Set.of(scan.relation());
        }
        return node.inputs().stream()
                .flatMap(input -> lost(input).stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** What a node that is rebuilt begins with: relations that are read again, and answers that are told again. */
    public Set<String> origins(PlanNode node) {
        if (node instanceof PlanNode.Scan scan) {
            return Set.of(scan.relation());
        }
        return node.inputs().stream()
                .flatMap(input -> frontier.contains(input)
                        ? Stream.of("the " + input.getClass().getSimpleName() + " below")
                        : origins(input).stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Set<String> scans(PlanNode node) {
        return below(node).stream()
                .filter(PlanNode.Scan.class::isInstance)
                .map(scan -> ((PlanNode.Scan) scan).relation())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    public boolean isKept(PlanNode node) {
        return kept.contains(node);
    }

    /** The node of the new plan that goes on with the state of one of the old. */
    public Optional<PlanNode> successor(PlanNode before) {
        return kept.stream().filter(node -> SamePlans.same(before, node)).findFirst();
    }

    public boolean keepsAny() {
        return !kept.isEmpty();
    }

    /** Whether the node is to tell its answer again. */
    public boolean isRetold(PlanNode node) {
        return frontier.contains(node) && replays(node);
    }
}
