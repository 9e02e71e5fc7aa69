package dev.millrace.expressions.code;

import dev.millrace.expressions.function.nested.ArrayFunctions;
import dev.millrace.expressions.function.nested.JsonEdits;
import dev.millrace.expressions.function.nested.ListFunctions;
import dev.millrace.expressions.function.nested.NestedCast;
import dev.millrace.expressions.function.nested.NestedReader;
import dev.millrace.expressions.function.nested.Quantifier;
import dev.millrace.expressions.function.nested.TextArrays;
import dev.millrace.expressions.user.PythonRow;
import dev.millrace.expressions.user.UserCall;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.expressions.user.UserModules;
import dev.millrace.expressions.user.UserPython;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Calls that make, take apart or search arrays and rows, whose element types are known to the kernel only as objects, and
 * those that make JSON of anything. Where such a function sees NULLs, a NULL is passed as address 0, and a value of any
 * type as an image with its NULL byte.
 */
final class NestedCalls {
    /** Methods of {@link ArrayFunctions} by function; a leading ? says that the result may be NULL. */
    private static final Map<String, String> ARRAYS = Map.ofEntries(
            Map.entry("array_append", "?append"),
            Map.entry("array_prepend", "?prepend"),
            Map.entry("array_cat", "?cat"),
            Map.entry("array_positions", "?positions"),
            Map.entry("array_remove", "?remove"),
            Map.entry("array_replace", "?replace"),
            Map.entry("array_to_string", "?toText"),
            Map.entry("array_set", "?set"),
            Map.entry("array_set_slice", "?setSlice"),
            Map.entry("array_fill", "?fill"));

    /** The same for functions that are NULL when an argument is. */
    private static final Map<String, String> STRICT_ARRAYS = Map.ofEntries(
            Map.entry("array_contains", "contains"),
            Map.entry("array_overlaps", "overlaps"),
            Map.entry("cardinality", "cardinality"),
            Map.entry("array_slice", "slice"),
            Map.entry("trim_array", "trim"),
            Map.entry("array_sort", "sort"),
            Map.entry("array_reverse", "reverse"),
            Map.entry("array_mode", "mode"),
            Map.entry("array_disc", "atFraction"),
            Map.entry("array_extreme", "extreme"),
            Map.entry("array_subscripts", "subscripts"),
            Map.entry("array_dims", "?dims"));

    /** Methods of {@link ListFunctions} by the functions that they are. */
    private static final Map<String, String> LISTS = Map.of(
            "array_distinct", "distinct",
            "flatten", "flatten",
            "list_resize", "resize",
            "list_select", "select",
            "list_where", "where",
            "list_grade_up", "gradeUp",
            "list_repeat", "repeat",
            "list_entropy", "entropy");

    /** The same for those whose number is left in a field. */
    private static final Map<String, String> NUMBERS = Map.of(
            "array_length", "length",
            "array_upper", "length",
            "array_lower", "lower",
            "array_ndims", "dimensions");

    private final ExpressionCompiler compiler;

    NestedCalls(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    private KernelSource kernel() {
        return compiler.kernel();
    }

    Optional<Value> compile(Call call) {
        String name = call.function();
        if (name.startsWith(UserCode.PREFIX)) {
            return Optional.of(userFunction(call));
        }
        if (ARRAYS.containsKey(name)) {
            return Optional.of(arrayFunction(call));
        }
        Optional<String> list = listMethod(call);
        if (list.isPresent()) {
            List<Value> values = compiler.compileAll(call.arguments());
            DataType array = call.arguments().get(0).type();
            String object = field(ListFunctions.class, "f", "new ListFunctions(" + kernel().type(array) + ")");
            return Optional.of(compiler.strictCall(
                    call.type(), values, object + "." + list.get() + "(" + arguments(values), false));
        }
        if (STRICT_ARRAYS.containsKey(name)) {
            String method = STRICT_ARRAYS.get(name);
            List<Value> values = compiler.compileAll(call.arguments());
            String target = arrays(call) + "." + method.replace("?", "") + "(" + arguments(values);
            return Optional.of(compiler.strictCall(call.type(), values, target, method.startsWith("?")));
        }
        if (NUMBERS.containsKey(name)) {
            List<Value> values = compiler.compileAll(call.arguments());
            String object = arrays(call);
            return Optional.of(compiler.strict(
                    call.type(),
                    values,
                    List.of(object + "." + NUMBERS.get(name) + "(" + arguments(values) + ")"),
                    List.of(object + ".number"),
                    true));
        }
        return Optional.ofNullable(
                switch (name) {
                    case "make_array" -> image(call.type(), compiler.compileAll(call.arguments()), true);
                    case "make_row" -> image(call.type(), compiler.compileAll(call.arguments()), false);
                    case "subscript" -> found(call, "element");
                    case "row_field" -> found(call, "field");
                    case "array_position" -> position(call);
                    case "array_any", "array_all" -> quantified(call);
                    case "string_to_array" -> splitText(call);
                    case "to_jsonb" -> ofElement(call, "of");
                    case "json_members" -> members(call);
                    case "jsonb_build_array" -> built(call, "buildArray");
                    case "jsonb_build_object" -> built(call, "buildObject");
                    case "jsonb_extract_path" -> path(call, "json_at");
                    case "jsonb_extract_path_text" -> path(call, "json_at_text");
                    default -> null;
                });
    }

    private static Optional<String> listMethod(Call call) {
        int arguments = call.arguments().size();
        return switch (call.function()) {
            case "array_slice" -> arguments == 4 ? Optional.of("stepped") : Optional.empty();
            case "array_sort" -> arguments == 3 ? Optional.of("sort") : Optional.empty();
            default -> Optional.ofNullable(LISTS.get(call.function()));
        };
    }

    // ---- images ----------------------------------------------------------------------------------------------------

    private String scratch() {
        String buffer = kernel().use(TextBuffer.class);
        return kernel().field(buffer, "e", "(" + buffer + ") own(new " + buffer + "(literals.allocator(), 64))");
    }

    /** An array, with its count in front, or a row of values. */
    private Value image(DataType type, List<Value> values, boolean counted) {
        compiler.body().setMayFail();
        String buffer = scratch();
        compiler.body().line(buffer + ".clear();");
        if (counted) {
            compiler.body().line(writer() + "int32(" + buffer + ", " + values.size() + ");");
        }
        for (int i = 0; i < values.size(); i++) {
            DataType wanted = counted ? type.element() : type.fields().get(i).type();
            append(
                    buffer,
                    values.get(i).isNull().equals(Value.ALWAYS)
                            ? values.get(i)
                            : compiler.coerce(values.get(i), wanted));
        }
        return ofBuffer(type, buffer);
    }

    private Value ofBuffer(DataType type, String buffer) {
        Body body = compiler.body();
        return Value.of(
                type,
                Value.NEVER,
                body.local("long", "a", buffer + ".address()"),
                body.local("int", "b", "(int) " + buffer + ".length()"));
    }

    private String writer() {
        return kernel().use(ImageWriter.class) + ".";
    }

    /** Statements that append a value with its NULL byte. */
    private void append(String buffer, Value value) {
        Body body = compiler.body();
        if (value.isNull().equals(Value.ALWAYS)) {
            body.line(writer() + "nothing(" + buffer + ");");
            return;
        }
        if (!value.neverNull()) {
            body.open("if (" + value.isNull() + ")");
            body.line(writer() + "nothing(" + buffer + ");");
            body.reopen("else");
        }
        body.line(writer() + "some(" + buffer + ");");
        body.line(writer() + method(value.type()) + "(" + buffer + ", "
                + (value.type().kind() == Kind.NUMERIC ? Numerics.wide(value) : value.arguments()) + ");");
        if (!value.neverNull()) {
            body.close();
        }
    }

    private static String method(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> "bool";
            case SMALLINT -> "int16";
            case INTEGER, DATE -> "int32";
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> "int64";
            case REAL -> "float4";
            case DOUBLE -> "float8";
            case NUMERIC -> "numeric";
            case BIGNUM -> "bignum";
            case TEXT, VARCHAR, CHAR, JSONB, BYTEA -> "bytes";
            case INTERVAL -> "interval";
            case UUID -> "uuid";
            case ARRAY, ROW -> "image";
            case NULL -> throw new IllegalArgumentException("a NULL has no image");
        };
    }

    /** A value of any type as an element: never NULL itself. */
    private Value element(Value value) {
        compiler.body().setMayFail();
        String buffer = scratch();
        compiler.body().line(buffer + ".clear();");
        append(buffer, value);
        return ofBuffer(DataType.BYTEA, buffer);
    }

    // ---- arguments -------------------------------------------------------------------------------------------------

    private static String arguments(List<Value> values) {
        List<String> parts = new ArrayList<>();
        values.forEach(value -> parts.add(value.arguments()));
        return String.join(", ", parts);
    }

    /** A text or array that may be NULL: then its address is 0. */
    private static String orZero(Value value) {
        if (value.neverNull()) {
            return value.arguments();
        }
        if (value.isNull().equals(Value.ALWAYS)) {
            return "0L, 0";
        }
        return ExpressionCompiler.parenthesised(value.isNull()) + " ? 0L : " + value.part(0) + ", " + value.part(1);
    }

    private String field(Class<?> type, String prefix, String value) {
        return kernel().field(kernel().use(type), prefix, value);
    }

    private String typeField(DataType type) {
        return field(DataType.class, "y", kernel().type(type));
    }

    /** An object for the arrays that a call is about. */
    private String arrays(Call call) {
        DataType type = call.arguments().stream()
                .map(Expression::type)
                .filter(argument -> argument.kind() == Kind.ARRAY)
                .findFirst()
                .orElseThrow();
        if (call.function().equals("array_fill")) {
            type = call.type();
        }
        return field(ArrayFunctions.class, "f", "new ArrayFunctions(" + kernel().type(type) + ")");
    }

    private Value arrayFunction(Call call) {
        String object = arrays(call);
        List<Value> values = compiler.compileAll(call.arguments());
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            boolean separators = call.function().equals("array_to_string");
            boolean isArray = values.get(i).type().kind() == Kind.ARRAY && takesArray(call.function(), i);
            parts.add(
                    isArray || separators
                            ? orZero(values.get(i))
                            : element(values.get(i)).arguments());
        }
        String target = object + "."
                + Objects.requireNonNull(ARRAYS.get(call.function())).substring(1) + "(" + String.join(", ", parts);
        return compiler.strictCall(call.type(), List.of(), target, true);
    }

    /** Whether a place is the array: an element may be an array too. */
    private static boolean takesArray(String function, int argument) {
        return switch (function) {
            case "array_prepend", "array_fill" -> argument == 1;
            case "array_cat" -> true;
            case "array_set_slice" -> argument == 0 || argument == 3;
            default -> argument == 0;
        };
    }

    // ---- single functions ------------------------------------------------------------------------------------------

    /** What a {@link NestedReader} finds, loaded as a value. */
    private Value found(Call call, String method) {
        List<Value> values = compiler.compileAll(call.arguments());
        DataType container = call.arguments().get(0).type();
        String reader = field(NestedReader.class, "f", "new NestedReader(" + kernel().type(container) + ")");
        String find = reader + "." + method + "(" + arguments(values) + ")";
        return compiler.strict(call.type(), values, List.of(find), loaded(call.type(), reader), true);
    }

    /** A call of a user's function over the image of its arguments. */
    private Value userFunction(Call call) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < call.arguments().size(); i++) {
            fields.add(new Field("f" + (i + 1), call.arguments().get(i).type(), true));
        }
        DataType row = DataType.row(fields);
        if (UserModules.isIn(call.function())) {
            return new ModuleCall(compiler, call).compile(row);
        }
        Value image = image(row, compiler.compileAll(call.arguments()), false);
        String type = kernel().use(UserPython.isIn(call.function()) ? PythonRow.class : UserCall.class);
        String function = kernel().field(type, "u", kernel().owned(type, call, row));
        String called = function + ".call(" + image.arguments() + ")";
        return compiler.strict(call.type(), List.of(), List.of(called), loaded(call.type(), function), true);
    }

    /** The parts of a value at {@code object.at}. */
    private List<String> loaded(DataType type, String object) {
        kernel().use(Memory.class);
        String at = object + ".at";
        return switch (Repr.of(type)) {
            case BOOLEAN -> List.of("Memory.getByte(" + at + ") != 0");
            case INT -> List.of((type.kind() == Kind.SMALLINT ? "Memory.getShort(" : "Memory.getInt(") + at + ")");
            case LONG, NARROW -> List.of("Memory.getLong(" + at + ")");
            case FLOAT -> List.of("Memory.getFloat(" + at + ")");
            case DOUBLE -> List.of("Memory.getDouble(" + at + ")");
            case WIDE -> List.of("Memory.getLong(" + at + " + 8)", "Memory.getLong(" + at + ")");
            case INTERVAL ->
                List.of(
                        "Memory.getInt(" + at + ")",
                        "Memory.getInt(" + at + " + 4)",
                        "Memory.getLong(" + at + " + 8) / 1000");
            case UUID ->
                List.of(
                        "Long.reverseBytes(Memory.getLong(" + at + "))",
                        "Long.reverseBytes(Memory.getLong(" + at + " + 8))");
            case BYTES -> {
                boolean nested = type.isNested();
                yield nested
                        ? List.of(at, object + ".length(" + typeField(type) + ")")
                        : List.of(at + " + 4", "Memory.getInt(" + at + ")");
            }
            case NOTHING -> List.of();
        };
    }

    private Value position(Call call) {
        String object = arrays(call);
        List<Value> values = compiler.compileAll(call.arguments());
        String from = values.size() > 2 ? ", " + values.get(2).code() : "";
        String target = object + ".position(" + orZero(values.get(0)) + ", "
                + element(values.get(1)).arguments() + from + ")";
        List<Value> strict = values.size() > 2 ? List.of(values.get(2)) : List.of();
        return compiler.strict(call.type(), strict, List.of(target), List.of(object + ".number"), true);
    }

    private Value quantified(Call call) {
        String operator = (String) ((Literal) call.arguments().get(0)).value();
        Value value = compiler.compile(call.arguments().get(1));
        Value array = compiler.compile(call.arguments().get(2));
        DataType element = call.arguments().get(2).type().element();
        String object = field(
                Quantifier.class,
                "f",
                "new Quantifier(" + kernel().type(element) + ", \"" + operator + "\", "
                        + call.function().equals("array_any") + ")");
        String test = object + ".test(" + element(value).arguments() + ", " + orZero(array) + ")";
        String result = compiler.body().local("int", "r", test);
        return Value.of(call.type(), compiler.body().local("boolean", "n", result + " < 0"), result + " > 0");
    }

    private Value splitText(Call call) {
        List<String> parts = new ArrayList<>();
        compiler.compileAll(call.arguments()).forEach(value -> parts.add(orZero(value)));
        String target = kernel().use(TextArrays.class) + ".split(" + String.join(", ", parts);
        return compiler.strictCall(call.type(), List.of(), target, true);
    }

    // ---- JSON ------------------------------------------------------------------------------------------------------

    /** An object that makes JSON. */
    String json() {
        String type = kernel().use(JsonEdits.class);
        return kernel().field(type, "j", "(" + type + ") own(new " + type + "(literals.allocator()))");
    }

    private Value ofElement(Call call, String method) {
        Value value = compiler.compile(call.arguments().get(0));
        if (value.isNull().equals(Value.ALWAYS)) {
            return Value.nullOf(call.type());
        }
        if (value.type().kind() == Kind.JSONB) {
            return value;
        }
        String type = typeField(value.type());
        Value element = element(value);
        String target = json() + "." + method + "(" + type + ", " + element.arguments();
        Value made = compiler.strictCall(call.type(), List.of(), target, false);
        return new Value(made.type(), made.repr(), value.isNull(), made.parts());
    }

    private Value members(Call call) {
        Value value = compiler.compile(call.arguments().get(0));
        if (value.isNull().equals(Value.ALWAYS) || value.type().kind() != Kind.ARRAY) {
            return Value.nullOf(call.type());
        }
        String target = json() + ".members(" + typeField(value.type()) + ", " + value.arguments();
        return compiler.strictCall(call.type(), List.of(value), target, false);
    }

    /** Of all arguments, as a row. */
    private Value built(Call call, String method) {
        List<Value> values = compiler.compileAll(call.arguments());
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            DataType type = values.get(i).isNull().equals(Value.ALWAYS)
                    ? DataType.TEXT
                    : values.get(i).type();
            fields.add(new Field("f" + (i + 1), type, true));
        }
        DataType row = DataType.row(fields);
        Value image = image(row, values, false);
        String target = json() + "." + method + "(" + typeField(row) + ", " + image.arguments();
        return compiler.strictCall(call.type(), List.of(), target, false);
    }

    /** A path of several arguments is an array of them. */
    private Value path(Call call, String function) {
        Call steps = new Call(
                "make_array",
                call.arguments().subList(1, call.arguments().size()),
                DataType.array(DataType.TEXT),
                false);
        return compiler.compile(new Call(function, List.of(call.arguments().get(0), steps), call.type(), true));
    }

    // ---- casts -----------------------------------------------------------------------------------------------------

    /** A cast from or to an array or row. */
    Value cast(Value value, DataType type) {
        DataType from = value.type();
        boolean fromNested = from.isNested();
        String target;
        if (!fromNested) {
            target = caster() + ".parse(" + typeField(type) + ", " + value.arguments();
        } else if (type.isText()) {
            target = kernel().use(NestedCast.class) + ".toText(" + typeField(from) + ", " + value.arguments();
        } else {
            target = caster() + ".convert(" + typeField(from) + ", " + typeField(type) + ", " + value.arguments();
        }
        return compiler.strictCall(type, List.of(value), target, false);
    }

    private String caster() {
        String type = kernel().use(NestedCast.class);
        return kernel().field(type, "j", "(" + type + ") own(new " + type + "(literals.allocator()))");
    }
}
