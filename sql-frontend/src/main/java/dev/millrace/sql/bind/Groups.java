package dev.millrace.sql.bind;

import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * What a GROUP BY clause says.
 *
 * @param keys distinct expressions over the rows of FROM
 * @param sets the grouping sets, of places in {@code keys}, in {@link ImmutableBitSet#ORDERING}; one with all of them for
 *     a plain GROUP BY. One that is there twice gives its groups twice.
 */
record Groups(List<RexNode> keys, List<ImmutableBitSet> sets) {
    Groups {
        keys = List.copyOf(keys);
        sets = List.copyOf(sets);
    }
}
