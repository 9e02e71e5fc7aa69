package dev.millrace.sql.bind;

import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.sql.algebra.ExpandRel;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalSort;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Sub-queries over UNNEST of an outer row's columns, said by a join:
 *
 * <pre>
 * SELECT (SELECT max(x) FROM unnest(t.a) AS x) FROM t
 * becomes
 * SELECT m FROM t LEFT JOIN (SELECT a, max(x) AS m FROM (SELECT DISTINCT a FROM t), unnest(a) AS x GROUP BY a) AS u
 *     ON t.a IS NOT DISTINCT FROM u.a
 * </pre>
 *
 * Calcite's decorrelation knows nothing of our table functions.
 */
final class CorrelatedExpansions extends RelHomogeneousShuttle {
    private final UnaryOperator<RelNode> decorrelation;

    private CorrelatedExpansions(UnaryOperator<RelNode> decorrelation) {
        this.decorrelation = decorrelation;
    }

    /** @param decorrelation of what is then read twice: a variable has one place */
    static RelNode remove(RelNode query, UnaryOperator<RelNode> decorrelation) {
        return query.accept(new CorrelatedExpansions(decorrelation));
    }

    @Override
    public RelNode visit(LogicalCorrelate correlate) {
        RelNode visited = super.visit(correlate);
        return visited instanceof LogicalCorrelate same ? joined(same).orElse(same) : visited;
    }

    private Optional<RelNode> joined(LogicalCorrelate correlate) {
        if (correlate.getJoinType() != JoinRelType.LEFT && correlate.getJoinType() != JoinRelType.INNER) {
            return Optional.empty();
        }
        List<LogicalProject> above = new ArrayList<>();
        RelNode right = correlate.getRight();
        while (right instanceof LogicalProject project) {
            above.add(0, project);
            right = project.getInput();
        }
        boolean isOneRow = right instanceof LogicalAggregate aggregate
                && aggregate.getGroupSet().isEmpty()
                && aggregate.getGroupType() == LogicalAggregate.Group.SIMPLE
                && expands(aggregate.getInput(), false);
        if (!isOneRow && !expands(correlate.getRight(), false)) {
            return Optional.empty();
        }
        RelNode left = decorrelation.apply(correlate.getLeft());
        Rewriting rewriting = new Rewriting(correlate, left);
        if (!isOneRow) {
            return Optional.of(rewriting.joinRows(correlate.getRight(), correlate.getJoinType()));
        }
        RelNode both = rewriting.joinOneRow((LogicalAggregate) right);
        for (LogicalProject project : above) {
            both = rewriting.beside(project, both);
        }
        return Optional.of(both);
    }

    /** Whether rows are made of nothing but the outer row, by a table function. */
    private static boolean expands(RelNode node, boolean expanded) {
        if (node instanceof LogicalValues values) {
            return expanded && values.getTuples().size() == 1;
        }
        boolean known = node instanceof LogicalProject
                || node instanceof LogicalFilter
                || node instanceof ExpandRel
                || node instanceof LogicalSort sort && isLiteral(sort.fetch) && isLiteral(sort.offset)
                || node instanceof LogicalAggregate aggregate && groupsByFirst(aggregate);
        return known && expands(node.getInput(0), expanded || node instanceof ExpandRel);
    }

    private static boolean isLiteral(RexNode count) {
        return count == null || count instanceof RexLiteral;
    }

    private static boolean groupsByFirst(LogicalAggregate aggregate) {
        ImmutableBitSet groups = aggregate.getGroupSet();
        return aggregate.getGroupType() == LogicalAggregate.Group.SIMPLE
                && !groups.isEmpty()
                && groups.equals(ImmutableBitSet.range(groups.cardinality()));
    }

    private static List<String> names(RelNode left, RelNode right) {
        List<String> names = new ArrayList<>(left.getRowType().getFieldNames());
        names.addAll(right.getRowType().getFieldNames());
        return names;
    }

    private static final class Rewriting {
        private final LogicalCorrelate correlate;
        private final RelNode left;
        private final List<Integer> columns;
        private final RelNode keys;

        Rewriting(LogicalCorrelate correlate, RelNode left) {
            this.correlate = correlate;
            this.left = left;
            this.columns = correlate.getRequiredColumns().asList();
            List<RexNode> references = Relations.references(left);
            this.keys = Relations.distinct(Relations.project(
                    left,
                    columns.stream().map(references::get).toList(),
                    columns.stream().map(left.getRowType().getFieldNames()::get).toList()));
        }

        /** The outer rows with those that are made of each. */
        RelNode joinRows(RelNode rows, JoinRelType type) {
            RelNode joined = join(withKeys(rows), type);
            int width = left.getRowType().getFieldCount();
            List<RexNode> all = Relations.references(joined);
            List<RexNode> outputs = new ArrayList<>(all.subList(0, width));
            outputs.addAll(all.subList(width + columns.size(), all.size()));
            return Relations.project(joined, outputs, names(left, rows));
        }

        /** The outer rows with an aggregate beside each, also where there was nothing to aggregate. */
        RelNode joinOneRow(LogicalAggregate aggregate) {
            RelNode joined = join(aggregated(aggregate), JoinRelType.LEFT);
            int first = left.getRowType().getFieldCount();
            List<RexNode> all = Relations.references(joined);
            List<RexNode> outputs = new ArrayList<>(all.subList(0, first));
            for (int i = 0; i < aggregate.getAggCallList().size(); i++) {
                RexNode value = all.get(first + columns.size() + i);
                SqlKind kind =
                        aggregate.getAggCallList().get(i).getAggregation().getKind();
                outputs.add(
                        kind == SqlKind.COUNT
                                ? Rex.call("coalesce", List.of(value, Rex.bigint(0)), DataType.BIGINT, false)
                                : value);
            }
            return Relations.project(joined, outputs, names(left, aggregate));
        }

        /** A projection of what stands beside the outer rows. */
        RelNode beside(LogicalProject project, RelNode both) {
            int width = left.getRowType().getFieldCount();
            List<RexNode> references = Relations.references(both);
            List<RexNode> outputs = new ArrayList<>(references.subList(0, width));
            project.getProjects()
                    .forEach(node -> outputs.add(Correlations.replace(
                            RexUtil.shift(node, width), correlate.getCorrelationId(), references::get)));
            return Relations.project(both, outputs, names(left, project));
        }

        private RelNode join(RelNode right, JoinRelType type) {
            int width = left.getRowType().getFieldCount();
            List<RexNode> equal = new ArrayList<>();
            for (int i = 0; i < columns.size(); i++) {
                equal.add(Rex.builder()
                        .makeCall(
                                SqlStdOperatorTable.IS_NOT_DISTINCT_FROM,
                                Relations.references(left).get(columns.get(i)),
                                RexUtil.shift(Relations.references(right).get(i), width)));
            }
            return Relations.join(left, right, RexUtil.composeConjunction(Rex.builder(), equal), type);
        }

        private RelNode aggregated(LogicalAggregate aggregate) {
            int groups = columns.size() + aggregate.getGroupCount();
            List<AggregateCall> calls =
                    aggregate.getAggCallList().stream().map(this::shifted).toList();
            return Relations.aggregate(
                    withKeys(aggregate.getInput()), groups, List.of(ImmutableBitSet.range(groups)), calls);
        }

        private AggregateCall shifted(AggregateCall call) {
            int by = columns.size();
            AggregateCall moved = call.withArgList(
                            call.getArgList().stream().map(i -> i + by).toList())
                    .withCollation(RelCollations.shift(call.getCollation(), by));
            return call.filterArg < 0 ? moved : moved.withFilter(call.filterArg + by);
        }

        /** The same rows for each key, behind its columns. */
        private RelNode withKeys(RelNode node) {
            if (node instanceof LogicalValues values) {
                List<RexNode> outputs = new ArrayList<>(Relations.references(keys));
                outputs.addAll(values.getTuples().get(0));
                return Relations.project(keys, outputs, names(keys, node));
            }
            if (node instanceof LogicalAggregate aggregate) {
                return aggregated(aggregate);
            }
            RelNode input = withKeys(node.getInput(0));
            if (node instanceof LogicalSort sort) {
                return sort.fetch == null && sort.offset == null
                        ? input // rows of a sub-query have no order
                        : Numbering.somePer(
                                input,
                                IntStream.range(0, columns.size()).boxed().toList(),
                                RelCollations.shift(sort.getCollation(), columns.size())
                                        .getFieldCollations(),
                                Optional.ofNullable(sort.offset),
                                Optional.ofNullable(sort.fetch));
            }
            if (node instanceof LogicalFilter filter) {
                return Relations.filter(input, moved(filter.getCondition(), input), Optional.empty());
            } else if (node instanceof LogicalProject project) {
                List<RexNode> outputs =
                        new ArrayList<>(Relations.references(input).subList(0, columns.size()));
                project.getProjects().forEach(expression -> outputs.add(moved(expression, input)));
                return Relations.project(input, outputs, names(keys, node));
            }
            ExpandRel expand = (ExpandRel) node;
            int by = columns.size();
            List<TableCall> calls = expand.calls().stream()
                    .map(call -> new TableCall(
                            call.function(),
                            call.arguments().stream().map(i -> i + by).toList(),
                            call.outputs()))
                    .toList();
            return new ExpandRel(input, expand.kept() + by, calls, expand.ordinality(), expand.outer());
        }

        private RexNode moved(RexNode node, RelNode input) {
            return Correlations.replace(RexUtil.shift(node, columns.size()), correlate.getCorrelationId(), column -> {
                int key = columns.indexOf(column);
                return new RexInputRef(
                        key, input.getRowType().getFieldList().get(key).getType());
            });
        }
    }
}
