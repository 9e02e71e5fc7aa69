package dev.millrace.planner.fact;

import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.planner.tree.NodeVisitor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Columns of a node's output no two current rows agree in; empty when none are known, an empty list when there is at
 * most one row.
 */
public final class UniqueKey implements NodeVisitor<Optional<List<Integer>>> {
    private final Function<String, RelationFacts> relations;

    public UniqueKey(Function<String, RelationFacts> relations) {
        this.relations = relations;
    }

    public Optional<List<Integer>> of(PlanNode node) {
        return NodeVisitor.visit(node, this);
    }

    @Override
    public Optional<List<Integer>> scan(PlanNode.Scan scan) {
        List<Integer> key = relations.apply(scan.relation()).primaryKey();
        return key.isEmpty() || !scan.columns().containsAll(key)
                ? Optional.empty()
                : Optional.of(key.stream().map(scan.columns()::indexOf).toList());
    }

    @Override
    public Optional<List<Integer>> values(PlanNode.Values values) {
        return values.rows().size() <= 1 ? Optional.of(List.of()) : Optional.empty();
    }

    @Override
    public Optional<List<Integer>> watermark(PlanNode.Watermark watermark) {
        return of(watermark.input());
    }

    @Override
    public Optional<List<Integer>> versions(PlanNode.Versions versions) {
        return Optional.of(List.of(versions.schema().size() - 1));
    }

    @Override
    public Optional<List<Integer>> calc(PlanNode.Calc calc) {
        return of(calc.input()).flatMap(key -> {
            List<Integer> moved = new ArrayList<>();
            for (int column : key) {
                int position = IntStream.range(0, calc.projections().size())
                        .filter(i -> calc.projections().get(i) instanceof Column from && from.index() == column)
                        .findFirst()
                        .orElse(-1);
                if (position < 0) {
                    return Optional.empty();
                }
                moved.add(position);
            }
            return Optional.of(moved);
        });
    }

    @Override
    public Optional<List<Integer>> windowAssign(PlanNode.WindowAssign assign) {
        int start = assign.input().schema().size();
        return of(assign.input()).map(key -> plus(key, start, start + 1));
    }

    /** A row's number tells apart what was made of one row. */
    @Override
    public Optional<List<Integer>> expand(PlanNode.Expand expand) {
        Optional<List<Integer>> key = of(expand.input());
        if (!expand.ordinality() || key.isEmpty() || !expand.kept().containsAll(key.get())) {
            return Optional.empty();
        }
        List<Integer> moved = key.get().stream().map(expand.kept()::indexOf).toList();
        return Optional.of(plus(moved, expand.schema().size() - 1));
    }

    private static List<Integer> plus(List<Integer> key, int... more) {
        List<Integer> all = new ArrayList<>(key);
        IntStream.of(more).filter(column -> !all.contains(column)).forEach(all::add);
        return all;
    }

    private static List<Integer> first(int columns) {
        return IntStream.range(0, columns).boxed().toList();
    }

    @Override
    public Optional<List<Integer>> aggregate(PlanNode.Aggregate aggregate) {
        return Optional.of(first(aggregate.keys().size()));
    }

    @Override
    public Optional<List<Integer>> windowAggregate(PlanNode.WindowAggregate aggregate) {
        int width = aggregate.schema().size();
        return Optional.of(plus(first(aggregate.keys().size()), width - 2, width - 1));
    }

    @Override
    public Optional<List<Integer>> windowExtreme(PlanNode.WindowExtreme extreme) {
        if (extreme.phase() == Phase.PARTIAL) {
            return of(extreme.input());
        }
        int start = extreme.input().schema().size();
        return of(extreme.input()).map(key -> plus(key, start, start + 1));
    }

    @Override
    public Optional<List<Integer>> join(PlanNode.Join join) {
        if (join.time().filter(JoinTime.Nearest.class::isInstance).isPresent()) {
            return of(join.left());
        }
        return switch (join.kind()) {
            case SEMI, ANTI -> of(join.left());
            case INNER ->
                of(join.left())
                        .flatMap(left -> of(join.right()).map(right -> {
                            int width = join.left().schema().size();
                            return plus(
                                    left,
                                    right.stream()
                                            .mapToInt(column -> column + width)
                                            .toArray());
                        }));
            // the key of the side that may be missing is NULL in several rows
            case LEFT, RIGHT, FULL -> Optional.empty();
        };
    }

    /** The keys of all inputs together. */
    @Override
    public Optional<List<Integer>> multiJoin(PlanNode.MultiJoin join) {
        List<Integer> all = new ArrayList<>();
        int first = 0;
        for (PlanNode input : join.inputs()) {
            Optional<List<Integer>> key = of(input);
            if (key.isEmpty()) {
                return Optional.empty();
            }
            for (int column : key.get()) {
                all.add(first + column);
            }
            first += input.schema().size();
        }
        return Optional.of(all);
    }

    @Override
    public Optional<List<Integer>> topN(PlanNode.TopN topN) {
        boolean numbered = topN.rank() == PlanNode.Rank.ROW_NUMBER;
        if (numbered && topN.limit() == 1) {
            return Optional.of(topN.partition());
        }
        return numbered && topN.emitRank()
                ? Optional.of(plus(topN.partition(), topN.schema().size() - 1))
                : of(topN.input());
    }

    /** A row may be of several matches, and a match may show nothing that tells it from others. */
    @Override
    public Optional<List<Integer>> match(PlanNode.Match match) {
        return Optional.empty();
    }

    @Override
    public Optional<List<Integer>> over(PlanNode.Over over) {
        int width = over.input().schema().size();
        for (int call = 0; call < over.calls().size(); call++) {
            if (over.calls().get(call).function() == OverCall.Function.ROW_NUMBER) {
                return Optional.of(plus(over.partition(), width + call));
            }
        }
        return of(over.input());
    }

    @Override
    public Optional<List<Integer>> timeFilter(PlanNode.TimeFilter filter) {
        return of(filter.input());
    }

    @Override
    public Optional<List<Integer>> pace(PlanNode.Pace pace) {
        return of(pace.input());
    }

    @Override
    public Optional<List<Integer>> union(PlanNode.Union union) {
        return Optional.empty();
    }

    @Override
    public Optional<List<Integer>> sort(PlanNode.Sort sort) {
        return of(sort.input());
    }

    @Override
    public Optional<List<Integer>> exchange(PlanNode.Exchange exchange) {
        return of(exchange.input());
    }
}
