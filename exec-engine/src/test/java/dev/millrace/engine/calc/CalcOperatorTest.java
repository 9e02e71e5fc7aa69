package dev.millrace.engine.calc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.Output;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.expression.ExpressionReader;
import dev.millrace.testing.harness.DiscardingOutput;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.harness.TestContext;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CalcOperatorTest {
    private static final Schema BIDS = Schema.of(
            new Field("auction", DataType.BIGINT, false),
            new Field("price", DataType.BIGINT, true),
            new Field("channel", DataType.TEXT, true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    static PlanNode.Calc calc(Schema input, Optional<String> condition, String... projections) {
        List<Expression> expressions = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (String projection : projections) {
            Expression expression = ExpressionReader.parse(projection, input);
            expressions.add(expression);
            fields.add(new Field("c" + fields.size(), expression.type(), true));
        }
        return new PlanNode.Calc(
                new PlanNode.Scan("t", List.of(), List.of(), input),
                condition.map(text -> ExpressionReader.parse(text, input)),
                expressions,
                new Schema(fields));
    }

    private static OperatorHarness harness(PlanNode.Calc calc) {
        return new OperatorHarness(() -> new CalcOperator(calc), BIDS)
                .output(calc.schema())
                .rows(
                        Row.of(1L, 100L, "apple"),
                        Row.of(2L, null, "Google"),
                        Row.of(123L, 300L, null),
                        Row.of(246L, 5L, "a longer channel name"),
                        Row.of(369L, 500L, "grün"));
    }

    @Test
    void keepsTheRowsOfTheConditionAndComputesOverThem() {
        PlanNode.Calc calc = calc(
                BIDS,
                Optional.of("and(gt(price, 10), eq(mod(auction, 123::bigint), 0::bigint))"),
                "auction",
                "multiply(price::numeric(19,0), 0.908)",
                "upper(channel)",
                "add(price, auction)");
        harness(calc)
                .expect(
                        Row.of(123L, new java.math.BigDecimal("272.400"), null, 423L),
                        Row.of(369L, new java.math.BigDecimal("454.000"), "GRÜN", 869L));
    }

    @Test
    void passesColumnsOnWhereThereIsNoCondition() {
        harness(calc(BIDS, Optional.empty(), "channel", "auction"))
                .expect(
                        Row.of("apple", 1L),
                        Row.of("Google", 2L),
                        Row.of(null, 123L),
                        Row.of("a longer channel name", 246L),
                        Row.of("grün", 369L));
    }

    @Test
    void computesWhatConditionAndProjectionsShareOnce() {
        PlanNode.Calc calc = calc(
                BIDS,
                Optional.of("or(eq(lower(channel), 'google'), eq(lower(channel), 'apple'))"),
                "lower(channel)",
                "case(eq(lower(channel), 'apple'), 1, 0)");
        harness(calc).expect(Row.of("apple", 1L), Row.of("google", 0L));
    }

    @Test
    void writesArraysAsText() {
        DataType array = DataType.array(DataType.INTEGER);
        Schema input = Schema.of(new Field("a", array, true));
        new OperatorHarness(() -> new CalcOperator(calc(input, Optional.of("is_not_null(a)"), "a::text", "a")), input)
                .rows(Row.of(List.of(1L, 2L)), Row.of((Object) null))
                .expect(Row.of("{1,2}", List.of(1L, 2L)));
    }

    @Test
    void aFailureNamesItsRow() {
        PlanNode.Calc calc = calc(BIDS, Optional.of("gt(auction, 1)"), "divide(price, subtract(auction, 3::bigint))");
        try (CalcOperator operator = new CalcOperator(calc)) {
            operator.open(new TestContext(memory.allocator()));
            Output output = new DiscardingOutput();
            operator.process(
                    0, TestBatches.of(BIDS, memory.allocator(), Row.of(1L, 1L, ""), Row.of(2L, 1L, "")), output);
            MillraceException error = assertThrows(
                    MillraceException.class,
                    () -> operator.process(
                            0,
                            TestBatches.of(BIDS, memory.allocator(), Row.of(4L, 1L, ""), Row.of(3L, 1L, "")),
                            output));
            assertEquals("row 4: division by zero", error.getMessage());
            assertEquals(SqlState.DIVISION_BY_ZERO, error.sqlState());
        }
    }

    @Test
    void queriesThatDifferInLiteralsRunOneClass() {
        PlanNode.Calc one = calc(BIDS, Optional.of("and(gt(price, 10), like(channel, 'a%'))"), "add(price, 1::bigint)");
        PlanNode.Calc other =
                calc(BIDS, Optional.of("and(gt(price, 77), like(channel, '%z'))"), "add(price, 9::bigint)");
        assertEquals(CalcOperator.codeOf(one), CalcOperator.codeOf(other));
    }
}
