package dev.millrace.expressions.code;

import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * An expression that several loops use: computed for a row when first asked for, then kept in arrays until the batch
 * ends.
 */
final class KeptValue {
    private static final String UNKNOWN = "0";

    private final DataType type;
    private final String state; // per row 0: not computed, 1: a value, 2: NULL
    private final List<String> arrays = new ArrayList<>();

    KeptValue(KernelSource kernel, DataType type) {
        this.type = type;
        this.state = kernel.mutableField("byte[]", "k", "new byte[0]");
        for (String javaType : Repr.of(type).javaTypes()) {
            arrays.add(kernel.mutableField(javaType + "[]", "k", "new " + javaType + "[0]"));
        }
    }

    /** Statements of {@code beginRows}. */
    void begin(SourceBuilder source) {
        source.open("if (" + state + ".length < rows)");
        source.line(state + " = new byte[rows];");
        List<String> javaTypes = Repr.of(type).javaTypes();
        for (int i = 0; i < arrays.size(); i++) {
            source.line(arrays.get(i) + " = new " + javaTypes.get(i) + "[rows];");
        }
        source.reopen("else")
                .line("java.util.Arrays.fill(" + state + ", 0, rows, (byte) 0);")
                .close();
    }

    /** Statements that compute the value unless it is known, and load it. */
    Value load(ExpressionCompiler compiler, Supplier<Value> compute) {
        Body body = compiler.body();
        body.open("if (" + at(state) + " == " + UNKNOWN + ")");
        Value computed = compute.get();
        if (computed.repr() == Repr.BYTES) {
            body.line(at(arrays.get(0)) + " = arena.keep(" + computed.arguments() + ");");
            body.line(at(arrays.get(1)) + " = " + computed.part(1) + ";");
        } else {
            for (int i = 0; i < arrays.size(); i++) {
                body.line(at(arrays.get(i)) + " = " + computed.part(i) + ";");
            }
        }
        body.line(at(state) + " = (byte) (" + computed.isNull() + " ? 2 : 1);");
        body.close();
        List<String> parts = new ArrayList<>();
        List<String> javaTypes = Repr.of(type).javaTypes();
        for (int i = 0; i < arrays.size(); i++) {
            parts.add(body.local(javaTypes.get(i), "v", at(arrays.get(i))));
        }
        String isNull = computed.neverNull() ? Value.NEVER : body.local("boolean", "n", at(state) + " == 2");
        return new Value(type, Repr.of(type), isNull, parts);
    }

    private static String at(String array) {
        return array + "[" + Body.ROW + "]";
    }
}
