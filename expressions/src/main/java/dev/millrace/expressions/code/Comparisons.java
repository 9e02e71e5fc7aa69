package dev.millrace.expressions.code;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.expressions.function.number.Decimals;
import dev.millrace.expressions.function.number.Numbers;
import dev.millrace.expressions.function.time.Intervals;
import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.number.BignumBytes;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;

/** Comparison operators over all comparable types, in PostgreSQL's order: NaN above all numbers, text by bytes. */
final class Comparisons {
    private final ExpressionCompiler compiler;

    Comparisons(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    Optional<Value> compile(Call call) {
        return switch (call.function()) {
            case "eq", "ne", "lt", "le", "gt", "ge" ->
                Optional.of(compare(
                        call.function(),
                        compiler.compile(call.arguments().get(0)),
                        compiler.compile(call.arguments().get(1))));
            case "is_distinct_from" -> Optional.of(distinct(call, true));
            case "is_not_distinct_from" -> Optional.of(distinct(call, false));
            default -> Optional.empty();
        };
    }

    private Value distinct(Call call, boolean negated) {
        Value a = compiler.compile(call.arguments().get(0));
        Value b = compiler.compile(call.arguments().get(1));
        Body body = compiler.body();
        String result;
        if (a.isNull().equals(Value.ALWAYS) || b.isNull().equals(Value.ALWAYS)) {
            result =
                    ExpressionCompiler.parenthesised(a.isNull()) + " & " + ExpressionCompiler.parenthesised(b.isNull());
        } else {
            Value equal = compare("eq", a, b);
            String bothNull =
                    ExpressionCompiler.parenthesised(a.isNull()) + " & " + ExpressionCompiler.parenthesised(b.isNull());
            result = equal.neverNull()
                    ? equal.code()
                    : "(" + bothNull + ") | (" + ExpressionCompiler.isTrue(equal) + ")";
        }
        String code = negated ? "!(" + result + ")" : result;
        return Value.of(DataType.BOOLEAN, Value.NEVER, body.local("boolean", "v", code));
    }

    /** Compares two values of one kind. */
    Value compare(String operator, Value a, Value b) {
        List<Value> both = List.of(a, b);
        return switch (a.repr()) {
            case INT, LONG -> total(both, a.code() + symbol(operator) + b.code());
            case BOOLEAN -> total(both, booleans(operator, a.code(), b.code()));
            case FLOAT, DOUBLE -> total(both, doubles(operator, a.code(), b.code()));
            case NARROW, WIDE -> numbers(operator, a, b);
            case BYTES -> a.type().isNested() ? nested(operator, a, b) : bytes(operator, a, b);
            case INTERVAL -> total(both, call(Intervals.class, "compare", a, b) + symbol(operator) + "0");
            case UUID -> total(both, call(Numbers.class, "compareUnsigned", a, b) + symbol(operator) + "0");
            case NOTHING -> throw MillraceException.notAvailableYet("comparing values of type " + a.type());
        };
    }

    /** Equal arrays and rows have equal images; their order is that of their elements. */
    private Value nested(String operator, Value a, Value b) {
        if (operator.equals("eq") || operator.equals("ne")) {
            return bytes(operator, a, b);
        }
        String type = compiler.kernel()
                .field(
                        compiler.kernel().use(DataType.class),
                        "y",
                        compiler.kernel().type(a.type()));
        String order = compiler.kernel().use(Images.class) + ".compareValues(" + type + ", " + a.part(0) + ", "
                + b.part(0) + ")";
        return compiler.strict(DataType.BOOLEAN, List.of(a, b), order + symbol(operator) + "0");
    }

    private Value total(List<Value> values, String code) {
        return compiler.total(DataType.BOOLEAN, values, code);
    }

    private String call(Class<?> type, String method, Value a, Value b) {
        return compiler.kernel().use(type) + "." + method + "(" + a.arguments() + ", " + b.arguments() + ")";
    }

    private static String symbol(String operator) {
        return switch (operator) {
            case "eq" -> " == ";
            case "ne" -> " != ";
            case "lt" -> " < ";
            case "le" -> " <= ";
            case "gt" -> " > ";
            case "ge" -> " >= ";
            default -> throw new IllegalArgumentException(operator);
        };
    }

    /** False is below true. */
    private static String booleans(String operator, String a, String b) {
        return switch (operator) {
            case "lt" -> "!" + a + " & " + b;
            case "le" -> "!" + a + " | " + b;
            case "gt" -> a + " & !" + b;
            case "ge" -> a + " | !" + b;
            default -> a + symbol(operator) + b;
        };
    }

    private String doubles(String operator, String a, String b) {
        String numbers = compiler.kernel().use(Numbers.class);
        return switch (operator) {
            case "eq" -> numbers + ".equal(" + a + ", " + b + ")";
            case "ne" -> "!" + numbers + ".equal(" + a + ", " + b + ")";
            case "lt" -> numbers + ".less(" + a + ", " + b + ")";
            case "gt" -> numbers + ".less(" + b + ", " + a + ")";
            case "le" -> "!" + numbers + ".less(" + b + ", " + a + ")";
            default -> "!" + numbers + ".less(" + a + ", " + b + ")";
        };
    }

    private Value numbers(String operator, Value first, Value second) {
        Value a = first;
        Value b = second;
        int scale = Math.max(a.type().scale(), b.type().scale());
        a = compiler.numerics().rescaled(a, scale);
        b = compiler.numerics().rescaled(b, scale);
        List<Value> both = List.of(a, b);
        if (a.repr() == Repr.NARROW && b.repr() == Repr.NARROW) {
            return total(both, a.code() + symbol(operator) + b.code());
        }
        String compared = compiler.kernel().use(Decimals.class) + ".compare(" + a.high() + ", " + a.low() + ", "
                + b.high() + ", " + b.low() + ")";
        return total(both, compared + symbol(operator) + "0");
    }

    private Value bytes(String operator, Value a, Value b) {
        List<Value> both = List.of(a, b);
        compiler.kernel().use(Memory.class);
        Class<?> form = a.type().kind() == DataType.Kind.BIGNUM ? BignumBytes.class : Bytes.class;
        String code = switch (operator) {
            case "eq" -> call(form, "equal", a, b);
            case "ne" -> "!" + call(form, "equal", a, b);
            default -> call(form, "compare", a, b) + symbol(operator) + "0";
        };
        return compiler.strict(DataType.BOOLEAN, both, code);
    }
}
