package dev.millrace.sql.bind.relation;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalSort;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Makes algebra nodes by their constructors: the usual factories ask for metadata, whose handlers Calcite would generate
 * and compile first.
 */
public final class RelNodes {
    private RelNodes() {}

    public static RelNode project(RelNode input, List<RexNode> expressions, List<String> names) {
        return project(input, expressions, names, Optional.empty());
    }

    /** @param correlation the variable by which sub-queries in the expressions refer to the input's row */
    public static RelNode project(
            RelNode input, List<RexNode> expressions, List<String> names, Optional<CorrelationId> correlation) {
        List<RexNode> fitting = RexUtil.fixUp(Rex.builder(), expressions, input.getRowType());
        List<RelDataType> types = new ArrayList<>(fitting.size());
        for (RexNode expression : fitting) {
            types.add(expression.getType());
        }
        RelDataType rowType = TypeMapper.factory().createStructType(types, distinctNames(names));
        return new LogicalProject(
                input.getCluster(),
                input.getCluster().traitSetOf(Convention.NONE),
                List.of(),
                input,
                fitting,
                rowType,
                correlation.<Set<CorrelationId>>map(Set::of).orElse(Set.of()));
    }

    /** All columns of the input under other names. */
    static RelNode rename(RelNode input, List<String> names) {
        return project(input, references(input), names);
    }

    /** The rows for which a condition holds; an AND of ANDs becomes a single one, as Calcite wants it. */
    public static RelNode filter(RelNode input, RexNode condition, Optional<CorrelationId> correlation) {
        RexNode flat = fitting(condition, RelOptUtil.getFieldTypeList(input.getRowType()));
        return new LogicalFilter(
                input.getCluster(),
                input.getCluster().traitSetOf(Convention.NONE),
                input,
                RexUtil.removeNullabilityCast(input.getCluster().getTypeFactory(), flat),
                correlation.map(ImmutableSet::of).orElse(ImmutableSet.of()));
    }

    public static RelNode join(RelNode left, RelNode right, RexNode condition, JoinRelType type) {
        List<RelDataType> types = new ArrayList<>(RelOptUtil.getFieldTypeList(left.getRowType()));
        types.addAll(RelOptUtil.getFieldTypeList(right.getRowType()));
        return new LogicalJoin(
                left.getCluster(),
                left.getCluster().traitSetOf(Convention.NONE),
                ImmutableList.of(),
                left,
                right,
                fitting(condition, types),
                Set.of(),
                type,
                false,
                ImmutableList.of());
    }

    /** One flat AND; what comes from elsewhere may say otherwise of its columns whether they can be NULL. */
    private static RexNode fitting(RexNode condition, List<RelDataType> columns) {
        return RexUtil.composeConjunction(
                Rex.builder(), RexUtil.fixUp(Rex.builder(), RelOptUtil.conjunctions(condition), columns));
    }

    /** Groups by the first columns of the input; {@code groupSets} are sets of those, sorted, some perhaps repeated. */
    public static RelNode aggregate(
            RelNode input, int keys, List<ImmutableBitSet> groupSets, List<AggregateCall> calls) {
        List<ImmutableBitSet> repeated = IntStream.range(1, groupSets.size())
                .filter(i -> groupSets.get(i).equals(groupSets.get(i - 1)))
                .mapToObj(groupSets::get)
                .toList();
        RelNode once = aggregateOnce(input, keys, groupSets.stream().distinct().toList(), calls);
        return repeated.isEmpty()
                ? once
                : LogicalUnion.create(List.of(once, aggregate(input, keys, repeated, calls)), true);
    }

    private static RelNode aggregateOnce(
            RelNode input, int keys, List<ImmutableBitSet> groupSets, List<AggregateCall> calls) {
        return new LogicalAggregate(
                input.getCluster(),
                input.getCluster().traitSetOf(Convention.NONE),
                List.of(),
                input,
                ImmutableBitSet.range(keys),
                groupSets,
                calls);
    }

    /**
     * The distinct rows of some columns. A LEFT join keeps each of its left rows, so that their columns are the same
     * without it: what stands beside other correlated queries does not read those.
     */
    public static RelNode distinct(RelNode rows, List<Integer> columns) {
        Interrupt.checkCurrent();
        if ((rows instanceof LogicalJoin join && join.getJoinType() == JoinRelType.LEFT
                        || rows instanceof LogicalCorrelate correlate && correlate.getJoinType() == JoinRelType.LEFT)
                && columns.stream()
                        .allMatch(i -> i < rows.getInput(0).getRowType().getFieldCount())) {
            return distinct(rows.getInput(0), columns);
        }
        if (rows instanceof LogicalProject project
                && columns.stream().allMatch(i -> project.getProjects().get(i) instanceof RexInputRef)) {
            return distinct(
                    project.getInput(),
                    columns.stream()
                            .map(i -> ((RexInputRef) project.getProjects().get(i)).getIndex())
                            .toList());
        }
        return distinct(project(
                rows,
                columns.stream().map(references(rows)::get).toList(),
                columns.stream().map(rows.getRowType().getFieldNames()::get).toList()));
    }

    /** @param filter the column that says which rows count, or -1 for all */
    public static AggregateCall call(Function function, List<Integer> arguments, int filter, RelDataType type) {
        return AggregateCall.create(
                Aggregates.calcite(function),
                false,
                false,
                false,
                List.of(),
                arguments,
                filter,
                null,
                RelCollations.EMPTY,
                type,
                null);
    }

    /** The distinct rows of the input. */
    public static RelNode distinct(RelNode input) {
        int columns = input.getRowType().getFieldCount();
        return aggregate(input, columns, List.of(ImmutableBitSet.range(columns)), List.of());
    }

    public static RelNode sort(
            RelNode input, RelCollation collation, Optional<RexNode> offset, Optional<RexNode> fetch) {
        return LogicalSort.create(input, collation, offset.orElse(null), fetch.orElse(null));
    }

    /** References to all columns. */
    public static List<RexNode> references(RelNode input) {
        List<RexNode> references = new ArrayList<>();
        input.getRowType()
                .getFieldList()
                .forEach(field -> references.add(new RexInputRef(field.getIndex(), field.getType())));
        return references;
    }

    /** Row types need distinct names; users do not. */
    public static List<String> distinctNames(List<String> names) {
        Set<String> used = new HashSet<>();
        Map<String, Integer> next = new HashMap<>(); // the number that was not tried for a name
        List<String> distinct = new ArrayList<>(names.size());
        for (String name : names) {
            String candidate = name;
            while (!used.add(candidate)) {
                candidate = name + (next.merge(name, 1, Integer::sum) - 1);
            }
            distinct.add(candidate);
        }
        return distinct;
    }
}
