package dev.millrace.expressions.code;

import dev.millrace.expressions.function.number.Decimals;
import dev.millrace.number.BignumBytes;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Exact numbers: unscaled integers of 64 bits where the precision allows, of 128 bits elsewhere. A result of at most 18
 * digits cannot overflow 64 bits on the way, since the rules that give results their precision leave room for every
 * value. Of numbers of any size it has only what may give NULL; the rest of these is in the {@link Library}.
 */
final class Numerics {
    private final ExpressionCompiler compiler;

    Numerics(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    /** Whether the first argument is a number of any size. */
    static boolean isOfBignum(Call call) {
        return !call.arguments().isEmpty() && call.arguments().get(0).type().kind() == Kind.BIGNUM;
    }

    Optional<Value> compile(Call call) {
        if (isOfBignum(call)
                && (call.function().equals("scale") || call.function().equals("min_scale"))) {
            return Optional.of(scale(call, compiler.compile(call.arguments().get(0))));
        }
        boolean numeric =
                !call.arguments().isEmpty() && call.arguments().get(0).type().kind() == Kind.NUMERIC;
        if (!numeric) {
            return Optional.empty();
        }
        return switch (call.function()) {
            case "add", "subtract" -> Optional.of(sum(call, compiler.compileAll(call.arguments())));
            case "multiply" -> Optional.of(product(call, compiler.compileAll(call.arguments())));
            case "divide", "mod", "div" -> Optional.of(quotient(call, compiler.compileAll(call.arguments())));
            case "negate", "abs" ->
                Optional.of(unary(call, compiler.compile(call.arguments().get(0))));
            case "sign" ->
                Optional.of(sign(call, compiler.compile(call.arguments().get(0))));
            case "ceil", "floor", "round", "trunc" -> Optional.of(rounded(call));
            default -> Optional.empty();
        };
    }

    /** The digits after the point of a number that is finite. */
    private Value scale(Call call, Value number) {
        String bytes = compiler.kernel().use(BignumBytes.class) + ".";
        String method = call.function().equals("scale") ? "scale(" : "leastScale(";
        return compiler.strict(
                call.type(),
                List.of(number),
                List.of(bytes + "isFinite(" + number.part(0) + ")"),
                List.of(bytes + method + number.arguments() + ")"),
                true);
    }

    private String decimals(String method) {
        return compiler.kernel().use(Decimals.class) + "." + method + "(";
    }

    static String wide(Value value) {
        return value.high() + ", " + value.low();
    }

    static String powerOfTen(int exponent) {
        return "1" + "0".repeat(exponent) + "L";
    }

    /** The same number with at least as many digits after the point. */
    Value rescaled(Value value, int scale) {
        int more = scale - value.type().scale();
        if (more == 0) {
            return value;
        }
        int digits = value.type().precision() + more;
        DataType type = DataType.numeric(Math.min(DataType.MAX_NUMERIC_PRECISION, digits), scale);
        if (value.repr() == Repr.NARROW && digits <= Repr.NARROW_PRECISION) {
            return compiler.total(type, List.of(value), value.code() + " * " + powerOfTen(more));
        }
        return new Value(
                type,
                Repr.WIDE,
                value.isNull(),
                wideCall(value, decimals("scaleUp") + wide(value) + ", " + more).parts());
    }

    /** A strict call with a 128-bit result. */
    private Value wideCall(Value value, String call) {
        return compiler.strictCall(DataType.numeric(DataType.MAX_NUMERIC_PRECISION, 0), List.of(value), call, false);
    }

    private Value sum(Call call, List<Value> operands) {
        DataType type = call.type();
        Value a = rescaled(operands.get(0), type.scale());
        Value b = rescaled(operands.get(1), type.scale());
        List<Value> both = List.of(a, b);
        String symbol = call.function().equals("add") ? " + " : " - ";
        if (Repr.of(type) == Repr.NARROW) {
            return compiler.total(type, both, a.code() + symbol + b.code());
        }
        return compiler.strictCall(type, both, decimals(call.function()) + wide(a) + ", " + wide(b), false);
    }

    private Value product(Call call, List<Value> operands) {
        DataType type = call.type();
        Value a = operands.get(0);
        Value b = operands.get(1);
        int drop = a.type().scale() + b.type().scale() - type.scale();
        boolean fits = a.type().precision() + b.type().precision() <= DataType.MAX_NUMERIC_PRECISION && drop == 0;
        if (fits && a.repr() == Repr.NARROW && b.repr() == Repr.NARROW) {
            String low = a.code() + " * " + b.code();
            return Repr.of(type) == Repr.NARROW
                    ? compiler.total(type, operands, low)
                    : compiler.total(type, operands, "Math.multiplyHigh(" + a.code() + ", " + b.code() + ")", low);
        }
        return compiler.strictCall(
                type, operands, decimals("multiply") + wide(a) + ", " + wide(b) + ", " + drop, false);
    }

    private Value quotient(Call call, List<Value> operands) {
        DataType type = call.type();
        Value a = operands.get(0);
        Value b = operands.get(1);
        String scales = switch (call.function()) {
            case "divide" -> ", " + (type.scale() - a.type().scale() + b.type().scale());
            default -> ", " + a.type().scale() + ", " + b.type().scale();
        };
        return compiler.strictCall(
                type, operands, decimals(call.function()) + wide(a) + ", " + wide(b) + scales, false);
    }

    private Value unary(Call call, Value operand) {
        if (operand.repr() == Repr.NARROW && Repr.of(call.type()) == Repr.NARROW) {
            String code = call.function().equals("abs") ? "Math.abs(" + operand.code() + ")" : "-" + operand.code();
            return compiler.total(call.type(), List.of(operand), code);
        }
        return compiler.strictCall(call.type(), List.of(operand), decimals(call.function()) + wide(operand), false);
    }

    private Value sign(Call call, Value operand) {
        String sign = decimals("sign") + wide(operand) + ")";
        return Repr.of(call.type()) == Repr.NARROW
                ? compiler.total(call.type(), List.of(operand), sign)
                : compiler.total(call.type(), List.of(operand), sign + " >> 1", sign);
    }

    /** CEIL, FLOOR, ROUND and TRUNC; the last two also to a number of digits that is computed. */
    private Value rounded(Call call) {
        List<Value> operands = new ArrayList<>(compiler.compileAll(call.arguments()));
        Value operand = operands.get(0);
        int drop = operand.type().scale() - call.type().scale();
        String digits = operands.size() == 1 ? "" : ", " + operands.get(1).code();
        String method = operands.size() == 1 ? call.function() : call.function() + "To";
        String scale =
                operands.size() == 1 ? ", " + drop : ", " + operand.type().scale() + digits + ", " + drop;
        return compiler.strictCall(call.type(), operands, decimals(method) + wide(operand) + scale, false);
    }
}
