package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.query.QueryBinder.Pending;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;

/**
 * {@code a UNION [ALL] BY NAME b}, as a union by place of sides that have all columns of both, NULL where a side has none:
 *
 * <pre>
 * SELECT x, y .. UNION BY NAME SELECT y, z ..         is   SELECT x, y, NULL .. UNION SELECT NULL, y, z ..
 * SELECT x, y .. UNION CORRESPONDING SELECT y, z ..   is   SELECT y .. UNION SELECT y ..
 * </pre>
 *
 * CORRESPONDING is the standard's (feature F301): the columns that both sides have, in the order of the first, or those that BY names.
 */
final class UnionByName {
    private final Set<String> names = new LinkedHashSet<>();
    private final Pending left;
    private final Pending right;

    /** @param how it was marked with, by {@link #how} */
    UnionByName(Pending left, Pending right, List<String> how, SqlNode where) {
        this.left = left;
        this.right = right;
        boolean all = how.get(0).equals(FromClauses.BY_NAME);
        for (Pending side : List.of(left, right)) {
            Set<String> own = new LinkedHashSet<>();
            for (String name : side.names()) {
                if (!own.add(name)) {
                    throw Errors.error(
                            SqlState.DUPLICATE_COLUMN,
                            "column \"" + name + "\" is there twice on one side of UNION "
                                    + (all ? "BY NAME" : "CORRESPONDING"),
                            where);
                }
            }
            names.addAll(own);
        }
        if (all) {
            return;
        }
        names.removeIf(name -> !left.names().contains(name) || !right.names().contains(name));
        if (how.size() > 1) {
            for (String name : how.subList(1, how.size())) {
                if (!names.contains(name)) {
                    throw Errors.error(
                            SqlState.UNDEFINED_COLUMN,
                            "column \"" + name + "\" of CORRESPONDING BY is not on both sides of UNION",
                            where);
                }
            }
            names.clear();
            names.addAll(how.subList(1, how.size()));
        }
        if (names.isEmpty()) {
            throw Errors.error(
                    SqlState.SYNTAX_ERROR, "the sides of UNION CORRESPONDING have no column in common", where);
        }
    }

    /** How the parser has marked a union whose columns are found by their names; nothing for another. */
    static List<String> how(SqlCall union) {
        boolean marked = union.operand(0) instanceof SqlCall around
                && around.getKind() == SqlKind.UNION
                && around.operand(1) instanceof SqlCall table
                && table.getKind() == SqlKind.EXPLICIT_TABLE;
        if (!marked) {
            return List.of();
        }
        SqlCall table = ((SqlCall) union.operand(0)).operand(1);
        List<String> names = ((SqlIdentifier) table.operand(0)).names;
        return names.get(0).equals(FromClauses.BY_NAME) || names.get(0).equals(FromClauses.CORRESPONDING)
                ? names
                : List.of();
    }

    /** The first side, where the parser has marked a union as one by name. */
    static Optional<SqlNode> first(SqlCall union) {
        return how(union).isEmpty() ? Optional.empty() : Optional.of(((SqlCall) union.operand(0)).operand(0));
    }

    Pending left() {
        return aligned(left);
    }

    Pending right() {
        return aligned(right);
    }

    private Pending aligned(Pending side) {
        List<RexNode> columns = new ArrayList<>();
        for (String name : names) {
            int at = side.names().indexOf(name);
            columns.add(at < 0 ? Rex.nullOf(DataType.NULL) : side.columns().get(at));
        }
        return new Pending(side.input(), columns, List.copyOf(names), side.correlation());
    }
}
