package dev.millrace.sql.bind.query;

import java.util.List;
import java.util.Map;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * What a GROUP BY clause says.
 *
 * @param keys expressions over the rows of FROM; several of one are of output columns that are grouped by each in sets of
 *     their own
 * @param sets the grouping sets, of places in {@code keys}, in {@link ImmutableBitSet#ORDERING}; one with all of them for
 *     a plain GROUP BY. One that is there twice gives its groups twice.
 * @param outputs the places in {@code keys} of output columns that the clause names, by their places in SELECT, where several
 *     keys are of one expression: each such column is NULL where a set lacks its own key
 */
record Groups(List<RexNode> keys, List<ImmutableBitSet> sets, Map<Integer, Integer> outputs) {
    Groups {
        keys = List.copyOf(keys);
        sets = List.copyOf(sets);
        outputs = Map.copyOf(outputs);
    }
}
