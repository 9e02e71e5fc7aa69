package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import dev.millrace.sql.bind.expression.SetFunctions;
import dev.millrace.sql.bind.relation.Numbering;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.ComparableQueries;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlSelect;

/** The upper half of one SELECT, over rows that are filtered and grouped: project, QUALIFY, distinct, sort, cut. */
final class SelectOutput {
    private final QueryContext context;
    private final SqlSelect select;
    private final OrderLimit order;
    private final SelectList list;
    private final RelNode rel;

    SelectOutput(QueryContext context, SqlSelect select, OrderLimit order, SelectList list, RelNode rel) {
        this.context = context;
        this.select = select;
        this.order = order;
        this.list = list;
        this.rel = rel;
    }

    /** A sort key: an output column's place, or -1 and a value of its own. */
    record Sorted(int item, RexNode value, SortSyntax syntax) {
        Sorted withValue(RexNode rewritten) {
            return new Sorted(item, rewritten, syntax);
        }
    }

    /** @param expected types for columns whose type is open, where the place gives them */
    QueryBinder.Pending pending(
            List<Sorted> sorted,
            List<RexNode> distinctOn,
            Optional<RexNode> qualify,
            List<DataType> expected,
            boolean keepUnknown,
            Optional<CorrelationId> correlation) {
        boolean plain = !select.isDistinct() && order.isEmpty() && distinctOn.isEmpty() && qualify.isEmpty();
        boolean decide = !keepUnknown || !plain;
        List<RexNode> values = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (SelectList.Item item : list.items()) {
            RexNode value = item.value();
            if (Coercions.isUnknown(value)) {
                value = values.size() < expected.size()
                        ? context.coercions()
                                .convert(
                                        value,
                                        expected.get(values.size()),
                                        Coercions.Strength.ASSIGNMENT,
                                        item.syntax())
                        : decide ? context.coercions().decided(value) : value;
            }
            values.add(value);
            names.add(item.name());
        }
        if (plain && values.stream().anyMatch(SetFunctions::isIn)) {
            List<RexNode> decided =
                    values.stream().map(context.coercions()::decided).toList();
            RelNode unfolded = SetFunctions.project(rel, decided, names, correlation);
            return new QueryBinder.Pending(unfolded, RelNodes.references(unfolded), names, Optional.empty());
        }
        if (plain) {
            return new QueryBinder.Pending(rel, values, names, correlation);
        }
        List<RelFieldCollation> collation = new ArrayList<>();
        List<RexNode> withKeys = new ArrayList<>(values);
        List<String> withKeyNames = new ArrayList<>(names);
        for (Sorted key : sorted) {
            int column = key.item >= 0 ? key.item : ComparableQueries.indexOf(withKeys, key.value);
            if (column < 0) {
                if (select.isDistinct()) {
                    throw Errors.error(
                            SqlState.INVALID_COLUMN_REFERENCE,
                            "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                            key.syntax.value());
                }
                column = withKeys.size();
                withKeys.add(key.value);
                withKeyNames.add("sort_key");
            }
            collation.add(OrderLimit.collation(column, key.syntax));
        }
        List<Integer> on = new ArrayList<>();
        for (RexNode key : distinctOn) {
            int column = ComparableQueries.indexOf(withKeys, key);
            if (column < 0) {
                column = withKeys.size();
                withKeys.add(key);
                withKeyNames.add("distinct_key");
            }
            on.add(column);
        }
        int width = withKeys.size();
        qualify.ifPresent(condition -> {
            withKeys.add(condition);
            withKeyNames.add("qualifies");
        });
        RelNode output = SetFunctions.project(rel, withKeys, withKeyNames, correlation);
        if (qualify.isPresent()) {
            output = RelNodes.filter(output, RelNodes.references(output).get(width), Optional.empty());
            output = RelNodes.project(
                    output, RelNodes.references(output).subList(0, width), withKeyNames.subList(0, width));
        }
        if (select.isDistinct()) {
            output = RelNodes.distinct(output);
        }
        if (!on.isEmpty()) {
            checkOrderBegins(on, collation, sorted);
            output = Numbering.firstPer(output, on, collation);
        }
        if (order.withTies()) {
            output = Numbering.withTies(output, collation, order.offset(), order.fetch());
        }
        if (!order.isEmpty()) {
            output = RelNodes.sort(
                    output,
                    RelCollations.of(collation),
                    order.withTies() ? Optional.empty() : order.offset(),
                    order.withTies() ? Optional.empty() : order.fetch());
        }
        List<RexNode> visible = RelNodes.references(output).subList(0, values.size());
        return new QueryBinder.Pending(output, visible, names, Optional.empty());
    }

    /** What comes first is decided by the order, so the order has to begin with what is to be distinct. */
    private static void checkOrderBegins(List<Integer> on, List<RelFieldCollation> collation, List<Sorted> sorted) {
        long distinct = on.stream().distinct().count();
        for (int key = 0; key < Math.min(distinct, collation.size()); key++) {
            if (!on.contains(collation.get(key).getFieldIndex())) {
                throw Errors.error(
                        SqlState.INVALID_COLUMN_REFERENCE,
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                        sorted.get(key).syntax.value());
            }
        }
    }
}
