package dev.millrace.planner.group;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.Unary;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a query has in common with others that differ from it in literals, and its literals: plans with equal {@link #plan} can be members of one
 * group.
 *
 * <pre>
 *   Calc(ts where device = 'x' and temp > 80)    becomes    Calc($0, ts where device = $1 and temp > $2)    with 'x', 80
 *     Scan readings                                           Scan readings
 * </pre>
 *
 * Above that may be aggregates and what is computed of them, which is part of the form with its literals.
 *
 * <p>A literal becomes a parameter where it is compared or computed with, or shown as it is; any other (a pattern, a unit, an item of a list) may be what
 * code is made for, and stays. Of a condition there must be one comparison of a column with a parameter at least, by which a row's members are found: else each row
 * would meet all of them, which is what they do by themselves. A comparison that finds members is made before what else the condition has. Where aggregates are above, one has
 * to be of equality: of ranges a row may be in most, and dealing it out to each costs twice what they take by themselves.
 *
 * @param literals as many as the plan has parameters
 */
public record GroupForm(GroupPlan plan, List<Literal> literals) {
    private static final int MOST_LITERALS = 64;
    private static final Set<String> RANGES = Set.of("lt", "le", "gt", "ge");
    private static final Set<String> TAKING =
            Set.of("eq", "ne", "lt", "le", "gt", "ge", "add", "subtract", "multiply", "divide");

    public GroupForm {
        literals = List.copyOf(literals);
    }

    /** The form of a standing query's plan, if it has one. */
    public static Optional<GroupForm> of(PlanNode plan) {
        Optional<Calc> filter = filter(plan);
        if (filter.isEmpty() || Subplans.of(plan).stream().anyMatch(GroupForm::isVolatile)) {
            return Optional.empty();
        }
        return new Lifting(filter.get(), above(plan, filter.get())).form();
    }

    /** What is above the filter, the lowest first, over no filter in particular. */
    private static List<Unary> above(PlanNode plan, Calc filter) {
        if (plan == filter) {
            return new ArrayList<>();
        }
        List<Unary> above = above(((Unary) plan).input(), filter);
        PlanNode below =
                above.isEmpty() ? new PlanNode.Values(List.of(), filter.schema()) : above.get(above.size() - 1);
        above.add(GroupPlan.over(plan, below));
        return above;
    }

    /** The filter of the rows that are read, below what else there is. */
    static Optional<Calc> filter(PlanNode plan) {
        PlanNode node = plan;
        while (GroupPlan.mayBeAbove(node)) {
            if (node instanceof Calc calc && isRead(calc.input())) {
                return Optional.of(calc).filter(read -> read.condition().isPresent());
            }
            node = ((Unary) node).input();
        }
        return Optional.empty();
    }

    private static boolean isVolatile(PlanNode node) {
        return node instanceof Calc calc
                && (calc.projections().stream().anyMatch(Expressions::isVolatile)
                        || calc.condition().filter(Expressions::isVolatile).isPresent());
    }

    /** Whether a plan reads the rows of a relation, and does no more than telling their time. */
    private static boolean isRead(PlanNode plan) {
        return plan instanceof PlanNode.Watermark watermark
                ? isRead(watermark.input())
                : plan instanceof PlanNode.Scan scan
                        && scan.predicates().isEmpty()
                        && scan.condensation().isEmpty();
    }

    private static final class Lifting {
        private final Calc calc;
        private final List<Unary> above;
        private final int width; // of numbered rows
        private final List<Literal> literals = new ArrayList<>();
        private final List<Integer> rowKeys = new ArrayList<>();
        private final List<Integer> memberKeys = new ArrayList<>();
        private final List<Expression> ranges = new ArrayList<>();
        private final List<Expression> rest = new ArrayList<>();
        private boolean findsFew; // by equality

        Lifting(Calc calc, List<Unary> above) {
            this.calc = calc;
            this.above = above;
            this.width = calc.input().schema().size() + 1;
        }

        Optional<GroupForm> form() {
            List<Expression> conjuncts = Expressions.conjuncts(calc.condition()).stream()
                    .map(conjunct -> Expressions.transform(conjunct, this::lifted))
                    .toList();
            List<Expression> projections = new ArrayList<>();
            projections.add(ParameterPlace.of(0, DataType.BIGINT));
            for (Expression projection : calc.projections()) {
                projections.add(shown(projection));
            }
            conjuncts.forEach(this::add);
            boolean finds = above.isEmpty() ? findsFew || !ranges.isEmpty() : findsFew;
            return finds && literals.size() <= MOST_LITERALS
                    ? Optional.of(new GroupForm(plan(conjuncts, projections), literals))
                    : Optional.empty();
        }

        private Expression shown(Expression projection) {
            return projection instanceof Literal literal && isTaken(literal)
                    ? place(literal)
                    : Expressions.transform(projection, this::lifted);
        }

        private Expression lifted(Expression part) {
            if (!(part instanceof Call call) || !TAKING.contains(call.function())) {
                return part;
            }
            List<Expression> arguments = call.arguments().stream()
                    .map(argument ->
                            argument instanceof Literal literal && isTaken(literal) ? place(literal) : argument)
                    .toList();
            return new Call(call.function(), arguments, call.type(), call.nullable());
        }

        private static boolean isTaken(Literal literal) {
            return switch (literal.type().kind()) {
                case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> true;
                case REAL, DOUBLE, NUMERIC, TEXT, VARCHAR, UUID -> true;
                case BOOLEAN, CHAR, BIGNUM, JSONB, BYTEA, INTERVAL, ARRAY, ROW, NULL -> false;
            };
        }

        private Expression place(Literal literal) {
            literals.add(literal);
            return ParameterPlace.of(literals.size(), literal.type());
        }

        /** Adds a comparison by which members are found, or what is left to be asked of those. */
        private void add(Expression conjunct) {
            Expression joined = ofPairs(conjunct);
            if (joined instanceof Call call && call.arguments().size() == 2) {
                boolean straight = !isOfMember(call.arguments().get(0));
                Expression row = call.arguments().get(straight ? 0 : 1);
                Expression member = call.arguments().get(straight ? 1 : 0);
                boolean isPair = isOfMember(member) && !isOfMember(row);
                boolean isOneType = row.type().equals(member.type());
                if (isPair && isOneType && call.function().equals("eq") && row instanceof Column column) {
                    rowKeys.add(column.index());
                    memberKeys.add(((Column) member).index() - width);
                    findsFew = true;
                    return;
                } else if (isPair && isOneType && call.function().equals("eq") && isSafe(row)) {
                    ranges.add(new Call("ge", List.of(row, member), call.type(), call.nullable()));
                    ranges.add(new Call("le", List.of(row, member), call.type(), call.nullable()));
                    findsFew = true;
                    return;
                } else if (isPair && isOneType && RANGES.contains(call.function()) && isSafe(row)) {
                    ranges.add(joined);
                    return;
                }
            }
            rest.add(joined);
        }

        private boolean isOfMember(Expression expression) {
            return expression instanceof Column column && column.index() >= width;
        }

        /** Whether computing it cannot fail: who fails is known behind the join alone. */
        private static boolean isSafe(Expression row) {
            return row instanceof Column
                    || row instanceof Cast cast
                            && cast.input() instanceof Column
                            && isWidening(cast.input().type(), cast.type());
        }

        private static boolean isWidening(DataType from, DataType to) {
            return switch (from.kind()) {
                case SMALLINT, INTEGER, BIGINT -> to.kind() == Kind.DOUBLE || to.kind() == Kind.BIGINT;
                case REAL -> to.kind() == Kind.DOUBLE;
                case VARCHAR -> to.equals(DataType.TEXT);
                default -> false;
            };
        }

        /** The expression over a row and a member. */
        private Expression ofPairs(Expression expression) {
            return ParameterPlace.filled(
                    expression,
                    number -> number == 0
                            ? new Column(width, DataType.BIGINT, false)
                            : new Column(
                                    width + number, literals.get(number - 1).type(), false));
        }

        private GroupPlan plan(List<Expression> conjuncts, List<Expression> projections) {
            List<Field> fields = new ArrayList<>(calc.schema().fields());
            fields.add(0, GroupPlan.MEMBER);
            Schema answer = new Schema(fields);
            Calc shared = new Calc(calc.input(), Expressions.and(conjuncts), projections, answer);
            List<Field> rows = new ArrayList<>(calc.input().schema().fields());
            rows.add(GroupPlan.ROW);
            List<Field> members = new ArrayList<>();
            members.add(GroupPlan.MEMBER);
            for (int i = 0; i < literals.size(); i++) {
                members.add(new Field("$" + (i + 1), literals.get(i).type(), false));
            }
            Schema left = new Schema(rows);
            Schema right = new Schema(members);
            Join matching = new Join(
                    new PlanNode.Values(List.of(), left),
                    new PlanNode.Values(List.of(), right),
                    PlanNode.JoinKind.INNER,
                    rowKeys,
                    memberKeys,
                    Expressions.and(ranges),
                    Optional.of(new JoinTime.Current()),
                    left.concat(right));
            List<Expression> computed = projections.stream().map(this::ofPairs).toList();
            return new GroupPlan(shared, matching, new Calc(matching, Expressions.and(rest), computed, answer), above);
        }
    }
}
