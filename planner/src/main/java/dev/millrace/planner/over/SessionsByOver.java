package dev.millrace.planner.over;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Sessions that nobody waits for, of rows that may change or come late: a session begins with each row a gap or more behind
 * the one before, and a row that comes between two sessions makes them one.
 *
 * <pre>
 * WindowAssign(SESSION gap)    becomes    Calc(columns, window_start, last + gap)
 *   Exchange(Hash(k))                       Over(partition k, window_start; max(t) AS last)
 *     X                                       Over(partition k order t; max(begin) up to the current row AS window_start)
 *                                               Calc(columns, begin: t where lag is NULL or t &gt;= lag + gap)
 *                                                 Over(partition k order t; lag(t))
 *                                                   Calc(X where t is not NULL)
 * </pre>
 */
final class SessionsByOver implements Rewrite {
    @Override
    public Optional<PlanNode> apply(PlanNode node) {
        if (!(node instanceof WindowAssign assign)
                || !(assign.window() instanceof WindowSpec.Session session)
                || !(assign.input() instanceof Exchange sessions)) {
            return Optional.empty();
        }
        List<Integer> partition =
                sessions.distribution() instanceof Distribution.Hash hash ? hash.columns() : List.of();
        return Optional.of(rewritten(sessions.input(), assign.timeColumn(), session.gapMicros(), partition));
    }

    private static PlanNode rewritten(PlanNode input, int time, long gapMicros, List<Integer> partition) {
        int width = input.schema().size();
        DataType type = input.schema().type(time);
        List<OrderKey> order = List.of(new OrderKey(time, false, false));
        PlanNode timed = Nodes.filter(input, Expressions.isNotNull(Nodes.column(input, time)));
        OverCall lag =
                new OverCall(OverCall.Function.LAG, Optional.empty(), List.of(time), 1, false, Frame.ALL, type, true);
        PlanNode withLag = Nodes.over(timed, partition, order, List.of(lag), OptionalInt.empty());

        Expression own = Nodes.column(withLag, time);
        Expression before = Nodes.column(withLag, width);
        Expression begins = new Call(
                "or",
                List.of(
                        new Call("is_null", List.of(before), DataType.BOOLEAN, false),
                        new Call("ge", List.of(own, plus(before, gapMicros)), DataType.BOOLEAN, true)),
                DataType.BOOLEAN,
                true);
        List<Expression> columns = new ArrayList<>(Nodes.columns(withLag).subList(0, width));
        columns.add(new Case(List.of(new Case.Branch(begins, own)), new Null(type), type, true));
        PlanNode withBegin = Nodes.project(withLag, columns);

        PlanNode withStart = Nodes.over(
                withBegin, partition, order, List.of(latest(width, type, Frame.TO_CURRENT)), OptionalInt.empty());
        int start = width + 1;
        List<Integer> bySession = new ArrayList<>(partition);
        bySession.add(start);
        PlanNode withLast = Nodes.over(
                withStart, bySession, List.of(), List.of(latest(time, type, Frame.ALL)), OptionalInt.empty());

        List<Expression> result = new ArrayList<>();
        IntStream.range(0, width).forEach(column -> result.add(Nodes.column(withLast, column)));
        result.add(new Column(start, type, false));
        result.add(plus(new Column(start + 1, type, false), gapMicros));
        return Nodes.project(withLast, result);
    }

    private static OverCall latest(int column, DataType type, Frame frame) {
        AggregateCall max = new AggregateCall(
                AggregateCall.Function.MAX, List.of(column), false, OptionalInt.empty(), List.of(), List.of(), type);
        return new OverCall(OverCall.Function.AGGREGATE, Optional.of(max), List.of(), 0, false, frame, type, true);
    }

    private static Expression plus(Expression time, long micros) {
        Literal gap = new Literal(new IntervalValue(0, 0, micros), DataType.INTERVAL);
        return new Call("add", List.of(time, gap), time.type(), time.nullable());
    }
}
