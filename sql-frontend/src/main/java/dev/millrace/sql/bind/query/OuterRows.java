package dev.millrace.sql.bind.query;

import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.util.SqlBasicVisitor;

/**
 * Rows that an outer join may miss and that expressions read as a whole: beside each stands a column that is true, and so
 * NULL where there is no row, which a row of nothing but NULLs would not tell.
 *
 * <pre>
 * SELECT count(b) FROM a LEFT JOIN b ON ..   is   SELECT count(CASE WHEN is_there THEN ROW(b.x, ..) END)
 *     FROM a LEFT JOIN (SELECT *, true AS is_there FROM b) AS b ON ..
 * </pre>
 */
final class OuterRows {
    private OuterRows() {}

    /** The names that may stand for a row in a SELECT with its ORDER BY, and in queries inside it: too many rather than too few. */
    static Set<String> namesIn(SqlSelect select, List<SqlNode> order) {
        Set<String> names = new HashSet<>();
        if (!hasOuterJoin(select.getFrom())) {
            return names;
        }
        SqlBasicVisitor<Void> collecting = new SqlBasicVisitor<>() {
            @Override
            public Void visit(SqlIdentifier name) {
                if (name.isSimple() || name.isStar() && name.names.size() > 1) {
                    names.add(name.names.get(name.isStar() ? name.names.size() - 2 : 0));
                }
                return null;
            }
        };
        for (SqlNode item : select.getSelectList()) {
            if (!(item instanceof SqlIdentifier star && star.isStar())) { // which gives columns
                item.accept(collecting);
            }
        }
        List<SqlNode> others = new ArrayList<>(order);
        others.add(select.getWhere());
        others.add(select.getGroup());
        others.add(select.getHaving());
        others.add(select.getQualify());
        others.add(select.getWindowList());
        for (SqlNode other : others) {
            if (other != null) {
                other.accept(collecting);
            }
        }
        collectFrom(select.getFrom(), collecting);
        return names;
    }

    private static boolean hasOuterJoin(SqlNode from) {
        return from instanceof SqlJoin join
                && (join.getJoinType().generatesNullsOnLeft()
                        || join.getJoinType().generatesNullsOnRight()
                        || hasOuterJoin(join.getLeft())
                        || hasOuterJoin(join.getRight()));
    }

    /** The conditions of joins, and the queries and functions that see what is beside them. */
    private static void collectFrom(SqlNode from, SqlBasicVisitor<Void> collecting) {
        if (from instanceof SqlJoin join) {
            collectFrom(join.getLeft(), collecting);
            collectFrom(join.getRight(), collecting);
            if (join.getCondition() != null) {
                join.getCondition().accept(collecting);
            }
        } else if (from instanceof SqlCall call) {
            SqlNode item = call.getKind() == SqlKind.AS ? call.operand(0) : call;
            if (item.getKind() == SqlKind.LATERAL
                    || item.getKind() == SqlKind.UNNEST
                    || item.getKind() == SqlKind.COLLECTION_TABLE) {
                item.accept(collecting);
            }
        }
    }

    /** The rows with such a column for each of the names among their relations; one that is never NULL is as good. */
    static From mark(From from, Set<String> names) {
        From known = markByColumns(from, names);
        Set<String> marked = unmarked(known, names);
        if (marked.isEmpty()) {
            return known;
        }
        List<RexNode> values = new ArrayList<>(RelNodes.references(from.rel()));
        List<String> outputs = new ArrayList<>(from.rel().getRowType().getFieldNames());
        List<Column> columns = new ArrayList<>(known.columns());
        RexNode there = Rex.builder().makeLiteral(true);
        for (String qualifier : marked) {
            columns.add(new Column(qualifier, Scope.IS_THERE, values.size(), there.getType(), true));
            values.add(there);
            outputs.add(Scope.IS_THERE);
        }
        return new From(RelNodes.project(from.rel(), values, outputs), columns);
    }

    /** The same as far as there are columns that are never NULL. */
    static From markByColumns(From from, Set<String> names) {
        List<Column> columns = new ArrayList<>(from.columns());
        for (String qualifier : unmarked(from, names)) {
            from.columns().stream()
                    .filter(column -> column.qualifier().equals(qualifier)
                            && !column.type().isNullable())
                    .findFirst()
                    .ifPresent(column ->
                            columns.add(new Column(qualifier, Scope.IS_THERE, column.index(), column.type(), true)));
        }
        return new From(from.rel(), columns);
    }

    private static Set<String> unmarked(From from, Set<String> names) {
        Set<String> marked = new LinkedHashSet<>();
        for (Column column : from.columns()) {
            if (names.contains(column.qualifier())) {
                marked.add(column.qualifier());
            }
        }
        from.columns().stream()
                .filter(column -> column.isBeside() && !column.isOfSystem())
                .forEach(column -> marked.remove(column.qualifier()));
        return marked;
    }
}
