package dev.millrace.plan.node;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.Unary;
import java.util.List;

/**
 * Hashes of nodes that may stand many above each other. They look at a node and a few right below: the hash of all that is
 * below would be computed anew at each level, and below a node that is read twice, twice. Nodes that differ only further
 * down are told apart by equality, at the first difference. Of long expressions the first parts count: what is looked up
 * after every step of planning must not cost as much as reading the statement.
 */
final class PlanHash {
    private static final int LEVELS = 4;
    private static final int PARTS = 64;

    private PlanHash() {}

    /** @param own of parts of the node that tell it from others over the same inputs */
    static int of(PlanNode node, int own) {
        int hash = 31 * kind(node) + own;
        for (PlanNode input : node.inputs()) {
            hash = 31 * hash + below(input);
        }
        return hash;
    }

    /** Of expressions, some of their parts. */
    static int of(List<? extends Expression> expressions) {
        return new Parts().all(expressions);
    }

    /** Of the expressions of rows, some of their parts. */
    static int ofRows(List<List<Expression>> rows) {
        Parts parts = new Parts();
        int hash = rows.size();
        for (int row = 0; row < rows.size() && parts.left > 0; row++) {
            hash = 31 * hash + parts.all(rows.get(row));
        }
        return hash;
    }

    /** Of a node and, as long as each has one input, some below it. */
    private static int below(PlanNode top) {
        int hash = 0;
        PlanNode node = top;
        for (int level = 0; level < LEVELS; level++) {
            hash = 31 * hash + kind(node);
            if (node instanceof Calc calc) {
                hash = 31 * hash + of(calc.projections());
            } else if (node instanceof Scan scan) {
                hash = 31 * hash + scan.relation().hashCode();
            }
            if (!(node instanceof Unary unary)) {
                break;
            }
            node = unary.input();
        }
        return hash;
    }

    private static int kind(PlanNode node) {
        return 31 * node.getClass().getName().hashCode() + node.schema().size();
    }

    private static final class Parts {
        private int left = PARTS;

        int all(List<? extends Expression> expressions) {
            int hash = expressions.size();
            for (int i = 0; i < expressions.size() && left > 0; i++) {
                hash = 31 * hash + of(expressions.get(i));
            }
            return hash;
        }

        private int of(Expression expression) {
            left--;
            if (expression instanceof Expression.Call call) {
                return 31 * call.function().hashCode() + all(call.arguments());
            } else if (expression instanceof Expression.Cast cast) {
                return 31 * cast.type().kind().ordinal() + of(cast.input());
            } else if (expression instanceof Expression.Case choice) {
                int hash = choice.branches().size();
                for (int i = 0; i < choice.branches().size() && left > 0; i++) {
                    hash = 31 * hash + of(choice.branches().get(i).condition());
                    hash = 31 * hash + of(choice.branches().get(i).result());
                }
                return hash;
            } else if (expression instanceof Expression.Column column) {
                return column.index();
            }
            return expression instanceof Expression.Literal literal
                    ? literal.value().hashCode()
                    : 1;
        }
    }
}
