package dev.millrace.plan.node;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * Queries that filter and project the rows of one relation and differ in literals alone, as one plan. A member of the group is its literals:
 *
 * <pre>
 *   SELECT ts, temp * 2 FROM readings WHERE device = 'x' AND temp > 80       and with 'y', 75
 *
 *   shared     Calc($0, ts, temp * 2 where device = $1 and temp > $2)        over readings
 *   matching   Join(keys device = $1, residual temp > $2)                    of numbered rows with members
 *   computing  Calc($member, ts, temp * 2)                                   of the pairs that match
 * </pre>
 *
 * Source: Pluto, dissertation ch. 3, U3 and U4: one copy of the code, parameters beside it.
 *
 * @param shared the plan with the places of parameters: 0 the member's number, then its literals; the number is the first column that it gives
 * @param matching which members a row concerns. Left: columns of the input, then the row's number; right: the member's number, then its literals. Fails of no
 *     row
 * @param computing the rest of the condition, and the projections, over {@code matching}
 */
public record GroupPlan(Calc shared, Join matching, Calc computing) {
    /** The first column of what a group gives: whose row it is. */
    public static final Field MEMBER = new Field("$member", DataType.BIGINT, false);

    /** The last left column of what is matched. */
    public static final Field ROW = new Field("$row", DataType.BIGINT, false);

    public GroupPlan {
        if (!shared.schema().field(0).equals(MEMBER)) {
            throw new IllegalArgumentException("a group says first whose row it is, not " + shared.schema());
        }
    }

    /** Columns of members: number and literals. */
    public Schema members() {
        return matching.right().schema();
    }

    /** Columns of numbered rows. */
    public Schema rows() {
        return matching.left().schema();
    }

    /** What each member gives. */
    public Schema answer() {
        List<Field> fields = shared.schema().fields();
        return new Schema(fields.subList(1, fields.size()));
    }

    /** The plan of one member, as it would be by itself. */
    public PlanNode plan(List<Literal> literals) {
        List<Expression> projections = new ArrayList<>(
                shared.projections().subList(1, shared.projections().size()));
        return new Calc(
                shared.input(),
                shared.condition()
                        .map(condition -> ParameterPlace.filled(condition, number -> literals.get(number - 1))),
                ParameterPlace.filled(projections, number -> literals.get(number - 1)),
                answer());
    }
}
