package dev.millrace.sql.bind.subquery;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.Correlations;
import dev.millrace.sql.bind.relation.RelNodes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes rows of outer rows alone, as LATERAL (VALUES ..) does, beside the relations whose rows they are made of and those that
 * conditions join to these, not beside all pairs with others:
 *
 * <pre>
 * filter(b.y = v.x, correlate(join(a, b, true), values(a.x)))   becomes   filter(b.y = v.x, join(correlate(a, values(a.x)), b, true))
 * </pre>
 *
 * The condition then is one of a join between tables; before, {@link DependentJoins} would look for the distinct {@code a.x}
 * in the cross product.
 */
public final class BelowCrossJoins extends RelHomogeneousShuttle {
    private BelowCrossJoins() {}

    static RelNode move(RelNode query) {
        return query.accept(new BelowCrossJoins());
    }

    @Override
    public RelNode visit(LogicalCorrelate correlate) {
        return moved((LogicalCorrelate) super.visit(correlate));
    }

    /** Whether no relation is read. */
    public static boolean isOfOuterRowsAlone(RelNode node) {
        return node.getInputs().isEmpty()
                ? node instanceof LogicalValues
                : node.getInputs().stream().allMatch(BelowCrossJoins::isOfOuterRowsAlone);
    }

    private static RelNode moved(LogicalCorrelate correlate) {
        if (correlate.getJoinType() != JoinRelType.INNER
                || correlate.getRequiredColumns().isEmpty()
                || !isOfOuterRowsAlone(correlate.getRight())) {
            return correlate;
        }
        Product product = new Product();
        List<Integer> outputs = product.add(correlate.getLeft());
        return product.isPlain ? product.moved(correlate, outputs) : correlate;
    }

    /** Inner joins as factors, whose columns count on from one to the next, and conditions over these. */
    private static final class Product {
        private final List<RelNode> factors = new ArrayList<>();
        private final List<Integer> factorOf = new ArrayList<>(); // of each column
        private final List<RexNode> conditions = new ArrayList<>();
        private boolean isPlain = true; // whether each condition may be asked wherever its columns are

        /** Gives the column of the product that each of the node's is. */
        List<Integer> add(RelNode node) {
            Interrupt.checkCurrent();
            if (node instanceof LogicalFilter filter) {
                List<Integer> outputs = add(filter.getInput());
                addConditions(filter.getCondition(), outputs);
                return outputs;
            }
            if (node instanceof LogicalProject project
                    && project.getProjects().stream().allMatch(RexInputRef.class::isInstance)) {
                List<Integer> inputs = add(project.getInput());
                return project.getProjects().stream()
                        .map(each -> inputs.get(((RexInputRef) each).getIndex()))
                        .toList();
            }
            List<Integer> outputs = new ArrayList<>();
            if (node instanceof LogicalJoin join && join.getJoinType() == JoinRelType.INNER) {
                outputs.addAll(add(join.getLeft()));
                outputs.addAll(add(join.getRight()));
                addConditions(join.getCondition(), outputs);
                return outputs;
            }
            for (int i = node.getRowType().getFieldCount(); i > 0; i--) {
                outputs.add(factorOf.size());
                factorOf.add(factors.size());
            }
            factors.add(node);
            return outputs;
        }

        private void addConditions(RexNode condition, List<Integer> columns) {
            for (RexNode part : RelOptUtil.conjunctions(condition)) {
                RexNode renumbered = renumbered(part, columns::get);
                conditions.add(renumbered);
                isPlain &= RexUtil.isDeterministic(part)
                        && !factors(RelOptUtil.InputFinder.bits(renumbered)).isEmpty();
            }
        }

        private ImmutableBitSet factors(Iterable<Integer> columns) {
            ImmutableBitSet.Builder factors = ImmutableBitSet.builder();
            columns.forEach(column -> factors.set(factorOf.get(column)));
            return factors.build();
        }

        /** The same rows: each condition on what is read, and on what these bring in, is asked before, as it was. */
        RelNode moved(LogicalCorrelate correlate, List<Integer> outputs) {
            ImmutableBitSet read = factors(correlate.getRequiredColumns().asList().stream()
                    .map(outputs::get)
                    .toList());
            ImmutableBitSet before;
            do {
                before = read;
                for (RexNode condition : conditions) {
                    ImmutableBitSet of = factors(RelOptUtil.InputFinder.bits(condition));
                    read = of.intersects(read) ? read.union(of) : read;
                }
            } while (!read.equals(before));
            ImmutableBitSet others = ImmutableBitSet.range(factors.size()).except(read);
            if (others.isEmpty()) {
                return correlate;
            }
            Map<Integer, Integer> places = new HashMap<>();
            RelNode side = joined(read, places, 0);
            int firstMade = side.getRowType().getFieldCount();
            CorrelationId variable = side.getCluster().createCorrel();
            RexNode row = Rex.builder().makeCorrel(side.getRowType(), variable);
            RelNode made = Correlations.replace(
                    correlate.getRight(),
                    correlate.getCorrelationId(),
                    column -> Rex.builder().makeFieldAccess(row, place(places, outputs.get(column))));
            ImmutableBitSet required = ImmutableBitSet.of(correlate.getRequiredColumns().asList().stream()
                    .map(column -> places.get(outputs.get(column)))
                    .toList());
            RelNode beside = LogicalCorrelate.create(side, made, List.of(), variable, required, JoinRelType.INNER);
            int firstOther = beside.getRowType().getFieldCount();
            RelNode all = cross(beside, joined(others, places, firstOther));
            List<RexNode> references = RelNodes.references(all);
            List<RexNode> columns = new ArrayList<>();
            outputs.forEach(column -> columns.add(references.get(place(places, column))));
            columns.addAll(references.subList(firstMade, firstOther));
            return RelNodes.project(all, columns, correlate.getRowType().getFieldNames());
        }

        private static int place(Map<Integer, Integer> places, @Nullable Integer column) {
            return Objects.requireNonNull(places.get(column));
        }

        /**
         * Some factors in their order, with the conditions on them.
         *
         * @param places where the places of their columns are put, counted from the given number on
         */
        private RelNode joined(ImmutableBitSet some, Map<Integer, Integer> places, int first) {
            int place = first;
            for (int column = 0; column < factorOf.size(); column++) {
                if (some.get(factorOf.get(column))) {
                    places.put(column, place++);
                }
            }
            RelNode joined = some.asList().stream()
                    .map(factors::get)
                    .reduce(Product::cross)
                    .orElseThrow();
            List<RexNode> own = conditions.stream()
                    .filter(condition -> some.contains(factors(RelOptUtil.InputFinder.bits(condition))))
                    .map(condition -> renumbered(condition, column -> place(places, column) - first))
                    .toList();
            return own.isEmpty()
                    ? joined
                    : RelNodes.filter(joined, RexUtil.composeConjunction(Rex.builder(), own), Optional.empty());
        }

        private static RelNode cross(RelNode left, RelNode right) {
            return RelNodes.join(left, right, Rex.builder().makeLiteral(true), JoinRelType.INNER);
        }

        private static RexNode renumbered(RexNode node, IntUnaryOperator number) {
            return node.accept(new RexShuttle() {
                @Override
                public RexNode visitInputRef(RexInputRef reference) {
                    return new RexInputRef(number.applyAsInt(reference.getIndex()), reference.getType());
                }
            });
        }
    }
}
