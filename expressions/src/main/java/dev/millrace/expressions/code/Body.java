package dev.millrace.expressions.code;

import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.Expression;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The body of one loop over rows, or of a method for one: statements that compute values of row {@code i}, and what they need before the loop.
 * Remembers which expressions were computed in the scopes around the current statement.
 */
final class Body {
    /** The Java variable of the row. */
    static final String ROW = "i";

    private final KernelSource kernel;
    private final Schema input;
    private final boolean nulls;
    private final boolean loops;
    private final SourceBuilder statements = new SourceBuilder();
    private final SortedMap<String, String> head = new TreeMap<>(); // statements before the loop by what they declare
    private final Map<Expression, Value> computed = new HashMap<>(); // in all scopes
    private final Deque<List<Expression>> scopes = new ArrayDeque<>(); // what was computed in each
    private int names;
    private boolean mayFail;

    /** @param nulls whether columns may hold NULLs in the batches this is for */
    Body(KernelSource kernel, Schema input, boolean nulls) {
        this(kernel, input, nulls, true);
    }

    private Body(KernelSource kernel, Schema input, boolean nulls, boolean loops) {
        this.kernel = kernel;
        this.input = input;
        this.nulls = nulls;
        this.loops = loops;
        scopes.push(new ArrayList<>());
    }

    /** The body of a method that computes a part of an expression for one row at a time. */
    Body ofPart(KernelSource part) {
        return new Body(part, input, nulls, false);
    }

    KernelSource kernel() {
        return kernel;
    }

    SourceBuilder statements() {
        return statements;
    }

    Iterable<String> head() {
        return head.values();
    }

    /** Whether a statement may throw. */
    boolean mayFail() {
        return mayFail;
    }

    void setMayFail() {
        mayFail = true;
    }

    /** Begins a block; what is computed in it is forgotten after it. */
    void open(String blockHead) {
        statements.open(blockHead);
        scopes.push(new ArrayList<>());
    }

    void reopen(String blockHead) {
        statements.reopen(blockHead);
        scopes.pop().forEach(computed::remove);
        scopes.push(new ArrayList<>());
    }

    void close() {
        statements.close();
        scopes.pop().forEach(computed::remove);
    }

    Optional<Value> computed(Expression expression) {
        return Optional.ofNullable(computed.get(expression));
    }

    /** What was computed in the scopes around the current statement. */
    Set<Expression> computed() {
        return computed.keySet();
    }

    void remember(Expression expression, Value value) {
        if (computed.put(expression, value) == null) {
            scopes.getFirst().add(expression);
        }
    }

    String name(String prefix) {
        return prefix + names++;
    }

    /** Declares a local with a value and returns its name. */
    String local(String javaType, String prefix, String value) {
        String name = name(prefix);
        statements.line(javaType + " " + name + " = " + value + ";");
        return name;
    }

    void line(String statement) {
        statements.line(statement);
    }

    /** Takes a value that fields hold into locals before the loop, so that no write in it makes the JIT load them again. */
    Value constant(Value fields) {
        if (!loops) {
            return fields;
        }
        for (int i = 0; i < fields.parts().size(); i++) {
            String name = fields.part(i);
            head.put(name, "final " + fields.repr().javaTypes().get(i) + " " + name + " = this." + name + ";");
        }
        return fields;
    }

    /** Loads a column of the row. */
    Value column(int index) {
        DataType type = input.type(index);
        kernel.use(Memory.class);
        String isNull = Value.NEVER;
        if (nulls && input.field(index).nullable()) {
            head.put("x" + index, "long x" + index + " = in.column(" + index + ").getValidityBufferAddress();");
            isNull = local("boolean", "n", "!Memory.getBit(x" + index + ", " + ROW + ")");
        }
        Repr repr = Repr.of(type);
        if (repr == Repr.NOTHING) {
            return Value.of(type, isNull);
        }
        String data = "c" + index;
        boolean nested = type.isNested();
        String from = nested ? "images.%s(in, " + index + ");" : "in.%s(" + index + ");";
        head.put(data, "long " + data + " = " + from.formatted("dataAddress"));
        return switch (repr) {
            case BOOLEAN -> Value.of(type, isNull, local("boolean", "v", "Memory.getBit(" + data + ", " + ROW + ")"));
            case INT ->
                type.kind() == DataType.Kind.SMALLINT
                        ? Value.of(type, isNull, load("int", "Short", data, 2, 0))
                        : Value.of(type, isNull, load("int", "Int", data, 4, 0));
            case LONG -> Value.of(type, isNull, load("long", "Long", data, 8, 0));
            case FLOAT -> Value.of(type, isNull, load("float", "Float", data, 4, 0));
            case DOUBLE -> Value.of(type, isNull, load("double", "Double", data, 8, 0));
            case NARROW -> Value.of(type, isNull, load("long", "Long", data, 16, 0));
            case WIDE -> Value.of(type, isNull, load("long", "Long", data, 16, 8), load("long", "Long", data, 16, 0));
            case BYTES -> {
                String offsets = "o" + index;
                head.put(offsets, "long " + offsets + " = " + from.formatted("offsetsAddress"));
                String start = local("int", "s", "Memory.getInt(" + offsets + " + 4L * " + ROW + ")");
                String length = local("int", "b", "Memory.getInt(" + offsets + " + 4L * " + ROW + " + 4) - " + start);
                yield Value.of(type, isNull, local("long", "a", data + " + " + start), length);
            }
            case INTERVAL ->
                Value.of(
                        type,
                        isNull,
                        load("int", "Int", data, 16, 0),
                        load("int", "Int", data, 16, 4),
                        local("long", "v", "Memory.getLong(" + data + " + 16L * " + ROW + " + 8) / 1000"));
            case UUID ->
                Value.of(
                        type,
                        isNull,
                        local("long", "v", "Long.reverseBytes(Memory.getLong(" + data + " + 16L * " + ROW + "))"),
                        local("long", "v", "Long.reverseBytes(Memory.getLong(" + data + " + 16L * " + ROW + " + 8))"));
            case NOTHING -> throw new AssertionError(repr);
        };
    }

    private String load(String javaType, String reader, String data, int width, int offset) {
        String at = data + " + " + width + "L * " + ROW + (offset == 0 ? "" : " + " + offset);
        return local(javaType, "v", "Memory.get" + reader + "(" + at + ")");
    }
}
