package dev.millrace.sql.grammar;

import java.util.List;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlUnresolvedFunction;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/** Makes nodes of syntax trees. */
final class SyntaxNodes {
    private static final int LONG = 64;

    private SyntaxNodes() {}

    /** A call that reaches as far in the text as its operands. */
    static SqlNode call(SqlOperator operator, SqlNode... operands) {
        return operator.createCall(SqlParserPos.sum(operands), operands);
    }

    /** A call of a function by its name, which the binder finds. */
    static SqlCall function(SqlIdentifier name, SqlParserPos position, List<? extends SqlNode> arguments) {
        return function(name, position, SqlFunctionCategory.USER_DEFINED_FUNCTION, null, arguments);
    }

    /** @param quantifier null for none, as Calcite has it */
    static SqlCall function(
            SqlIdentifier name,
            SqlParserPos position,
            SqlFunctionCategory category,
            @Nullable SqlLiteral quantifier,
            List<? extends SqlNode> arguments) {
        SqlOperator function = new SqlUnresolvedFunction(name, null, null, null, null, category);
        return function.createCall(quantifier, position, arguments);
    }

    static SqlCall function(String name, SqlParserPos position, SqlNode... arguments) {
        return function(new SqlIdentifier(name, position), position, List.of(arguments));
    }

    static SqlNode text(String text, SqlParserPos position) {
        return SqlLiteral.createCharString(text, position);
    }

    static SqlIdentifier name(String name, SqlParserPos position) {
        return new SqlIdentifier(name, position);
    }

    static SqlNode as(SqlNode node, SqlIdentifier alias) {
        return call(SqlStdOperatorTable.AS, node, alias);
    }

    static SqlNode cast(SqlNode node, SqlDataTypeSpec type, SqlParserPos position) {
        return SqlStdOperatorTable.CAST.createCall(position, node, type);
    }

    /** The FROM item and the other parts may be null, as Calcite has it. */
    static SqlSelect select(
            SqlParserPos position,
            List<? extends SqlNode> items,
            @Nullable SqlNode from,
            @Nullable SqlNode where,
            @Nullable SqlNodeList groups) {
        SqlNodeList list = new SqlNodeList(items, position);
        return new SqlSelect(position, null, list, from, where, groups, null, null, null, null, null, null, null);
    }

    /**
     * The operands of a chain of AND or OR. A long one is made as deep as the logarithm of its length: what walks over
     * expressions does so on its thread's stack. The order of the operands stays.
     *
     * <pre>
     *   a OR b OR c OR d     becomes   (a OR b) OR (c OR d)
     * </pre>
     */
    static SqlNode chain(SqlOperator operator, List<SqlNode> operands) {
        if (operands.size() >= LONG) {
            return balanced(operator, operands);
        }
        SqlNode chain = operands.get(0);
        for (SqlNode operand : operands.subList(1, operands.size())) {
            chain = call(operator, chain, operand);
        }
        return chain;
    }

    private static SqlNode balanced(SqlOperator operator, List<SqlNode> operands) {
        if (operands.size() == 1) {
            return operands.get(0);
        }
        int half = operands.size() / 2;
        SqlNode left = balanced(operator, operands.subList(0, half));
        SqlNode right = balanced(operator, operands.subList(half, operands.size()));
        return new SqlBasicCall(
                operator, List.of(left, right), left.getParserPosition().plus(right.getParserPosition()));
    }
}
