package dev.millrace.engine.view;

import dev.millrace.plan.expression.Expression;
import java.util.List;

/**
 * Rows that are next to each other in an {@linkplain OrderedColumns ordered index}: from where to where, in the order of the
 * index, by values of some of its first columns, each a literal of the column's type or a NULL. Without values a range begins or ends
 * with the index.
 *
 * @param fromIncluded whether rows with just the values of {@code from} are in the range
 */
public record IndexRange(List<Expression> from, boolean fromIncluded, List<Expression> to, boolean toIncluded) {
    public static final IndexRange ALL = new IndexRange(List.of(), true, List.of(), true);

    public IndexRange {
        from = List.copyOf(from);
        to = List.copyOf(to);
    }
}
