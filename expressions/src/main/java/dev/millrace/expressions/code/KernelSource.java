package dev.millrace.expressions.code;

import dev.millrace.batch.NestedImages;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.CalcPart;
import dev.millrace.expressions.kernel.GeneratedCode;
import dev.millrace.expressions.kernel.KernelConstants;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The parts of a kernel class outside of its loops: imports, fields, the constructor; and the literals it reads. */
final class KernelSource {
    private static final String PACKAGE = KernelSource.class.getPackageName() + ".generated";

    private final Set<String> imports = new TreeSet<>();
    private final SourceBuilder fields = new SourceBuilder();
    private final SourceBuilder constructor = new SourceBuilder();
    private final SourceBuilder methods = new SourceBuilder();
    private final List<Literal> literals = new ArrayList<>();
    private final List<DataType> types = new ArrayList<>();
    private final List<GeneratedCode> parts = new ArrayList<>();
    private int names;

    /** A field with a part of the kernel that is a class of its own. */
    String part(GeneratedCode part) {
        parts.add(part);
        return field(use(CalcPart.class), "p", "part(" + (parts.size() - 1) + ")");
    }

    /** A type as an expression of the constructor. */
    String type(DataType type) {
        types.add(type);
        return "literals.type(" + (types.size() - 1) + ")";
    }

    /** An object of the kernel's that calls a user's function, given a row of arguments. */
    String owned(String type, Call call, DataType row) {
        return "(" + type + ") own(new " + type + "(" + text(call.function()) + ", " + type(row) + ", "
                + type(call.type()) + ", literals.allocator()))";
    }

    /** A text as a constant, whatever characters it has: names in it are users'. */
    private static String text(String value) {
        StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c >= ' ' && c <= '~') {
                text.append(c);
            } else { // in octal what would be a character of the source before the text is one
                text.append(c < ' ' ? String.format("\\%03o", (int) c) : String.format("\\u%04x", (int) c));
            }
        }
        return text.append('"').toString();
    }

    /** Where methods go. */
    SourceBuilder methods() {
        return methods;
    }

    /** Imports a class and returns its simple name. */
    String use(Class<?> type) {
        if (!type.getPackageName().equals(PACKAGE)) {
            imports.add(type.getName());
        }
        return type.getSimpleName();
    }

    /** A fresh name of a field. */
    String name(String prefix) {
        return prefix + names++;
    }

    /** Declares a field with its value in the constructor, where {@code literals} is in scope. */
    String field(String type, String prefix, String value) {
        String name = name(prefix);
        fields.line("private final " + type + " " + name + ";");
        constructor.line(name + " = " + value + ";");
        return name;
    }

    /** Declares a field that loops assign. */
    String mutableField(String type, String prefix, String value) {
        String name = name(prefix);
        fields.line("private " + type + " " + name + " = " + value + ";");
        return name;
    }

    /** A statement at the end of the constructor. */
    void inConstructor(String statement) {
        constructor.line(statement);
    }

    /** A literal in fields. Each occurrence has its own, so that the source does not depend on which are equal. */
    Value literal(Literal literal) {
        int index = literals.size();
        literals.add(literal);
        DataType type = literal.type();
        return switch (Repr.of(type)) {
            case BOOLEAN -> Value.of(type, Value.NEVER, read("boolean", "asBoolean", index));
            case INT -> Value.of(type, Value.NEVER, read("int", "asInt", index));
            case LONG -> Value.of(type, Value.NEVER, read("long", "asLong", index));
            case FLOAT -> Value.of(type, Value.NEVER, read("float", "asFloat", index));
            case DOUBLE -> Value.of(type, Value.NEVER, read("double", "asDouble", index));
            case NARROW -> Value.of(type, Value.NEVER, read("long", "numericLow", index));
            case WIDE ->
                Value.of(type, Value.NEVER, read("long", "numericHigh", index), read("long", "numericLow", index));
            case BYTES -> Value.of(type, Value.NEVER, read("long", "address", index), read("int", "length", index));
            case INTERVAL ->
                Value.of(
                        type,
                        Value.NEVER,
                        read("int", "months", index),
                        read("int", "days", index),
                        read("long", "micros", index));
            case UUID -> Value.of(type, Value.NEVER, read("long", "uuidHigh", index), read("long", "uuidLow", index));
            case NOTHING -> throw new IllegalArgumentException("a literal of " + type);
        };
    }

    /** Many literals, integers or texts, as one array in an expression of the constructor: see {@link KernelConstants#members}. */
    String members(List<Literal> many) {
        int first = literals.size();
        literals.addAll(many);
        return "literals.members(" + first + ", " + literals.size() + ")";
    }

    private String read(String javaType, String reader, int index) {
        return field(javaType, "l", "literals." + reader + "(" + index + ")");
    }

    /** The whole class of a kernel. */
    GeneratedCode toKernel() {
        return toClass("Calc", CalcKernel.class, "KernelConstants literals", "literals");
    }

    /** The whole class of a part of a kernel. */
    GeneratedCode toPart() {
        use(NestedImages.class);
        return toClass("Part", CalcPart.class, "KernelConstants literals, NestedImages images", "literals, images");
    }

    private GeneratedCode toClass(String className, Class<?> superType, String parameters, String arguments) {
        use(superType);
        use(KernelConstants.class);
        SourceBuilder source = new SourceBuilder();
        source.line("package " + PACKAGE + ";").line("");
        imports.forEach(name -> source.line("import " + name + ";"));
        source.line("").open("public final class " + className + " extends " + superType.getSimpleName());
        if (!fields.isEmpty()) {
            source.append(fields).line("");
        }
        source.open("public " + className + "(" + parameters + ")").line("super(" + arguments + ");");
        source.append(constructor).close();
        source.append(methods);
        return new GeneratedCode(PACKAGE + "." + className, source.close().toString(), literals, types, parts);
    }
}
