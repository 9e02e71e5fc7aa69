package dev.millrace.engine.relation;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.error.MillraceException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Counts and keeps the rejected records of a stream, each once by origin and position. Safe on any thread. */
public final class RejectedLog {
    private static final int CHUNK_BITS = 12;

    private final OnError onError;

    @GuardedBy("this") private final ArrayDeque<RejectedRecord> kept = new ArrayDeque<>();

    @GuardedBy("this") private final Map<String, Map<Long, long[]>> seen = new HashMap<>(); // bitmaps of 4096 positions

    @GuardedBy("this") private long count;

    RejectedLog(OnError onError) {
        this.onError = onError;
    }

    boolean isFailing() {
        return onError == OnError.FAIL;
    }

    /**
     * @param notes of who can go on without the record
     * @throws MillraceException under {@link OnError#FAIL}, where nobody can
     */
    void add(RejectedRecord record, Optional<FailedRows.Part> notes) {
        count(record);
        if (onError == OnError.FAIL) {
            String column = record.column().isEmpty() ? "" : ", column \"" + record.column() + "\"";
            MillraceException why = MillraceException.user(
                    record.sqlState(), record.origin() + ":" + record.position() + column + ": " + record.reason());
            notes.orElseThrow(() -> why).failed(why, 1);
        }
    }

    private synchronized void count(RejectedRecord record) {
        long[] chunk = seen.computeIfAbsent(record.origin(), origin -> new HashMap<>())
                .computeIfAbsent(record.position() >>> CHUNK_BITS, number -> new long[1 << CHUNK_BITS - 6]);
        int bit = (int) (record.position() & (1 << CHUNK_BITS) - 1);
        if ((chunk[bit >>> 6] >>> bit & 1) != 0) {
            return;
        }
        chunk[bit >>> 6] |= 1L << bit;
        count++;
        if (onError == OnError.DEAD_LETTER) {
            keep(record);
        }
    }

    /** Counts and keeps what is not a record; false if it is kept already. */
    synchronized boolean report(RejectedRecord what) {
        if (kept.contains(what)) {
            return false;
        }
        count++;
        keep(what);
        return true;
    }

    @GuardedBy("this") private void keep(RejectedRecord record) {
        if (kept.size() == RejectedRecords.KEPT) {
            kept.remove();
        }
        kept.add(record);
    }

    synchronized RejectedRecords records() {
        return new RejectedRecords(count, List.copyOf(kept));
    }
}
