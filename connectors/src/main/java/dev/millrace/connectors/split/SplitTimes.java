package dev.millrace.connectors.split;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * How far event time is in each split of a source, for all readers of one scan. The watermark is that of the split that is furthest
 * behind, whoever reads it; a split is left out while it is idle, or has never had a row and has none to give.
 *
 * <pre>
 *   split 0   latest 12:00:05  \
 *   split 1   latest 12:00:02   >  a batch of split 0 goes on at 12:00:05 and is held at 12:00:02
 *   split 2   idle             /
 * </pre>
 *
 * Safe on any thread.
 */
public final class SplitTimes {
    /** One split. Its fields are the times' own. */
    public static final class Split {
        private final long number;
        private long latest;
        private long lastRowNanos;
        private boolean mayHaveRows = true;

        private Split(long number, long latest, long nowNanos) {
            this.number = number;
            this.latest = latest;
            this.lastRowNanos = nowNanos;
        }
    }

    private final long idleNanos;

    @GuardedBy("this") private final List<Split> splits = new ArrayList<>();

    /** @param idleMicros after so long without a row nobody waits for a split; 0 for never */
    public SplitTimes(long idleMicros) {
        this.idleNanos = idleMicros > Long.MAX_VALUE / 1000 ? Long.MAX_VALUE : idleMicros * 1000;
    }

    /** Another split, from a time on; {@link Part#UNKNOWN} before its first row. */
    public synchronized Split add(long latestMicros, long nowNanos) {
        Split split = new Split(splits.size() + 1L, latestMicros, nowNanos);
        splits.add(split);
        return split;
    }

    /** A split ends, or is read by nobody any more. */
    public synchronized void remove(Split split) {
        splits.remove(split);
    }

    /** How far a split is; {@link Part#UNKNOWN} before its first row. */
    public synchronized long latest(Split split) {
        return split.latest;
    }

    /** Whether all that a split has was read: one that never had a row then holds nobody back. */
    public synchronized void readToEnd(Split split, boolean isAtEnd) {
        split.mayHaveRows = !isAtEnd;
    }

    /** Rows of a split were read; empty if none has a time. */
    public synchronized void rows(Split split, OptionalLong latestMicros, long nowNanos) {
        split.lastRowNanos = nowNanos;
        latestMicros.ifPresent(micros -> split.latest = Math.max(split.latest, micros));
    }

    /** The part that rows of a split are of, before they are told to {@link #rows}. */
    public synchronized Part part(Split split, long nowNanos) {
        return new Part(split.number, split.latest, least(split, nowNanos));
    }

    /** For a reader that has no rows: as far as all splits are. */
    public synchronized Part idlePart(long nowNanos) {
        long least = least(null, nowNanos);
        return new Part(0, least == Part.NONE ? Part.UNKNOWN : least, Part.NONE);
    }

    @GuardedBy("this") private long least(@Nullable Split but, long nowNanos) {
        long least = Part.NONE;
        for (Split split : splits) {
            if (split != but && holds(split, nowNanos)) {
                least = Math.min(least, split.latest);
            }
        }
        return least;
    }

    private boolean holds(Split split, long nowNanos) {
        boolean silent = idleNanos > 0 && nowNanos - split.lastRowNanos >= idleNanos;
        return !silent && (split.latest != Part.UNKNOWN || split.mayHaveRows);
    }
}
