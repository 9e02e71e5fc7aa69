package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;

/** The FILTER of calls whose rows are taken one by one. */
final class CallFilter {
    private CallFilter() {}

    static boolean passes(AggregateCall call, Batch batch, int row) {
        if (call.filter().isEmpty()) {
            return true;
        }
        int column = call.filter().getAsInt();
        long validity = batch.validityAddress(column);
        return (validity == 0 || Memory.getBit(validity, row)) && Memory.getBit(batch.dataAddress(column), row);
    }

    /** The rows that pass, and their groups; returns how many. */
    static int select(
            AggregateCall call,
            int required,
            Batch batch,
            int[] rows,
            int count,
            long[] groups,
            int[] passed,
            long[] passedGroups) {
        long validity = required < 0 ? 0 : batch.validityAddress(required);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if ((validity == 0 || Memory.getBit(validity, rows[i])) && passes(call, batch, rows[i])) {
                passed[kept] = rows[i];
                passedGroups[kept++] = groups[i];
            }
        }
        return kept;
    }
}
