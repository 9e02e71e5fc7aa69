package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.List;

/** Counts and keeps a query's late rows. Safe on any thread. */
final class LateRowLog {
    private final Clock clock;
    private final ArrayDeque<LateRow> kept = new ArrayDeque<>(); // guarded by this
    private long count; // guarded by this

    LateRowLog(Clock clock) {
        this.clock = clock;
    }

    synchronized void add(Batch batch, int[] rows, int rowCount, long watermarkMicros) {
        count += rowCount;
        long now = clock.epochMicros();
        for (int i = Math.max(0, rowCount - LateRow.KEPT); i < rowCount; i++) {
            if (kept.size() == LateRow.KEPT) {
                kept.remove();
            }
            kept.add(new LateRow(now, watermarkMicros, RowText.of(batch, rows[i])));
        }
    }

    synchronized long count() {
        return count;
    }

    synchronized List<LateRow> rows() {
        return List.copyOf(kept);
    }
}
