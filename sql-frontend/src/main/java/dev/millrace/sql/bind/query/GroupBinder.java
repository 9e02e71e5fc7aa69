package dev.millrace.sql.bind.query;

import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.scope.ComparableQueries;
import dev.millrace.sql.bind.scope.QueryContext;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Binds GROUP BY: expressions, ordinals, output names, GROUPING SETS, ROLLUP and CUBE. An expression of grouping sets is the first
 * output column that is written alike, a name or a number the column that it is of; as in PostgreSQL, two output columns of one
 * expression are two keys, {@code SELECT x AS a, x AS b .. GROUP BY a, ROLLUP (b)}.
 */
final class GroupBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final Function<SqlIdentifier, Optional<SqlNode>> aliases;
    private final Function<SqlNode, Optional<SqlNode>> ordinals;
    private final Function<SqlNode, Optional<Integer>> places;
    private final List<RexNode> outputs;
    private final List<RexNode> keys = new ArrayList<>();
    private final List<Integer> outputsOfKeys = new ArrayList<>();
    private boolean severalSets;

    /**
     * @param places the output column that a node of the clause is, by name or number
     * @param outputs the output columns
     */
    GroupBinder(
            QueryContext context,
            ExpressionBinder expressions,
            Function<SqlIdentifier, Optional<SqlNode>> aliases,
            Function<SqlNode, Optional<SqlNode>> ordinals,
            Function<SqlNode, Optional<Integer>> places,
            List<RexNode> outputs) {
        this.context = context;
        this.expressions = expressions;
        this.aliases = aliases;
        this.ordinals = ordinals;
        this.places = places;
        this.outputs = outputs;
    }

    /** @param group the clause, null where there is none: one group of all rows */
    Groups bind(SqlNodeList group) {
        List<ImmutableBitSet> sets = List.of(ImmutableBitSet.of());
        if (group != null) {
            severalSets = group.getList().stream().anyMatch(GroupBinder::isSets);
            for (SqlNode item : group) {
                sets = combine(sets, sets(item));
            }
        }
        Map<Integer, Integer> named = new HashMap<>();
        for (int place = 0; place < keys.size(); place++) {
            if (severalSets && outputsOfKeys.get(place) >= 0) {
                named.put(outputsOfKeys.get(place), place);
            }
        }
        return new Groups(keys, sets.stream().sorted(ImmutableBitSet.ORDERING).toList(), named);
    }

    private static boolean isSets(SqlNode item) {
        return switch (item.getKind()) {
            case GROUPING_SETS, ROLLUP, CUBE -> true;
            default -> false;
        };
    }

    private static List<ImmutableBitSet> combine(List<ImmutableBitSet> left, List<ImmutableBitSet> right) {
        List<ImmutableBitSet> combined = new ArrayList<>();
        for (ImmutableBitSet a : left) {
            for (ImmutableBitSet b : right) {
                combined.add(a.union(b));
            }
        }
        return combined;
    }

    private List<ImmutableBitSet> sets(SqlNode item) {
        if (item instanceof SqlNodeList list) {
            return List.of(keysOf(list.getList()));
        }
        switch (item.getKind()) {
            case GROUPING_SETS -> {
                List<ImmutableBitSet> sets = new ArrayList<>();
                ((SqlCall) item).getOperandList().forEach(operand -> sets.addAll(sets(operand)));
                return sets;
            }
            case ROLLUP -> {
                List<SqlNode> operands = ((SqlCall) item).getOperandList();
                List<ImmutableBitSet> sets = new ArrayList<>();
                for (int length = operands.size(); length >= 0; length--) {
                    sets.add(keysOf(operands.subList(0, length)));
                }
                return sets;
            }
            case CUBE -> {
                List<ImmutableBitSet> sets = List.of(ImmutableBitSet.of());
                for (SqlNode operand : ((SqlCall) item).getOperandList()) {
                    sets = combine(sets, List.of(keysOf(List.of(operand)), ImmutableBitSet.of()));
                }
                return sets;
            }
            case ROW -> {
                return List.of(keysOf(((SqlCall) item).getOperandList()));
            }
            default -> {
                return List.of(keysOf(List.of(item)));
            }
        }
    }

    private ImmutableBitSet keysOf(List<SqlNode> nodes) {
        ImmutableBitSet.Builder places = ImmutableBitSet.builder();
        for (SqlNode node : nodes) {
            if (node.getKind() == SqlKind.ROW) {
                places.addAll(keysOf(((SqlCall) node).getOperandList()));
            } else {
                places.set(key(node));
            }
        }
        return places.build();
    }

    private int key(SqlNode node) {
        Optional<SqlNode> ordinal = ordinals.apply(node);
        SqlNode expression = ordinal.orElse(node);
        boolean named = ordinal.isPresent();
        if (node instanceof SqlIdentifier name
                && name.isSimple()
                && expressions.scope().find(name).isEmpty()) {
            expression = aliases.apply(name).orElse(node);
            named = true;
        }
        RexNode key = context.coercions().decided(expressions.bind(expression));
        int output = severalSets ? named ? places.apply(node).orElse(-1) : ComparableQueries.indexOf(outputs, key) : -1;
        int place = ComparableQueries.indexOf(keys, key);
        if (output >= 0) {
            place = outputsOfKeys.indexOf(output);
        }
        if (place < 0) {
            place = keys.size();
            keys.add(key);
            outputsOfKeys.add(output);
        }
        return place;
    }
}
