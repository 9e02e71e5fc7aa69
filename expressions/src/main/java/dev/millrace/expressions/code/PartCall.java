package dev.millrace.expressions.code;

import dev.millrace.batch.Batch;
import dev.millrace.expressions.kernel.CalcPart;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An expression as a {@link CalcPart}, and the call of it. What is dear and was computed before the call is given to it. */
final class PartCall {
    private static final int MOST_NODES = 20; // of what is given

    private final ExpressionCompiler caller;
    private final KernelSource source = new KernelSource();
    private final Body body;
    private final List<String> given = new ArrayList<>(); // in words, as the caller has them

    private PartCall(ExpressionCompiler caller) {
        this.caller = caller;
        this.body = caller.body().ofPart(source);
    }

    static Value compile(ExpressionCompiler caller, Expression expression) {
        return new PartCall(caller).compile(expression);
    }

    private Value compile(Expression expression) {
        give(expression);
        ExpressionCompiler compiler = new ExpressionCompiler(body, Map.of());
        Value value = compiler.coerce(compiler.compute(expression), expression.type());
        List<String> javaTypes = value.repr().javaTypes();
        for (int i = 0; i < javaTypes.size(); i++) {
            body.line("word" + i + " = " + CalcPart.toWord(javaTypes.get(i), value.part(i)) + ";");
        }
        body.line("isNull = " + value.isNull() + ";");
        SourceBuilder methods = source.methods();
        methods.line("").open("public void compute(" + source.use(Batch.class) + " in, int " + Body.ROW + ")");
        body.head().forEach(methods::line);
        methods.append(body.statements()).close();
        return called(value);
    }

    /** Hands over what of the expression the caller has computed, as far as that is a short and dear call. */
    private void give(Expression expression) {
        Set<String> functions = new HashSet<>();
        for (Expression computed : caller.body().computed()) {
            if (isWorthGiving(computed)) {
                functions.add(((Call) computed).function());
            }
        }
        if (!functions.isEmpty()) {
            give(expression, functions);
        }
    }

    private static boolean isWorthGiving(Expression expression) {
        return expression instanceof Call
                && !LongExpressions.isPart(expression)
                && LongExpressions.nodes(expression, MOST_NODES) <= MOST_NODES
                && Costs.isWorthKeeping(expression);
    }

    /** @param functions what to look for: other calls' hashes need not be computed */
    private void give(Expression expression, Set<String> functions) {
        if (expression instanceof Call call
                && functions.contains(call.function())
                && isWorthGiving(call)
                && body.computed(call).isEmpty()) {
            Optional<Value> known = caller.body().computed(call);
            List<String> javaTypes =
                    known.map(value -> value.repr().javaTypes()).orElse(List.of());
            if (known.isPresent() && given.size() + javaTypes.size() < CalcPart.MOST_GIVEN) {
                body.remember(call, given(known.get(), javaTypes));
                return;
            }
        }
        ExpressionWalk.children(expression).forEach(child -> give(child, functions));
    }

    private Value given(Value value, List<String> javaTypes) {
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < javaTypes.size(); i++) {
            String javaType = javaTypes.get(i);
            parts.add(body.local(javaType, "g", CalcPart.fromWord(javaType, "given[" + given.size() + "]")));
            given.add(CalcPart.toWord(javaType, value.part(i)));
        }
        String isNull = Value.NEVER;
        if (!value.neverNull()) {
            isNull = body.local("boolean", "n", CalcPart.fromWord("boolean", "given[" + given.size() + "]"));
            given.add(CalcPart.toWord("boolean", value.isNull()));
        }
        return new Value(value.type(), value.repr(), isNull, parts);
    }

    private Value called(Value result) {
        Body outer = caller.body();
        String part = caller.kernel().part(source.toPart());
        outer.setMayFail();
        for (int i = 0; i < given.size(); i++) {
            outer.line(part + ".given[" + i + "] = " + given.get(i) + ";");
        }
        outer.line(part + ".compute(in, " + Body.ROW + ");");
        List<String> parts = new ArrayList<>();
        List<String> javaTypes = result.repr().javaTypes();
        for (int i = 0; i < javaTypes.size(); i++) {
            String javaType = javaTypes.get(i);
            parts.add(outer.local(javaType, "v", CalcPart.fromWord(javaType, part + ".word" + i)));
        }
        String isNull = result.neverNull() ? Value.NEVER : outer.local("boolean", "n", part + ".isNull");
        return new Value(result.type(), result.repr(), isNull, parts);
    }
}
