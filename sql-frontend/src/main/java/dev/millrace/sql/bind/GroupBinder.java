package dev.millrace.sql.bind;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.util.ImmutableBitSet;

/** Binds GROUP BY: expressions, ordinals, output names, GROUPING SETS, ROLLUP and CUBE. */
final class GroupBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;
    private final Function<SqlIdentifier, Optional<SqlNode>> aliases;
    private final Function<SqlNode, Optional<SqlNode>> ordinals;
    private final List<RexNode> keys = new ArrayList<>();

    GroupBinder(
            QueryContext context,
            ExpressionBinder expressions,
            Function<SqlIdentifier, Optional<SqlNode>> aliases,
            Function<SqlNode, Optional<SqlNode>> ordinals) {
        this.context = context;
        this.expressions = expressions;
        this.aliases = aliases;
        this.ordinals = ordinals;
    }

    /** @param group the clause, null where there is none: one group of all rows */
    Groups bind(SqlNodeList group) {
        List<ImmutableBitSet> sets = List.of(ImmutableBitSet.of());
        if (group != null) {
            for (SqlNode item : group) {
                sets = combine(sets, sets(item));
            }
        }
        return new Groups(keys, sets.stream().sorted(ImmutableBitSet.ORDERING).toList());
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
        SqlNode expression = ordinals.apply(node).orElse(node);
        if (node instanceof SqlIdentifier name
                && name.isSimple()
                && expressions.scope().find(name).isEmpty()) {
            expression = aliases.apply(name).orElse(node);
        }
        RexNode key = context.coercions().decided(expressions.bind(expression));
        int place = ComparableQueries.indexOf(keys, key);
        if (place < 0) {
            place = keys.size();
            keys.add(key);
        }
        return place;
    }
}
