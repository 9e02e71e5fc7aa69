package dev.millrace.engine.window;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.PoisonedAllocation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionTimersTest {
    private static final int OFFSET = 8;
    private static final long GAP = 160;

    private final RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
    private final StateMemory memory = new StateMemory(allocator);
    private SessionTimers timers = new SessionTimers(OFFSET, GAP, memory);

    @AfterEach
    void close() {
        memory.close();
        allocator.close();
    }

    private long session(long last) {
        long session = memory.allocate(OFFSET + 8 * SessionTimers.WORDS);
        Memory.putLong(session + OFFSET + SessionTimers.START, last);
        Memory.putLong(session + OFFSET + SessionTimers.LAST, last);
        timers.add(session);
        return session;
    }

    private static void grow(long session, long last) {
        Memory.putLong(session + OFFSET + SessionTimers.LAST, last);
    }

    private Set<Long> expired(long watermark) {
        int count = timers.expire(watermark);
        Set<Long> expired = new TreeSet<>();
        Arrays.stream(timers.due(), 0, count).forEach(expired::add);
        assertEquals(count, expired.size(), "each once");
        return expired;
    }

    @Test
    void aSessionEndsWhenNoRowCanComeThatBelongsToIt() {
        long session = session(1_000);
        assertEquals(Set.of(), expired(1_000 + 2 * GAP - 2));
        assertEquals(Set.of(session), expired(1_000 + 2 * GAP - 1));
        assertEquals(Set.of(), expired(Long.MAX_VALUE));
        long before = session(-1_000);
        assertEquals(Set.of(), expired(-1_000 + 2 * GAP - 2));
        assertEquals(Set.of(before), expired(-1_000 + 2 * GAP - 1));
    }

    @Test
    void aSessionThatGrewEndsLater() {
        long grown = session(1_000);
        long other = session(1_000);
        grow(grown, 1_100);
        assertEquals(Set.of(other), expired(1_000 + 2 * GAP - 1));
        assertEquals(Set.of(), expired(1_100 + 2 * GAP - 2));
        assertEquals(Set.of(grown), expired(1_100 + 2 * GAP - 1));
    }

    @Test
    void removedSessionsDoNotEndWhereverTheyAreInTheirList() {
        for (int removed = 0; removed < 3; removed++) {
            List<Long> sessions = new ArrayList<>(List.of(session(1_000), session(1_001), session(1_002)));
            timers.remove(sessions.remove(removed));
            assertEquals(new TreeSet<>(sessions), expired(10_000));
        }
        long only = session(1_000);
        timers.remove(only);
        assertEquals(Set.of(), expired(10_000));
        for (int removed = 0; removed < 3; removed++) { // and then another one
            List<Long> sessions = new ArrayList<>(List.of(session(1_000), session(1_001), session(1_002)));
            timers.remove(sessions.remove(removed));
            timers.remove(sessions.remove(1));
            assertEquals(new TreeSet<>(sessions), expired(10_000));
        }
    }

    @Test
    void anyNumberEndsAtOnce() {
        Set<Long> all = new TreeSet<>();
        for (int i = 0; i < 300; i++) {
            all.add(session(1_000 + i % 20));
        }
        assertEquals(all, expired(Long.MAX_VALUE));
    }

    @ParameterizedTest
    @ValueSource(longs = {GAP, 256 * 10, 256 * 100}) // a microsecond, ten and a hundred in a stretch
    void sessionsEndAsTheWatermarkGoesOn(long gap) {
        timers = new SessionTimers(OFFSET, gap, memory);
        RandomGenerator random = new SplittableRandom(5);
        List<Long> open = new ArrayList<>();
        for (long watermark = 0; watermark < 5_000; watermark += 1 + random.nextInt(60)) {
            for (int i = 0; i < 40; i++) { // of which many are in one chunk
                open.add(session(watermark + random.nextInt(400)));
                long some = open.get(random.nextInt(open.size()));
                grow(some, Memory.getLong(some + OFFSET + SessionTimers.LAST) + random.nextInt(60));
            }
            if (random.nextBoolean()) {
                timers.remove(open.remove(random.nextInt(open.size())));
            }
            long now = watermark;
            Set<Long> ended = new TreeSet<>(open.stream()
                    .filter(session -> Memory.getLong(session + OFFSET + SessionTimers.LAST) + 2 * gap <= now + 1)
                    .toList());
            assertEquals(ended, expired(now));
            open.removeAll(ended);
        }
        assertEquals(new TreeSet<>(open), expired(Long.MAX_VALUE));
    }

    @Test
    void gapsMayBeAsShortAsAMicrosecond() {
        SessionTimers shortest = new SessionTimers(OFFSET, 1, memory);
        long session = memory.allocate(OFFSET + 8 * SessionTimers.WORDS);
        grow(session, 7);
        shortest.add(session);
        assertEquals(0, shortest.expire(7));
        assertEquals(1, shortest.expire(8));
    }
}
