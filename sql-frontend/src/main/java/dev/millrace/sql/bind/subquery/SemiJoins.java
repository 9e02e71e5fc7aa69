package dev.millrace.sql.bind.subquery;

import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.Correlations;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.relation.SharedNodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalSort;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Conditions EXISTS and IN, and their negations, as SEMI and ANTI joins:
 *
 * <pre>
 * filter(EXISTS (filter(b.k = $cor.k and b.v > $cor.v, b)), a)    becomes    join(SEMI, a, b, b.k = a.k and b.v > a.v)
 * filter(a.x NOT IN (project(y, b)), a)                           becomes    join(ANTI, a, b, a.x = b.y), and if either is
 *     nullable, without the rows for which that is unknown: join(ANTI, .., distinct(y IS NULL of b), "y IS NULL" or x IS NULL)
 * </pre>
 *
 * That leaves less state than what decorrelation in general makes of them. It is done where the sub-query refers to the
 * outer row in its own conditions only; all else is left as it is.
 */
final class SemiJoins {
    private SemiJoins() {}

    /** The query with all such conditions replaced, in sub-queries, too. */
    static RelNode apply(RelNode query) {
        return SharedNodes.rewrite(query, SemiJoins::applyHere);
    }

    private static RelNode applyHere(RelNode node) {
        RelNode inner = node.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                return query.clone(SemiJoins.apply(query.rel));
            }
        });
        return inner instanceof LogicalFilter filter ? lift(filter) : inner;
    }

    private static RelNode lift(LogicalFilter filter) {
        List<RexNode> rest = new ArrayList<>();
        List<Lifted> lifted = new ArrayList<>();
        for (RexNode conjunct : RelOptUtil.conjunctions(filter.getCondition())) {
            boolean negated = conjunct.isA(SqlKind.NOT);
            RexNode test = negated ? ((RexCall) conjunct).getOperands().get(0) : conjunct;
            Optional<Lifted> join = test instanceof RexSubQuery query
                    ? lift(query, negated, filter.getVariablesSet())
                    : Optional.empty();
            join.ifPresentOrElse(lifted::add, () -> rest.add(conjunct));
        }
        if (lifted.isEmpty()) {
            return filter;
        }
        // Conditions on rows further out go above the joins: there a sub-query around this one finds them.
        Map<Boolean, List<RexNode>> outer = rest.stream()
                .collect(Collectors.partitioningBy(each ->
                        !isOpaque(each) && !filter.getVariablesSet().containsAll(Correlations.used(List.of(each)))));
        RelNode result = filtered(filter.getInput(), Objects.requireNonNull(outer.get(false)), filter);
        for (Lifted join : lifted) {
            result = join.over(result);
        }
        return filtered(result, Objects.requireNonNull(outer.get(true)), filter);
    }

    private static RelNode filtered(RelNode input, List<RexNode> conditions, LogicalFilter filter) {
        return conditions.isEmpty()
                ? input
                : RelNodes.filter(
                        input,
                        Rex.combine("and", conditions),
                        filter.getVariablesSet().stream().findFirst());
    }

    private static Optional<Lifted> lift(RexSubQuery query, boolean negated, Set<CorrelationId> outer) {
        boolean exists = query.getKind() == SqlKind.EXISTS;
        if (!exists && query.getKind() != SqlKind.IN
                || query.getOperands().stream().anyMatch(SemiJoins::isOpaque)) {
            return Optional.empty();
        }
        Lifted lifted = new Lifted(query, negated);
        lifted.peel();
        return lifted.isClosed(outer) ? Optional.of(lifted) : Optional.empty();
    }

    /** A sub-query without its projections, and its conditions, over its columns and by variables over the outer row's. */
    private static final class Lifted {
        private final RexSubQuery query;
        private final boolean negated;
        private final List<RexNode> conditions = new ArrayList<>();
        private List<RexNode> values;
        private RelNode rows;

        Lifted(RexSubQuery query, boolean negated) {
            this.query = query;
            this.negated = negated;
            this.rows = query.rel;
            this.values = query.getKind() == SqlKind.IN ? RelNodes.references(rows) : List.of();
        }

        void peel() {
            while (true) {
                if (rows instanceof LogicalProject project
                        && project.getProjects().stream().noneMatch(SemiJoins::isOpaque)) {
                    moveBelow(project.getProjects());
                    rows = project.getInput();
                } else if (rows instanceof LogicalFilter filter && !isOpaque(filter.getCondition())) {
                    conditions.add(filter.getCondition());
                    rows = filter.getInput();
                } else if (rows instanceof LogicalAggregate distinct
                        && distinct.getAggCallList().isEmpty()
                        && distinct.getGroupSets().size() == 1
                        && distinct.getGroupCount() > 0) {
                    RelNode input = distinct.getInput();
                    List<RexNode> all = RelNodes.references(input);
                    moveBelow(distinct.getGroupSet().asList().stream()
                            .map(all::get)
                            .toList());
                    rows = input;
                } else if (rows instanceof LogicalSort sort && sort.fetch == null && sort.offset == null) {
                    rows = sort.getInput();
                } else {
                    return;
                }
            }
        }

        private void moveBelow(List<RexNode> projections) {
            RexShuttle below = new RexShuttle() {
                @Override
                public RexNode visitInputRef(RexInputRef reference) {
                    return projections.get(reference.getIndex());
                }
            };
            conditions.replaceAll(condition -> condition.accept(below));
            values = values.stream().map(value -> value.accept(below)).toList();
        }

        /** Whether the rows do not depend on any outer row, and the conditions on this one alone. */
        boolean isClosed(Set<CorrelationId> outer) {
            return RelOptUtil.getVariablesUsed(rows).isEmpty()
                    && outer.containsAll(Correlations.used(conditions))
                    && Correlations.used(values).isEmpty();
        }

        RelNode over(RelNode input) {
            int width = input.getRowType().getFieldCount();
            List<RexNode> moved = new ArrayList<>();
            for (RexNode condition : conditions) {
                moved.add(Correlations.inline(RexUtil.shift(condition, width), input));
            }
            if (values.isEmpty()) {
                return RelNodes.join(input, rows, all(moved), negated ? JoinRelType.ANTI : JoinRelType.SEMI);
            }
            List<RexNode> equalities = new ArrayList<>();
            for (int i = 0; i < values.size(); i++) {
                equalities.add(test("eq", query.getOperands().get(i), RexUtil.shift(values.get(i), width)));
            }
            boolean certain = !Rex.combine("and", equalities).getType().isNullable();
            if (!negated || certain) {
                moved.addAll(equalities);
                return RelNodes.join(input, rows, all(moved), negated ? JoinRelType.ANTI : JoinRelType.SEMI);
            }
            if (conditions.stream()
                            .noneMatch(condition ->
                                    !Correlations.used(List.of(condition)).isEmpty())
                    && values.size() == 1) {
                return withoutUnknown(input, equalities.get(0));
            }
            moved.add(Rex.call("is_not_false", List.of(Rex.combine("and", equalities)), DataType.BOOLEAN, false));
            return RelNodes.join(input, rows, all(moved), JoinRelType.ANTI);
        }

        /** {@code x NOT IN (ys)} is unknown when some y is NULL, and when x is and there are ys. */
        private RelNode withoutUnknown(RelNode input, RexNode equality) {
            RelNode ys = conditions.isEmpty() ? rows : RelNodes.filter(rows, all(conditions), Optional.empty());
            RelNode unequal = RelNodes.join(input, ys, equality, JoinRelType.ANTI);
            RelNode nulls = RelNodes.project(
                    ys, List.of(Rex.call("is_null", values, DataType.BOOLEAN, false)), List.of("unknown"));
            RelNode unknown = RelNodes.aggregate(nulls, 1, List.of(ImmutableBitSet.of(0)), List.of());
            RexNode operand = query.getOperands().get(0);
            RexNode isUnknown = new RexInputRef(
                    input.getRowType().getFieldCount(),
                    unknown.getRowType().getFieldList().get(0).getType());
            return RelNodes.join(
                    unequal,
                    unknown,
                    Rex.combine("or", List.of(isUnknown, test("is_null", operand))),
                    JoinRelType.ANTI);
        }

        private static RexNode test(String function, RexNode... operands) {
            boolean nullable = false;
            for (RexNode operand : operands) {
                nullable |= operand.getType().isNullable();
            }
            return Rex.call(function, List.of(operands), DataType.BOOLEAN, nullable && !function.equals("is_null"));
        }

        private static RexNode all(List<RexNode> conditions) {
            return conditions.isEmpty() ? Rex.builder().makeLiteral(true) : Rex.combine("and", conditions);
        }
    }

    private static boolean isOpaque(RexNode node) {
        return RexUtil.SubQueryFinder.find(node) != null || RexOver.containsOver(node);
    }
}
