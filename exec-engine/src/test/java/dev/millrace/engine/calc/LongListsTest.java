package dev.millrace.engine.calc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Optional;
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

    private static OperatorHarness harness(String condition) {
        return new OperatorHarness(
                        () -> new CalcOperator(CalcOperatorTest.calc(ROWS, Optional.of(condition), "n")), ROWS)
                .rows(
                        Row.of(0L, "text number 0"),
                        Row.of(1L, "text number 3"),
                        Row.of(null, "t3"),
                        Row.of(27L, null),
                        Row.of(28L, "t27"));
    }

    @Test
    void inOverNumbersIsASet() {
        harness(list("or", "eq(n, ?::bigint)", 10)).expect(Row.of(0L), Row.of(27L));
    }

    @Test
    void notInOverNumbersLeavesNullsOut() {
        harness(list("and", "ne(n, ?::bigint)", 10)).expect(Row.of(1L), Row.of(28L));
    }

    @Test
    void inOverTextsIsASet() {
        harness("or(" + list("or", "eq(s, 't?')", 10) + ", " + list("or", "eq(s, 'text number ?')", 1000) + ")")
                .expect(Row.of(0L), Row.of(1L), Row.of((Object) null), Row.of(28L));
    }

    @Test
    void hundredsOfConditionsDoNotOverflowTheCompilersStack() {
        harness(list("or", "eq(mod(n, ?::bigint), 1::bigint)", 300).replace(" 0::bigint", " 2::bigint"))
                .expect(Row.of(1L), Row.of(27L), Row.of(28L));
    }

    @Test
    void whatIsTooLongForTheJvmIsSaidSo() {
        PlanNode.Calc calc =
                CalcOperatorTest.calc(ROWS, Optional.of(list("or", "eq(mod(n, ?::bigint), 1::bigint)", 3000)), "n");
        MillraceException error = assertThrows(MillraceException.class, () -> {
            try (CalcOperator operator = new CalcOperator(calc)) {
                operator.open(new TestContext(memory.allocator()));
            }
        });
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, error.sqlState());
    }

    @Test
    void hundredsOfBranchesDoNotEither() {
        String branches = IntStream.range(0, 300)
                .mapToObj(i -> "eq(n, " + i + "::bigint), " + (i == 27 ? "true" : "false"))
                .collect(Collectors.joining(", "));
        harness("case(" + branches + ", false)").expect(Row.of(27L));
    }
}
