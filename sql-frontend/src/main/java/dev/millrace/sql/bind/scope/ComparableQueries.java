package dev.millrace.sql.bind.scope;

import com.google.common.collect.ImmutableSet;
import dev.millrace.sql.algebra.Rex;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;

/**
 * Expressions that are equal if they were written alike, sub-queries and all: each binding of a sub-query gives its own rows'
 * variables new numbers, here they are counted from the same.
 */
public final class ComparableQueries {
    private static final int FIRST = 1_000_000_000; // no query has so many variables

    private final Map<CorrelationId, CorrelationId> numbers = new HashMap<>();

    private ComparableQueries() {}

    /** The place of an expression that is written alike, or -1. */
    public static int indexOf(List<RexNode> expressions, RexNode expression) {
        int place = expressions.indexOf(expression);
        if (place < 0 && expressions.stream().anyMatch(DrawNumbers::isIn)) {
            place = expressions.stream().map(DrawNumbers::alike).toList().indexOf(DrawNumbers.alike(expression));
        }
        if (place >= 0 || RexUtil.SubQueryFinder.find(expression) == null) {
            return place;
        }
        RexNode sought = new ComparableQueries().of(expression);
        for (int i = 0; i < expressions.size(); i++) {
            if (new ComparableQueries().of(expressions.get(i)).equals(sought)) {
                return i;
            }
        }
        return -1;
    }

    private RexNode of(RexNode node) {
        return node.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                RexSubQuery inner = (RexSubQuery) super.visitSubQuery(query);
                return inner.clone(of(inner.rel));
            }

            @Override
            public RexNode visitCorrelVariable(RexCorrelVariable variable) {
                CorrelationId number = numbers.get(variable.id);
                return number == null ? variable : Rex.builder().makeCorrel(variable.getType(), number);
            }
        });
    }

    private RelNode of(RelNode node) {
        Set<CorrelationId> own = new HashSet<>();
        if (node instanceof Correlate correlate) {
            own.add(number(correlate.getCorrelationId()));
        }
        node.getVariablesSet().forEach(id -> own.add(number(id)));
        List<RelNode> inputs = node.getInputs().stream().map(this::of).toList();
        RelNode copy = node.copy(node.getTraitSet(), inputs).accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                return ComparableQueries.this.of(query);
            }

            @Override
            public RexNode visitCorrelVariable(RexCorrelVariable variable) {
                return ComparableQueries.this.of(variable);
            }
        });
        if (own.isEmpty()) {
            return copy;
        }
        if (copy instanceof LogicalFilter filter) {
            return LogicalFilter.create(filter.getInput(), filter.getCondition(), ImmutableSet.copyOf(own));
        } else if (copy instanceof LogicalProject project) {
            return LogicalProject.create(
                    project.getInput(), List.of(), project.getProjects(), project.getRowType(), own);
        } else if (copy instanceof LogicalCorrelate correlate) {
            return LogicalCorrelate.create(
                    correlate.getLeft(),
                    correlate.getRight(),
                    List.of(),
                    own.iterator().next(),
                    correlate.getRequiredColumns(),
                    correlate.getJoinType());
        }
        return copy;
    }

    private CorrelationId number(CorrelationId id) {
        return numbers.computeIfAbsent(id, any -> new CorrelationId(FIRST + numbers.size()));
    }
}
