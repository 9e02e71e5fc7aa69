package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Computes at planning time what does not depend on rows.
 *
 * <pre>
 * Calc($0 > 2 * 3 AND true)    becomes    Calc($0 > 6)
 * Calc(false)                  becomes    Values()
 * </pre>
 */
final class FoldConstants implements Rewrite {
    private final UnaryOperator<Expression> folder;

    FoldConstants(UnaryOperator<Expression> folder) {
        this.folder = folder;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (node instanceof PlanNode.Join join) {
            Optional<Expression> residual = withoutTrue(join.residual().map(this::fold));
            return residual.equals(join.residual())
                    ? Optional.empty()
                    : Optional.of(Nodes.join(
                            join.left(),
                            join.right(),
                            join.kind(),
                            join.leftKeys(),
                            join.rightKeys(),
                            residual,
                            join.time()));
        }
        if (!(node instanceof Calc calc)) {
            return Optional.empty();
        }
        Optional<Expression> condition = withoutTrue(calc.condition().map(this::fold));
        if (condition.filter(FoldConstants::isNeverTrue).isPresent()) {
            return Optional.of(new PlanNode.Values(List.of(), calc.schema()));
        }
        List<Expression> projections =
                calc.projections().stream().map(this::fold).toList();
        return condition.equals(calc.condition()) && projections.equals(calc.projections())
                ? Optional.empty()
                : Optional.of(Nodes.calc(calc.input(), condition, projections));
    }

    private static Optional<Expression> withoutTrue(Optional<Expression> condition) {
        return condition.filter(expression -> !Expressions.isLiteral(expression, true));
    }

    private static boolean isNeverTrue(Expression condition) {
        return condition instanceof Null || Expressions.isLiteral(condition, false);
    }

    Expression fold(Expression expression) {
        return Expressions.transform(expression, this::foldOne);
    }

    private Expression foldOne(Expression expression) {
        if (expression instanceof Column || isConstant(expression)) {
            return expression;
        }
        if (expression instanceof Cast cast && cast.type().equals(cast.input().type())) {
            return cast.input();
        }
        if (expression instanceof Case choice) {
            return foldCase(choice);
        }
        if (expression instanceof Call call) {
            switch (call.function()) {
                case "and":
                    return foldLogic(call, false);
                case "or":
                    return foldLogic(call, true);
                case "is_not_null":
                    return foldNullTest(call, true);
                case "is_null":
                    return foldNullTest(call, false);
                default:
                    break;
            }
        }
        boolean constant = Expressions.operands(expression).stream().allMatch(FoldConstants::isConstant)
                && !Expressions.isVolatile(expression);
        return constant ? folder.apply(expression) : expression;
    }

    private static boolean isConstant(Expression expression) {
        return expression instanceof Literal || expression instanceof Null;
    }

    /** AND and OR, flattened, without neutral operands; {@code absorbing} is the operand that decides alone. */
    private static Expression foldLogic(Call call, boolean absorbing) {
        Set<Expression> distinct = new LinkedHashSet<>();
        for (Expression argument : call.arguments()) {
            List<Expression> parts =
                    Expressions.isCall(argument, call.function()) ? ((Call) argument).arguments() : List.of(argument);
            for (Expression part : parts) {
                if (Expressions.isLiteral(part, absorbing)) {
                    return part;
                }
                if (!Expressions.isLiteral(part, !absorbing)) {
                    distinct.add(part);
                }
            }
        }
        List<Expression> operands = List.copyOf(distinct);
        if (operands.isEmpty()) {
            return Expressions.literal(!absorbing);
        }
        if (operands.size() == 1) {
            return operands.get(0);
        }
        return operands.equals(call.arguments())
                ? call
                : new Call(
                        call.function(),
                        operands,
                        DataType.BOOLEAN,
                        operands.stream().anyMatch(Expression::nullable));
    }

    private static Expression foldNullTest(Call call, boolean notNull) {
        Expression argument = call.arguments().get(0);
        if (argument instanceof Null) {
            return Expressions.literal(!notNull);
        }
        return argument.nullable() || Expressions.waits(argument) ? call : Expressions.literal(notNull);
    }

    private static Expression foldCase(Case choice) {
        List<Case.Branch> branches = new ArrayList<>();
        Expression otherwise = choice.otherwise();
        for (Case.Branch branch : choice.branches()) {
            if (isNeverTrue(branch.condition())) {
                continue;
            }
            if (Expressions.isLiteral(branch.condition(), true)) {
                otherwise = branch.result();
                break;
            }
            branches.add(branch);
        }
        return branches.isEmpty() ? otherwise : new Case(branches, otherwise, choice.type(), choice.nullable());
    }
}
