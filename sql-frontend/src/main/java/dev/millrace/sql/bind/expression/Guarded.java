package dev.millrace.sql.bind.expression;

import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.type.DataType;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Arguments of an aggregate with FILTER, computed for no other rows where that could fail:
 *
 * <pre>
 * sum(1 / x) FILTER (WHERE x &lt;&gt; 0)      sum(CASE WHEN x &lt;&gt; 0 THEN 1 / x END) FILTER (WHERE x &lt;&gt; 0)
 * </pre>
 */
public final class Guarded {
    private static final Set<SqlKind> NEVER_FAIL = EnumSet.of(
            SqlKind.AND,
            SqlKind.OR,
            SqlKind.NOT,
            SqlKind.EQUALS,
            SqlKind.NOT_EQUALS,
            SqlKind.LESS_THAN,
            SqlKind.LESS_THAN_OR_EQUAL,
            SqlKind.GREATER_THAN,
            SqlKind.GREATER_THAN_OR_EQUAL,
            SqlKind.IS_DISTINCT_FROM,
            SqlKind.IS_NOT_DISTINCT_FROM,
            SqlKind.IS_NULL,
            SqlKind.IS_NOT_NULL,
            SqlKind.IS_TRUE,
            SqlKind.IS_NOT_TRUE,
            SqlKind.IS_FALSE,
            SqlKind.IS_NOT_FALSE,
            SqlKind.CASE,
            SqlKind.ARRAY_VALUE_CONSTRUCTOR);
    private static final Set<String> NEVER_FAILING =
            Set.of("coalesce", "nullif", "greatest", "least", "upper", "lower", "length", "make_row");

    private Guarded() {}

    public static RexNode by(Optional<RexNode> filter, RexNode argument) {
        if (filter.isEmpty() || !mayFail(argument) || RexUtil.SubQueryFinder.find(argument) != null) {
            return argument;
        }
        DataType type = Coercions.type(argument);
        return Rex.builder()
                .makeCall(
                        TypeMapper.relType(type, true),
                        SqlStdOperatorTable.CASE,
                        List.of(filter.get(), argument, Rex.nullOf(type)));
    }

    private static boolean mayFail(RexNode node) {
        if (!(node instanceof RexCall call)) {
            return false;
        }
        boolean never = NEVER_FAIL.contains(call.getKind())
                || NEVER_FAILING.contains(call.getOperator().getName())
                || call.getKind() == SqlKind.CAST && isWidening(call);
        return !never || call.getOperands().stream().anyMatch(Guarded::mayFail);
    }

    private static boolean isWidening(RexCall cast) {
        DataType from = Coercions.type(cast.getOperands().get(0));
        DataType to = Coercions.type(cast);
        return from.equals(to)
                || from.isInteger() && to.isInteger() && from.kind().compareTo(to.kind()) <= 0
                || from.isNumber() && from.kind() != DataType.Kind.BIGNUM && to.kind() == DataType.Kind.DOUBLE
                || Coercions.isCharacter(from) && to.kind() == DataType.Kind.TEXT;
    }
}
