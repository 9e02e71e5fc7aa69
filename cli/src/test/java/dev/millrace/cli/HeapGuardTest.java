package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Collectors and a clock that say what the test says. */
class HeapGuardTest {
    private static final long LOOK_MILLIS = 500;

    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private int halts;
    private long nowMillis;
    private long collectingMillis;
    private long keptPercent;
    private boolean outOfMemory;

    private HeapGuard guard = guard(Optional.of(pool()), said);

    private HeapGuard guard(Optional<MemoryPoolMXBean> oldest, OutputStream err) {
        return new HeapGuard(List.of(collector()), oldest, err, () -> halts++);
    }

    /** Of a bean what the guard asks for. */
    private GarbageCollectorMXBean collector() {
        return bean(GarbageCollectorMXBean.class, "getCollectionTime", () -> {
            if (outOfMemory) {
                throw new OutOfMemoryError("Java heap space");
            }
            return collectingMillis;
        });
    }

    private MemoryPoolMXBean pool() {
        return bean(MemoryPoolMXBean.class, "getCollectionUsage", () -> new MemoryUsage(0, keptPercent, 100, 100));
    }

    private interface Answer {
        Object get();
    }

    private static <T> T bean(Class<T> type, String method, Answer answer) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, none) -> {
            assertEquals(method, called.getName());
            return answer.get();
        }));
    }

    /** Looks so often, while collecting takes so much of each half second. */
    private void look(int times, long millisOfEach) {
        for (int i = 0; i < times; i++) {
            nowMillis += LOOK_MILLIS;
            collectingMillis += millisOfEach;
            guard.look(nowMillis * 1_000_000);
        }
    }

    @Test
    void aProcessThatOnlyCollectsAndFreesNothingEndsAfterTenSeconds() {
        keptPercent = 95;
        look(19, 450);
        assertEquals(0, halts);
        assertEquals("", said.toString(StandardCharsets.UTF_8));
        look(1, 450);
        assertEquals(1, halts);
        String words = said.toString(StandardCharsets.UTF_8);
        assertTrue(words.startsWith("millrace: out of memory: the Java heap of "), words);
        assertTrue(words.contains("exit code 3") && words.contains("MILLRACE_JVM_OPTIONS"), words);
        assertTrue(words.endsWith("\n") && words.indexOf('\n') == words.length() - 1, "one line");
    }

    @Test
    void whoFreesMuchGoesOnHoweverLongItCollects() {
        keptPercent = 80;
        look(1_000, 490);
        assertEquals(0, halts);
    }

    @Test
    void whoWorksBetweenCollectionsGoesOnHoweverFullTheHeapIs() {
        keptPercent = 99;
        look(1_000, 300);
        assertEquals(0, halts);
    }

    @Test
    void aMomentOfWorkBeginsTheTenSecondsAnew() {
        keptPercent = 95;
        for (int round = 0; round < 10; round++) {
            look(19, 500);
            look(1, 0);
        }
        assertEquals(0, halts);
        look(20, 500);
        assertEquals(1, halts);
    }

    @Test
    void whatCannotEvenBeAskedCountsAsFull() {
        outOfMemory = true;
        look(20, 0);
        assertEquals(1, halts);
    }

    @Test
    void withoutAPoolTheTimeHasToSay() {
        guard = guard(Optional.empty(), said);
        look(20, 450);
        assertEquals(1, halts);
    }

    @Test
    void itEndsEvenIfItCannotSayWhy() {
        keptPercent = 95;
        guard = guard(Optional.of(pool()), new OutputStream() {
            @Override
            public void write(int any) throws IOException {
                throw new IOException("closed");
            }
        });
        look(20, 450);
        assertEquals(1, halts);
    }
}
