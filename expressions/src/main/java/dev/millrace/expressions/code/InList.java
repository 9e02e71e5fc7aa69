package dev.millrace.expressions.code;

import dev.millrace.expressions.function.LongSet;
import dev.millrace.expressions.function.TextSet;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * IN with a long list. It comes as {@code or(eq(x, 'a'), eq(x, 'b'), ...)}, or {@code and(ne(x, 'a'), ...)} for NOT IN,
 * and becomes one look-up in a set.
 */
final class InList {
    /** Stands for the comparisons gathered: the first argument with each of the others. Only within this package. */
    static final String FUNCTION = " in";

    private static final int FEWEST = 6;

    private InList() {}

    /** The arguments of OR, or of AND, with comparisons of one expression with many literals gathered at the first. */
    static List<Expression> gather(List<Expression> arguments, boolean and) {
        if (arguments.size() < FEWEST) {
            return arguments;
        }
        Map<Expression, List<Expression>> literals = new LinkedHashMap<>();
        for (Expression argument : arguments) {
            if (isComparison(argument, and)) {
                Call call = (Call) argument;
                literals.computeIfAbsent(call.arguments().get(0), key -> new ArrayList<>())
                        .add(call.arguments().get(1));
            }
        }
        literals.values().removeIf(list -> list.size() < FEWEST);
        List<Expression> gathered = new ArrayList<>();
        for (Expression argument : arguments) {
            Expression compared =
                    isComparison(argument, and) ? ((Call) argument).arguments().get(0) : argument;
            List<Expression> list = literals.get(compared);
            if (!isComparison(argument, and) || list == null) {
                gathered.add(argument);
            } else if (!list.isEmpty()) {
                List<Expression> all = new ArrayList<>(List.of(compared));
                all.addAll(list);
                gathered.add(new Call(FUNCTION, all, DataType.BOOLEAN, compared.nullable()));
                list.clear();
            }
        }
        return gathered;
    }

    private static boolean isComparison(Expression argument, boolean and) {
        return argument instanceof Call call
                && call.function().equals(and ? "ne" : "eq")
                && call.arguments().get(1) instanceof Literal literal
                && literal.type().kind() != DataType.Kind.BIGNUM // equal numbers have different bytes
                && Repr.of(literal.type()) == Repr.of(call.arguments().get(0).type())
                && switch (Repr.of(literal.type())) {
                    case INT, LONG, BYTES -> true;
                    default -> false;
                };
    }

    /** The look-up; negated for NOT IN. */
    static Value compile(ExpressionCompiler compiler, Call call, boolean negated) {
        Value value = compiler.compile(call.arguments().get(0));
        boolean text = value.repr() == Repr.BYTES;
        String members = compiler.kernel()
                .members(call.arguments().subList(1, call.arguments().size()).stream()
                        .map(Literal.class::cast)
                        .toList());
        String type = compiler.kernel().use(text ? TextSet.class : LongSet.class);
        String set = compiler.kernel().field(type, "f", "new " + type + "(" + members + ")");
        return compiler.strict(
                DataType.BOOLEAN, List.of(value), (negated ? "!" : "") + set + ".contains(" + value.arguments() + ")");
    }
}
