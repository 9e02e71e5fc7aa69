package dev.millrace.expressions.code;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.function.Text;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType.Kind;
import java.util.List;

/** CONCAT and CONCAT_WS: the text forms of all arguments that are not NULL, one behind the other. */
final class Concatenation {
    private final ExpressionCompiler compiler;

    Concatenation(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    Value compile(Call call) {
        Body body = compiler.body();
        KernelSource kernel = compiler.kernel();
        List<Value> values = compiler.compileAll(call.arguments());
        boolean separated = call.function().equals("concat_ws");
        body.setMayFail();
        String slot = kernel.field(kernel.use(Text.class), "t", "text()");
        String buffer = body.local(kernel.use(TextBuffer.class), "b", slot + ".begin()");
        String separate = separated && values.size() > 2 ? body.local("boolean", "d", "false") : "";
        for (int i = separated ? 1 : 0; i < values.size(); i++) {
            Value value = values.get(i);
            if (value.isNull().equals(Value.ALWAYS)) {
                continue;
            }
            if (!value.neverNull()) {
                body.open("if (!" + ExpressionCompiler.parenthesised(value.isNull()) + ")");
            }
            if (!separate.isEmpty()) {
                body.open("if (" + separate + ")");
                body.line(buffer + ".append(" + values.get(0).arguments() + ");");
                body.close();
                body.line(separate + " = true;");
            }
            body.line(write(buffer, value, call.arguments().get(i)) + ";");
            if (!value.neverNull()) {
                body.close();
            }
        }
        body.line(slot + ".written();");
        String isNull = separated ? values.get(0).isNull() : Value.NEVER;
        return Value.of(
                call.type(),
                isNull,
                body.local("long", "a", slot + ".address"),
                body.local("int", "b", slot + ".length"));
    }

    private String write(String buffer, Value value, Expression argument) {
        if (argument.type().isText()) {
            return buffer + ".append(" + value.arguments() + ")";
        }
        String writer = compiler.kernel().use(ValueWriter.class) + ".";
        String arguments = "(" + buffer + ", " + value.arguments() + ")";
        return switch (value.type().kind()) {
            case BOOLEAN -> writer + "bool" + arguments;
            case SMALLINT, INTEGER, BIGINT -> writer + "integer" + arguments;
            case REAL -> writer + "real" + arguments;
            case DOUBLE -> writer + "float8" + arguments;
            case NUMERIC ->
                writer + "numeric(" + buffer + ", " + Numerics.wide(value) + ", "
                        + value.type().scale() + ")";
            case BIGNUM, BYTEA, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL ->
                writer + value.type().kind().name().toLowerCase(java.util.Locale.ROOT) + arguments;
            default -> {
                Value text = compiler.casts().cast(value, dev.millrace.type.DataType.TEXT);
                if (value.type().kind() == Kind.NULL) {
                    throw MillraceException.notAvailableYet("concat of " + value.type());
                }
                yield buffer + ".append(" + text.arguments() + ")";
            }
        };
    }
}
