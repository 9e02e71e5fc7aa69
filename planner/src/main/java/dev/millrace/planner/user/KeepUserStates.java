package dev.millrace.planner.user;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A user's aggregate keeps its own state instead of its group's rows, where that suffices:
 *
 * <pre>
 * Calc(k, user($1))                            becomes    Calc($0, $1)
 *   Aggregate(k; array_agg(ROW(x)))                         Aggregate(k; user(ROW(x)))
 * </pre>
 *
 * Rows that may go need its {@code retract}, windows that are put together of slices or sessions its {@code merge}. Not
 * for DISTINCT and ORDER BY, which are about the rows.
 */
public final class KeepUserStates implements Rewrite {
    private final Function<String, Optional<UserStates>> states;

    /** @param states what can be done with a function's states, by what plans call it; empty when it has none to keep */
    public KeepUserStates(Function<String, Optional<UserStates>> states) {
        this.states = states;
    }

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Calc calc)) {
            return Optional.empty();
        }
        if (calc.input() instanceof Aggregate aggregate) {
            return new Kept(calc, aggregate.keys().size(), aggregate.calls(), aggregate.input())
                    .rewritten(
                            user -> aggregate.appendOnlyInput() || user.retracts(),
                            calls -> Nodes.aggregate(
                                            aggregate.input(),
                                            aggregate.keys(),
                                            calls,
                                            aggregate.phase(),
                                            aggregate.appendOnlyInput())
                                    .forgetting(aggregate.forgetting()));
        }
        if (calc.input() instanceof WindowAggregate aggregate) {
            boolean apart = aggregate.window().shape() instanceof WindowSpec.Tumble;
            return new Kept(calc, aggregate.keys().size(), aggregate.calls(), aggregate.input())
                    .rewritten(
                            user -> apart || user.merges(),
                            calls -> Nodes.windowAggregate(
                                    aggregate.input(),
                                    aggregate.timeColumn(),
                                    aggregate.window(),
                                    aggregate.keys(),
                                    calls,
                                    aggregate.phase()));
        }
        return Optional.empty();
    }

    /** One rewriting: the calls there are, and those that take the place of some. */
    private final class Kept {
        private final Calc calc;
        private final int keys;
        private final List<AggregateCall> old;
        private final PlanNode input;
        private final List<AggregateCall> calls = new ArrayList<>();
        private final List<Expression> found = new ArrayList<>();

        Kept(Calc calc, int keys, List<AggregateCall> old, PlanNode input) {
            this.calc = calc;
            this.keys = keys;
            this.old = old;
            this.input = input;
        }

        Optional<PlanNode> rewritten(
                Predicate<UserStates> suffices, Function<List<AggregateCall>, PlanNode> aggregate) {
            calc.condition().ifPresent(condition -> find(condition, suffices));
            calc.projections().forEach(projection -> find(projection, suffices));
            if (found.isEmpty()) {
                return Optional.empty();
            }
            List<Integer> used = IntStream.range(0, old.size())
                    .filter(call -> isUsed(keys + call))
                    .boxed()
                    .toList();
            List<AggregateCall> all =
                    new ArrayList<>(used.stream().map(old::get).toList());
            all.addAll(calls);
            int bounds = keys + old.size(); // of a window, behind the calls
            int width = calc.input().schema().size();
            IntUnaryOperator moved = column -> {
                if (column >= width) {
                    return keys + used.size() + column - width;
                }
                return column < keys
                        ? column
                        : column >= bounds ? column - bounds + keys + all.size() : keys + used.indexOf(column - keys);
            };
            return Optional.of(new Calc(
                    aggregate.apply(all),
                    calc.condition().map(condition -> Expressions.renumber(replaced(condition, width), moved)),
                    calc.projections().stream()
                            .map(projection -> Expressions.renumber(replaced(projection, width), moved))
                            .toList(),
                    calc.schema()));
        }

        /** Columns behind all others, for now, in the place of the calls. */
        private Expression replaced(Expression expression, int width) {
            return Expressions.transform(expression, part -> {
                int at = found.indexOf(part);
                return at < 0 ? part : new Column(width + at, part.type(), true);
            });
        }

        private void find(Expression expression, Predicate<UserStates> suffices) {
            Expressions.walk(expression, part -> {
                if (part instanceof Call call
                        && !found.contains(call)
                        && argument(call).isPresent()
                        && states.apply(call.function()).filter(suffices).isPresent()) {
                    AggregateCall array = old.get(argument(call).getAsInt());
                    found.add(call);
                    calls.add(new AggregateCall(
                            AggregateCall.Function.USER,
                            array.arguments(),
                            false,
                            array.filter(),
                            List.of(),
                            List.of(),
                            call.type(),
                            Optional.of(call.function())));
                }
            });
        }

        /** The array of rows that a function is called over, by its place among the calls. */
        private OptionalInt argument(Call call) {
            if (call.arguments().size() != 1 || !(call.arguments().get(0) instanceof Column column)) {
                return OptionalInt.empty();
            }
            int place = column.index() - keys;
            if (place < 0 || place >= old.size()) {
                return OptionalInt.empty();
            }
            AggregateCall array = old.get(place);
            boolean plain = array.function() == AggregateCall.Function.ARRAY_AGG
                    && !array.distinct()
                    && array.ordering().isEmpty()
                    && input.schema().type(array.arguments().get(0)).kind() == DataType.Kind.ROW;
            return plain ? OptionalInt.of(place) : OptionalInt.empty();
        }

        private boolean isUsed(int column) {
            List<Expression> all = new ArrayList<>(calc.projections());
            calc.condition().ifPresent(all::add);
            return all.stream().anyMatch(expression -> reads(expression, column));
        }

        /** Whether an expression reads a column other than in what is replaced. */
        private boolean reads(Expression expression, int column) {
            if (found.contains(expression)) {
                return false;
            }
            return expression instanceof Column from
                    ? from.index() == column
                    : Expressions.operands(expression).stream().anyMatch(part -> reads(part, column));
        }
    }
}
