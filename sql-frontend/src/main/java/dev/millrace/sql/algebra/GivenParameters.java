package dev.millrace.sql.algebra;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalIntersect;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalMinus;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalSort;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;

/**
 * Puts values in the places of the parameters of an analysed query, which is analysed once for all of them then. What two nodes
 * share they share after, too. For one thread.
 */
public final class GivenParameters extends RexShuttle {
    /** Whose expressions are all seen by a shuttle. */
    private static final Set<Class<?>> PLAIN = Set.of(
            LogicalAggregate.class,
            LogicalCorrelate.class,
            LogicalFilter.class,
            LogicalIntersect.class,
            LogicalJoin.class,
            LogicalMinus.class,
            LogicalProject.class,
            LogicalSort.class,
            LogicalUnion.class,
            LogicalValues.class);

    private final BiFunction<Integer, DataType, Expression> values;
    private final Map<RelNode, RelNode> done = new IdentityHashMap<>();
    private final Set<Integer> seen = new HashSet<>();
    private boolean plain = true;

    private GivenParameters(BiFunction<Integer, DataType, Expression> values) {
        this.values = values;
    }

    /**
     * The algebra with values.
     *
     * @param count how many parameters the statement has
     * @param values a constant or NULL for a parameter, by its number from 0, of the type that it has in its place
     * @return empty if not all parameters are found in it, as one that decided what the algebra is
     */
    public static Optional<RelNode> in(RelNode algebra, int count, BiFunction<Integer, DataType, Expression> values) {
        GivenParameters given = new GivenParameters(values);
        RelNode with = given.in(algebra);
        return given.plain && given.seen.size() == count ? Optional.of(with) : Optional.empty();
    }

    private RelNode in(RelNode node) {
        RelNode known = done.get(node);
        if (known != null) {
            return known;
        }
        plain &= node instanceof TableScan || PLAIN.contains(node.getClass());
        List<RelNode> inputs = node.getInputs().stream().map(this::in).toList();
        boolean same = true;
        for (int i = 0; i < inputs.size(); i++) {
            same &= inputs.get(i) == node.getInput(i);
        }
        RelNode with = plain ? (same ? node : node.copy(node.getTraitSet(), inputs)).accept(this) : node;
        done.put(node, with);
        return with;
    }

    @Override
    public RexNode visitSubQuery(RexSubQuery query) {
        RexSubQuery inner = (RexSubQuery) super.visitSubQuery(query);
        RelNode rows = in(inner.rel);
        return rows == inner.rel ? inner : inner.clone(rows);
    }

    @Override
    public RexNode visitDynamicParam(RexDynamicParam parameter) {
        seen.add(parameter.getIndex());
        Expression value = values.apply(parameter.getIndex(), TypeMapper.dataType(parameter.getType()));
        return value instanceof Literal literal
                ? Rex.builder().makeAbstractCast(parameter.getType(), Rex.literal(literal), false)
                : Rex.builder().makeNullLiteral(parameter.getType());
    }
}
