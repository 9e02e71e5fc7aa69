package dev.millrace.engine.window;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * When sessions may end: sessions by the stretch of time that their end fell into when last looked at. An end only moves later, so a session is found at the latest
 * when its former end is due, and then put where it belongs now. Those of a stretch are in chunks of addresses, so that looking at them reads nothing but themselves.
 *
 * <pre>
 *   at offset of a session: start | last row's time | next session of the key | its place in a chunk | stretch | not used (of older states)
 *   chunk: next chunk | sessions
 * </pre>
 */
final class SessionTimers {
    static final int START = 0;
    static final int LAST = 8;
    static final int NEXT_OF_KEY = 16;
    private static final int PLACE = 24;
    private static final int STRETCH = 32;

    /** Words of a session. */
    static final int WORDS = 6;

    private static final int STRETCHES_PER_GAP = 256;
    private static final int CHUNK_SESSIONS = 62;
    private static final int CHUNK_BYTES = 8 + 8 * CHUNK_SESSIONS;

    private final int offset;
    private final long gapMicros;
    private final long stretchMicros;
    private final StateMemory memory;
    private final NavigableMap<Long, Stretch> stretches = new TreeMap<>(); // none is empty
    private final @Nullable Stretch[] recent = new Stretch[2 * STRETCHES_PER_GAP]; // by the last bits of their numbers
    private long[] due = new long[64];

    /** Its sessions: all chunks but the first are full. */
    private static final class Stretch {
        private final long number;
        private long chunk;
        private int count; // in the first chunk, 0 if there is none

        Stretch(long number) {
            this.number = number;
        }
    }

    /**
     * @param offset of these words in a session
     * @param memory for chunks, which outlives this
     */
    SessionTimers(int offset, long gapMicros, StateMemory memory) {
        this.offset = offset;
        this.gapMicros = gapMicros;
        this.stretchMicros = Math.max(1, gapMicros / STRETCHES_PER_GAP);
        this.memory = memory;
    }

    /** The watermark from which on no row can come that belongs to the session: any that can is less than a gap behind. */
    private long end(long session) {
        return Memory.getLong(session + offset + LAST) + 2 * gapMicros - 1;
    }

    private Stretch stretch(long number) {
        int place = (int) number & recent.length - 1;
        Stretch stretch = recent[place];
        if (stretch == null || stretch.number != number) {
            stretch = stretches.computeIfAbsent(number, Stretch::new);
            recent[place] = stretch;
        }
        return stretch;
    }

    private void forget(Stretch stretch) {
        int place = (int) stretch.number & recent.length - 1;
        if (recent[place] == stretch) {
            recent[place] = null;
        }
    }

    void add(long session) {
        long number = Math.floorDiv(end(session), stretchMicros);
        Stretch stretch = stretch(number);
        if (stretch.count == 0 || stretch.count == CHUNK_SESSIONS) {
            long chunk = memory.allocate(CHUNK_BYTES);
            Memory.putLong(chunk, stretch.chunk);
            stretch.chunk = chunk;
            stretch.count = 0;
        }
        place(session, stretch.chunk + 8 + 8L * stretch.count++);
        Memory.putLong(session + offset + STRETCH, number);
    }

    private void place(long session, long place) {
        Memory.putLong(place, session);
        Memory.putLong(session + offset + PLACE, place);
    }

    /** Another session takes its place. */
    void remove(long session) {
        long number = Memory.getLong(session + offset + STRETCH);
        Stretch stretch = stretch(number);
        long last = Memory.getLong(stretch.chunk + 8L * stretch.count);
        place(last, Memory.getLong(session + offset + PLACE));
        if (--stretch.count == 0) {
            long next = Memory.getLong(stretch.chunk);
            memory.free(stretch.chunk, CHUNK_BYTES);
            stretch.chunk = next;
            if (next == 0) {
                stretches.remove(number);
                forget(stretch);
            } else {
                stretch.count = CHUNK_SESSIONS;
            }
        }
    }

    /** Finds the sessions that cannot grow any more under a watermark; they are removed here. Returns how many. */
    int expire(long watermark) {
        int count = 0;
        long now = Math.floorDiv(watermark, stretchMicros);
        while (!stretches.isEmpty() && stretches.firstKey() <= now) {
            Stretch stretch = stretches.pollFirstEntry().getValue();
            forget(stretch);
            int inChunk = stretch.count;
            for (long chunk = stretch.chunk; chunk != 0; inChunk = CHUNK_SESSIONS) {
                for (int i = 0; i < inChunk; i++) {
                    long session = Memory.getLong(chunk + 8 + 8L * i);
                    if (end(session) > watermark) {
                        add(session); // later, or in this stretch, which the watermark is in
                        continue;
                    }
                    if (count == due.length) {
                        due = Arrays.copyOf(due, 2 * count);
                    }
                    due[count++] = session;
                }
                long next = Memory.getLong(chunk);
                memory.free(chunk, CHUNK_BYTES);
                chunk = next;
            }
            if (stretch.number == now) {
                break; // what is left of it ends later
            }
        }
        return count;
    }

    /** What the last {@link #expire} found. */
    long[] due() {
        return due;
    }
}
