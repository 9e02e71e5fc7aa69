package dev.millrace.expressions.function;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.code.Calculation;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.function.FunctionCatalog;
import dev.millrace.testing.expression.ExpressionReader;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What PostgreSQL 15 says of each function: {@code expression => text of the result}, or {@code expression !! SQLSTATE
 * message}. Each fact is checked with its constants folded, with its constants as columns, and with those columns full of
 * NULLs around it, where a strict function must give NULL.
 */
@Tag("long")
class FunctionFactsTest {
    private static final List<String> FILES = List.of(
            "logic", "numbers", "numeric", "text", "patterns", "datetime", "templates", "casts", "nested", "bounds");

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private record Fact(String expression, String expected, boolean isError) {}

    private static List<Fact> facts(String file) {
        try (InputStream in = FunctionFactsTest.class.getResourceAsStream("/functions/" + file + ".txt")) {
            List<Fact> facts = new ArrayList<>();
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(line -> {
                        boolean error = line.contains(" !! ");
                        String[] sides = line.split(error ? " !! " : " => ", -1);
                        facts.add(new Fact(sides[0].trim(), unescape(sides[1]), error));
                    });
            return facts;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String unescape(String text) {
        return text.equals("''") ? "" : text.replace("\\n", "\n").replace("\\s", " ");
    }

    @TestFactory
    Stream<DynamicTest> whatPostgresSays() {
        return FILES.stream()
                .map(file -> DynamicTest.dynamicTest(file, () -> {
                    List<String> failures = new ArrayList<>();
                    for (Fact fact : facts(file)) {
                        try {
                            check(fact);
                        } catch (AssertionError | RuntimeException e) {
                            failures.add(fact.expression() + ": " + e);
                            if (e instanceof RuntimeException && !(e instanceof MillraceException)) {
                                e.printStackTrace();
                            }
                        }
                    }
                    if (!failures.isEmpty()) {
                        fail(failures.size() + " facts of " + file + " do not hold:\n" + String.join("\n", failures));
                    }
                }));
    }

    private void check(Fact fact) {
        String text = fact.expression().replace("\\n", "\n");
        Expression expression = new Cast(ExpressionReader.parse(text), DataType.TEXT);
        if (fact.isError()) {
            assertEquals(fact.expected(), errorOf(() -> ConstantFolder.evaluate(expression)), "folded");
        } else {
            assertEquals(fact.expected(), textOf(ConstantFolder.evaluate(expression)), "folded");
        }
        List<Object> values = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        Expression overColumns = new Cast(columns(((Cast) expression).input(), values, fields), DataType.TEXT);
        Schema schema = new Schema(fields);
        Row row = new Row(values);
        Row nulls = new Row(Collections.nCopies(values.size(), null));
        if (fact.isError()) {
            assertEquals(
                    "row 2: " + fact.expected().substring(6),
                    errorOf(() -> run(overColumns, schema, List.of(nulls, row))).substring(6),
                    "with NULLs");
            return;
        }
        assertEquals(List.of(fact.expected()), run(overColumns, schema, List.of(row)), "columns");
        List<String> results = run(overColumns, schema, List.of(nulls, row, nulls));
        assertEquals(fact.expected(), results.get(1), "columns with NULLs");
    }

    /** Puts a column in the place of each literal, but for those whose value decides the result's type. */
    private static Expression columns(Expression expression, List<Object> values, List<Field> fields) {
        if (expression instanceof Literal literal) {
            fields.add(new Field("c" + fields.size(), literal.type(), true));
            values.add(valueForTests(literal));
            return new Column(fields.size() - 1, literal.type(), true);
        }
        if (expression instanceof Cast cast) {
            return new Cast(columns(cast.input(), values, fields), cast.type());
        }
        if (expression instanceof Case branches) {
            List<Case.Branch> changed = new ArrayList<>();
            for (Case.Branch branch : branches.branches()) {
                changed.add(new Case.Branch(
                        columns(branch.condition(), values, fields), columns(branch.result(), values, fields)));
            }
            return new Case(changed, columns(branches.otherwise(), values, fields), branches.type(), true);
        }
        if (expression instanceof Call call) {
            List<Expression> arguments = new ArrayList<>();
            boolean quantified =
                    call.function().equals("array_any") || call.function().equals("array_all");
            call.arguments()
                    .forEach(argument -> arguments.add(
                            quantified && arguments.isEmpty() ? argument : columns(argument, values, fields)));
            return new Call(call.function(), arguments, call.type(), true);
        }
        return expression;
    }

    private static Object valueForTests(Literal literal) {
        return literal.value();
    }

    private List<String> run(Expression expression, Schema input, List<Row> rows) {
        Calculation calculation = new Calculation(input, Optional.empty(), List.of(expression));
        List<String> results = new ArrayList<>();
        calculation
                .evaluate(rows, memory.allocator())
                .forEach(row -> results.add(row.get(0) == null ? "NULL" : (String) row.get(0)));
        return results;
    }

    private static String textOf(Expression constant) {
        return constant instanceof Literal literal ? (String) literal.value() : "NULL";
    }

    private static String errorOf(Runnable runnable) {
        try {
            runnable.run();
        } catch (MillraceException e) {
            return e.sqlState().code() + " " + e.getMessage();
        } catch (CalcKernel.RowFailure e) {
            return "unexplained " + e;
        }
        return "no error";
    }

    @Test
    void everyFunctionOfTheCatalogHasFacts() {
        Set<String> missing = new TreeSet<>();
        FunctionCatalog.names().forEach(missing::add);
        FILES.forEach(file -> facts(file)
                .forEach(fact -> missing.removeIf(name -> fact.expression().matches("(?s).*\\b" + name + "\\(.*"))));
        missing.remove("proctime");
        missing.remove("now");
        missing.remove("trim_scale"); // of numbers of any size alone: BignumsTest
        assertTrue(missing.isEmpty(), "functions without facts: " + missing);
    }
}
