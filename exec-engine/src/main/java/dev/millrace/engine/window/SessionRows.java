package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.text.TimeRange;

/** Which rows of a batch are not late for their sessions: a row by itself is a session that ends a gap after it. */
final class SessionRows {
    private final OperatorContext context;
    private final long gapMicros;
    private int[] rows = new int[0];
    private int[] late = new int[0];

    SessionRows(OperatorContext context, long gapMicros) {
        this.context = context;
        this.gapMicros = gapMicros;
    }

    /** Selects rows, which are in {@link #rows} until the next call, and returns how many; the others are counted and recorded. */
    int select(Batch batch, int timeColumn, long watermark) {
        int all = batch.rowCount();
        if (rows.length < all) {
            rows = new int[all];
            late = new int[all];
        }
        long times = batch.dataAddress(timeColumn);
        long validity = batch.validityAddress(timeColumn);
        int count = 0;
        int lateCount = 0;
        for (int row = 0; row < all; row++) {
            long time = Memory.getLong(times + 8L * row);
            boolean isLate = validity != 0 && !Memory.getBit(validity, row)
                    || !TimeRange.isFinite(time)
                    || time + gapMicros <= watermark;
            if (isLate) {
                late[lateCount++] = row;
            } else {
                rows[count++] = row;
            }
        }
        if (lateCount > 0) {
            context.metrics().addLateRows(lateCount);
            context.lateRows(batch, late, lateCount, watermark);
        }
        return count;
    }

    int[] rows() {
        return rows;
    }
}
