package dev.millrace.planner.group;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * How the literals of a form come from the constants of a text: what another text has in the places of these makes a query of the same form, without being planned.
 *
 * <pre>
 *   device = $1 AND temp > $2       planned without values: device = $1 and temp > cast($2 as double)
 *   with 'x', 80                    planned with values: device = 'x' and temp > 80.0, which has 'x' and 80.0 of the form
 *                                   so the form's first literal is the first constant, its second one the second as a double
 * </pre>
 *
 * A plan that was made without values holds for all values of the parameters' types. Where it is, with values in their places, the plan that the
 * planner makes with them, nothing in
 * that plan depends on them. It is a form of constants only where each is all of a literal, by a conversion that loses nothing.
 */
public final class OpenForm {
    private static final long EXACT_IN_DOUBLE = 1L << 53;
    private static final long EXACT_IN_REAL = 1L << 24;
    private static final int UUID_CHARACTERS = 36;

    private final GroupForm form;
    private final List<Source> sources; // one for each literal

    /**
     * Where a literal comes from.
     *
     * @param constant its number in the text, from 0; -1 where it is the same for all texts
     * @param literal that the first text has
     */
    private record Source(int constant, Literal literal) {}

    private OpenForm(GroupForm form, List<Source> sources) {
        this.form = form;
        this.sources = List.copyOf(sources);
    }

    /**
     * Compares the plan of a text with that of the same without values.
     *
     * @param plan with constants in the places of parameters
     * @param open with {@link ParameterPlace}s, numbered from 0
     * @param constants as the text has them: whole numbers as INTEGER or BIGINT, others as NUMERIC, texts as TEXT
     * @return empty if what the plan is depends on more than the types of the constants, or may
     */
    public static Optional<OpenForm> of(PlanNode plan, PlanNode open, List<Literal> constants) {
        Optional<GroupForm> form = GroupForm.of(plan);
        Filling filling = new Filling(constants);
        Optional<GroupForm> filled = form.isPresent() ? filling.filled(open).flatMap(GroupForm::of) : Optional.empty();
        if (filled.isEmpty() || !filling.isWhole()) {
            return Optional.empty();
        }
        List<Source> sources = new ArrayList<>();
        for (Literal literal : filled.get().literals()) {
            sources.add(new Source(filling.constant(literal), literal));
        }
        boolean isSame = isSame(form.get(), filled.get());
        long taken = sources.stream().filter(source -> source.constant >= 0).count();
        long used = sources.stream()
                .mapToInt(Source::constant)
                .filter(constant -> constant >= 0)
                .distinct()
                .count();
        return isSame && taken == filling.count() && used == constants.size()
                ? Optional.of(new OpenForm(form.get(), sources))
                : Optional.empty();
    }

    /** Whether they are the same but for what is known of NULLs: nothing is of a parameter, and a constant is none. */
    private static boolean isSame(GroupForm form, GroupForm filled) {
        Calc one = form.plan().shared();
        Calc other = filled.plan().shared();
        return form.literals().equals(filled.literals())
                && form.plan().above().equals(filled.plan().above())
                && one.input().equals(other.input())
                && types(one.schema()).equals(types(other.schema()))
                && one.condition()
                        .map(OpenForm::withoutNulls)
                        .equals(other.condition().map(OpenForm::withoutNulls))
                && one.projections().stream()
                        .map(OpenForm::withoutNulls)
                        .toList()
                        .equals(other.projections().stream()
                                .map(OpenForm::withoutNulls)
                                .toList());
    }

    private static List<DataType> types(Schema schema) {
        return schema.fields().stream().map(field -> field.type()).toList();
    }

    private static Expression withoutNulls(Expression expression) {
        return Expressions.transform(expression, part -> {
            if (part instanceof Call call) {
                return new Call(call.function(), call.arguments(), call.type(), false);
            }
            return part instanceof Case choice
                    ? new Case(choice.branches(), choice.otherwise(), choice.type(), false)
                    : part;
        });
    }

    /** The form. */
    public GroupForm form() {
        return form;
    }

    /**
     * The literals of a query by the constants of its text, which are of the types of those before.
     *
     * @return empty if one is none of the form's by itself
     */
    public Optional<List<Literal>> literals(List<Literal> constants) {
        List<Literal> literals = new ArrayList<>(sources.size());
        for (Source source : sources) {
            Optional<Literal> literal = source.constant < 0
                    ? Optional.of(source.literal)
                    : converted(constants.get(source.constant), source.literal.type());
            if (literal.isEmpty()) {
                return Optional.empty();
            }
            literals.add(literal.get());
        }
        return Optional.of(literals);
    }

    /** The same value of another type, if that has it. Always another object. */
    private static Optional<Literal> converted(Literal constant, DataType type) {
        Optional<Object> value = constant.value() instanceof Long whole
                ? converted(whole, type)
                : constant.value() instanceof BigDecimal decimal
                        ? converted(decimal, type)
                        : converted((String) constant.value(), type);
        return value.map(found -> new Literal(found, type));
    }

    private static Optional<Object> converted(String text, DataType type) {
        return switch (type.kind()) {
            case TEXT -> Optional.of(text);
            case VARCHAR ->
                Optional.<Object>of(text)
                        .filter(any ->
                                type.precision() == 0 || text.codePointCount(0, text.length()) <= type.precision());
            case UUID -> text.length() == UUID_CHARACTERS ? uuid(text) : Optional.empty();
            default -> Optional.empty();
        };
    }

    private static Optional<Object> uuid(String text) {
        try {
            UUID uuid = UUID.fromString(text);
            return Optional.<Object>of(uuid).filter(any -> uuid.toString().equalsIgnoreCase(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<Object> converted(long whole, DataType type) {
        return switch (type.kind()) {
            case SMALLINT -> Optional.<Object>of(whole).filter(any -> whole == (short) whole);
            case INTEGER -> Optional.<Object>of(whole).filter(any -> whole == (int) whole);
            case BIGINT -> Optional.of(whole);
            case REAL -> Optional.<Object>of((double) whole).filter(any -> Math.abs(whole) <= EXACT_IN_REAL);
            case DOUBLE -> Optional.<Object>of((double) whole).filter(any -> Math.abs(whole) <= EXACT_IN_DOUBLE);
            case NUMERIC -> converted(BigDecimal.valueOf(whole), type);
            default -> Optional.empty();
        };
    }

    private static Optional<Object> converted(BigDecimal decimal, DataType type) {
        return switch (type.kind()) {
            case DOUBLE -> Optional.of(decimal.doubleValue());
            case NUMERIC ->
                Optional.of(decimal)
                        .filter(any -> decimal.scale() <= type.scale())
                        .map(any -> decimal.setScale(type.scale()))
                        .filter(scaled -> scaled.precision() <= type.precision())
                        .map(Object.class::cast);
            default -> Optional.empty();
        };
    }

    /** Puts constants in the places of parameters, and knows them again. */
    private static final class Filling {
        private final List<Literal> constants;
        private final Map<Literal, Integer> places =
                new IdentityHashMap<>(); // the constant of each literal that was put in
        private boolean isWhole = true;
        private int count; // of those, in what was filled

        Filling(List<Literal> constants) {
            this.constants = constants;
        }

        /** The plan, with constants in its filter; what is above is the same for all texts, or the plan is none of a form. */
        Optional<PlanNode> filled(PlanNode open) {
            return GroupForm.filter(open).map(filter -> filled(open, filter));
        }

        private PlanNode filled(PlanNode node, Calc filter) {
            return node == filter
                    ? new Calc(
                            filter.input(),
                            filter.condition().map(this::filled),
                            filter.projections().stream().map(this::filled).toList(),
                            filter.schema())
                    : GroupPlan.over(node, filled(((PlanNode.Unary) node).input(), filter));
        }

        private Expression filled(Expression expression) {
            Expression filled = Expressions.transform(expression, this::put);
            Expressions.walk(
                    filled, part -> count += part instanceof Literal literal && constant(literal) >= 0 ? 1 : 0);
            return filled;
        }

        /** A constant in the place of a parameter, and of its casts. */
        private Expression put(Expression part) {
            if (part instanceof Cast cast && cast.input() instanceof Literal literal && constant(literal) >= 0) {
                return literal(constant(literal), cast.type(), part);
            }
            return ParameterPlace.number(part)
                    .map(number -> literal(number, part.type(), part))
                    .orElse(part);
        }

        private Expression literal(int constant, DataType type, Expression otherwise) {
            Optional<Literal> converted = converted(constants.get(constant), type);
            converted.ifPresent(literal -> places.put(literal, constant));
            isWhole &= converted.isPresent();
            return converted.<Expression>map(literal -> literal).orElse(otherwise);
        }

        /** Whether each place was filled. */
        boolean isWhole() {
            return isWhole;
        }

        /** The constant that a literal is; -1 for one that was there before. */
        int constant(Literal literal) {
            return places.getOrDefault(literal, -1);
        }

        int count() {
            return count;
        }
    }
}
