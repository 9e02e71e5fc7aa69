package dev.millrace.sql.bind.relation;

import dev.millrace.sql.algebra.Rex;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexVisitorImpl;

/** What queries read of the rows of queries around them, by variables; finds and replaces such reads. */
public final class Correlations {
    private Correlations() {}

    /** The variables that expressions read, in their sub-queries, too. */
    public static Set<CorrelationId> used(List<RexNode> nodes) {
        Set<CorrelationId> used = new HashSet<>();
        for (RexNode node : nodes) {
            node.accept(new RexVisitorImpl<Void>(true) {
                @Override
                public Void visitCorrelVariable(RexCorrelVariable variable) {
                    used.add(variable.id);
                    return null;
                }

                @Override
                public Void visitSubQuery(RexSubQuery query) {
                    used.addAll(RelOptUtil.getVariablesUsed(query.rel));
                    return super.visitSubQuery(query);
                }
            });
        }
        return used;
    }

    /** The variables that a query reads and that are not of its own rows. */
    public static Set<CorrelationId> free(RelNode node) {
        Set<CorrelationId> free = new HashSet<>(RelOptUtil.getVariablesUsed(node));
        free.removeAll(RelOptUtil.getVariablesSet(node));
        return free;
    }

    /** An expression over a row that begins with the input's columns, which variables stand for so far. */
    public static RexNode inline(RexNode node, RelNode input) {
        return node.accept(new RexShuttle() {
            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
                return access.getReferenceExpr() instanceof RexCorrelVariable
                        ? Rex.builder().makeInputRef(input, access.getField().getIndex())
                        : super.visitFieldAccess(access);
            }
        });
    }

    /** The expression, sub-queries and all, with each read of a variable's column replaced. */
    public static RexNode replace(RexNode node, CorrelationId id, IntFunction<RexNode> column) {
        return node.accept(replacing(id, column));
    }

    /** The same for a whole query. */
    public static RelNode replace(RelNode node, CorrelationId id, IntFunction<RexNode> column) {
        List<RelNode> inputs = node.getInputs().stream()
                .map(input -> replace(input, id, column))
                .toList();
        RelNode copy = inputs.equals(node.getInputs()) ? node : node.copy(node.getTraitSet(), inputs);
        return copy.accept(replacing(id, column));
    }

    private static RexShuttle replacing(CorrelationId id, IntFunction<RexNode> column) {
        return new RexShuttle() {
            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
                return access.getReferenceExpr() instanceof RexCorrelVariable variable && variable.id.equals(id)
                        ? column.apply(access.getField().getIndex())
                        : super.visitFieldAccess(access);
            }

            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                RexSubQuery inner = (RexSubQuery) super.visitSubQuery(query);
                return inner.clone(replace(inner.rel, id, column));
            }
        };
    }
}
