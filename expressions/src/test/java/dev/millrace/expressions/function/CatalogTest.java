package dev.millrace.expressions.function;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.code.Calculation;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.function.FunctionCatalog;
import dev.millrace.plan.function.Signature;
import dev.millrace.testing.expression.ExpressionReader;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every signature of the catalog compiles and runs, over NULLs too: a strict function gives NULL for them. */
@Tag("long")
class CatalogTest {
    private static final List<DataType> COMPARABLE = List.of(
            DataType.BOOLEAN,
            DataType.SMALLINT,
            DataType.INTEGER,
            DataType.BIGINT,
            DataType.REAL,
            DataType.DOUBLE,
            DataType.numeric(10, 2),
            DataType.numeric(30, 4),
            DataType.TEXT,
            DataType.BYTEA,
            DataType.DATE,
            DataType.TIME,
            DataType.TIMESTAMP,
            DataType.TIMESTAMPTZ,
            DataType.INTERVAL,
            DataType.UUID);

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static List<DataType> typesOf(Optional<Kind> kind) {
        return kind.map(known -> known == Kind.NUMERIC
                        ? List.of(DataType.numeric(10, 2), DataType.numeric(30, 4))
                        : List.of(new DataType(known, 0, 0, List.of())))
                .orElse(COMPARABLE);
    }

    @Test
    void everySignatureRuns() {
        List<String> failures = new ArrayList<>();
        int[] calls = new int[1];
        for (String name : FunctionCatalog.names()) {
            for (Signature signature : FunctionCatalog.overloads(name)) {
                int most = signature.parameters().size() + (signature.variadic() ? 2 : 0);
                for (int count = 0; count <= most; count++) {
                    if (!signature.takes(count)) {
                        continue;
                    }
                    for (DataType type : choices(signature, count)) {
                        calls[0]++;
                        try {
                            check(name, signature, count, type);
                        } catch (RuntimeException | AssertionError e) {
                            failures.add(name + " of " + count + " " + type + ": " + e);
                        }
                    }
                }
            }
        }
        if (!failures.isEmpty()) {
            fail(failures.size() + " of " + calls[0] + " do not run:\n" + String.join("\n", failures));
        }
    }

    /** What the places of one type, or else the first place, are tried with. */
    private static List<DataType> choices(Signature signature, int count) {
        boolean same = signature.parameters().stream().anyMatch(Signature.Parameter::same);
        if (same || count == 0) {
            return same ? COMPARABLE : List.of(DataType.TEXT);
        }
        Signature.Parameter first = signature.parameter(0);
        return first.isArray() ? List.of(typeOf(first, DataType.TEXT)) : typesOf(first.kind());
    }

    private static DataType typeOf(Signature.Parameter parameter, DataType common) {
        if (parameter.isArray()) {
            return DataType.array(
                    parameter.same() ? common : typesOf(parameter.element()).get(0));
        }
        return parameter.same() ? common : typesOf(parameter.kind()).get(0);
    }

    private void check(String name, Signature signature, int count, DataType chosen) {
        List<Expression> arguments = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Signature.Parameter parameter = signature.parameter(i);
            boolean anySame = signature.parameters().stream().anyMatch(Signature.Parameter::same);
            DataType type = i == 0 && !anySame ? chosen : typeOf(parameter, chosen);
            fields.add(new Field("c" + i, type, true));
            boolean operator = i == 0 && (name.equals("array_any") || name.equals("array_all"));
            arguments.add(operator ? new Literal("le", DataType.TEXT) : new Column(i, type, true));
        }
        DataType result = ExpressionReader.resultType(signature, arguments);
        Schema input = new Schema(fields);
        Calculation calculation =
                new Calculation(input, Optional.empty(), List.of(new Call(name, arguments, result, true)));
        Row nulls = new Row(Collections.nCopies(count, null));
        if (signature.strict()) {
            List<Row> results = calculation.evaluate(List.of(nulls, nulls), memory.allocator());
            assertTrue(count == 0 || Row.of((Object) null).equals(results.get(0)), () -> "gives " + results);
        }
        List<Object> values = new ArrayList<>();
        fields.forEach(field -> values.add(example(field.type())));
        try {
            calculation.evaluate(List.of(new Row(values)), memory.allocator());
            calculation.evaluate(List.of(nulls, nulls), memory.allocator());
        } catch (MillraceException e) {
            // The examples are not meaningful for each function; what they are told is checked elsewhere.
        }
    }

    private static Object example(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> true;
            case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> 3L;
            case REAL, DOUBLE -> 0.5;
            case NUMERIC -> new java.math.BigDecimal("1.5").setScale(type.scale());
            case BIGNUM -> Bignum.of(new BigDecimal("1.5"));
            case TEXT, VARCHAR, CHAR -> "day";
            case JSONB -> "{\"a\": [1, \"day\"]}"; // in its normal form
            case ARRAY -> java.util.Arrays.asList(example(type.element()), null);
            case BYTEA -> List.of((byte) 1, (byte) 2);
            case INTERVAL -> new Row.Interval(1, 2, 3);
            case UUID -> new java.util.UUID(1, 2);
            case ROW, NULL -> throw new IllegalArgumentException(type.toString());
        };
    }
}
