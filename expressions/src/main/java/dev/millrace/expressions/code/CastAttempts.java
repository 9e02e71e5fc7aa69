package dev.millrace.expressions.code;

import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Optional;

/**
 * {@code try_cast(value)}: the value as the call's type, NULL where the cast fails. What fails while the value itself is
 * computed fails. Numbers are parsed without an exception, as texts that are none may be many.
 */
final class CastAttempts {
    private static final String FUNCTION = "try_cast";

    private final ExpressionCompiler compiler;

    CastAttempts(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    Optional<Value> compile(Call call) {
        if (!call.function().equals(FUNCTION)) {
            return Optional.empty();
        }
        Value value = compiler.compile(call.arguments().get(0));
        return Optional.of(
                value.type().isText() && call.type().isNumber() && call.type().kind() != Kind.BIGNUM
                        ? parsed(value, call.type())
                        : caught(value, call.type()));
    }

    private Value parsed(Value text, DataType type) {
        String parser = compiler.casts().parser();
        String arguments = text.arguments();
        String method = switch (type.kind()) {
            case REAL -> "tryReal";
            case DOUBLE -> "tryFloat8";
            case NUMERIC -> "tryNumeric";
            case SMALLINT -> "trySmallint";
            case INTEGER -> "tryInteger";
            default -> "tryBigint";
        };
        if (type.kind() == Kind.NUMERIC) {
            arguments += ", " + type.precision() + ", " + type.scale();
        }
        List<String> parts = switch (Repr.of(type)) {
            case INT -> List.of("(int) " + parser + ".value()");
            case FLOAT -> List.of("(float) " + parser + ".doubleValue()");
            case DOUBLE -> List.of(parser + ".doubleValue()");
            case WIDE -> List.of(parser + ".high()", parser + ".value()");
            default -> List.of(parser + ".value()");
        };
        return compiler.strict(
                type, List.of(text), List.of(parser + "." + method + "(" + arguments + ")"), parts, true);
    }

    private Value caught(Value value, DataType type) {
        Body body = compiler.body();
        Value result = compiler.variable(type, true);
        body.setMayFail();
        body.open("try");
        compiler.assign(result, compiler.casts().cast(value, type));
        body.reopen("catch (RuntimeException e)");
        body.line("passOnUnlessOfValue(e);");
        body.close();
        return result;
    }
}
