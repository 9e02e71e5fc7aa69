package dev.millrace.sql.bind.change;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.OuterAggregates;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;

/** Binds RETURNING. */
final class ReturningBinder {
    private ReturningBinder() {}

    /**
     * @param items the select list; empty without RETURNING
     * @param parts the columns of the relation, and those of FROM or USING
     */
    static Optional<Statement.Returning> bind(
            QueryContext context, List<SqlNode> items, List<RowsAtHand.Part> parts, List<SqlNode> with) {
        if (items.isEmpty()) {
            return Optional.empty();
        }
        for (SqlNode item : items) {
            if (OuterAggregates.anyOwn(item, context, Scope.empty(Optional.empty(), context))) {
                throw Errors.error(SqlState.GROUPING_ERROR, "aggregate functions are not allowed in RETURNING", item);
            }
            window(item).ifPresent(call -> {
                throw Errors.error(SqlState.WINDOWING_ERROR, "window functions are not allowed in RETURNING", call);
            });
        }
        Query query = new RowsAtHand(context, parts, with).select(items);
        return Optional.of(new Statement.Returning(query, columns(query.rel())));
    }

    /** A window function of the item itself, if it has one. */
    private static Optional<SqlNode> window(SqlNode item) {
        Deque<SqlNode> left = new ArrayDeque<>(List.of(item));
        while (!left.isEmpty()) {
            SqlNode node = left.pop();
            if (node.getKind() == SqlKind.OVER) {
                return Optional.of(node);
            }
            List<SqlNode> parts = node instanceof SqlCall call && !node.isA(SqlKind.QUERY)
                    ? call.getOperandList()
                    : node instanceof SqlNodeList list ? list.getList() : List.of();
            parts.stream().filter(Objects::nonNull).forEach(left::push);
        }
        return Optional.empty();
    }

    /** The columns that are given as they are; empty if anything is computed. */
    private static List<Integer> columns(RelNode rel) {
        List<Integer> columns = new ArrayList<>();
        List<RexNode> values = rel instanceof TableScan ? RelNodes.references(rel) : List.of();
        if (rel instanceof LogicalProject project && project.getInput() instanceof TableScan) {
            values = project.getProjects();
        }
        for (RexNode value : values) {
            if (!(value instanceof RexInputRef reference)) {
                return List.of();
            }
            columns.add(reference.getIndex());
        }
        return columns;
    }
}
