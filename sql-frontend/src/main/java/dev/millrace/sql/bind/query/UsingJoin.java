package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;

/** JOIN ... USING and NATURAL JOIN: a join on equal columns, each pair of which becomes one column in front. */
final class UsingJoin {
    private final QueryContext context;

    UsingJoin(QueryContext context) {
        this.context = context;
    }

    /** The columns that a join names in USING, or has on both sides by NATURAL; none for others. */
    static List<String> sharedColumns(SqlJoin join, From left, From right) {
        if (join.getConditionType() == JoinConditionType.USING) {
            List<String> names = new ArrayList<>();
            for (SqlNode name : (SqlNodeList) join.getCondition()) {
                if (((SqlIdentifier) name).isSimple()) {
                    names.add(((SqlIdentifier) name).getSimple());
                }
            }
            return names;
        }
        if (!join.isNatural()) {
            return List.of();
        }
        List<String> rightNames = right.columns().stream()
                .filter(column -> !column.hidden())
                .map(Column::name)
                .toList();
        return left.columns().stream()
                .filter(column -> !column.hidden())
                .map(Column::name)
                .filter(rightNames::contains)
                .toList();
    }

    /** The name behind USING, by which the merged columns go. */
    private static Optional<SqlIdentifier> alias(SqlJoin join) {
        if (join.getConditionType() != JoinConditionType.USING) {
            return Optional.empty();
        }
        SqlNodeList names = (SqlNodeList) join.getCondition();
        return Optional.of((SqlIdentifier) names.get(names.size() - 1)).filter(name -> !name.isSimple());
    }

    /** The join on the shared columns, which are not none. */
    From bind(SqlJoin join, From left, From right, List<String> shared, JoinRelType type) {
        From joined = join(join, left, right, shared, type);
        Optional<SqlIdentifier> alias = alias(join);
        if (alias.isEmpty()) {
            return joined;
        }
        String name = alias.get().names.get(1);
        if (joined.columns().stream().anyMatch(column -> column.qualifier().equals(name))) {
            throw Errors.error(
                    SqlState.DUPLICATE_ALIAS, "table name \"" + name + "\" specified more than once", alias.get());
        }
        List<Column> columns = new ArrayList<>(joined.columns());
        for (int i = 0; i < shared.size(); i++) {
            Column merged = joined.columns().get(i);
            columns.add(new Column(name, merged.name(), merged.index(), merged.type(), true));
        }
        return new From(joined.rel(), columns);
    }

    private From join(SqlJoin join, From left, From right, List<String> shared, JoinRelType type) {
        RelNode inner = RelNodes.join(left.rel(), right.rel(), Rex.builder().makeLiteral(true), JoinRelType.INNER);
        From both = FromBinder.beside(left, right, inner);
        int leftColumns = left.columns().size();
        List<RexNode> equalities = new ArrayList<>();
        List<Column> leftShared = new ArrayList<>();
        List<Column> rightShared = new ArrayList<>();
        for (String name : shared) {
            Column a = sharedColumn(both.columns().subList(0, leftColumns), name, "left", join);
            Column b = sharedColumn(
                    both.columns().subList(leftColumns, both.columns().size()), name, "right", join);
            leftShared.add(a);
            rightShared.add(b);
            equalities.add(context.functions().operator("eq", List.of(reference(a), reference(b)), join));
        }
        RelNode rel = RelNodes.join(left.rel(), right.rel(), Rex.combine("and", equalities), type);
        From joined = FromBinder.beside(left, right, rel);
        if (type == JoinRelType.FULL) {
            return mergeFull(joined, leftShared, rightShared, join);
        }
        List<Column> kept = type == JoinRelType.RIGHT ? rightShared : leftShared;
        List<Column> dropped = type == JoinRelType.RIGHT ? leftShared : rightShared;
        List<Column> columns = new ArrayList<>();
        for (Column column : kept) {
            columns.add(at(joined.columns(), column.index()));
        }
        for (Column column : joined.columns()) {
            if (indexOf(kept, column.index()) < 0) {
                boolean hidden = column.hidden() || indexOf(dropped, column.index()) >= 0;
                columns.add(column.hidden(hidden));
            }
        }
        return new From(rel, columns);
    }

    private From mergeFull(From joined, List<Column> leftShared, List<Column> rightShared, SqlNode where) {
        List<RexNode> expressions = new ArrayList<>(RelNodes.references(joined.rel()));
        List<String> names = new ArrayList<>(joined.rel().getRowType().getFieldNames());
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < leftShared.size(); i++) {
            RexNode merged = context.functions()
                    .function(
                            "coalesce",
                            "coalesce",
                            List.of(
                                    expressions.get(leftShared.get(i).index()),
                                    expressions.get(rightShared.get(i).index())),
                            where);
            columns.add(new Column("", leftShared.get(i).name(), expressions.size(), merged.getType(), false));
            expressions.add(merged);
            names.add(leftShared.get(i).name());
        }
        for (Column column : joined.columns()) {
            boolean hidden = column.hidden()
                    || indexOf(leftShared, column.index()) >= 0
                    || indexOf(rightShared, column.index()) >= 0;
            columns.add(column.hidden(hidden));
        }
        return new From(RelNodes.project(joined.rel(), expressions, names), columns);
    }

    /** The one column of that name on a side. */
    static Column sharedColumn(List<Column> columns, String name, String side, SqlNode where) {
        List<Column> found = columns.stream()
                .filter(column -> !column.hidden() && column.name().equals(name))
                .toList();
        if (found.size() == 1) {
            return found.get(0);
        }
        throw found.isEmpty()
                ? Errors.error(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + name + "\" specified in USING clause does not exist in " + side + " table",
                        where)
                : Errors.error(
                        SqlState.AMBIGUOUS_COLUMN,
                        "common column name \"" + name + "\" appears more than once in " + side + " table",
                        where);
    }

    private static int indexOf(List<Column> columns, int index) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).index() == index) {
                return i;
            }
        }
        return -1;
    }

    private static Column at(List<Column> columns, int index) {
        return columns.get(indexOf(columns, index));
    }

    static RexNode reference(Column column) {
        return new RexInputRef(column.index(), column.type());
    }
}
