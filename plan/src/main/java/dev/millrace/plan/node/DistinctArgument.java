package dev.millrace.plan.node;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * A column whose different values are counted or summed, under some filters: what DISTINCT calls over the same column share.
 *
 * @param argument column of the input
 * @param filters BOOLEAN columns of the input, {@link AggregateState#NONE} among them for calls without a filter; at most
 *     {@link #MOST_FILTERS}, for further ones the argument is there once more
 */
public record DistinctArgument(int argument, List<Integer> filters) {
    /** Filters of one argument, a mark each. */
    public static final int MOST_FILTERS = 4;

    public DistinctArgument {
        filters = List.copyOf(filters);
        if (filters.isEmpty() || filters.size() > MOST_FILTERS) {
            throw new IllegalArgumentException(filters.size() + " filters of one argument");
        }
    }

    /** The arguments of the distinct ones among states, in order of first use. */
    public static List<DistinctArgument> of(List<AggregateState> states) {
        List<DistinctArgument> arguments = new ArrayList<>();
        states.stream().filter(AggregateState::distinct).forEach(state -> add(state, arguments));
        return arguments;
    }

    private static void add(AggregateState state, List<DistinctArgument> arguments) {
        for (int i = 0; i < arguments.size(); i++) {
            DistinctArgument known = arguments.get(i);
            if (known.argument != state.argument()) {
                continue;
            }
            if (known.filters.contains(state.filter())) {
                return;
            }
            if (known.filters.size() < MOST_FILTERS) {
                List<Integer> filters = new ArrayList<>(known.filters);
                filters.add(state.filter());
                arguments.set(i, new DistinctArgument(known.argument, filters));
                return;
            }
        }
        arguments.add(new DistinctArgument(state.argument(), List.of(state.filter())));
    }

    /**
     * The columns of a partial phase's output that carry one value of a group: the value, and a bit for each filter under
     * which it was seen, from bit 0 on. Without a bit there is no value, whatever the first column says.
     */
    List<Field> columns(Schema input) {
        return List.of(
                new Field("$value", input.type(argument), true), new Field("$seen_under", DataType.SMALLINT, false));
    }
}
