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
 * SELECT x, y .. UNION BY NAME SELECT y, z ..   is   SELECT x, y, NULL .. UNION SELECT NULL, y, z ..
 * </pre>
 */
final class UnionByName {
    private final Set<String> names = new LinkedHashSet<>();
    private final Pending left;
    private final Pending right;

    UnionByName(Pending left, Pending right, SqlNode where) {
        this.left = left;
        this.right = right;
        for (Pending side : List.of(left, right)) {
            Set<String> own = new LinkedHashSet<>();
            for (String name : side.names()) {
                if (!own.add(name)) {
                    throw Errors.error(
                            SqlState.DUPLICATE_COLUMN,
                            "column \"" + name + "\" is there twice on one side of UNION BY NAME",
                            where);
                }
            }
            names.addAll(own);
        }
    }

    /** The first side, where the parser has marked a union as one by name. */
    static Optional<SqlNode> first(SqlCall union) {
        boolean marked = union.operand(0) instanceof SqlCall around
                && around.getKind() == SqlKind.UNION
                && around.operand(1) instanceof SqlCall table
                && table.getKind() == SqlKind.EXPLICIT_TABLE
                && table.operand(0) instanceof SqlIdentifier name
                && name.names.equals(List.of(FromClauses.BY_NAME));
        return marked ? Optional.of(((SqlCall) union.operand(0)).operand(0)) : Optional.empty();
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
