package dev.millrace.sql.bind.subquery;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.ExpandRel;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.relation.Correlations;
import dev.millrace.sql.bind.relation.Numbering;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.relation.SharedNodes;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalSort;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.type.SqlTypeUtil;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Queries made anew for each outer row, said by a join with the values that they read of it:
 *
 * <pre>
 * SELECT (SELECT max(x) FROM unnest(t.a) AS x) FROM t
 * becomes
 * SELECT m FROM t LEFT JOIN (SELECT a, max(x) AS m FROM (SELECT DISTINCT a FROM t), unnest(a) AS x GROUP BY a) AS u
 *     ON t.a IS NOT DISTINCT FROM u.a
 * </pre>
 *
 * These values, the keys, go down to the place that reads them (Neumann and Kemper, "Unnesting Arbitrary Queries", 2015);
 * where that is a condition {@code column = key}, the column itself is the key, and no join is needed.
 * Calcite's own decorrelation is not used (docs/decisions/0022).
 * Long because one rewriting knows every kind of node.
 */
final class DependentJoins extends RelHomogeneousShuttle {
    private final Set<CorrelationId> around = new HashSet<>(); // variables of the queries around the one at hand
    private final SharedNodes nodes = new SharedNodes(); // the left side of a join is in its right one, too

    private DependentJoins() {}

    static RelNode remove(RelNode query) {
        return query.accept(new DependentJoins());
    }

    @Override
    public RelNode visit(LogicalCorrelate correlate) {
        CorrelationId variable = correlate.getCorrelationId();
        RelNode left = correlate.getLeft().accept(this);
        boolean own = around.add(variable);
        RelNode right = correlate.getRight().accept(this);
        if (!own) {
            // sub-query removal gives a sub-query of no rows' own variable to the rows around it, too
            return RelNodes.join(left, right, Rex.builder().makeLiteral(true), correlate.getJoinType());
        }
        around.remove(variable);
        return new Rewriting(correlate, left, nodes).joined(right);
    }

    /** A column that was never NULL may be it now, and what reads it must say so. */
    @Override
    public RelNode visit(RelNode node) {
        if (node instanceof LogicalProject project) {
            List<String> names = project.getRowType().getFieldNames();
            return RelNodes.project(project.getInput().accept(this), project.getProjects(), names);
        }
        return node instanceof LogicalFilter filter
                ? RelNodes.filter(filter.getInput().accept(this), filter.getCondition(), Optional.empty())
                : super.visit(node);
    }

    private static List<String> names(RelNode left, RelNode right) {
        List<String> names = new ArrayList<>(left.getRowType().getFieldNames());
        names.addAll(right.getRowType().getFieldNames());
        return names;
    }

    /** Rows behind the columns of their keys, and which of these are never NULL. */
    private record Keyed(RelNode rows, ImmutableBitSet present) {
        Keyed with(RelNode same) {
            return new Keyed(same, present);
        }
    }

    private static final class Rewriting {
        private final LogicalCorrelate correlate;
        private final SharedNodes nodes;
        private final CorrelationId variable;
        private final RelNode left;
        private final List<Integer> columns;
        private final Keyed keys;

        Rewriting(LogicalCorrelate correlate, RelNode left, SharedNodes nodes) {
            this.correlate = correlate;
            this.nodes = nodes;
            this.variable = correlate.getCorrelationId();
            this.left = left;
            this.columns = correlate.getRequiredColumns().asList();
            List<RexNode> references = RelNodes.references(left);
            RelNode distinct = RelNodes.distinct(left, columns);
            this.keys = new Keyed(
                    distinct,
                    ImmutableBitSet.of(IntStream.range(0, columns.size())
                            .filter(i ->
                                    !references.get(columns.get(i)).getType().isNullable())
                            .boxed()
                            .toList()));
        }

        private int width() {
            return columns.size();
        }

        private boolean reads(RelNode node) {
            return nodes.variablesUsed(node).contains(variable);
        }

        private boolean reads(RexNode node) {
            return Correlations.used(List.of(node)).contains(variable);
        }

        /** The outer rows with those that are made of each. */
        RelNode joined(RelNode right) {
            List<LogicalProject> above = new ArrayList<>();
            RelNode below = right;
            while (below instanceof LogicalProject project && !RexOver.containsOver(project.getProjects(), null)) {
                above.add(0, project);
                below = project.getInput();
            }
            JoinRelType type = correlate.getJoinType();
            if (type.projectsRight() && isOneRow(below)) {
                RelNode both = joinOneRow((LogicalAggregate) below, left, columns);
                for (LogicalProject project : above) {
                    both = beside(project, both);
                }
                return both;
            }
            Keyed rows = withKeys(right);
            RelNode joined = RelNodes.join(left, rows.rows, sameKeys(left, columns, rows), type);
            if (!type.projectsRight()) {
                return joined;
            }
            int first = left.getRowType().getFieldCount();
            List<RexNode> references = RelNodes.references(joined);
            List<RexNode> outputs = new ArrayList<>(references.subList(0, first));
            outputs.addAll(references.subList(first + width(), references.size()));
            return RelNodes.project(joined, outputs, names(left, right));
        }

        private static boolean isOneRow(RelNode node) {
            return node instanceof LogicalAggregate aggregate
                    && aggregate.getGroupSet().isEmpty()
                    && aggregate.getGroupType() == Aggregate.Group.SIMPLE;
        }

        /** Rows that have the keys with an aggregate beside each, also where there was nothing to aggregate. */
        private RelNode joinOneRow(LogicalAggregate aggregate, RelNode side, List<Integer> sideColumns) {
            Keyed grouped = grouped(aggregate);
            RelNode joined = RelNodes.join(side, grouped.rows, sameKeys(side, sideColumns, grouped), JoinRelType.LEFT);
            return ofNothing(aggregate, joined, side);
        }

        /** Behind a LEFT join with aggregated rows: the columns of its left side, and the aggregates, counts of nothing as 0. */
        private RelNode ofNothing(LogicalAggregate aggregate, RelNode joined, RelNode side) {
            int first = side.getRowType().getFieldCount();
            List<RexNode> references = RelNodes.references(joined);
            List<RexNode> outputs = new ArrayList<>(references.subList(0, first));
            for (int i = 0; i < aggregate.getAggCallList().size(); i++) {
                RexNode value = references.get(first + width() + i);
                AggregateCall call = aggregate.getAggCallList().get(i);
                if (call.getAggregation().getKind() == SqlKind.LITERAL_AGG) {
                    outputs.add(call.rexList.get(0));
                    continue;
                }
                outputs.add(
                        isSingle(call)
                                ? single(value, references.get(references.size() - 1))
                                : call.getType().isNullable()
                                        ? value
                                        : Rex.call("coalesce", List.of(value, Rex.bigint(0)), DataType.BIGINT, false));
            }
            return RelNodes.project(joined, outputs, names(side, aggregate));
        }

        /** The value of a key that is asked about: of others, which no outer row has, there may be several. */
        private static RexNode single(RexNode value, RexNode count) {
            RexNode single = Rex.call("at_most_one_row", List.of(count), DataType.BOOLEAN, true);
            return Rex.builder()
                    .makeCall(
                            SqlStdOperatorTable.CASE,
                            single,
                            value,
                            Rex.builder().makeNullLiteral(value.getType()));
        }

        private AggregateCall single(AggregateCall call) {
            Function first = Aggregates.ofSingleRow(TypeMapper.dataType(call.getType()));
            return RelNodes.call(first, List.of(call.getArgList().get(0) + width()), -1, call.getType());
        }

        private static boolean isSingle(AggregateCall call) {
            return call.getAggregation().getKind() == SqlKind.SINGLE_VALUE;
        }

        /** A projection of what stands beside the outer rows. */
        private RelNode beside(LogicalProject project, RelNode both) {
            int first = left.getRowType().getFieldCount();
            List<RexNode> references = RelNodes.references(both);
            List<RexNode> outputs = new ArrayList<>(references.subList(0, first));
            project.getProjects()
                    .forEach(node ->
                            outputs.add(Correlations.replace(RexUtil.shift(node, first), variable, references::get)));
            return RelNodes.project(both, outputs, names(left, project));
        }

        /** That columns of a left side equal the keys of a right one. */
        private RexNode sameKeys(RelNode side, List<Integer> sideColumns, Keyed keyed) {
            int first = side.getRowType().getFieldCount();
            List<RexNode> equal = new ArrayList<>();
            for (int i = 0; i < width(); i++) {
                RexNode a = RelNodes.references(side).get(sideColumns.get(i));
                RexNode b = RexUtil.shift(RelNodes.references(keyed.rows).get(i), first);
                boolean plain = keyed.present.get(i) || !a.getType().isNullable();
                equal.add(Rex.builder()
                        .makeCall(plain ? SqlStdOperatorTable.EQUALS : SqlStdOperatorTable.IS_NOT_DISTINCT_FROM, a, b));
            }
            return RexUtil.composeConjunction(Rex.builder(), equal);
        }

        // ---- rows for each key -------------------------------------------------------------------------------------

        /** The same rows for each key, behind its columns; perhaps for further keys, too, that no outer row has. */
        private Keyed withKeys(RelNode node) {
            if (node instanceof LogicalValues values && values.getTuples().size() == 1) {
                List<RexNode> outputs = new ArrayList<>(RelNodes.references(keys.rows));
                outputs.addAll(values.getTuples().get(0));
                return keys.with(RelNodes.project(keys.rows, outputs, names(keys.rows, node)));
            }
            if (!reads(node)) {
                return keys.with(RelNodes.join(keys.rows, node, Rex.builder().makeLiteral(true), JoinRelType.INNER));
            }
            if (node instanceof LogicalAggregate aggregate) {
                return aggregated(aggregate);
            } else if (node instanceof LogicalJoin join) {
                return joined(join);
            } else if (node instanceof SetOp set) {
                return set(set);
            } else if (node instanceof LogicalFilter filter) {
                return filtered(filter);
            }
            if (node.getInputs().size() != 1) {
                throw notAvailable();
            }
            Keyed input = withKeys(node.getInput(0));
            if (node instanceof LogicalProject project) {
                List<RexNode> outputs =
                        new ArrayList<>(RelNodes.references(input.rows).subList(0, width()));
                project.getProjects().forEach(expression -> outputs.add(moved(expression, input.rows)));
                return input.with(RelNodes.project(input.rows, outputs, names(keys.rows, node)));
            } else if (node instanceof LogicalSort sort) {
                return sort.fetch == null && sort.offset == null
                        ? input // rows of a sub-query have no order
                        : input.with(Numbering.somePer(
                                input.rows,
                                IntStream.range(0, width()).boxed().toList(),
                                RelCollations.shift(sort.getCollation(), width())
                                        .getFieldCollations(),
                                Optional.ofNullable(sort.offset),
                                Optional.ofNullable(sort.fetch)));
            } else if (node instanceof ExpandRel expand) {
                return input.with(new ExpandRel(
                        input.rows, expand.kept() + width(), shifted(expand), expand.ordinality(), expand.outer()));
            }
            throw notAvailable();
        }

        private static MillraceException notAvailable() {
            return MillraceException.notAvailableYet("this kind of correlated sub-query")
                    .withHint("write a join with a grouped sub-query");
        }

        private List<TableCall> shifted(ExpandRel expand) {
            return expand.calls().stream()
                    .map(call -> new TableCall(
                            call.function(),
                            call.arguments().stream().map(i -> i + width()).toList(),
                            call.outputs()))
                    .toList();
        }

        private Keyed filtered(LogicalFilter filter) {
            Optional<Keyed> own = reads(filter.getInput()) ? Optional.empty() : ownKeys(filter);
            if (own.isPresent()) {
                return own.get();
            }
            Keyed input = withKeys(filter.getInput());
            return input.with(RelNodes.filter(input.rows, moved(filter.getCondition(), input.rows), Optional.empty()));
        }

        /** Where each key must equal something of the rows themselves, that is the key. */
        private Optional<Keyed> ownKeys(LogicalFilter filter) {
            RexNode[] own = new RexNode[width()];
            List<RexNode> conditions = new ArrayList<>();
            for (RexNode part : RelOptUtil.conjunctions(filter.getCondition())) {
                if (part.getKind() == SqlKind.EQUALS && takeOwn((RexCall) part, own)) {
                    continue;
                }
                conditions.add(part);
            }
            List<RexNode> outputs = new ArrayList<>();
            for (RexNode value : own) {
                if (value == null) {
                    return Optional.empty();
                }
                outputs.add(value);
                conditions.add(Rex.call("is_not_null", List.of(value), DataType.BOOLEAN, false));
            }
            RelNode input = filter.getInput();
            RexNode condition = Correlations.replace(
                    RexUtil.composeConjunction(Rex.builder(), conditions),
                    variable,
                    column -> own[columns.indexOf(column)]);
            RelNode rows = RelNodes.filter(input, condition, Optional.empty());
            outputs.addAll(RelNodes.references(input));
            return Optional.of(new Keyed(
                    RelNodes.project(rows, outputs, names(keys.rows, input)), ImmutableBitSet.range(width())));
        }

        private boolean takeOwn(RexCall equality, RexNode[] own) {
            for (int side = 0; side < 2; side++) {
                RexNode value = equality.getOperands().get(1 - side);
                if (equality.getOperands().get(side) instanceof RexFieldAccess access
                        && access.getReferenceExpr() instanceof RexCorrelVariable of
                        && of.id.equals(variable)
                        && !reads(value)
                        && RexUtil.SubQueryFinder.find(value) == null
                        && SqlTypeUtil.equalSansNullability(value.getType(), access.getType())) {
                    int key = columns.indexOf(access.getField().getIndex());
                    if (own[key] == null) {
                        own[key] = value;
                        return true;
                    }
                }
            }
            return false;
        }

        private Keyed grouped(LogicalAggregate aggregate) {
            Keyed input = withKeys(aggregate.getInput());
            List<ImmutableBitSet> sets = aggregate.getGroupSets().stream()
                    .map(set -> set.shift(width()).union(ImmutableBitSet.range(width())))
                    .toList();
            return input.with(LogicalAggregate.create(
                    input.rows,
                    List.of(),
                    aggregate.getGroupSet().shift(width()).union(ImmutableBitSet.range(width())),
                    sets,
                    shifted(aggregate, input.rows)));
        }

        /** The calls over rows behind their keys; if one is for a single row's value, the count of rows comes last. */
        private List<AggregateCall> shifted(LogicalAggregate aggregate, RelNode input) {
            List<AggregateCall> calls = new ArrayList<>();
            for (AggregateCall call : aggregate.getAggCallList()) {
                calls.add(
                        isSingle(call)
                                ? single(call)
                                : shifted(call, aggregate.getGroupSet().isEmpty(), input));
            }
            if (aggregate.getAggCallList().stream().anyMatch(Rewriting::isSingle)) {
                calls.add(RelNodes.call(Function.COUNT, List.of(), -1, TypeMapper.relType(DataType.BIGINT, false)));
            }
            return calls;
        }

        private Keyed aggregated(LogicalAggregate aggregate) {
            if (isOneRow(aggregate)) {
                List<Integer> first = IntStream.range(0, width()).boxed().toList();
                return keys.with(joinOneRow(aggregate, keys.rows, first));
            }
            if (aggregate.getGroupSets().stream().anyMatch(ImmutableBitSet::isEmpty)) {
                throw MillraceException.notAvailableYet("GROUPING SETS with () in a correlated sub-query")
                        .withHint("a UNION ALL of the sets");
            }
            return grouped(aggregate);
        }

        /** The call over rows behind their keys: of none of a group, other than of all rows, there is no result, not NULL. */
        private AggregateCall shifted(AggregateCall call, boolean wasOfAll, RelNode input) {
            return call.withCollation(RelCollations.shift(call.getCollation(), width()))
                    .adaptTo(
                            input,
                            call.getArgList().stream().map(i -> i + width()).toList(),
                            call.filterArg < 0 ? call.filterArg : call.filterArg + width(),
                            wasOfAll,
                            false);
        }

        private Keyed set(SetOp set) {
            List<Keyed> inputs = set.getInputs().stream().map(this::withKeys).toList();
            ImmutableBitSet present = inputs.stream()
                    .map(Keyed::present)
                    .reduce(ImmutableBitSet::intersect)
                    .orElseThrow();
            return new Keyed(
                    set.copy(set.getTraitSet(), inputs.stream().map(Keyed::rows).toList(), set.all), present);
        }

        private Keyed joined(LogicalJoin join) {
            JoinRelType type = join.getJoinType();
            boolean onlyLeft = !reads(join.getRight());
            if (onlyLeft && (type == JoinRelType.INNER || type == JoinRelType.LEFT || !type.projectsRight())) {
                Keyed a = withKeys(join.getLeft());
                RexNode condition = moved(join.getCondition(), a.rows);
                return a.with(RelNodes.join(a.rows, join.getRight(), condition, type));
            }
            Keyed a = withKeys(join.getLeft());
            Keyed b = withKeys(join.getRight());
            int leftWidth = join.getLeft().getRowType().getFieldCount();
            int rightFirst = leftWidth + width();
            RexNode condition = RexUtil.shift(join.getCondition(), leftWidth, width());
            List<RexNode> both = List.of(
                    sameKeys(a.rows, IntStream.range(0, width()).boxed().toList(), b), moved(condition, a.rows));
            RelNode joined = RelNodes.join(a.rows, b.rows, RexUtil.composeConjunction(Rex.builder(), both), type);
            if (!type.projectsRight()) {
                return a.with(joined);
            }
            List<RexNode> references = RelNodes.references(joined);
            List<RexNode> outputs = new ArrayList<>();
            for (int key = 0; key < width(); key++) {
                RexNode ofLeft = references.get(key);
                RexNode ofRight = references.get(rightFirst + key);
                outputs.add(
                        switch (type) {
                            case RIGHT -> ofRight;
                            case FULL ->
                                Rex.call(
                                        "coalesce",
                                        List.of(ofLeft, ofRight),
                                        Coercions.type(ofLeft),
                                        ofLeft.getType().isNullable()
                                                && ofRight.getType().isNullable());
                            default -> ofLeft;
                        });
            }
            outputs.addAll(references.subList(width(), rightFirst));
            outputs.addAll(references.subList(rightFirst + width(), references.size()));
            ImmutableBitSet present = type == JoinRelType.RIGHT
                    ? b.present
                    : type == JoinRelType.FULL ? a.present.intersect(b.present) : a.present;
            return new Keyed(RelNodes.project(joined, outputs, names(keys.rows, join)), present);
        }

        private static RexNode partitioned(RexOver over, List<RexNode> keys) {
            List<RexNode> partition = new ArrayList<>(keys);
            partition.addAll(over.getWindow().partitionKeys);
            // frames are in the operator
            return Rex.builder()
                    .makeOver(
                            over.getType(),
                            over.getAggOperator(),
                            over.getOperands(),
                            partition,
                            over.getWindow().orderKeys,
                            over.getWindow().getLowerBound(),
                            over.getWindow().getUpperBound(),
                            true,
                            true,
                            false,
                            over.isDistinct(),
                            over.ignoreNulls());
        }

        /** An expression over rows that now stand behind their keys. */
        private RexNode moved(RexNode node, RelNode input) {
            List<RexNode> references = RelNodes.references(input);
            RexNode shifted = RexUtil.shift(node, width()).accept(new RexShuttle() {
                @Override
                public RexNode visitOver(RexOver over) {
                    return partitioned((RexOver) super.visitOver(over), references.subList(0, width()));
                }
            });
            return Correlations.replace(shifted, variable, column -> references.get(columns.indexOf(column)));
        }
    }
}
