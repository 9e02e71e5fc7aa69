package dev.millrace.sql.syntax;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.calcite.sql.SqlBinaryOperator;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.parser.SqlParserUtil;
import org.apache.calcite.sql.parser.SqlParserUtil.ToTreeListItem;

/** PostgreSQL's infix operators that Calcite's grammar lacks, with PostgreSQL's precedence on Calcite's scale. */
public final class Operators {
    // Calcite's scale: comparison 30, LIKE and BETWEEN 32, + 40, * 60, unary minus 80.
    private static final int OTHER = 34;
    private static final int MULTIPLICATIVE = 60;
    private static final int POWER = 70;
    private static final int AT_TIME_ZONE = 74;

    private static final Map<String, SqlOperator> INFIX = new HashMap<>();

    static {
        for (String name : List.of(
                "||",
                "~",
                "~*",
                "!~",
                "!~*",
                "~~",
                "~~*",
                "!~~",
                "!~~*",
                "&",
                "|",
                "#",
                "<<",
                ">>",
                "->",
                "->>",
                "#>",
                "#>>",
                "@>",
                "<@",
                "&&",
                "?",
                "?|",
                "?&",
                "#-",
                "@@",
                "@?",
                "^@",
                "overlaps",
                "like any",
                "like all",
                "not like any",
                "not like all",
                "ilike any",
                "ilike all",
                "not ilike any",
                "not ilike all")) {
            INFIX.put(name, operator(name, OTHER));
        }
        INFIX.put("%", operator("%", MULTIPLICATIVE));
        INFIX.put("^", operator("^", POWER));
        INFIX.put("at time zone", operator("at time zone", AT_TIME_ZONE));
    }

    private Operators() {}

    /** Whether {@link #infix} knows the operator. */
    public static boolean isInfix(String name) {
        return INFIX.containsKey(name);
    }

    /** The operator of this spelling. */
    public static SqlOperator infix(String name) {
        return INFIX.get(name);
    }

    /**
     * Casts the last operand of a list of operands and operators under construction, together with its subscripts and
     * fields, as {@code a + b[1]::int} is {@code a + CAST(b[1] AS int)}.
     */
    public static void castLast(List<Object> list, SqlDataTypeSpec type) {
        int first = list.size() - 1;
        while (first >= 2
                && list.get(first - 1) instanceof ToTreeListItem item
                && (item.getOperator() == SqlStdOperatorTable.ITEM || item.getOperator() == SqlStdOperatorTable.DOT)) {
            first -= 2;
        }
        List<Object> operandItems = list.subList(first, list.size());
        SqlNode operand = operandItems.size() == 1
                ? (SqlNode) operandItems.get(0)
                : SqlParserUtil.toTree(new ArrayList<>(operandItems));
        operandItems.clear();
        SqlParserPos pos = operand.getParserPosition().plus(type.getParserPosition());
        list.add(SqlStdOperatorTable.CAST.createCall(pos, operand, type));
    }

    private static SqlOperator operator(String name, int precedence) {
        return new SqlBinaryOperator(name, SqlKind.OTHER, precedence, true, null, null, null);
    }
}
