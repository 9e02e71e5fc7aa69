package dev.millrace.planner.join;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.planner.tree.Rewriter;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Inner joins of one key become one join of all their inputs, which does not keep the rows that lie between them.
 *
 * <pre>
 *   Join INNER on $0 = $0          MultiJoin INNER on $0 = $0 = $0
 *     Join INNER on $0 = $0          a
 *       a                     to     b
 *       b                            c
 *     c
 * </pre>
 *
 * Between the joins may be a choice of columns, which then comes after them. Not where a join has a further condition,
 * which would be evaluated again for each row of another input; not where others read the join below, whose inputs would
 * be kept twice; and not where no row is ever taken back, because two-way joins then keep their rows packed, in less
 * than a join of more takes. Time bounds what joins keep better than this does.
 */
public final class MergeJoins implements Rewrite {
    private final Inference inference;
    private final Map<PlanNode, Integer> readers = new IdentityHashMap<>(); // comparing plans is dear where they share

    private MergeJoins(Inference inference) {
        this.inference = inference;
    }

    /** {@code plan} with joins merged where that saves state. */
    public static PlanNode apply(PlanNode plan, Inference inference) {
        MergeJoins merge = new MergeJoins(inference);
        PlanNode shared = Rewriter.shared(plan);
        for (PlanNode node : Subplans.of(shared)) {
            node.inputs().forEach(input -> merge.readers.merge(input, 1, Integer::sum));
        }
        return Rewriter.rewrite(shared, merge);
    }

    /** Joins of one key below another, and which of their columns that one sees. */
    private record Inner(List<PlanNode> inputs, List<List<Integer>> keys, int[] columns) {
        /** Which of the keys a column is, by position; -1 if none. */
        int key(int column) {
            int first = 0;
            for (int input = 0; input < inputs.size(); input++) {
                int at = keys.get(input).indexOf(columns[column] - first);
                if (at >= 0) {
                    return at;
                }
                first += inputs.get(input).schema().size();
            }
            return -1;
        }
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof PlanNode.Join join) || !isPlain(join)) {
            return Optional.empty();
        }
        Optional<Inner> left = inner(join.left(), join.leftKeys());
        if (left.isPresent()) {
            return Optional.of(merged(join, left.get(), join.leftKeys(), join.right(), join.rightKeys(), false));
        }
        return inner(join.right(), join.rightKeys())
                .map(right -> merged(join, right, join.rightKeys(), join.left(), join.leftKeys(), true));
    }

    private static boolean isPlain(PlanNode.Join join) {
        return join.kind() == PlanNode.JoinKind.INNER
                && join.time().isEmpty()
                && join.residual().isEmpty()
                && !join.leftKeys().isEmpty()
                && IntStream.range(0, join.leftKeys().size())
                        .allMatch(i -> join.left()
                                .schema()
                                .type(join.leftKeys().get(i))
                                .equals(join.right()
                                        .schema()
                                        .type(join.rightKeys().get(i))));
    }

    /** The joins that {@code node} is, if they may be merged with one above whose keys these are. */
    private Optional<Inner> inner(PlanNode node, List<Integer> keys) {
        if (readers.getOrDefault(node, 1) > 1) {
            return Optional.empty();
        }
        if (node instanceof PlanNode.Calc calc && calc.condition().isEmpty()) {
            int[] columns = new int[calc.projections().size()];
            for (int i = 0; i < columns.length; i++) {
                if (!(calc.projections().get(i) instanceof Expression.Column column)) {
                    return Optional.empty();
                }
                columns[i] = column.index();
            }
            return joins(calc.input(), columns).filter(inner -> isOneKey(inner, keys));
        }
        int[] all = IntStream.range(0, node.schema().size()).toArray();
        return joins(node, all).filter(inner -> isOneKey(inner, keys));
    }

    private Optional<Inner> joins(PlanNode node, int[] columns) {
        if (readers.getOrDefault(node, 1) > 1) {
            return Optional.empty();
        }
        if (node instanceof PlanNode.MultiJoin join) {
            return Optional.of(new Inner(join.inputs(), join.keys(), columns));
        }
        if (node instanceof PlanNode.Join join
                && isPlain(join)
                && !inference.of(join).appendOnly()) {
            return Optional.of(new Inner(join.inputs(), List.of(join.leftKeys(), join.rightKeys()), columns));
        }
        return Optional.empty();
    }

    private static boolean isOneKey(Inner inner, List<Integer> keys) {
        List<Integer> positions = keys.stream().map(inner::key).toList();
        return !positions.contains(-1)
                && positions.stream().distinct().count() == positions.size()
                && positions.size() == inner.keys.get(0).size();
    }

    /** @param innerKeys of the join, on the side that {@code inner} is; {@code other} is its other side */
    private static PlanNode merged(
            PlanNode.Join join,
            Inner inner,
            List<Integer> innerKeys,
            PlanNode other,
            List<Integer> otherKeys,
            boolean otherIsFirst) {
        Integer[] inOrder = new Integer[otherKeys.size()];
        for (int i = 0; i < inOrder.length; i++) {
            inOrder[inner.key(innerKeys.get(i))] = otherKeys.get(i);
        }
        List<PlanNode> inputs = new ArrayList<>(inner.inputs);
        List<List<Integer>> keys = new ArrayList<>(inner.keys);
        inputs.add(otherIsFirst ? 0 : inputs.size(), other);
        keys.add(otherIsFirst ? 0 : keys.size(), List.of(inOrder));
        PlanNode all = Nodes.multiJoin(inputs, keys);

        int otherWidth = other.schema().size();
        int innerWidth = all.schema().size() - otherWidth;
        List<Integer> columns = new ArrayList<>();
        for (int column : inner.columns) {
            columns.add(otherIsFirst ? otherWidth + column : column);
        }
        for (int column = 0; column < otherWidth; column++) {
            columns.add(otherIsFirst ? column : columns.size(), otherIsFirst ? column : innerWidth + column);
        }
        List<Expression> projections = new ArrayList<>();
        for (int column : columns) {
            projections.add(new Expression.Column(
                    column,
                    all.schema().type(column),
                    all.schema().field(column).nullable()));
        }
        boolean isAll = IntStream.range(0, all.schema().size()).boxed().toList().equals(columns);
        return isAll
                ? Nodes.named(all, join.schema().names())
                : new PlanNode.Calc(all, Optional.empty(), projections, join.schema());
    }
}
