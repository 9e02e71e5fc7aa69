package dev.millrace.engine.calc;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.testing.harness.OperatorHarness;
import dev.millrace.testing.rows.Row;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CalcOperatorTest {
    private static final Schema BIDS = Schema.of(
            new Field("auction", DataType.BIGINT, false),
            new Field("price", DataType.BIGINT, true),
            new Field("channel", DataType.TEXT, true));

    static PlanNode.Calc calc(Schema input, Optional<String> condition, String... projections) {
        List<Expression> expressions = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (String projection : projections) {
            Expression expression = ExpressionText.parse(projection, input);
            expressions.add(expression);
            fields.add(new Field("c" + fields.size(), expression.type(), true));
        }
        return new PlanNode.Calc(
                new PlanNode.Scan("t", List.of(), List.of(), input),
                condition.map(text -> ExpressionText.parse(text, input)),
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
        System.out.println(CalcOperator.codeOf(calc));
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
        System.out.println(CalcOperator.codeOf(calc));
        harness(calc).expect(Row.of("apple", 1L), Row.of("google", 0L));
    }
}
