package dev.millrace.expressions.code;

import dev.millrace.expressions.user.WasmCall;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.type.DataType;
import java.util.List;

/** A call of a user's function in WebAssembly, which is strict: there is no NULL in it. Numbers go to it and come from it as primitives. */
final class ModuleCall {
    private final ExpressionCompiler compiler;
    private final Call call;

    ModuleCall(ExpressionCompiler compiler, Call call) {
        this.compiler = compiler;
        this.call = call;
    }

    /** @param row the types of the arguments */
    Value compile(DataType row) {
        List<Value> values = compiler.compileAll(call.arguments());
        String type = compiler.kernel().use(WasmCall.class);
        String function = compiler.kernel().field(type, "u", compiler.kernel().owned(type, call, row));
        StringBuilder called = new StringBuilder(function + ".begin()");
        values.forEach(
                value -> called.append(".with(").append(value.arguments()).append(")"));
        Repr repr = Repr.of(call.type());
        List<String> parts = repr == Repr.BYTES
                ? List.of(function + ".address", function + ".length")
                : List.of(number(repr, function + ".value"));
        return compiler.strict(call.type(), values, List.of(called + ".call()"), parts, repr == Repr.BYTES);
    }

    private static String number(Repr repr, String bits) {
        return switch (repr) {
            case BOOLEAN -> "(int) " + bits + " != 0";
            case INT -> "(int) " + bits;
            case FLOAT -> "Float.intBitsToFloat((int) " + bits + ")";
            case DOUBLE -> "Double.longBitsToDouble(" + bits + ")";
            case LONG, NARROW, WIDE, BYTES, INTERVAL, UUID, NOTHING -> bits;
        };
    }
}
