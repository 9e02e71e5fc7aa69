package dev.millrace.plan.node;

import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * What passes between the two phases of an aggregation. The PARTIAL node's output has the keys, for windows the end of a
 * slice ({@code slice_end} BIGINT, microseconds), for sessions the times of the first and the last row ({@code session_first}, {@code session_last}, likewise), then the columns of each {@link AggregateState} that is not distinct, then
 * those of each {@link DistinctArgument}: a group with many values takes several rows, of which the states add up. The
 * FINAL node has the same calls and window; its keys are columns 0 to k-1, its time column, of sessions the first, is column k, and an exchange
 * may lie between.
 */
public final class PartialSchemas {
    private PartialSchemas() {}

    /**
     * Whether a node's calls can be computed in two phases. Distinct values can where none is taken back; without keys they
     * would all meet in one task, and are better spread by value.
     */
    public static boolean canSplit(Aggregate node) {
        return node.calls().stream()
                .allMatch(call -> AggregateState.canSplit(List.of(call), !node.appendOnlyInput())
                        || AggregateState.suffices(call, !node.appendOnlyInput())
                                && node.appendOnlyInput()
                                && !node.keys().isEmpty()
                                && isFlat(node.input()
                                        .schema()
                                        .type(call.arguments().get(0))));
    }

    private static boolean isFlat(DataType type) {
        return type.kind() != DataType.Kind.ARRAY && type.kind() != DataType.Kind.ROW;
    }

    /** The output schema of a partial aggregation with these parts; its own {@code schema} is not looked at. */
    public static Schema of(Aggregate node) {
        return schema(
                node.input().schema(),
                node.keys(),
                List.of(),
                AggregateState.of(node.calls(), node.input().schema(), !node.appendOnlyInput()));
    }

    /** The output schema of a partial window aggregation with these parts. */
    public static Schema of(WindowAggregate node) {
        return schema(
                node.input().schema(),
                node.keys(),
                node.window() instanceof WindowSpec.Session
                        ? List.of("session_first", "session_last")
                        : List.of("slice_end"),
                AggregateState.of(node.calls(), node.input().schema(), false));
    }

    private static Schema schema(Schema input, List<Integer> keys, List<String> times, List<AggregateState> states) {
        List<Field> fields = new ArrayList<>(input.select(keys).fields());
        times.forEach(time -> fields.add(new Field(time, DataType.BIGINT, false)));
        states.stream().filter(state -> !state.distinct()).forEach(state -> fields.addAll(state.columns(input)));
        DistinctArgument.of(states).forEach(argument -> fields.addAll(argument.columns(input)));
        return new Schema(fields);
    }

    /** The schema of the rows that the calls of a node refer to: of a FINAL node, the input of its PARTIAL one. */
    public static Schema argumentSchema(Aggregate node) {
        return node.phase() == Phase.FINAL
                ? partial(node.input()).inputs().get(0).schema()
                : node.input().schema();
    }

    /** The same for windows. */
    public static Schema argumentSchema(WindowAggregate node) {
        return node.phase() == Phase.FINAL
                ? partial(node.input()).inputs().get(0).schema()
                : node.input().schema();
    }

    private static PlanNode partial(PlanNode input) {
        if (input instanceof Exchange exchange) {
            return partial(exchange.input());
        }
        boolean found = input instanceof Aggregate aggregate && aggregate.phase() == Phase.PARTIAL
                || input instanceof WindowAggregate window && window.phase() == Phase.PARTIAL;
        if (!found) {
            throw new IllegalArgumentException("a FINAL phase needs a PARTIAL one before it");
        }
        return input;
    }
}
