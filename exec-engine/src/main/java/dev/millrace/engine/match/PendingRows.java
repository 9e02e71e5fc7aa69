package dev.millrace.engine.match;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Rows that the watermark has not passed, in sorted runs: what comes nearly in order, as streams do, makes few of them.
 * Rows that tie stay in the order of their arrival.
 */
final class PendingRows {
    private static final int MOST_RUNS = 64;

    private static final class Run {
        private long[] rows;
        private int next;
        private int end;

        Run(long[] rows, int count) {
            this.rows = Arrays.copyOf(rows, count);
            this.end = count;
        }

        void append(long[] more, int count) {
            if (end + count > rows.length) {
                int kept = end - next;
                long[] moved = new long[Math.max(2 * kept, kept + count)];
                System.arraycopy(rows, next, moved, 0, kept);
                rows = moved;
                next = 0;
                end = kept;
            }
            System.arraycopy(more, 0, rows, end, count);
            end += count;
        }
    }

    private final RowOrder order;
    private final int timeColumn;
    private final int timeSlot;
    private final List<Run> runs = new ArrayList<>();

    /** @param timeColumn the first order key; -1 if rows wait for the end anyway */
    PendingRows(RowOrder order, RowCodec codec, int timeColumn) {
        this.order = order;
        this.timeColumn = timeColumn;
        this.timeSlot = timeColumn < 0 ? 0 : codec.slot(timeColumn);
    }

    /** Adds rows, which it may put in another order. */
    void add(long[] rows, int count) {
        if (count == 0) {
            return;
        }
        for (int i = 1; i < count; i++) {
            if (order.compare(rows[i - 1], rows[i]) > 0) {
                order.sort(rows, count);
                break;
            }
        }
        if (!runs.isEmpty()) {
            Run latest = runs.get(runs.size() - 1);
            if (order.compare(latest.rows[latest.end - 1], rows[0]) <= 0) {
                latest.append(rows, count);
                return;
            }
        }
        runs.add(new Run(rows, count));
        if (runs.size() > MOST_RUNS) {
            merge();
        }
    }

    private void merge() {
        long[] all = new long[runs.stream().mapToInt(run -> run.end - run.next).sum()];
        int count = 0;
        for (Run run : runs) {
            System.arraycopy(run.rows, run.next, all, count, run.end - run.next);
            count += run.end - run.next;
        }
        order.sort(all, count);
        runs.clear();
        runs.add(new Run(all, count));
    }

    /** Gives the rows before the watermark, run by run, and forgets them. */
    void takeBefore(long watermarkMicros, boolean all, LongConsumer row) {
        for (Iterator<Run> each = runs.iterator(); each.hasNext(); ) {
            Run run = each.next();
            while (run.next < run.end && (all || isBefore(run.rows[run.next], watermarkMicros))) {
                row.accept(run.rows[run.next++]);
            }
            if (run.next == run.end) {
                each.remove();
            }
        }
    }

    private boolean isBefore(long row, long watermarkMicros) {
        return !RowCodec.isNull(row, timeColumn) && Memory.getLong(row + timeSlot) < watermarkMicros;
    }

    /** Calls back with every row. */
    void forEach(LongConsumer row) {
        for (Run run : runs) {
            for (int i = run.next; i < run.end; i++) {
                row.accept(run.rows[i]);
            }
        }
    }

    void clear() {
        runs.clear();
    }
}
