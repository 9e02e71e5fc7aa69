package dev.millrace.planner.explain;

import dev.millrace.connector.ColumnPredicate;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.NodeVisitor;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A plan's structure as text for hashing: complete, compact, without names of columns and values of literals. */
final class StructureText implements NodeVisitor<StringBuilder> {
    private final StringBuilder text = new StringBuilder(512);
    private final Map<PlanNode, Integer> numbers = new IdentityHashMap<>(); // equal subplans of a plan are one object
    private final List<Literal> literals = new ArrayList<>();

    List<Literal> literals() {
        return literals;
    }

    @Override
    public String toString() {
        return text.toString();
    }

    /** Appends a node and all below it; a node met before as its number. */
    void add(PlanNode node) {
        Integer number = numbers.putIfAbsent(node, numbers.size());
        if (number != null) {
            text.append('#').append(number);
            return;
        }
        text.append('(').append(node.getClass().getSimpleName()).append(' ');
        NodeVisitor.visit(node, this);
        for (Field field : node.schema().fields()) {
            text.append(':').append(field.type()).append(field.nullable() ? "" : "!");
        }
        node.inputs().forEach(this::add);
        text.append(')');
    }

    private void add(Expression expression) {
        if (expression instanceof Literal literal) {
            literals.add(literal);
            text.append('?').append(literal.type());
        } else if (expression instanceof Expression.Call call) {
            text.append(call.function());
            addAll(call.arguments());
        } else if (expression instanceof Expression.Cast cast) {
            text.append("cast ").append(cast.type());
            addAll(List.of(cast.input()));
        } else if (expression instanceof Expression.Case choice) {
            text.append("case");
            choice.branches().forEach(branch -> addAll(List.of(branch.condition(), branch.result())));
            addAll(List.of(choice.otherwise()));
        } else if (expression instanceof Expression.Column column) {
            text.append('$').append(column.index());
        } else {
            text.append("null ").append(expression.type());
        }
    }

    private void addAll(List<Expression> expressions) {
        text.append('(');
        expressions.forEach(expression -> {
            add(expression);
            text.append(',');
        });
        text.append(')');
    }

    private StringBuilder parts(Object... parts) {
        for (Object part : parts) {
            text.append(part).append(' ');
        }
        return text;
    }

    private void addCalls(List<AggregateCall> calls) {
        for (AggregateCall call : calls) {
            parts(
                    call.code().orElse(call.function().name()),
                    call.arguments(),
                    call.distinct(),
                    call.filter(),
                    call.ordering());
            call.parameters().forEach(this::add);
        }
    }

    @Override
    public StringBuilder scan(PlanNode.Scan scan) {
        for (ColumnPredicate predicate : scan.predicates()) {
            parts(predicate.column(), predicate.comparison());
        }
        scan.condensation()
                .ifPresent(condensation ->
                        parts(condensation.time(), condensation.sliceMicros(), condensation.offsetMicros()));
        return parts(scan.relation().length(), scan.relation(), scan.columns());
    }

    @Override
    public StringBuilder values(PlanNode.Values values) {
        values.rows().forEach(this::addAll);
        return text;
    }

    @Override
    public StringBuilder watermark(PlanNode.Watermark watermark) {
        return parts(
                watermark.timeColumn(), watermark.delayMicros(), watermark.idleTimeoutMicros(), watermark.lateBeyond());
    }

    @Override
    public StringBuilder versions(PlanNode.Versions versions) {
        return parts(versions.key(), versions.timeColumn());
    }

    @Override
    public StringBuilder calc(PlanNode.Calc calc) {
        calc.condition().ifPresent(condition -> {
            text.append("where ");
            add(condition);
        });
        addAll(calc.projections());
        return text;
    }

    @Override
    public StringBuilder windowAssign(PlanNode.WindowAssign assign) {
        return parts(assign.timeColumn(), assign.window());
    }

    @Override
    public StringBuilder expand(PlanNode.Expand expand) {
        for (PlanNode.TableCall call : expand.calls()) {
            parts(
                    call.function().length(),
                    call.function(),
                    call.arguments(),
                    call.outputs().size());
            call.outputs().forEach(field -> parts(field.type()));
        }
        return parts(expand.kept(), expand.ordinality(), expand.outer());
    }

    @Override
    public StringBuilder aggregate(PlanNode.Aggregate aggregate) {
        addCalls(aggregate.calls());
        aggregate.forgetting().ifPresent(this::parts);
        return parts(aggregate.keys(), aggregate.phase(), aggregate.appendOnlyInput());
    }

    @Override
    public StringBuilder windowAggregate(PlanNode.WindowAggregate aggregate) {
        addCalls(aggregate.calls());
        return parts(aggregate.timeColumn(), aggregate.window(), aggregate.keys(), aggregate.phase());
    }

    @Override
    public StringBuilder windowExtreme(PlanNode.WindowExtreme extreme) {
        return parts(
                extreme.timeColumn(),
                extreme.window(),
                extreme.keys(),
                extreme.valueColumn(),
                extreme.maximum(),
                extreme.closedEnd(),
                extreme.phase());
    }

    @Override
    public StringBuilder join(PlanNode.Join join) {
        join.residual().ifPresent(this::add);
        return parts(join.kind(), join.leftKeys(), join.rightKeys(), join.time());
    }

    @Override
    public StringBuilder multiJoin(PlanNode.MultiJoin join) {
        return parts(join.keys());
    }

    @Override
    public StringBuilder topN(PlanNode.TopN topN) {
        topN.forgetting().ifPresent(this::parts);
        return parts(
                topN.partition(),
                topN.order(),
                topN.rank(),
                topN.limit(),
                topN.offset(),
                topN.emitRank(),
                topN.windowEnd(),
                topN.appendOnlyInput());
    }

    @Override
    public StringBuilder match(PlanNode.Match match) {
        MatchSpec spec = match.spec();
        for (MatchSpec.Symbol symbol : spec.symbols()) {
            // names show in CLASSIFIER(): they are structure
            parts(symbol.name().length(), symbol.name(), symbol.variables());
        }
        for (Optional<MatchSpec.Condition> condition : spec.conditions()) {
            condition.ifPresent(some -> {
                parts(some.values());
                add(some.expression());
            });
            text.append(';');
        }
        parts(spec.pattern(), spec.withinMicros(), spec.after(), spec.rows());
        parts(match.partition(), match.order(), match.values());
        addAll(match.outputs());
        return text;
    }

    @Override
    public StringBuilder over(PlanNode.Over over) {
        over.calls().forEach(call -> {
            parts(call.function(), call.arguments(), call.parameter(), call.ignoreNulls(), call.frame());
            addCalls(call.aggregate().stream().toList());
        });
        return parts(over.partition(), over.order(), over.closing());
    }

    @Override
    public StringBuilder timeFilter(PlanNode.TimeFilter filter) {
        add(filter.bound());
        return parts(filter.timeColumn(), filter.leaving(), filter.atBound());
    }

    @Override
    public StringBuilder pace(PlanNode.Pace pace) {
        return parts(pace.periodMicros());
    }

    @Override
    public StringBuilder union(PlanNode.Union union) {
        return parts(union.inputs().size());
    }

    @Override
    public StringBuilder sort(PlanNode.Sort sort) {
        return parts(sort.order(), sort.limit(), sort.offset());
    }

    @Override
    public StringBuilder exchange(PlanNode.Exchange exchange) {
        return parts(exchange.distribution());
    }
}
