package dev.millrace.expressions.code;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.testing.expression.ExpressionReader;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random conditions and projections over random rows, generated code against {@link ReferenceInterpreter}, once over
 * rows without NULLs and once among NULLs, by one method or cut into many. {@code -Dmillrace.expressions.runs} and {@code .seed} set how many and which.
 */
@Tag("long")
class RandomExpressionsTest {
    private static final int RUNS = Integer.getInteger("millrace.expressions.runs", 200);
    private static final long SEED = Long.getLong("millrace.expressions.seed", 7);
    private static final int ROWS = 70; // more than one word of a bitmap

    private static final List<DataType> TYPES = List.of(
            DataType.BOOLEAN,
            DataType.SMALLINT,
            DataType.INTEGER,
            DataType.BIGINT,
            DataType.DOUBLE,
            DataType.numeric(5, 2),
            DataType.numeric(18, 4),
            DataType.numeric(30, 6),
            DataType.TEXT);
    private static final String[] TEXTS = {"", "a", "B", "grün", "longer than eight", "longer than eighT", "日本語"};

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @Test
    void generatedCodeAgreesWithTheReference() {
        for (int run = 0; run < RUNS; run++) {
            long seed = SEED + run;
            try {
                run(new SplittableRandom(seed));
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
        assertTrue(rowsCompared > 50L * RUNS, rowsCompared + " rows compared");
    }

    private long rowsCompared;

    private void run(SplittableRandom random) {
        List<Field> fields = new ArrayList<>();
        TYPES.forEach(type -> {
            fields.add(new Field("c" + fields.size(), type, true));
            fields.add(new Field("c" + fields.size(), type, false));
        });
        Schema schema = new Schema(fields);
        Generator generator = new Generator(random, schema);
        Optional<Expression> condition =
                random.nextBoolean() ? Optional.of(generator.expression(DataType.BOOLEAN, 3)) : Optional.empty();
        List<Expression> projections = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            projections.add(generator.expression(TYPES.get(random.nextInt(TYPES.size())), 3));
        }
        if (random.nextBoolean()) {
            condition.ifPresent(projections::add); // work that is shared between loops
        }
        CodeSize size = random.nextInt(3) == 0 ? new CodeSize(8 + random.nextInt(8), 20, 2) : CodeSize.USUAL;
        check(schema, condition, projections, rows(random, schema, false), size);
        check(schema, condition, projections, rows(random, schema, true), size);
    }

    private void check(
            Schema schema,
            Optional<Expression> condition,
            List<Expression> projections,
            List<Row> rows,
            CodeSize size) {
        List<Row> expected = new ArrayList<>();
        List<Row> unfailing = new ArrayList<>();
        List<String> failures = new ArrayList<>();
        for (int row = 0; row < rows.size(); row++) {
            try {
                Row input = rows.get(row);
                boolean passes = condition
                        .map(expression -> Boolean.TRUE.equals(ReferenceInterpreter.evaluate(expression, input)))
                        .orElse(true);
                if (passes) {
                    List<Object> values = new ArrayList<>();
                    projections.forEach(expression -> values.add(ReferenceInterpreter.evaluate(expression, input)));
                    expected.add(new Row(values));
                }
                unfailing.add(input);
            } catch (ReferenceInterpreter.Failure failure) {
                failures.add(failure.getMessage());
            }
        }
        Calculation calculation = new Calculation(schema, condition, projections);
        String what = size + " " + condition + " " + projections;
        try {
            List<Row> results = calculation.evaluate(rows, memory.allocator(), size);
            // A conjunct that cannot fail may refuse rows before another fails for them.
            assertTrue(failures.isEmpty() || condition.isPresent(), () -> "should fail with " + failures + ": " + what);
            if (failures.isEmpty()) {
                assertEquals(expected.size(), results.size(), what);
                for (int row = 0; row < expected.size(); row++) {
                    assertEquals(
                            TestBatches.canonical(calculation.schema(), expected.get(row)), results.get(row), what);
                }
            }
        } catch (MillraceException e) {
            assertTrue(
                    failures.contains(e.sqlState().code()),
                    () -> e.getMessage() + " is not among " + failures + ": " + what);
        }
        if (!failures.isEmpty()) {
            check(schema, condition, projections, unfailing, size);
        }
        rowsCompared += failures.isEmpty() ? expected.size() : 0;
    }

    private static List<Row> rows(SplittableRandom random, Schema schema, boolean nulls) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            List<Object> values = new ArrayList<>();
            for (Field field : schema.fields()) {
                boolean isNull = nulls && field.nullable() && random.nextInt(4) == 0;
                values.add(isNull ? null : value(random, field.type()));
            }
            rows.add(new Row(values));
        }
        return rows;
    }

    private static Object value(SplittableRandom random, DataType type) {
        boolean small = random.nextInt(8) != 0;
        return switch (type.kind()) {
            case BOOLEAN -> random.nextBoolean();
            case SMALLINT -> small ? random.nextLong(-5, 6) : (long) (short) random.nextInt();
            case INTEGER -> small ? random.nextLong(-5, 6) : (long) random.nextInt();
            case BIGINT -> small ? random.nextLong(-5, 6) : random.nextLong();
            case DOUBLE ->
                small
                        ? random.nextInt(-20, 21) / 4.0
                        : new double[] {Double.NaN, Double.POSITIVE_INFINITY, 1e300, -1e-300}[random.nextInt(4)];
            case NUMERIC -> {
                int digits = 1 + random.nextInt(small ? Math.min(4, type.precision()) : type.precision());
                BigInteger unscaled =
                        new BigInteger(130, new java.util.Random(random.nextLong())).mod(BigInteger.TEN.pow(digits));
                yield new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), type.scale());
            }
            default -> TEXTS[random.nextInt(TEXTS.length)];
        };
    }

    /** Makes typed expressions. */
    private record Generator(SplittableRandom random, Schema schema) {
        Expression expression(DataType type, int depth) {
            if (depth == 0 || random.nextInt(6) == 0) {
                return leaf(type);
            }
            int choice = random.nextInt(12);
            if (choice == 0) {
                return new Case(
                        List.of(
                                new Case.Branch(expression(DataType.BOOLEAN, depth - 1), expression(type, depth - 1)),
                                new Case.Branch(expression(DataType.BOOLEAN, depth - 1), expression(type, depth - 1))),
                        expression(type, depth - 1),
                        type,
                        true);
            }
            if (choice == 1) {
                String name = pick("coalesce", "nullif", "greatest", "least");
                return new Call(name, List.of(expression(type, depth - 1), expression(type, depth - 1)), type, true);
            }
            return switch (type.kind()) {
                case BOOLEAN -> bool(depth);
                case TEXT -> text(depth);
                default -> choice < 4 ? converted(type, depth) : arithmetic(type, depth);
            };
        }

        private Expression leaf(DataType type) {
            if (random.nextInt(12) == 0) {
                return new Null(type);
            }
            if (random.nextInt(3) == 0) {
                return new Literal(value(random, type), type);
            }
            int column = 2 * TYPES.indexOf(type) + random.nextInt(2);
            return new Column(column, type, schema.field(column).nullable());
        }

        private String pick(String... names) {
            return names[random.nextInt(names.length)];
        }

        private Expression bool(int depth) {
            DataType type = TYPES.get(random.nextInt(TYPES.size()));
            return switch (random.nextInt(5)) {
                case 0, 1 -> {
                    List<Expression> arguments = new ArrayList<>();
                    for (int i = random.nextInt(3); i >= -1; i--) {
                        arguments.add(expression(DataType.BOOLEAN, depth - 1));
                    }
                    yield new Call(pick("and", "or"), arguments, DataType.BOOLEAN, true);
                }
                case 2 ->
                    new Call(
                            pick("not", "is_true", "is_not_false"),
                            List.of(expression(DataType.BOOLEAN, depth - 1)),
                            DataType.BOOLEAN,
                            true);
                case 3 ->
                    new Call(
                            pick("is_null", "is_not_null"),
                            List.of(expression(type, depth - 1)),
                            DataType.BOOLEAN,
                            true);
                default ->
                    new Call(
                            pick("eq", "ne", "lt", "le", "gt", "ge", "is_distinct_from", "is_not_distinct_from"),
                            List.of(expression(type, depth - 1), expression(type, depth - 1)),
                            DataType.BOOLEAN,
                            true);
            };
        }

        private Expression text(int depth) {
            Expression argument = expression(DataType.TEXT, depth - 1);
            return switch (random.nextInt(4)) {
                case 0 -> new Call("lower", List.of(argument), DataType.TEXT, true);
                case 1 ->
                    new Call(
                            "text_concat",
                            List.of(argument, expression(DataType.TEXT, depth - 1)),
                            DataType.TEXT,
                            true);
                case 2 ->
                    new Call(
                            "substring",
                            List.of(argument, expression(DataType.INTEGER, 0), expression(DataType.INTEGER, 0)),
                            DataType.TEXT,
                            true);
                default ->
                    new Cast(
                            expression(random.nextBoolean() ? DataType.BIGINT : DataType.numeric(18, 4), depth - 1),
                            DataType.TEXT);
            };
        }

        private Expression converted(DataType type, int depth) {
            if (type.kind() == Kind.INTEGER && random.nextBoolean()) {
                return new Call("length", List.of(expression(DataType.TEXT, depth - 1)), type, true);
            }
            DataType from = TYPES.get(1 + random.nextInt(TYPES.size() - 2));
            boolean roundsInBinary = from.kind() == Kind.DOUBLE && type.kind() == Kind.NUMERIC;
            return roundsInBinary || from.equals(type) ? leaf(type) : new Cast(expression(from, depth - 1), type);
        }

        /** An operator, converted where its type is another. */
        private Expression arithmetic(DataType type, int depth) {
            String name = pick("add", "subtract", "multiply", "divide", "mod", "negate", "abs");
            if (type.kind() == Kind.DOUBLE && name.equals("mod")) {
                name = "add";
            }
            List<Expression> arguments = new ArrayList<>(List.of(expression(type, depth - 1)));
            if (!name.equals("negate") && !name.equals("abs")) {
                arguments.add(expression(type, depth - 1));
            }
            Expression call = ExpressionReader.call(name, arguments);
            return call.type().equals(type) ? call : new Cast(call, type);
        }
    }
}
