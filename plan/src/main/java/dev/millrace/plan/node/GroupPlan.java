package dev.millrace.plan.node;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.Unary;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * Queries that filter and project the rows of one relation, and may group what is left, and differ in literals alone, as one plan. A member of the group is its literals:
 *
 * <pre>
 *   SELECT ts, temp * 2 FROM readings WHERE device = 'x' AND temp > 80       and with 'y', 75
 *
 *   shared     Calc($0, ts, temp * 2 where device = $1 and temp > $2)        over readings
 *   matching   Join(keys device = $1, residual temp > $2)                    of numbered rows with members
 *   computing  Calc($member, ts, temp * 2)                                   of the pairs that match
 * </pre>
 *
 * What is above the filter (aggregates, windows, what is computed of these) is the same for all of them, literals included, and each member has it for its own rows.
 *
 * Source: Pluto, dissertation ch. 3, U3 and U4: one copy of the code, parameters beside it.
 *
 * @param shared the plan with the places of parameters: 0 the member's number, then its literals; the number is the first column that it gives
 * @param matching which members a row concerns. Left: columns of the input, then the row's number; right: the member's number, then its literals. Fails of no
 *     row
 * @param computing the rest of the condition, and the projections, over {@code matching}
 * @param above what each member does with the rows that {@code computing} gives for it, the lowest first; each over the one before it, the first over {@link Values} without rows
 */
public record GroupPlan(Calc shared, Join matching, Calc computing, List<Unary> above) {
    /** The first column of what a group gives: whose row it is. */
    public static final Field MEMBER = new Field("$member", DataType.BIGINT, false);

    /** The last left column of what is matched. */
    public static final Field ROW = new Field("$row", DataType.BIGINT, false);

    public GroupPlan {
        above = List.copyOf(above);
        if (!shared.schema().field(0).equals(MEMBER)) {
            throw new IllegalArgumentException("a group says first whose row it is, not " + shared.schema());
        }
    }

    /** Of queries that filter and project. */
    public GroupPlan(Calc shared, Join matching, Calc computing) {
        this(shared, matching, computing, List.of());
    }

    /** Whether this may be {@link #above} the filter: it goes by one input alone, and its watermark may come when an epoch ends, as that of sessions may not. */
    public static boolean mayBeAbove(PlanNode node) {
        return node instanceof Calc
                || node instanceof WindowAssign
                || node instanceof Aggregate aggregate && aggregate.forgetting().isEmpty()
                || node instanceof WindowAggregate windows && !(windows.window() instanceof WindowSpec.Session)
                || node instanceof Exchange;
    }

    /** Whether members keep something of rows that came: else each row is done with when it is told. */
    public boolean keepsState() {
        return !above.isEmpty();
    }

    /** What runs for all: one node over the relation, which gives the member's number and what the member gives. */
    public Calc running() {
        if (above.isEmpty()) {
            return shared;
        }
        List<Expression> columns = new ArrayList<>();
        columns.add(ParameterPlace.of(0, DataType.BIGINT));
        List<Field> fields = new ArrayList<>();
        fields.add(MEMBER);
        for (Field field : answer().fields()) {
            columns.add(ParameterPlace.of(members().size() + columns.size(), field.type()));
            fields.add(field);
        }
        return new Calc(shared.input(), shared.condition(), columns, new Schema(fields));
    }

    /** The same over a relation that has another name. */
    public GroupPlan reading(PlanNode input) {
        return new GroupPlan(
                new Calc(input, shared.condition(), shared.projections(), shared.schema()), matching, computing, above);
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
        return above.isEmpty() ? filtered() : above.get(above.size() - 1).schema();
    }

    /** What is left of rows for a member. */
    private Schema filtered() {
        List<Field> fields = shared.schema().fields();
        return new Schema(fields.subList(1, fields.size()));
    }

    /** The plan of one member, as it would be by itself. */
    public PlanNode plan(List<Literal> literals) {
        List<Expression> projections = new ArrayList<>(
                shared.projections().subList(1, shared.projections().size()));
        PlanNode plan = new Calc(
                shared.input(),
                shared.condition()
                        .map(condition -> ParameterPlace.filled(condition, number -> literals.get(number - 1))),
                ParameterPlace.filled(projections, number -> literals.get(number - 1)),
                filtered());
        for (Unary node : above) {
            plan = over(node, plan);
        }
        return plan;
    }

    /** A node that {@link #mayBeAbove}, over another input of the same columns. */
    public static Unary over(PlanNode node, PlanNode input) {
        if (node instanceof Calc calc) {
            return new Calc(input, calc.condition(), calc.projections(), calc.schema());
        } else if (node instanceof WindowAssign assign) {
            return new WindowAssign(input, assign.timeColumn(), assign.window(), assign.schema());
        } else if (node instanceof Aggregate groups) {
            return new Aggregate(
                    input,
                    groups.keys(),
                    groups.calls(),
                    groups.phase(),
                    groups.appendOnlyInput(),
                    groups.forgetting(),
                    groups.schema());
        } else if (node instanceof WindowAggregate windows) {
            return new WindowAggregate(
                    input,
                    windows.timeColumn(),
                    windows.window(),
                    windows.keys(),
                    windows.calls(),
                    windows.phase(),
                    windows.schema());
        } else if (node instanceof Exchange exchange) {
            return new Exchange(input, exchange.distribution());
        }
        throw new IllegalArgumentException(node.getClass().getSimpleName() + " is above no member's rows");
    }
}
