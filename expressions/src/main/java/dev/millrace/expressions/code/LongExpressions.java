package dev.millrace.expressions.code;

import dev.millrace.expressions.kernel.CalcPart;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Divides an expression that is too long for one method: the JIT gives up on methods of more than 8,000 bytes, the JVM on
 * those of more than 64 KB. What is cut out is marked as the one argument of {@link #PART}, and compiled to a {@link
 * CalcPart}.
 *
 * <pre>
 *   or(a, b, c, d, ..)                         becomes   or(part(or(a, b)), part(or(c, d)), ..)
 *   case when a then x when b then y ..                  case when a then x else part(case when b then y ..)
 *   f(long, short)                                       f(part(long), short)
 * </pre>
 *
 * Order and what is evaluated at all stay as they are. Parts that differ only in constants are of one class.
 */
final class LongExpressions {
    /** Stands for its argument, computed in a class of its own. Only within this package. */
    static final String PART = " part";

    private static final int PART_NODES = 2;

    /** Calls that may be made of calls over some of their arguments each. */
    private static final Set<String> DIVISIBLE = Set.of("and", "or", "coalesce", "greatest", "least", "concat");

    private final int mostNodes;

    /** @param mostNodes that one method computes */
    LongExpressions(int mostNodes) {
        this.mostNodes = mostNodes;
    }

    /** The expression with parts, where it is too long. */
    Expression divide(Expression expression) {
        if (nodes(expression, mostNodes) <= mostNodes) {
            return expression;
        }
        if (expression instanceof Call call) {
            return ofCall(call);
        }
        return expression instanceof Case branches ? ofCase(branches) : ofCast((Cast) expression);
    }

    /** How many nodes one method computes; just more than {@code most} if there are more. */
    static int nodes(Expression expression, int most) {
        if (most <= 0) {
            return 1; // there are more already, however deep it is
        }
        int nodes = 1;
        if (isPart(expression)) {
            return PART_NODES;
        }
        if (isMembership(expression)) {
            return 1 + nodes(((Call) expression).arguments().get(0), most - 1);
        }
        for (Expression child : ExpressionWalk.children(expression)) {
            nodes += nodes(child, most - nodes);
            if (nodes > most) {
                return most + 1;
            }
        }
        return nodes;
    }

    private int nodes(Expression expression) {
        return nodes(expression, mostNodes);
    }

    /** Whether an expression asks for membership in a long list. */
    private static boolean isMembership(Expression expression) {
        return expression instanceof Call call && call.function().equals(InList.FUNCTION);
    }

    static boolean isPart(Expression expression) {
        return expression instanceof Call call && call.function().equals(PART);
    }

    private Expression part(Expression expression) {
        return nodes(expression) <= PART_NODES
                ? expression
                : new Call(PART, List.of(expression), expression.type(), expression.nullable());
    }

    private Expression ofCast(Cast cast) {
        Expression input = divide(cast.input());
        return new Cast(nodes(input) < mostNodes ? input : part(input), cast.type());
    }

    private Expression ofCall(Call call) {
        boolean and = call.function().equals("and");
        List<Expression> arguments = call.arguments();
        if (and || call.function().equals("or")) {
            arguments = InList.gather(flat(call), and);
        }
        arguments = arguments.stream().map(this::divide).toList();
        if (DIVISIBLE.contains(call.function())) {
            return grouped(arguments, some -> new Call(call.function(), some, call.type(), true));
        }
        return new Call(call.function(), lightened(arguments), call.type(), call.nullable());
    }

    /** The arguments of calls of the same function within each other, in order. */
    private static List<Expression> flat(Call call) {
        List<Expression> arguments = new ArrayList<>();
        for (Expression argument : call.arguments()) {
            if (argument instanceof Call inner && inner.function().equals(call.function())) {
                arguments.addAll(flat(inner));
            } else {
                arguments.add(argument);
            }
        }
        return arguments;
    }

    /** One call over calls of neighbours, as many levels as it takes. */
    private Expression grouped(List<Expression> arguments, Function<List<Expression>, Expression> call) {
        List<List<Expression>> groups = new ArrayList<>();
        int room = 0;
        for (Expression argument : arguments) {
            int nodes = nodes(argument);
            if (nodes > room) {
                groups.add(new ArrayList<>());
                room = mostNodes - 1;
            }
            groups.get(groups.size() - 1).add(argument);
            room -= nodes;
        }
        if (groups.size() == 1) {
            return call.apply(groups.get(0));
        }
        List<Expression> parts = groups.stream()
                .map(group -> part(group.size() == 1 && !isMembership(group.get(0)) ? group.get(0) : call.apply(group)))
                .toList();
        return grouped(parts, call);
    }

    /** Operands of one method, of which the longest are parts. */
    private List<Expression> lightened(List<Expression> operands) {
        List<Expression> light = new ArrayList<>(operands);
        int nodes = 1 + light.stream().mapToInt(this::nodes).sum();
        while (nodes > mostNodes) {
            int longest = 0;
            for (int i = 1; i < light.size(); i++) {
                longest = nodes(light.get(i)) > nodes(light.get(longest)) ? i : longest;
            }
            int saved = nodes(light.get(longest)) - PART_NODES;
            if (saved <= 0) {
                break; // very many short operands
            }
            light.set(longest, part(light.get(longest)));
            nodes -= saved;
        }
        return light;
    }

    private Expression ofCase(Case expression) {
        Expression otherwise = lightBranch(expression.otherwise());
        List<Case.Branch> branches = new ArrayList<>(); // from the last
        int nodes = 1 + nodes(otherwise);
        for (int i = expression.branches().size() - 1; i >= 0; i--) {
            Case.Branch given = expression.branches().get(i);
            Case.Branch branch = new Case.Branch(lightBranch(given.condition()), lightBranch(given.result()));
            int more = nodes(branch.condition()) + nodes(branch.result());
            if (nodes + more > mostNodes) {
                otherwise = part(of(expression, branches, otherwise));
                branches.clear();
                nodes = 1 + PART_NODES;
            }
            branches.add(branch);
            nodes += more;
        }
        return of(expression, branches, otherwise);
    }

    private Expression lightBranch(Expression expression) {
        Expression divided = divide(expression);
        return nodes(divided) <= mostNodes / 4 ? divided : part(divided);
    }

    private static Case of(Case expression, List<Case.Branch> lastFirst, Expression otherwise) {
        List<Case.Branch> branches = new ArrayList<>(lastFirst);
        java.util.Collections.reverse(branches);
        return new Case(branches, otherwise, expression.type(), true);
    }
}
