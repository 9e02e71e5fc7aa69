package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
        CyclicBarrier three = new CyclicBarrier(3); // passed only by three at a time
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Set<Interrupt> interrupts = ConcurrentHashMap.newKeySet();
        Interrupt interrupt = new Interrupt();
        try (Interrupt.Binding binding = interrupt.bind()) {
            Restores restores = Restores.ofCaller(3, others);
            for (int i = 0; i < 9; i++) {
                restores.add(() -> {
                    threads.add(Thread.currentThread());
                    interrupts.add(Interrupt.current());
                    meet(three);
                });
            }
            restores.finish();
        }
        assertEquals(3, threads.size());
        assertTrue(threads.contains(Thread.currentThread()));
        assertEquals(Set.of(interrupt), interrupts);
    }

    @Test
    void whatFailsIsThrownWhenNobodyIsAtItAnyMore() {
        Restores restores = Restores.ofCaller(2, others);
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
        assertSame(damaged, assertThrows(MillraceException.class, restores::finish));
        assertEquals(0, under.get());
    }

    @Test
    void withoutAThreadToHelpAllIsDoneByWhoFinishes() {
        Restores restores = Restores.ofCaller(2, work -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        AtomicInteger done = new AtomicInteger();
        restores.add(done::incrementAndGet);
        restores.add(done::incrementAndGet);
        restores.finish();
        assertEquals(2, done.get());
    }

    @Test
    void whatSomebodyNeedsIsReadFirstAndWhatIsCancelledIsNeverReadAndFailsNobody() {
        Restores restores = Restores.ofNobody(0, others);
        List<Integer> read = new CopyOnWriteArrayList<>();
        List<Restores.Part> parts = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            parts.add(restores.add(() -> read.add(number)));
        }
        parts.get(2).await();
        parts.get(2).await();
        parts.get(1).cancel();
        parts.get(2).cancel();
        assertThrows(MillraceException.class, parts.get(1)::await);
        restores.finish();
        assertEquals(List.of(2, 0, 3), read);
    }

    @Test
    void whoWaitsForAPartCanBeStoppedAndThePartIsReadAllTheSame() throws Exception {
        Restores restores = Restores.ofNobody(0, others);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        Restores.Part part = restores.add(() -> {
            begun.countDown();
            try {
                goesOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            done.incrementAndGet();
        });
        Interrupt waiter = new Interrupt();
        Future<?> waits = others.submit(() -> {
            try (Interrupt.Binding binding = waiter.bind()) {
                part.await();
            }
        });
        begun.await();
        waiter.stop(MillraceException.user(SqlState.QUERY_CANCELED, "enough"));
        assertThrows(ExecutionException.class, waits::get);
        assertEquals(0, done.get());
        goesOn.countDown();
        restores.finish();
        assertEquals(1, done.get());
    }

    @Test
    void whoNeedsAPartReadsItWhereThereIsNoThreadForIt() {
        Restores restores = Restores.ofNobody(0, work -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        AtomicInteger done = new AtomicInteger();
        restores.add(done::incrementAndGet).await();
        assertEquals(1, done.get());
        restores.finish();
    }

    @Test
    void whatIsCancelledWhileSomebodyIsAtItEndsBeforeThatReturns() throws Exception {
        Restores restores = Restores.ofNobody(1, others);
        CountDownLatch begun = new CountDownLatch(1);
        AtomicInteger under = new AtomicInteger();
        Restores.Part part = restores.add(() -> {
            under.incrementAndGet();
            begun.countDown();
            try {
                while (true) {
                    Interrupt.checkCurrent();
                    Thread.onSpinWait();
                }
            } finally {
                under.decrementAndGet();
            }
        });
        begun.await();
        part.cancel();
        assertEquals(0, under.get());
        restores.finish();
    }
}
