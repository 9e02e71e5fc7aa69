package dev.millrace.sql.parser;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Makes long chains of AND or OR, which the grammar reads as deep as they are long, as deep as the logarithm of that. What
 * walks over expressions does so on its thread's stack. The order of the operands stays.
 *
 * <pre>
 *   ((a OR b) OR c) OR d     becomes   (a OR b) OR (c OR d)
 * </pre>
 */
final class LongChains {
    private static final int MANY_LEXEMES = 256; // fewer make no chain worth a look
    private static final int LONG = 64;

    private LongChains() {}

    /**
     * What was read, with its chains made flatter in place; itself this needs no stack.
     *
     * @param lexemes how many it was read of, or more
     */
    static <T> T balanced(T read, int lexemes) {
        if (lexemes > MANY_LEXEMES && read instanceof SqlNode tree) {
            balance(tree);
        }
        return read;
    }

    private static void balance(SqlNode tree) {
        Deque<SqlNode> open = new ArrayDeque<>();
        open.push(tree);
        while (!open.isEmpty()) {
            SqlNode node = open.pop();
            List<? extends SqlNode> operands = List.of();
            if (node instanceof SqlBasicCall call && isChain(call.getKind())) {
                operands = ofChain(call);
                if (operands.size() >= LONG) {
                    int half = operands.size() / 2;
                    call.setOperand(0, balanced(call, operands.subList(0, half)));
                    call.setOperand(1, balanced(call, operands.subList(half, operands.size())));
                }
            } else if (node instanceof SqlCall call) {
                operands = call.getOperandList();
            } else if (node instanceof SqlNodeList list) {
                operands = list.getList();
            }
            for (SqlNode operand : operands) {
                if (operand != null) { // Calcite's for a clause that is not there
                    open.push(operand);
                }
            }
        }
    }

    private static boolean isChain(SqlKind kind) {
        return kind == SqlKind.AND || kind == SqlKind.OR;
    }

    private static List<SqlNode> ofChain(SqlCall last) {
        List<SqlNode> operands = new ArrayList<>();
        SqlNode rest = last;
        while (rest instanceof SqlBasicCall call && call.getKind() == last.getKind()) {
            operands.add(call.operand(1));
            rest = call.operand(0);
        }
        operands.add(rest);
        Collections.reverse(operands);
        return operands;
    }

    private static SqlNode balanced(SqlCall like, List<? extends SqlNode> operands) {
        if (operands.size() == 1) {
            return operands.get(0);
        }
        int half = operands.size() / 2;
        return like.getOperator()
                .createCall(
                        SqlParserPos.sum(operands.stream()
                                .map(SqlNode::getParserPosition)
                                .toList()),
                        balanced(like, operands.subList(0, half)),
                        balanced(like, operands.subList(half, operands.size())));
    }
}
