package dev.millrace.sql.bind.subquery;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.relation.Correlations;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.relation.SharedNodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Rows of several columns, some of which may be NULL, as members of what a sub-query gives: true if one equals the row,
 * unknown if one may, else false. Both are counted:
 *
 * <pre>
 * (x, y) IN (project(p, q; b))    becomes    scalar(project(CASE WHEN n > 0 THEN TRUE WHEN m > 0 THEN NULL ELSE FALSE END,
 *     aggregate(n = count(*) where equal, m = count(*) where unknown, project(x = p and y = q ..; b))))
 * </pre>
 *
 * Calcite decides by whether each column has a NULL, which is right for one column only; and of a constant it takes a row that
 * is NULL for one that equals it. So is one column of which the sub-query reads rows of a query around. For what {@link SemiJoins} has left.
 */
public final class RowMembership {
    private RowMembership() {}

    /** The query with all such members counted, in sub-queries, too. */
    static RelNode count(RelNode query) {
        return SharedNodes.rewrite(query, RowMembership::countHere);
    }

    private static RelNode countHere(RelNode node) {
        if (node instanceof LogicalFilter filter) {
            Row row = new Row(filter.getInput(), filter.getVariablesSet());
            RexNode condition = filter.getCondition().accept(row);
            return row.isUsed()
                    ? RelNodes.filter(filter.getInput(), condition, Optional.of(row.id))
                    : filter.copy(filter.getTraitSet(), filter.getInput(), condition);
        }
        if (node instanceof LogicalProject project) {
            Row row = new Row(project.getInput(), project.getVariablesSet());
            List<RexNode> columns =
                    project.getProjects().stream().map(each -> each.accept(row)).toList();
            return LogicalProject.create(
                    project.getInput(),
                    project.getHints(),
                    columns,
                    project.getRowType(),
                    row.isUsed() ? Set.of(row.id) : project.getVariablesSet());
        }
        return node.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                if (isOpen(query) && query.getOperands().size() > 1 || readsAround(query, Optional.empty())) {
                    throw MillraceException.notAvailableYet(
                                    query.getOperands().size() > 1
                                            ? "IN of several columns that may be NULL in ON"
                                            : "IN of a sub-query that reads rows around, in ON")
                            .withHint("put it into WHERE, or compare with what was selected into a join");
                }
                return query.clone(count(query.rel));
            }
        });
    }

    private static boolean isOpen(RexSubQuery query) {
        boolean constant = query.getOperands().stream().allMatch(RexLiteral.class::isInstance);
        return query.getKind() == SqlKind.IN
                && (query.getOperands().size() > 1 || constant)
                && (query.getOperands().stream().anyMatch(each -> each.getType().isNullable())
                        || query.rel.getRowType().getFieldList().stream()
                                .anyMatch(field -> field.getType().isNullable()));
    }

    /**
     * Whether the sub-query reads rows of a query around that of the row: Calcite, which compares in a join's condition, takes the row's own columns for columns of those.
     *
     * @param own the variable of the row, if it has one
     */
    private static boolean readsAround(RexSubQuery query, Optional<CorrelationId> own) {
        return query.getKind() == SqlKind.IN
                && Correlations.free(query.rel).stream()
                        .anyMatch(read -> own.isEmpty() || !own.get().equals(read));
    }

    /** Whether a condition holds for one of the rows: NULL if it is unknown for some and holds for none. */
    public static RexNode any(RelNode rows, RexNode condition) {
        RelNode compared = RelNodes.project(
                rows,
                List.of(
                        Rex.call("is_true", List.of(condition), DataType.BOOLEAN, false),
                        Rex.call("is_null", List.of(condition), DataType.BOOLEAN, false)),
                List.of("holds", "unknown"));
        RelNode counted = RelNodes.aggregate(
                compared,
                0,
                List.of(ImmutableBitSet.of()),
                IntStream.range(0, 2).mapToObj(RowMembership::countOf).toList());
        List<RexNode> some = RelNodes.references(counted).stream()
                .map(number -> Rex.call(
                        "gt", List.of(number, Rex.literal(new Literal(0L, DataType.BIGINT))), DataType.BOOLEAN, false))
                .toList();
        RexNode member = Rex.builder()
                .makeCall(
                        TypeMapper.relType(DataType.BOOLEAN, true),
                        SqlStdOperatorTable.CASE,
                        List.of(
                                some.get(0),
                                Rex.builder().makeLiteral(true),
                                some.get(1),
                                Rex.nullOf(DataType.BOOLEAN),
                                Rex.builder().makeLiteral(false)));
        return RexSubQuery.scalar(RelNodes.project(counted, List.of(member), List.of("member")));
    }

    private static AggregateCall countOf(int column) {
        return RelNodes.call(Function.COUNT, List.of(), column, TypeMapper.relType(DataType.BIGINT, false))
                .withName("n" + column);
    }

    /** The row that has the conditions, seen from a sub-query. */
    private static final class Row extends RexShuttle {
        private final RelNode input;
        private final boolean known;
        private final CorrelationId id;
        private boolean counts;

        Row(RelNode input, Set<CorrelationId> ids) {
            this.input = input;
            this.known = !ids.isEmpty();
            this.id = known ? ids.iterator().next() : input.getCluster().createCorrel();
        }

        boolean isUsed() {
            return known || counts;
        }

        @Override
        public RexNode visitSubQuery(RexSubQuery query) {
            RexSubQuery inner = query.clone(count(query.rel));
            if (!isOpen(inner) && !readsAround(inner, Optional.of(id))) {
                return inner;
            }
            counts |= !inner.getOperands().stream().allMatch(RexLiteral.class::isInstance);
            List<RexNode> theirs = RelNodes.references(inner.rel);
            List<RexNode> equal = new ArrayList<>();
            for (int i = 0; i < theirs.size(); i++) {
                RexNode ours = inner.getOperands().get(i).accept(new FromWithin());
                equal.add(Rex.call("eq", List.of(ours, theirs.get(i)), DataType.BOOLEAN, true));
            }
            return any(inner.rel, Rex.combine("and", equal));
        }

        /** Columns of the row as those of an outer one. */
        private final class FromWithin extends RexShuttle {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
                RexNode row = Rex.builder().makeCorrel(input.getRowType(), id);
                return Rex.builder().makeFieldAccess(row, reference.getIndex());
            }
        }
    }
}
