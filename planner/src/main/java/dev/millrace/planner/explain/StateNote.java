package dev.millrace.planner.explain;

import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.SharedSides;
import dev.millrace.plan.node.Subplans;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.Schema;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;

/** What an operator keeps, and whether that grows without end. */
final class StateNote {
    private StateNote() {}

    static Optional<String> of(PlanNode node, Inference inference, SharedSides shared) {
        boolean finite = inference.finite();
        String howLong = finite ? "" : ", for ever";
        if (node instanceof PlanNode.Aggregate aggregate && aggregate.phase() != Phase.PARTIAL) {
            ExpressionText columns = new ExpressionText(aggregate.input().schema());
            return Optional.of(
                    aggregate.keys().isEmpty()
                            ? "state: one row"
                            : "state: one row per " + columns.columns(aggregate.keys())
                                    + forgotten(aggregate.forgetting(), aggregate.input())
                                            .orElse(howLong));
        } else if (node instanceof PlanNode.WindowAggregate aggregate && aggregate.phase() != Phase.PARTIAL) {
            return Optional.of(windows(aggregate));
        } else if (node instanceof PlanNode.WindowExtreme extreme) {
            return Optional.of(
                    extreme.phase() == Phase.PARTIAL
                            ? "state: the best values of open windows"
                            : "state: the best rows of open windows");
        } else if (node instanceof PlanNode.Join join) {
            return Optional.of(
                    shared.isShared(join, 0) || shared.isShared(join, 1)
                            ? sharedState(join, inference, shared)
                            : joinState(join, inference));
        } else if (node instanceof PlanNode.MultiJoin join) {
            return Optional.of("state: all rows of all inputs" + growth(join.inputs(), inference)
                    + ", none of joins between them");
        } else if (node instanceof PlanNode.TopN topN) {
            if (topN.windowEnd().isPresent()) {
                return Optional.of("state: the best rows of open windows");
            }
            boolean forgets =
                    topN.appendOnlyInput() && topN.rank() == PlanNode.Rank.ROW_NUMBER && !Nodes.isUnlimited(topN);
            return Optional.of((forgets ? "state: the best rows" : "state: all candidates")
                    + forgotten(topN.forgetting(), topN.input()).orElse(howLong));
        }
        if (node instanceof PlanNode.Match match) {
            return Optional.of(matches(match) + (numbered(match) ? ", and a counter per partition" + howLong : ""));
        }
        if (node instanceof PlanNode.Versions) {
            return Optional.of("state: none between epochs");
        }
        if (node instanceof PlanNode.TimeFilter filter) {
            return Optional.of(filter.leaving() ? "state: the rows that are there" : "state: the rows to come");
        }
        if (node instanceof PlanNode.Pace) {
            return Optional.of("state: changes held back");
        }
        return node instanceof PlanNode.Over over ? Optional.of(over(over, howLong)) : Optional.empty();
    }

    private static Optional<String> forgotten(Optional<Forgetting> rule, PlanNode input) {
        return rule.map(forgetting -> ", until " + Durations.text(forgetting.ttlMicros()) + " after its last row by "
                + clock(input, forgetting.timeColumn()));
    }

    private static String clock(PlanNode input, int timeColumn) {
        String name = input.schema().field(timeColumn).name();
        return name.equals("proctime") ? "the clock" : name;
    }

    private static String over(PlanNode.Over over, String howLong) {
        return over.closing().isEmpty()
                ? "state: all rows" + howLong
                : over.calls().stream().allMatch(OverCall::looksBackBounded)
                        ? "state: rows until the watermark passes them, and those that later frames reach back to"
                        : "state: all rows" + howLong + " (a frame has no beginning)";
    }

    private static String matches(PlanNode.Match match) {
        String rows = match.spec().withinMicros().isPresent()
                ? "state: rows of matches under way, at most "
                        + Durations.text(match.spec().withinMicros().getAsLong()) + " of them"
                : "state: rows of matches under way";
        int before = MatchText.rowsBefore(match);
        return before == 0 ? rows : rows + " and " + before + " before";
    }

    private static boolean numbered(PlanNode.Match match) {
        return match.values().stream().anyMatch(MatchValue.Number.class::isInstance);
    }

    /** Of a join that reads a side where a table or view keeps it. */
    private static String sharedState(PlanNode.Join join, Inference inference, SharedSides shared) {
        List<String> indexes = IntStream.range(0, 2)
                .filter(side -> shared.isShared(join, side))
                .mapToObj(side -> index(join, side, shared.scan(join, side)))
                .toList();
        String there =
                (indexes.size() == 2 ? "shared indexes on " : "shared index on ") + String.join(" and ", indexes);
        if (indexes.size() == 2) {
            return "state: none, " + there;
        }
        boolean keepsLeft = !shared.isShared(join, 0);
        return "state: all rows of the " + (keepsLeft ? "left" : "right") + " side"
                + growth(List.of(keepsLeft ? join.left() : join.right()), inference) + ", " + there;
    }

    private static String index(PlanNode.Join join, int side, PlanNode.Scan scan) {
        List<Integer> keys = side == 0 ? join.leftKeys() : join.rightKeys();
        return scan.relation() + " (" + new ExpressionText(scan.schema()).columns(keys) + ")";
    }

    private static String joinState(PlanNode.Join join, Inference inference) {
        if (join.time().isEmpty()) {
            return "state: all rows of both sides" + growth(List.of(join.left(), join.right()), inference);
        }
        JoinTime time = join.time().get();
        if (time instanceof JoinTime.WindowEnds) {
            return "state: both sides' rows of open windows";
        } else if (time instanceof JoinTime.Bounds bounds) {
            Schema left = join.left().schema();
            Schema right = join.right().schema();
            String leftKept = kept(bounds.leftByTime(), left, bounds.leftUntil(), bounds.upperMicros());
            String rightKept = kept(bounds.rightByTime(), right, bounds.rightUntil(), -bounds.lowerMicros());
            return "state: left rows " + leftKept + ", right rows " + rightKept
                    + (bounds.rightByTime() ? " behind the watermark" : "");
        } else if (time instanceof JoinTime.Kept kept) {
            return "state: " + kept(join.left(), kept.left(), kept.ttlMicros(), "left", inference) + ", "
                    + kept(join.right(), kept.right(), kept.ttlMicros(), "right", inference);
        } else if (time instanceof JoinTime.Current) {
            return "state: all rows of the right side" + growth(List.of(join.right()), inference);
        }
        JoinTime.Nearest nearest = (JoinTime.Nearest) time;
        if (nearest.version().isPresent()) {
            return "state: left rows ahead of the watermark, versions ahead of it and, per key, the one valid at it";
        }
        return nearest.settled()
                ? "state: left rows ahead of the watermark, right rows ahead of it and the last one behind it per key"
                : "state: all rows of both sides" + growth(List.of(join.left(), join.right()), inference);
    }

    /** A side of a join with state_ttl. */
    private static String kept(PlanNode side, OptionalInt time, long ttlMicros, String name, Inference inference) {
        return time.isPresent()
                ? name + " rows for " + Durations.text(ttlMicros) + " by " + clock(side, time.getAsInt())
                : "all rows of the " + name + " side" + growth(List.of(side), inference);
    }

    /** How long rows are kept. */
    private static String kept(boolean byTime, Schema schema, int until, long micros) {
        String late = Durations.text(Math.max(0, micros));
        if (byTime) {
            return "for " + late;
        }
        return "until the watermark passes " + (micros > 0 ? late + " behind " : "")
                + schema.field(until).name();
    }

    /** Rows that are only ever added stay; those of tables and views go when they go there. */
    private static String growth(List<PlanNode> inputs, Inference inference) {
        if (inference.finite()) {
            return "";
        }
        Set<String> growing = new LinkedHashSet<>();
        inputs.stream()
                .filter(input -> inference.of(input).appendOnly())
                .forEach(input -> addRelations(input, growing));
        return growing.isEmpty() ? "" : ", grows with every row of " + String.join(" and ", growing);
    }

    private static void addRelations(PlanNode node, Set<String> into) {
        for (PlanNode below : Subplans.of(node)) {
            if (below instanceof PlanNode.Scan scan) {
                into.add(scan.relation());
            }
        }
    }

    private static String windows(PlanNode.WindowAggregate aggregate) {
        String per = unit(aggregate.window());
        List<Integer> keys = aggregate.keys();
        String each =
                keys.isEmpty() ? per : new ExpressionText(aggregate.input().schema()).columns(keys) + " and " + per;
        return "state: one row per " + each + ", until it closes";
    }

    private static String unit(WindowSpec window) {
        if (window instanceof WindowSpec.Calendar calendar) {
            return CalendarText.slice(calendar);
        }
        if (window instanceof WindowSpec.Hop hop) {
            long slice = CalendarText.greatestCommonDivisor(hop.sizeMicros(), hop.slideMicros());
            return "slice of " + Durations.text(slice);
        } else if (window instanceof WindowSpec.Cumulate cumulate) {
            return "slice of " + Durations.text(cumulate.stepMicros());
        }
        return window instanceof WindowSpec.Session ? "session" : "window";
    }
}
