package dev.millrace.planner.prune;

import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.Watermark;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reads each relation once, whatever columns the parts of a query want: one read is cheaper than two, and parts that
 * read for themselves could differ in how far they are.
 *
 * <pre>
 * Join             becomes    Join
 *   Scan(t: a, b)               Calc(a, b)
 *   Scan(t: b, c)                 Scan(t: a, b, c)
 *                               Calc(b, c)
 *                                 the same Scan
 * </pre>
 */
public final class ShareScans {
    private final Map<String, Set<List<Integer>>> readings = new HashMap<>();
    private final Map<String, TreeMap<Integer, Field>> columns = new HashMap<>();

    private ShareScans() {}

    public static PlanNode apply(PlanNode plan) {
        ShareScans shared = new ShareScans();
        Subplans.of(plan).forEach(shared::collect);
        if (shared.readings.values().stream().allMatch(lists -> lists.size() == 1)) {
            return plan;
        }
        return Rewriter.rewrite(plan, shared::widened);
    }

    private void collect(PlanNode node) {
        if (node instanceof Scan scan) {
            readings.computeIfAbsent(scan.relation(), name -> new HashSet<>()).add(scan.columns());
            TreeMap<Integer, Field> fields = columns.computeIfAbsent(scan.relation(), name -> new TreeMap<>());
            for (int i = 0; i < scan.columns().size(); i++) {
                fields.put(scan.columns().get(i), scan.schema().field(i));
            }
        }
    }

    /** The widened scan stays right below its watermark; the choice of columns comes above both. */
    private Optional<PlanNode> widened(PlanNode node) {
        if (node instanceof Scan scan && narrow(scan)) {
            return Optional.of(Nodes.select(wide(scan), positions(scan)));
        }
        if (node instanceof Watermark watermark
                && watermark.input() instanceof Calc calc
                && calc.input() instanceof Scan
                && calc.condition().isEmpty()
                && calc.projections().get(watermark.timeColumn()) instanceof Column time) {
            Watermark below = Nodes.watermark(watermark, calc.input(), time.index());
            return Optional.of(Nodes.project(below, calc.projections()));
        }
        return Optional.empty();
    }

    private boolean narrow(Scan scan) {
        return Objects.requireNonNull(columns.get(scan.relation())).size()
                > scan.columns().size();
    }

    private Scan wide(Scan scan) {
        TreeMap<Integer, Field> fields = Objects.requireNonNull(columns.get(scan.relation()));
        return new Scan(
                scan.relation(),
                new ArrayList<>(fields.keySet()),
                List.of(),
                new Schema(new ArrayList<>(fields.values())));
    }

    private List<Integer> positions(Scan scan) {
        List<Integer> all = new ArrayList<>(
                Objects.requireNonNull(columns.get(scan.relation())).keySet());
        return scan.columns().stream().map(all::indexOf).toList();
    }
}
