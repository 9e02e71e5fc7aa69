package dev.millrace.planner.fact;

import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.IntStream;

/** Which column of a standing query's rows is an event time to those who read it. */
public final class EventTimes {
    private EventTimes() {}

    /**
     * The column that the watermarks speak of which come with the rows, as the ends of windows do; whoever selects
     * window_time beside the end wants the one that falls into the right window again.
     *
     * @param plan with its watermarks where something waits for them
     */
    public static Optional<RelationFacts.EventTime> settled(PlanNode plan, Inference inference) {
        return IntStream.range(0, plan.schema().size())
                .boxed()
                .filter(column ->
                        inference.of(plan).eventTimes().contains(column) || inference.endsWindows(plan, column))
                .min(Comparator.comparing(
                        column -> !inference.of(plan).eventTimes().contains(column)))
                .map(column -> new RelationFacts.EventTime(column, 0, 0, true));
    }

    /** The event time of the stream, where the query only picks rows and computes columns: it is as late as there. */
    public static Optional<RelationFacts.EventTime> declared(PlanNode plan) {
        if (plan instanceof PlanNode.Watermark watermark) {
            return Optional.of(new RelationFacts.EventTime(
                    watermark.timeColumn(), watermark.delayMicros(), watermark.idleTimeoutMicros()));
        }
        if (!(plan instanceof PlanNode.Calc calc)) {
            return Optional.empty();
        }
        return declared(calc.input()).flatMap(time -> {
            for (int column = 0; column < calc.projections().size(); column++) {
                if (calc.projections().get(column) instanceof Column from && from.index() == time.column()) {
                    return Optional.of(
                            new RelationFacts.EventTime(column, time.delayMicros(), time.idleTimeoutMicros()));
                }
            }
            return Optional.empty();
        });
    }
}
