package dev.millrace.planner.parallel;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** How a node's rows are spread over tasks. */
sealed interface Spread {
    /** As they come. */
    record Any() implements Spread {}

    /** Rows that agree in these columns are in one task. */
    record By(List<Integer> columns) implements Spread {
        public By {
            columns = List.copyOf(columns);
        }
    }

    /** All in one task. */
    record Together() implements Spread {}

    Spread ANY = new Any();
    Spread TOGETHER = new Together();

    /** Whether rows that agree in {@code keys} are sure to be in one task. */
    default boolean gathers(List<Integer> keys) {
        return this instanceof Together || this instanceof By by && keys.containsAll(by.columns());
    }

    /** The spread of rows computed from rows spread so. */
    default Spread over(List<Expression> projections) {
        if (!(this instanceof By by)) {
            return this;
        }
        List<Integer> moved = new ArrayList<>();
        for (int column : by.columns()) {
            int position = IntStream.range(0, projections.size())
                    .filter(i -> projections.get(i) instanceof Column from && from.index() == column)
                    .findFirst()
                    .orElse(-1);
            if (position < 0) {
                return ANY;
            }
            moved.add(position);
        }
        return new By(moved);
    }
}
