package dev.millrace.expressions.code;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.expression.ExpressionReader;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LongListsTest {
    private static final Schema ROWS =
            Schema.of(new Field("n", DataType.BIGINT, true), new Field("s", DataType.TEXT, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static String list(String connective, String comparison, int size) {
        return IntStream.range(0, size)
                .mapToObj(i -> comparison.replace("?", Integer.toString(3 * i)))
                .collect(Collectors.joining(", ", connective + "(", ")"));
    }

    private void assertHolds(String condition, Row... expected) {
        Calculation calculation = new Calculation(
                ROWS, Optional.of(ExpressionReader.parse(condition, ROWS)), List.of(ExpressionReader.parse("n", ROWS)));
        List<Row> rows = List.of(
                Row.of(0L, "text number 0"),
                Row.of(1L, "text number 3"),
                Row.of(null, "t3"),
                Row.of(27L, null),
                Row.of(28L, "t27"));
        assertEquals(List.of(expected), calculation.evaluate(rows, memory.allocator()));
        List<Row> oneByOne = new ArrayList<>(); // most of them without NULLs, which other code is for
        rows.forEach(row -> oneByOne.addAll(calculation.evaluate(List.of(row), memory.allocator())));
        assertEquals(List.of(expected), oneByOne);
    }

    @Test
    void inOverNumbersIsASet() {
        assertHolds(list("or", "eq(n, ?::bigint)", 10), Row.of(0L), Row.of(27L));
    }

    @Test
    void notInOverNumbersLeavesNullsOut() {
        assertHolds(list("and", "ne(n, ?::bigint)", 10), Row.of(1L), Row.of(28L));
    }

    @Test
    void inOverTextsIsASet() {
        assertHolds(
                "or(" + list("or", "eq(s, 't?')", 10) + ", " + list("or", "eq(s, 'text number ?')", 1000) + ")",
                Row.of(0L),
                Row.of(1L),
                Row.of((Object) null),
                Row.of(28L));
    }

    @Test
    void hundredsOfConditionsDoNotOverflowTheCompilersStack() {
        assertHolds(
                list("or", "eq(mod(n, ?::bigint), 1::bigint)", 300).replace(" 0::bigint", " 2::bigint"),
                Row.of(1L),
                Row.of(27L),
                Row.of(28L));
    }

    @Test
    void moreConditionsAreCutIntoClasses() {
        assertHolds(
                list("or", "eq(mod(n, ?::bigint), 1::bigint)", 500).replace(" 0::bigint", " 2::bigint"),
                Row.of(1L),
                Row.of(27L),
                Row.of(28L));
    }

    /** Each by a pass of its own, as any may fail. */
    @Test
    void hundredsOfConjunctsAreFewPasses() {
        assertHolds(
                list("and", "ne(mod(n, ?::bigint), 26::bigint)", 300).replace(" 0::bigint", " 2::bigint"),
                Row.of(0L),
                Row.of(1L),
                Row.of(27L),
                Row.of(28L));
    }

    @Test
    void hundredsOfBranchesDoNotEither() {
        assertHolds("case(" + branches(300, i -> Boolean.toString(i == 27)) + ", false)", Row.of(27L));
    }

    /** One fails; no row asks for it. */
    @Test
    void moreBranchesAreComputedOnlyWhereTheyAreAskedFor() {
        String failing = branches(400, i -> i == 327 ? "eq(divide(n, 0::bigint), 1::bigint)" : "eq(n, 27::bigint)");
        assertHolds("case(" + failing + ", false)", Row.of(27L));
    }

    private static String branches(int size, IntFunction<String> result) {
        return IntStream.range(0, size)
                .mapToObj(i -> "eq(n, " + i + "::bigint), " + result.apply(i))
                .collect(Collectors.joining(", "));
    }
}
