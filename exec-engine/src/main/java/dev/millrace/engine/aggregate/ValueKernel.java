package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.GroupTable;

/** Generated: adds the values of a column to {@link DistinctValues} and feeds states of groups with them. Stateless. */
public abstract class ValueKernel {
    /**
     * Adds rows.
     *
     * @param table of values, per group if they are counted
     * @param rows positions in the batch
     * @param count how many of {@code rows}
     * @param groups each row's group
     * @param found scratch for values that are marked; else unused
     */
    public abstract void add(
            GroupTable table,
            Batch batch,
            NestedImages images,
            int[] rows,
            int count,
            long[] groups,
            FoundValues found);
}
