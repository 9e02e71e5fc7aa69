package dev.millrace.sql.bind.query;

import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelFieldCollation.Direction;
import org.apache.calcite.rel.RelFieldCollation.NullDirection;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;

/** The ORDER BY, OFFSET and LIMIT around a query. */
record OrderLimit(List<SqlNode> order, Optional<RexNode> offset, Optional<RexNode> fetch, boolean withTies) {
    static final OrderLimit NONE = new OrderLimit(List.of(), Optional.empty(), Optional.empty(), false);

    boolean isEmpty() {
        return order.isEmpty() && offset.isEmpty() && fetch.isEmpty();
    }

    /** How rows are sorted by a column. */
    static RelFieldCollation collation(int column, SortSyntax syntax) {
        return new RelFieldCollation(
                column,
                syntax.descending() ? Direction.DESCENDING : Direction.ASCENDING,
                syntax.nullsFirst() ? NullDirection.FIRST : NullDirection.LAST);
    }

    /** Whether a LIMIT is certainly negative. */
    static boolean isNegative(RexNode count) {
        return count instanceof RexLiteral literal
                && !literal.isNull()
                && literal.getValueAs(BigDecimal.class).signum() < 0;
    }
}
