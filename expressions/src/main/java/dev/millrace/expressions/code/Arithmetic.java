package dev.millrace.expressions.code;

import dev.millrace.expressions.function.ClockTime;
import dev.millrace.expressions.function.RandomValues;
import dev.millrace.expressions.function.number.Numbers;
import dev.millrace.expressions.function.time.Intervals;
import dev.millrace.expressions.function.time.Timestamps;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Optional;

/** Operators on integers, floating-point numbers, dates, times and intervals. Those on NUMERIC are in {@link Numerics}, on BIGNUM in the {@link Library}. */
final class Arithmetic {
    private final ExpressionCompiler compiler;

    Arithmetic(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    Optional<Value> compile(Call call) {
        if (Numerics.isOfBignum(call)) {
            return Optional.empty();
        }
        return switch (call.function()) {
            case "add", "subtract", "multiply", "divide", "mod" -> Optional.of(binary(call, operands(call)));
            case "negate", "abs" -> Optional.of(unary(call, operands(call)));
            case "bit_and" -> Optional.of(bits(call, " & "));
            case "bit_or" -> Optional.of(bits(call, " | "));
            case "bit_xor" -> Optional.of(bits(call, " ^ "));
            case "shift_left" -> Optional.of(bits(call, " << "));
            case "shift_right" -> Optional.of(bits(call, " >> "));
            case "bit_not" -> {
                List<Value> operands = operands(call);
                yield Optional.of(compiler.total(
                        call.type(), operands, "~" + operands.get(0).code()));
            }
            case "proctime", "now" -> Optional.of(Value.of(call.type(), Value.NEVER, "nowMicros"));
            case "clock_timestamp" -> {
                String time = compiler.kernel().use(ClockTime.class) + ".micros(nowMicros)";
                yield Optional.of(compiler.total(call.type(), List.of(), time));
            }
            case "random" -> Optional.of(compiler.total(call.type(), List.of(), draws() + ".number()"));
            case "random_uuid" -> {
                String draws = draws();
                yield Optional.of(compiler.total(call.type(), List.of(), draws + ".uuidHigh()", draws + ".uuidLow()"));
            }
            default -> Optional.empty();
        };
    }

    private String draws() {
        return compiler.kernel().field(compiler.kernel().use(RandomValues.class), "r", "new RandomValues()");
    }

    private List<Value> operands(Call call) {
        return compiler.compileAll(call.arguments());
    }

    private Value bits(Call call, String operator) {
        List<Value> operands = operands(call);
        String code = operands.get(0).code() + operator + operands.get(1).code();
        boolean small = call.type().kind() == DataType.Kind.SMALLINT; // bits that are shifted out of it are gone
        return compiler.total(call.type(), operands, small ? "(short) (" + code + ")" : code);
    }

    private String numbers(String method) {
        return compiler.kernel().use(Numbers.class) + "." + method;
    }

    private Value unary(Call call, List<Value> operands) {
        String method = call.function();
        Value operand = operands.get(0);
        return switch (operand.repr()) {
            case INT, LONG, FLOAT, DOUBLE -> {
                if (operand.repr() == Repr.FLOAT || operand.repr() == Repr.DOUBLE) {
                    String code = method.equals("abs") ? "Math.abs(" + operand.code() + ")" : "-" + operand.code();
                    yield compiler.total(call.type(), operands, code);
                }
                String code = numbers(method) + "(" + operand.code() + ")";
                yield compiler.strict(call.type(), operands, smallint(call.type(), code));
            }
            case INTERVAL -> compiler.strictCall(call.type(), operands, intervals("negate", operand), false);
            default -> throw new IllegalArgumentException(call + " of " + operand.type());
        };
    }

    /** Checks the range when the type is SMALLINT, whose arithmetic is done in 32 bits. */
    private String smallint(DataType type, String code) {
        return type.kind() == Kind.SMALLINT ? numbers("smallint") + "(" + code + ")" : code;
    }

    private Value binary(Call call, List<Value> operands) {
        Value a = operands.get(0);
        Value b = operands.get(1);
        return switch (a.type().kind()) {
            case SMALLINT, INTEGER, BIGINT -> integers(call, operands);
            case REAL, DOUBLE ->
                compiler.strict(
                        call.type(), operands, numbers(call.function()) + "(" + a.code() + ", " + b.code() + ")");
            case DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL -> times(call, operands);
            default -> throw new IllegalArgumentException(call + " of " + a.type());
        };
    }

    private Value integers(Call call, List<Value> operands) {
        String a = operands.get(0).code();
        String b = operands.get(1).code();
        DataType type = call.type();
        boolean small = type.kind() == Kind.SMALLINT;
        String arguments = "(" + a + ", " + b + ")";
        return switch (call.function()) {
            case "mod" -> {
                String code = a + " % " + b;
                boolean total = Costs.isModuloByNonZero(call);
                yield total ? compiler.total(type, operands, code) : compiler.strict(type, operands, code);
            }
            case "divide" -> compiler.strict(type, operands, smallint(type, numbers("divide") + arguments));
            default ->
                compiler.strict(
                        type,
                        operands,
                        small
                                ? smallint(type, a + symbol(call.function()) + b)
                                : "Math." + call.function() + "Exact" + arguments);
        };
    }

    private static String symbol(String function) {
        return switch (function) {
            case "add" -> " + ";
            case "subtract" -> " - ";
            default -> " * ";
        };
    }

    private String intervals(String method, Value... operands) {
        return call(compiler.kernel().use(Intervals.class) + "." + method, operands);
    }

    private String timestamps(String method, Value... operands) {
        return call(compiler.kernel().use(Timestamps.class) + "." + method, operands);
    }

    private static String call(String method, Value... operands) {
        return method + "("
                + String.join(
                        ", ", List.of(operands).stream().map(Value::arguments).toList());
    }

    private Value times(Call call, List<Value> operands) {
        Value a = operands.get(0);
        Value b = operands.get(1);
        boolean add = call.function().equals("add");
        String method = call.function();
        DataType type = call.type();
        return switch (a.type().kind()) {
            case DATE ->
                switch (b.type().kind()) {
                    case SMALLINT, INTEGER -> compiler.strict(type, operands, timestamps(method + "Days", a, b) + ")");
                    case DATE -> compiler.strict(type, operands, timestamps("daysBetween", a, b) + ")");
                    case TIME -> compiler.strict(type, operands, timestamps("atTime", a, b) + ")");
                    default -> {
                        Value start = compiler.casts().cast(a, DataType.TIMESTAMP);
                        yield compiler.strict(type, List.of(start, b), timestamps(method, start, b) + ")");
                    }
                };
            case TIME ->
                b.type().kind() == Kind.TIME
                        ? compiler.total(type, operands, "0", "0", a.code() + " - " + b.code())
                        : compiler.strict(
                                type, operands, timestamps(add ? "addToTime" : "subtractFromTime", a, b) + ")");
            case TIMESTAMP, TIMESTAMPTZ ->
                b.type().kind() == Kind.INTERVAL
                        ? compiler.strict(type, operands, timestamps(method, a, b) + ")")
                        : compiler.strictCall(type, operands, timestamps("difference", a, b), false);
            default -> compiler.strictCall(type, operands, intervals(method, a, b), false);
        };
    }
}
