package dev.millrace.planner.prune;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.prune.PruneColumns.Pruned;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The columns that parts of nodes name: which they are, and the same part over an input that has fewer. */
final class NamedColumns {
    private NamedColumns() {}

    static void add(List<AggregateCall> calls, BitSet needed) {
        for (AggregateCall call : calls) {
            call.arguments().forEach(needed::set);
            call.filter().ifPresent(needed::set);
            call.ordering().forEach(key -> needed.set(key.column()));
        }
    }

    static List<AggregateCall> renumbered(List<AggregateCall> calls, Pruned input) {
        return calls.stream()
                .map(call -> new AggregateCall(
                        call.function(),
                        input.positions(call.arguments()),
                        call.distinct(),
                        call.filter().isPresent()
                                ? OptionalInt.of(input.position(call.filter().getAsInt()))
                                : OptionalInt.empty(),
                        renumberedOrder(call.ordering(), input),
                        call.parameters(),
                        call.type()))
                .toList();
    }

    static List<OrderKey> renumberedOrder(List<OrderKey> order, Pruned input) {
        return order.stream()
                .map(key -> new OrderKey(input.position(key.column()), key.descending(), key.nullsFirst()))
                .toList();
    }

    static Optional<Forgetting> renumbered(Optional<Forgetting> forgetting, Pruned input) {
        return forgetting.map(rule -> new Forgetting(input.position(rule.timeColumn()), rule.ttlMicros()));
    }

    static WindowSpec renumbered(WindowSpec window, Pruned input) {
        return window instanceof WindowSpec.Attached attached
                ? new WindowSpec.Attached(input.position(attached.startColumn()), input.position(attached.endColumn()))
                : window;
    }

    static void add(WindowSpec window, int timeColumn, BitSet needed) {
        needed.set(timeColumn);
        if (window instanceof WindowSpec.Attached attached) {
            needed.set(attached.startColumn());
            needed.set(attached.endColumn());
        }
    }

    static void add(OverCall call, BitSet needed) {
        call.arguments().forEach(needed::set);
        add(call.aggregate().stream().toList(), needed);
        for (Frame.Bound bound : List.of(call.frame().start(), call.frame().end())) {
            if (call.frame().isColumn(bound)) {
                needed.set((int) bound.offset());
            }
        }
    }

    static OverCall renumbered(OverCall call, Pruned input) {
        Frame frame = call.frame();
        return new OverCall(
                call.function(),
                call.aggregate()
                        .map(aggregate -> renumbered(List.of(aggregate), input).get(0)),
                input.positions(call.arguments()),
                call.parameter(),
                call.ignoreNulls(),
                new Frame(
                        frame.unit(),
                        renumbered(frame, frame.start(), input),
                        renumbered(frame, frame.end(), input),
                        frame.exclusion()),
                call.type(),
                call.nullable());
    }

    private static Frame.Bound renumbered(Frame frame, Frame.Bound bound, Pruned input) {
        return frame.isColumn(bound) ? new Frame.Bound(bound.kind(), input.position((int) bound.offset())) : bound;
    }
}
