package dev.millrace.engine.join;

import dev.millrace.engine.aggregate.AggregateTests;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Plans of joins for tests. */
final class JoinPlans {
    private JoinPlans() {}

    /**
     * A join of two relations with the same columns.
     *
     * @param keys of either side
     * @param comparison of the times of both, as a condition beside the keys
     * @param timeColumn of either side
     */
    static Join ofEqualSides(
            Schema side,
            JoinKind kind,
            List<Integer> keys,
            Optional<String> comparison,
            int timeColumn,
            Optional<JoinTime> time) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < (kind == JoinKind.SEMI || kind == JoinKind.ANTI ? 1 : 2); i++) {
            side.fields().forEach(field -> fields.add(new Field(field.name(), field.type(), true)));
        }
        Optional<Expression> condition = comparison.map(function -> new Expression.Call(
                function,
                List.of(
                        new Expression.Column(timeColumn, DataType.TIMESTAMP, false),
                        new Expression.Column(side.size() + timeColumn, DataType.TIMESTAMP, false)),
                DataType.BOOLEAN,
                false));
        return new Join(
                AggregateTests.scan(side),
                AggregateTests.scan(side),
                kind,
                keys,
                keys,
                condition,
                time,
                new Schema(fields));
    }
}
