package dev.millrace.engine.window;

import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

/**
 * When sessions may end: lists of sessions by the stretch of time that their end fell into when last looked at. An end
 * only moves later, so a session is found at the latest when its former end is due, and then put where it belongs now.
 *
 * <pre>
 *   at offset of a session: start | last row's time | next session of the key | list: previous, next, stretch
 * </pre>
 */
final class SessionTimers {
    static final int START = 0;
    static final int LAST = 8;
    static final int NEXT_OF_KEY = 16;
    private static final int PREVIOUS = 24;
    private static final int NEXT = 32;
    private static final int STRETCH = 40;

    /** Words of a session. */
    static final int WORDS = 6;

    private static final int STRETCHES_PER_GAP = 16;

    private final int offset;
    private final long gapMicros;
    private final long stretchMicros;
    private final NavigableMap<Long, long[]> firsts = new TreeMap<>(); // stretch to its first session
    private long[] due = new long[64];

    SessionTimers(int offset, long gapMicros) {
        this.offset = offset;
        this.gapMicros = gapMicros;
        this.stretchMicros = Math.max(1, gapMicros / STRETCHES_PER_GAP);
    }

    /** The watermark from which on no row can come that belongs to the session: any that can is less than a gap behind. */
    private long end(long session) {
        return Memory.getLong(session + offset + LAST) + 2 * gapMicros - 1;
    }

    void add(long session) {
        long stretch = Math.floorDiv(end(session), stretchMicros);
        long[] first = firsts.computeIfAbsent(stretch, absent -> new long[1]);
        Memory.putLong(session + offset + STRETCH, stretch);
        Memory.putLong(session + offset + PREVIOUS, 0);
        Memory.putLong(session + offset + NEXT, first[0]);
        if (first[0] != 0) {
            Memory.putLong(first[0] + offset + PREVIOUS, session);
        }
        first[0] = session;
    }

    void remove(long session) {
        long previous = Memory.getLong(session + offset + PREVIOUS);
        long next = Memory.getLong(session + offset + NEXT);
        if (next != 0) {
            Memory.putLong(next + offset + PREVIOUS, previous);
        }
        if (previous != 0) {
            Memory.putLong(previous + offset + NEXT, next);
            return;
        }
        long stretch = Memory.getLong(session + offset + STRETCH);
        if (next == 0) {
            firsts.remove(stretch);
        } else {
            Objects.requireNonNull(firsts.get(stretch))[0] = next;
        }
    }

    /** Finds the sessions that cannot grow any more under a watermark; they are removed here. Returns how many. */
    int expire(long watermark) {
        int count = 0;
        while (!firsts.isEmpty()) {
            Map.Entry<Long, long[]> stretch = firsts.firstEntry();
            if (stretch.getKey() > Math.floorDiv(watermark, stretchMicros)) {
                break;
            }
            boolean hasLater = false;
            for (long session = stretch.getValue()[0]; session != 0; ) {
                long next = Memory.getLong(session + offset + NEXT);
                if (end(session) <= watermark) {
                    remove(session);
                    if (count == due.length) {
                        due = Arrays.copyOf(due, 2 * count);
                    }
                    due[count++] = session;
                } else if (Math.floorDiv(end(session), stretchMicros) != stretch.getKey()) {
                    remove(session);
                    add(session);
                } else {
                    hasLater = true;
                }
                session = next;
            }
            if (hasLater) {
                break; // the stretch the watermark is in
            }
        }
        return count;
    }

    /** What the last {@link #expire} found. */
    long[] due() {
        return due;
    }
}
