package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RestoresTest {
    private final ExecutorService others = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        others.shutdownNow();
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void asManyThreadsAsThereAreWorkersAreAtItForWhatTheCallerWorksFor() {
        Restores restores = new Restores();
        CyclicBarrier three = new CyclicBarrier(3); // passed only by three at a time
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Set<Interrupt> interrupts = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 9; i++) {
            restores.add(() -> {
                threads.add(Thread.currentThread());
                interrupts.add(Interrupt.current());
                meet(three);
            });
        }
        Interrupt interrupt = new Interrupt();
        try (Interrupt.Binding binding = interrupt.bind()) {
            restores.run(3, others);
        }
        assertEquals(3, threads.size());
        assertTrue(threads.contains(Thread.currentThread()));
        assertEquals(Set.of(interrupt), interrupts);
    }

    @Test
    void whatFailsIsThrownWhenNobodyIsAtItAnyMore() {
        Restores restores = new Restores();
        CyclicBarrier both = new CyclicBarrier(2);
        AtomicInteger under = new AtomicInteger();
        MillraceException damaged = MillraceException.external(SqlState.DATA_CORRUPTED, "no");
        restores.add(() -> {
            meet(both);
            throw damaged;
        });
        restores.add(() -> {
            under.incrementAndGet();
            meet(both);
            under.decrementAndGet();
        });
        assertSame(damaged, assertThrows(MillraceException.class, () -> restores.run(2, others)));
        assertEquals(0, under.get());
    }

    @Test
    void withoutAThreadToHelpAllIsDoneAndSaid() {
        Restores restores = new Restores();
        AtomicInteger done = new AtomicInteger();
        restores.add(done::incrementAndGet);
        restores.add(done::incrementAndGet);
        assertThrows(
                OutOfMemoryError.class,
                () -> restores.run(2, work -> {
                    throw new OutOfMemoryError("unable to create native thread");
                }));
        assertEquals(2, done.get());
    }
}
