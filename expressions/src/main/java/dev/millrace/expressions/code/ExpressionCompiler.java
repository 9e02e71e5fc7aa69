package dev.millrace.expressions.code;

import dev.millrace.expressions.function.Int128;
import dev.millrace.expressions.function.Text;
import dev.millrace.expressions.function.time.Interval;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Turns expressions into statements of a loop's body. A strict function of values that may be NULL is either computed
 * regardless (when it is cheap and defined for any bits) or within a branch; without NULLs there is neither flag nor
 * branch.
 */
final class ExpressionCompiler {
    private final Body body;
    private final Map<Expression, KeptValue> kept;
    private final Logic logic = new Logic(this);
    private final Comparisons comparisons = new Comparisons(this);
    private final Arithmetic arithmetic = new Arithmetic(this);
    private final Numerics numerics = new Numerics(this);
    private final Casts casts = new Casts(this);
    private final CastAttempts attempts = new CastAttempts(this);
    private final NestedCalls nested = new NestedCalls(this);
    private final Library library = new Library(this);

    /** @param kept expressions that several loops of the kernel use */
    ExpressionCompiler(Body body, Map<Expression, KeptValue> kept) {
        this.body = body;
        this.kept = kept;
    }

    Body body() {
        return body;
    }

    KernelSource kernel() {
        return body.kernel();
    }

    Comparisons comparisons() {
        return comparisons;
    }

    Numerics numerics() {
        return numerics;
    }

    Casts casts() {
        return casts;
    }

    NestedCalls nested() {
        return nested;
    }

    /** The value of an expression: what an enclosing scope already has, or new statements. */
    Value compile(Expression expression) {
        Interrupt.checkCurrent();
        if (expression instanceof Literal literal) {
            return body.constant(kernel().literal(literal));
        }
        if (expression instanceof Null nothing) {
            return Value.nullOf(nothing.type());
        }
        if (LongExpressions.isPart(expression) && kept.isEmpty()) {
            return compute(expression); // not remembered: parts of parts of parts would be hashed at each level
        }
        Optional<Value> computed = body.computed(expression);
        if (computed.isPresent()) {
            return computed.get();
        }
        KeptValue keptValue = kept.isEmpty() ? null : kept.get(expression);
        Value value = keptValue == null
                ? compute(expression)
                : keptValue.load(this, () -> coerce(compute(expression), expression.type()));
        body.remember(expression, value);
        return value;
    }

    List<Value> compileAll(List<Expression> expressions) {
        List<Value> values = new ArrayList<>();
        for (Expression expression : expressions) {
            values.add(compile(expression));
        }
        return values;
    }

    /** The value of an expression that nobody has computed, neither a literal nor NULL. */
    Value compute(Expression expression) {
        if (expression instanceof Column column) {
            return body.column(column.index());
        }
        if (expression instanceof Case branches) {
            return logic.branches(branches);
        }
        if (expression instanceof Cast cast) {
            return casts.cast(compile(cast.input()), cast.type());
        }
        Call call = (Call) expression;
        if (call.function().equals(LongExpressions.PART)) {
            return PartCall.compile(this, call.arguments().get(0));
        }
        Optional<Value> special = logic.compile(call)
                .or(() -> comparisons.compile(call))
                .or(() -> numerics.compile(call))
                .or(() -> arithmetic.compile(call))
                .or(() -> attempts.compile(call))
                .or(() -> nested.compile(call));
        return special.isPresent() ? special.get() : library.compile(call);
    }

    /** Whether a boolean value is true, as an expression. */
    static String isTrue(Value value) {
        return value.neverNull() ? value.code() : "!" + parenthesised(value.isNull()) + " & " + value.code();
    }

    static String parenthesised(String code) {
        boolean simple = code.chars().allMatch(Character::isJavaIdentifierPart);
        return simple ? code : "(" + code + ")";
    }

    /** A strict function that is cheap and defined for any bits: computed also where an argument is NULL. */
    Value total(DataType type, List<Value> arguments, String... parts) {
        String anyNull = Value.anyNull(arguments);
        if (anyNull.equals(Value.ALWAYS)) {
            return Value.nullOf(type);
        }
        List<String> locals = new ArrayList<>();
        Repr repr = Repr.of(type);
        for (int i = 0; i < parts.length; i++) {
            locals.add(body.local(repr.javaTypes().get(i), "v", parts[i]));
        }
        return new Value(type, repr, flag(anyNull), locals);
    }

    /** A local variable of what is computed here. */
    String local(String javaType, String prefix, String code) {
        return body.local(javaType, prefix, code);
    }

    private String flag(String isNull) {
        return isNull.contains(" ") ? body.local("boolean", "n", isNull) : isNull;
    }

    /** A strict function whose result is a Java expression; not evaluated where an argument is NULL. */
    Value strict(DataType type, List<Value> arguments, String code) {
        return strict(type, arguments, List.of(), List.of(code), false);
    }

    /** A strict call; if its result does not fit a Java primitive, a result object is added as its last argument. */
    Value strictCall(DataType type, List<Value> arguments, String openCall, boolean nullable) {
        return strictCall(type, arguments, List.of(), openCall, nullable);
    }

    /** The same, after other statements that are also left out where an argument is NULL. */
    Value strictCall(DataType type, List<Value> arguments, List<String> before, String openCall, boolean nullable) {
        List<String> parts;
        String slot;
        switch (Repr.of(type)) {
            case BYTES -> {
                slot = kernel().field(kernel().use(Text.class), "t", "text()");
                parts = List.of(slot + ".address", slot + ".length");
            }
            case WIDE -> {
                slot = kernel().field(kernel().use(Int128.class), "w", "new Int128()");
                parts = List.of(slot + ".high", slot + ".low");
            }
            case NARROW -> {
                slot = kernel().field(kernel().use(Int128.class), "w", "new Int128()");
                parts = List.of(slot + ".low");
            }
            case INTERVAL -> {
                slot = kernel().field(kernel().use(Interval.class), "m", "new Interval()");
                parts = List.of(slot + ".months", slot + ".days", slot + ".micros");
            }
            default -> {
                return strict(type, arguments, before, List.of(openCall + ")"), nullable);
            }
        }
        List<String> statements = new ArrayList<>(before);
        statements.add(openCall + (openCall.endsWith("(") ? "" : ", ") + slot + ")");
        return strict(type, arguments, statements, parts, nullable);
    }

    /**
     * The general strict function.
     *
     * @param statements to run first, without semicolon; if {@code nullable} the last is a boolean expression: whether
     *     the result is not NULL
     * @param parts of the result, valid after the statements
     */
    Value strict(DataType type, List<Value> arguments, List<String> statements, List<String> parts, boolean nullable) {
        String anyNull = Value.anyNull(arguments);
        if (anyNull.equals(Value.ALWAYS)) {
            return Value.nullOf(type);
        }
        body.setMayFail();
        Repr repr = Repr.of(type);
        List<String> locals = new ArrayList<>();
        if (anyNull.equals(Value.NEVER) && !nullable) {
            statements.forEach(statement -> body.line(statement + ";"));
            for (int i = 0; i < parts.size(); i++) {
                locals.add(body.local(repr.javaTypes().get(i), "v", parts.get(i)));
            }
            return new Value(type, repr, Value.NEVER, locals);
        }
        for (String javaType : repr.javaTypes()) {
            locals.add(body.local(javaType, "v", Repr.zero(javaType)));
        }
        String isNull = nullable ? body.local("boolean", "n", anyNull) : flag(anyNull);
        boolean guarded = !anyNull.equals(Value.NEVER);
        if (guarded) {
            body.open("if (!" + isNull + ")");
        }
        int last = statements.size() - 1;
        for (int i = 0; i <= last; i++) {
            body.line((nullable && i == last ? isNull + " = !" : "") + statements.get(i) + ";");
        }
        if (nullable) {
            body.open("if (!" + isNull + ")");
        }
        for (int i = 0; i < parts.size(); i++) {
            body.line(locals.get(i) + " = " + parts.get(i) + ";");
        }
        if (nullable) {
            body.close();
        }
        if (guarded) {
            body.close();
        }
        return new Value(type, repr, isNull, locals);
    }

    /** Declares variables that branches assign; NULL to begin with. */
    Value variable(DataType type, boolean nullable) {
        Repr repr = Repr.of(type);
        List<String> locals = new ArrayList<>();
        for (String javaType : repr.javaTypes()) {
            locals.add(body.local(javaType, "v", Repr.zero(javaType)));
        }
        return new Value(type, repr, nullable ? body.local("boolean", "n", "true") : Value.NEVER, locals);
    }

    /** Assigns a value to a variable, converted to its representation. */
    void assign(Value variable, Value given) {
        Value value = coerce(given, variable.type());
        for (int i = 0; i < variable.parts().size(); i++) {
            body.line(variable.part(i) + " = " + value.part(i) + ";");
        }
        if (!variable.neverNull()) {
            body.line(variable.isNull() + " = " + value.isNull() + ";");
        }
    }

    /** A value in the representation, and for NUMERIC with the scale, of a type that is the same but for that. */
    Value coerce(Value value, DataType type) {
        if (type.kind() != DataType.Kind.NUMERIC || value.type().kind() != DataType.Kind.NUMERIC) {
            return value.as(type);
        }
        if (value.type().scale() != type.scale()) {
            return casts.cast(value, type);
        }
        if (value.repr() == Repr.NARROW && Repr.of(type) == Repr.WIDE) {
            return new Value(type, Repr.WIDE, value.isNull(), List.of(value.high(), value.low()));
        }
        if (value.repr() == Repr.WIDE && Repr.of(type) == Repr.NARROW) {
            return casts.cast(value, type);
        }
        return value.as(type);
    }
}
