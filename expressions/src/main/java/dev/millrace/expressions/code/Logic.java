package dev.millrace.expressions.code;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Three-valued logic and what chooses between values: AND, OR, NOT, IS, CASE, COALESCE, NULLIF, GREATEST, LEAST. */
final class Logic {
    private static final int DEEPEST_NESTING = 12;

    private final ExpressionCompiler compiler;

    Logic(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    Optional<Value> compile(Call call) {
        List<Expression> arguments = call.arguments();
        return Optional.ofNullable(
                switch (call.function()) {
                    case "and" -> connect(arguments, true);
                    case "or" -> connect(arguments, false);
                    case "not" -> {
                        Value value = compiler.compile(arguments.get(0));
                        yield compiler.total(call.type(), List.of(value), "!" + value.code());
                    }
                    case "is_null" -> flag(value(call).isNull());
                    case "is_not_null" ->
                        flag("!" + ExpressionCompiler.parenthesised(value(call).isNull()));
                    case "is_true" -> flag(ExpressionCompiler.isTrue(value(call)));
                    case "is_not_true" -> flag("!(" + ExpressionCompiler.isTrue(value(call)) + ")");
                    case "is_false" -> flag(isFalse(value(call)));
                    case "is_not_false" -> flag("!(" + isFalse(value(call)) + ")");
                    case "coalesce" -> coalesce(call);
                    case "nullif" -> nullif(call);
                    case "greatest" -> extreme(call, "gt");
                    case "least" -> extreme(call, "lt");
                    default -> null;
                });
    }

    private Value value(Call call) {
        return compiler.compile(call.arguments().get(0));
    }

    private static String isFalse(Value value) {
        return value.neverNull()
                ? "!" + value.code()
                : "!" + ExpressionCompiler.parenthesised(value.isNull()) + " & !" + value.code();
    }

    private Value flag(String code) {
        return Value.of(DataType.BOOLEAN, Value.NEVER, compiler.body().local("boolean", "v", code));
    }

    /**
     * AND and OR. {@code decided} becomes true when an argument decides the result (false for AND, true for OR); dear
     * arguments are computed only until then.
     */
    private Value connect(List<Expression> given, boolean and) {
        List<Expression> arguments = InList.gather(given, and);
        Body body = compiler.body();
        Value first = argument(arguments.get(0), and);
        if (arguments.size() == 1) {
            return first;
        }
        String decided = body.local("boolean", "d", decides(first, and));
        String unknown = body.local("boolean", "n", first.isNull());
        boolean anyUnknown = !first.neverNull();
        int open = 0;
        for (Expression argument : arguments.subList(1, arguments.size())) {
            boolean dear = Costs.of(argument) > Costs.CHEAP || Costs.mayFail(argument);
            if (dear) {
                open = nest(open);
                body.open("if (!" + decided + ")");
            }
            Value value = argument(argument, and);
            body.line(decided + " |= " + decides(value, and) + ";");
            if (!value.neverNull()) {
                anyUnknown = true;
                body.line(unknown + " |= " + value.isNull() + ";");
            }
        }
        close(open);
        String value = and ? body.local("boolean", "v", "!" + decided) : decided;
        String isNull = anyUnknown ? body.local("boolean", "n", unknown + " & !" + decided) : Value.NEVER;
        return Value.of(DataType.BOOLEAN, isNull, value);
    }

    private Value argument(Expression argument, boolean and) {
        return argument instanceof Call call && call.function().equals(InList.FUNCTION)
                ? InList.compile(compiler, call, and)
                : compiler.compile(argument);
    }

    /**
     * Blocks within blocks let later arguments see what earlier ones computed; but only so deep, for the sake of the
     * compilers' stacks.
     */
    private int nest(int open) {
        if (open < DEEPEST_NESTING) {
            return open + 1;
        }
        close(open);
        return 1;
    }

    private void close(int open) {
        for (int i = 0; i < open; i++) {
            compiler.body().close();
        }
    }

    private static String decides(Value value, boolean and) {
        return and ? isFalse(value) : ExpressionCompiler.isTrue(value);
    }

    private Value coalesce(Call call) {
        Body body = compiler.body();
        List<Expression> arguments = call.arguments();
        Value first = compiler.compile(arguments.get(0));
        if (arguments.size() == 1 || first.neverNull()) {
            return compiler.coerce(first, call.type());
        }
        Value result = compiler.variable(call.type(), true);
        compiler.assign(result, first);
        int open = 0;
        boolean nullable = true;
        for (Expression argument : arguments.subList(1, arguments.size())) {
            body.open("if (" + result.isNull() + ")");
            open++;
            Value value = compiler.compile(argument);
            compiler.assign(result, value);
            if (value.neverNull()) {
                nullable = false;
                break;
            }
        }
        close(open);
        return nullable ? result : new Value(result.type(), result.repr(), Value.NEVER, result.parts());
    }

    private Value nullif(Call call) {
        Value value = compiler.coerce(compiler.compile(call.arguments().get(0)), call.type());
        Value other = compiler.compile(call.arguments().get(1));
        Value equal = compiler.comparisons().compare("eq", value, other);
        String isNull = compiler.body()
                .local(
                        "boolean",
                        "n",
                        (value.neverNull() ? "" : ExpressionCompiler.parenthesised(value.isNull()) + " | ") + "("
                                + ExpressionCompiler.isTrue(equal) + ")");
        return new Value(value.type(), value.repr(), isNull, value.parts());
    }

    /** GREATEST and LEAST: NULLs are skipped. */
    private Value extreme(Call call, String better) {
        Body body = compiler.body();
        List<Value> values = new ArrayList<>();
        for (Expression argument : call.arguments()) {
            values.add(compiler.coerce(compiler.compile(argument), call.type()));
        }
        boolean nullable = values.stream().noneMatch(Value::neverNull);
        Value result = compiler.variable(call.type(), true);
        compiler.assign(result, values.get(0));
        for (Value value : values.subList(1, values.size())) {
            if (value.isNull().equals(Value.ALWAYS)) {
                continue;
            }
            body.open(value.neverNull() ? "" : "if (!" + ExpressionCompiler.parenthesised(value.isNull()) + ")");
            Value known = new Value(value.type(), value.repr(), Value.NEVER, value.parts());
            Value best = new Value(result.type(), result.repr(), Value.NEVER, result.parts());
            Value isBetter = compiler.comparisons().compare(better, known, best);
            body.open("if (" + result.isNull() + " | " + isBetter.code() + ")");
            compiler.assign(result, known);
            body.close();
            body.close();
        }
        return nullable ? result : new Value(result.type(), result.repr(), Value.NEVER, result.parts());
    }

    Value branches(Case expression) {
        Body body = compiler.body();
        Value result = compiler.variable(expression.type(), true);
        boolean deep = expression.branches().size() > DEEPEST_NESTING;
        String undecided = deep ? body.local("boolean", "d", "true") : "";
        boolean nullable = false;
        int open = 0;
        for (Case.Branch branch : expression.branches()) {
            if (deep && open >= DEEPEST_NESTING) {
                close(open);
                body.open("if (" + undecided + ")");
                open = 1;
            }
            Value condition = compiler.compile(branch.condition());
            body.open("if (" + ExpressionCompiler.isTrue(condition) + ")");
            Value value = compiler.compile(branch.result());
            nullable |= !value.neverNull();
            compiler.assign(result, value);
            if (deep) {
                body.line(undecided + " = false;");
            }
            body.reopen("else");
            open++;
        }
        Value otherwise = compiler.compile(expression.otherwise());
        nullable |= !otherwise.neverNull();
        compiler.assign(result, otherwise);
        close(open);
        return nullable ? result : new Value(result.type(), result.repr(), Value.NEVER, result.parts());
    }
}
