package dev.millrace.planner.simplify;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Finds the keys of a join and what concerns one side alone.
 *
 * <pre>
 * Join(INNER, a = lower(b) and c > 5 and d < e)    becomes    Calc(all but $key)
 *   X(a, c, d)                                                  Join(INNER, keys a = $key, residual d < e)
 *   Y(b, e)                                                       Calc(where c > 5)
 *                                                                   X
 *                                                                 Calc(b, e, lower(b) as $key)
 *                                                                   Y
 * </pre>
 *
 * {@code a IS NOT DISTINCT FROM b} gives keys, too: equal ones if one of both is never NULL, else {@link NullSafeKey}s.
 *
 * <p>A condition on the side whose rows appear in any case (the left one of a LEFT join) stays: it decides whether they
 * have a partner.
 */
final class SplitJoinCondition implements Rewrite {
    private static final Set<JoinKind> FILTERS_LEFT = Set.of(JoinKind.INNER, JoinKind.SEMI, JoinKind.RIGHT);
    private static final Set<JoinKind> FILTERS_RIGHT =
            Set.of(JoinKind.INNER, JoinKind.SEMI, JoinKind.LEFT, JoinKind.ANTI);

    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof Join join) || join.residual().isEmpty()) {
            return Optional.empty();
        }
        Split split = new Split(join);
        Expressions.conjuncts(join.residual()).forEach(split::add);
        return split.changed() ? Optional.of(split.result()) : Optional.empty();
    }

    private static final class Split {
        private final Join join;
        private final int width;
        private final List<Expression> leftFilter = new ArrayList<>();
        private final List<Expression> rightFilter = new ArrayList<>();
        private final List<Expression> rest = new ArrayList<>();
        private final List<Expression> leftColumns;
        private final List<Expression> rightColumns;
        private final List<Integer> leftKeys;
        private final List<Integer> rightKeys;

        Split(Join join) {
            this.join = join;
            this.width = join.left().schema().size();
            this.leftColumns = new ArrayList<>(Nodes.columns(join.left()));
            this.rightColumns = new ArrayList<>(Nodes.columns(join.right()));
            this.leftKeys = new ArrayList<>(join.leftKeys());
            this.rightKeys = new ArrayList<>(join.rightKeys());
        }

        private boolean ofLeft(Expression expression) {
            return Expressions.readsOnly(expression, column -> column < width);
        }

        private boolean ofRight(Expression expression) {
            return Expressions.readsOnly(expression, column -> column >= width);
        }

        private Expression overRight(Expression expression) {
            return Expressions.renumber(expression, column -> column - width);
        }

        void add(Expression conjunct) {
            if (Expressions.draws(conjunct)) {
                rest.add(conjunct); // for each pair
            } else if (FILTERS_LEFT.contains(join.kind()) && ofLeft(conjunct)) {
                leftFilter.add(conjunct);
            } else if (FILTERS_RIGHT.contains(join.kind()) && ofRight(conjunct)) {
                rightFilter.add(overRight(conjunct));
            } else if (!addKey(conjunct)) {
                rest.add(conjunct);
            }
        }

        boolean changed() {
            return rest.size() < Expressions.conjuncts(join.residual()).size();
        }

        private boolean addKey(Expression conjunct) {
            if (!(conjunct instanceof Call call)
                    || !call.function().equals("eq") && !call.function().equals("is_not_distinct_from")) {
                return false;
            }
            Expression a = call.arguments().get(0);
            Expression b = call.arguments().get(1);
            if (Expressions.columns(a).isEmpty()
                    || Expressions.columns(b).isEmpty()
                    || !a.type().equals(b.type())) {
                return false;
            }
            boolean straight = ofLeft(a) && ofRight(b);
            if (!straight && !(ofLeft(b) && ofRight(a))) {
                return false;
            }
            Expression left = straight ? a : b;
            Expression right = overRight(straight ? b : a);
            if (call.function().equals("eq") || !left.nullable() || !right.nullable()) {
                addKey(left, right);
                return true;
            }
            Optional<Literal> any = NullSafeKey.any(left.type());
            any.ifPresent(value -> {
                addKey(NullSafeKey.isNull(left), NullSafeKey.isNull(right));
                addKey(NullSafeKey.present(left, value), NullSafeKey.present(right, value));
            });
            return any.isPresent();
        }

        private void addKey(Expression left, Expression right) {
            leftKeys.add(place(canonical(left), leftColumns));
            rightKeys.add(place(canonical(right), rightColumns));
        }

        /** Intervals are equal in several forms: 1 day and 24:00:00. */
        private static Expression canonical(Expression key) {
            return key.type().kind() == Kind.INTERVAL
                    ? new Call("justify_interval", List.of(key), key.type(), key.nullable())
                    : key;
        }

        private static int place(Expression key, List<Expression> columns) {
            if (key instanceof Column column) {
                return column.index();
            }
            int known = columns.indexOf(key);
            if (known >= 0) {
                return known;
            }
            columns.add(key);
            return columns.size() - 1;
        }

        PlanNode result() {
            PlanNode left = Nodes.calc(join.left(), Expressions.and(leftFilter), leftColumns);
            PlanNode right = Nodes.calc(join.right(), Expressions.and(rightFilter), rightColumns);
            int moved = leftColumns.size() - width;
            Optional<Expression> residual = Expressions.and(rest)
                    .map(condition ->
                            Expressions.renumber(condition, column -> column < width ? column : column + moved));
            Join split = Nodes.join(left, right, join.kind(), leftKeys, rightKeys, residual, join.time());
            List<Integer> kept = IntStream.range(0, join.schema().size())
                    .map(column -> column < width ? column : column + moved)
                    .boxed()
                    .toList();
            return Nodes.select(split, kept);
        }
    }
}
