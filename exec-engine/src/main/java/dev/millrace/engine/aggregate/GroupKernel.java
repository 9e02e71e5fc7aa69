package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.state.GroupTable;

/** Generated: finds the entries of rows in a table, adding those that are missing, and updates them. Stateless. */
public abstract class GroupKernel {
    /**
     * Adds rows.
     *
     * @param rows positions in the batch
     * @param count how many of {@code rows}
     * @param groups receives each row's entry, if asked for; or has it
     * @param log told of each group that is about to change, if asked for
     */
    public abstract void add(
            GroupTable table, Batch batch, NestedImages images, int[] rows, int count, long[] groups, ChangeLog log);
}
