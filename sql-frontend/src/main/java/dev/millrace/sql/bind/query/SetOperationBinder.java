package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.query.QueryBinder.Pending;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalIntersect;
import org.apache.calcite.rel.logical.LogicalMinus;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSetOperator;

/**
 * Binds UNION, INTERSECT and EXCEPT. Unions that follow each other become one of many inputs, as long as no column changes
 * its type on the way: a tree as deep as they are many is as deep for all that walks over it. Of those without ALL the last one
 * alone makes rows distinct; what comes before it needs not.
 *
 * <pre>
 *   ((a UNION b) UNION c) UNION ALL d    is    d and the distinct rows of (a, b, c)
 * </pre>
 */
final class SetOperationBinder {
    private final Function<SqlNode, Pending> queries;
    private final Coercions coercions;

    // What the unions so far have: the inputs of one that is not made yet, if any, and its columns.
    private final List<RelNode> open = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // by bind, which is called first
    private Pending united;

    /** @param queries binds an operand, its columns of open type left open */
    SetOperationBinder(Function<SqlNode, Pending> queries, Coercions coercions) {
        this.queries = queries;
        this.coercions = coercions;
    }

    /** Use once. */
    Pending bind(SqlBasicCall call) {
        Deque<SqlBasicCall> unions = new ArrayDeque<>(); // the innermost, leftmost first
        SqlNode first = call;
        int distinct = 0; // counted from the outermost: those further in need not
        while (first instanceof SqlBasicCall union
                && union.getKind() == SqlKind.UNION
                && UnionByName.first(union).isEmpty()) {
            unions.push(union);
            if (distinct == 0 && !isAll(union)) {
                distinct = unions.size();
            }
            first = union.operand(0);
        }
        if (unions.isEmpty()) {
            return ofTwo(call);
        }
        united = queries.apply(first);
        while (!unions.isEmpty()) {
            int place = unions.size();
            add(unions.pop());
            if (place == distinct) {
                united = references(RelNodes.distinct(union()), united.names());
            }
        }
        return open.isEmpty() ? united : references(union(), united.names());
    }

    private static boolean isAll(SqlBasicCall call) {
        return ((SqlSetOperator) call.getOperator()).isAll();
    }

    private void add(SqlBasicCall call) {
        Pending right = queries.apply(call.operand(1));
        Columns columns = new Columns(united, right, call);
        boolean same = !open.isEmpty();
        for (int i = 0; same && i < columns.left.size(); i++) {
            same = columns.left.get(i) == united.columns().get(i);
        }
        if (!same) {
            RelNode before = open.isEmpty() ? united.input() : union();
            open.add(new Pending(before, columns.left, united.names(), united.correlation())
                    .bound()
                    .rel());
        }
        open.add(new Pending(right.input(), columns.right, united.names(), right.correlation())
                .bound()
                .rel());
        united = new Pending(open.get(0), columns.ofBoth(), united.names(), Optional.empty());
    }

    /** The union of what is open, which then is no longer. */
    private RelNode union() {
        RelNode union = LogicalUnion.create(List.copyOf(open), true);
        open.clear();
        return union;
    }

    private Pending ofTwo(SqlBasicCall call) {
        Optional<SqlNode> byName = UnionByName.first(call);
        Pending left = queries.apply(byName.orElse(call.operand(0)));
        Pending right = queries.apply(call.operand(1));
        if (byName.isPresent()) {
            UnionByName aligned = new UnionByName(left, right, UnionByName.how(call), call);
            left = aligned.left();
            right = aligned.right();
        }
        Columns columns = new Columns(left, right, call);
        List<RelNode> inputs = List.of(
                new Pending(left.input(), columns.left, left.names(), left.correlation())
                        .bound()
                        .rel(),
                new Pending(right.input(), columns.right, left.names(), right.correlation())
                        .bound()
                        .rel());
        boolean all = isAll(call);
        RelNode rel = switch (call.getKind()) {
            case UNION ->
                all ? LogicalUnion.create(inputs, true) : RelNodes.distinct(LogicalUnion.create(inputs, true));
            case INTERSECT -> LogicalIntersect.create(inputs, all);
            default -> LogicalMinus.create(inputs, all);
        };
        return references(rel, left.names());
    }

    private static Pending references(RelNode rel, List<String> names) {
        return new Pending(rel, RelNodes.references(rel), names, Optional.empty());
    }

    /** The columns of two sides, each pair of one type. */
    private final class Columns {
        private final List<RexNode> left = new ArrayList<>();
        private final List<RexNode> right = new ArrayList<>();

        Columns(Pending leftSide, Pending rightSide, SqlBasicCall call) {
            String name = call.getKind().name();
            if (leftSide.columns().size() != rightSide.columns().size()) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR, "each " + name + " query must have the same number of columns", call);
            }
            for (int i = 0; i < leftSide.columns().size(); i++) {
                RexNode a = leftSide.columns().get(i);
                RexNode b = rightSide.columns().get(i);
                DataType type = Coercions.common(List.of(a, b))
                        .orElseThrow(() -> Errors.error(
                                SqlState.DATATYPE_MISMATCH,
                                name + " types " + Coercions.name(Coercions.type(a)) + " and "
                                        + Coercions.name(Coercions.type(b)) + " cannot be matched",
                                call));
                left.add(coercions.convert(a, type, Strength.IMPLICIT, call));
                right.add(coercions.convert(b, type, Strength.IMPLICIT, call));
            }
        }

        /** The columns of the union: NULL where a side's may be. Those of the left side where that changes nothing. */
        List<RexNode> ofBoth() {
            List<RexNode> both = new ArrayList<>(left.size());
            for (int i = 0; i < left.size(); i++) {
                RelDataType type = left.get(i).getType();
                boolean nullable = type.isNullable() || right.get(i).getType().isNullable();
                both.add(Rex.builder().makeInputRef(TypeMapper.factory().createTypeWithNullability(type, nullable), i));
            }
            return both;
        }
    }
}
