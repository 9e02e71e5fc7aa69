package dev.millrace.interrupt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TurnsTest {
    private final Turns turns = new Turns(1);
    private final AtomicBoolean over = new AtomicBoolean();
    private final List<CompletableFuture<Void>> threads = new ArrayList<>();

    @AfterEach
    void everyThreadEnds() {
        over.set(true);
        threads.forEach(CompletableFuture::join);
        assertEquals(0, turns.waiting());
    }

    @Test
    void whoWorksLongWorksByTurnsAndAllGetOn() {
        AtomicInteger atWork = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<AtomicInteger> looks = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            AtomicInteger own = new AtomicInteger();
            looks.add(own);
            start(interrupt -> {
                workFor(Turns.FREE_MILLIS + 5); // what comes before is free
                while (!over.get()) {
                    interrupt.check();
                    most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                    own.incrementAndGet();
                    workFor(1);
                    atWork.decrementAndGet();
                }
            });
        }
        await(() -> looks.stream().allMatch(own -> own.get() > 20));
        assertTrue(most.get() < 4, "at work at once: " + most); // more than one only where a turn is lost meanwhile
    }

    @Test
    void shortWorkNeverWaits() throws Exception {
        CountDownLatch working = oneThatWorksLong();
        working.await();
        Interrupt interrupt = new Interrupt();
        try (Interrupt.Binding binding = interrupt.bind(turns)) {
            interrupt.check();
            assertEquals(0, turns.waiting());
        }
    }

    /** Else those who wait for the disk with a turn hold up all others, who only want to wait for it, too. */
    @Test
    void whoWaitsForSomethingElseHasNoTurn() {
        Interrupt interrupt = new Interrupt();
        try (Interrupt.Binding binding = interrupt.bind(turns)) {
            workFor(Turns.FREE_MILLIS + 5);
            interrupt.check();
            assertEquals(1, turns.having());
            Interrupt.checkResting();
            assertEquals(0, turns.having());
            interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "enough"));
            assertThrows(MillraceException.class, Interrupt::checkResting);
        }
    }

    @Test
    void whoWaitsIsStoppedAtOnce() {
        oneThatWorksLong();
        Interrupt stopped = new Interrupt();
        CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
            try (Interrupt.Binding binding = stopped.bind(turns)) {
                workFor(Turns.FREE_MILLIS + 5);
                while (true) {
                    stopped.check();
                }
            }
        });
        await(() -> turns.waiting() > 0);
        stopped.stop(MillraceException.user(SqlState.QUERY_CANCELED, "enough"));
        ExecutionException why = assertThrows(ExecutionException.class, () -> waiting.get(30, TimeUnit.SECONDS));
        assertEquals("enough", why.getCause().getMessage());
    }

    @Test
    void aTurnOfOneWhoDoesNotLookIsLost() {
        CountDownLatch holds = new CountDownLatch(1);
        start(interrupt -> {
            workFor(Turns.FREE_MILLIS + 5);
            interrupt.check();
            holds.countDown();
            while (!over.get()) {
                LockSupport.parkNanos(1_000_000); // as one who waits for what another has
            }
        });
        AtomicBoolean gotOn = new AtomicBoolean();
        start(interrupt -> {
            holds.await();
            workFor(Turns.FREE_MILLIS + 5);
            interrupt.check();
            gotOn.set(true);
        });
        await(gotOn::get);
    }

    @Test
    void anInterruptedThreadStaysInterrupted() {
        AtomicBoolean kept = new AtomicBoolean();
        CountDownLatch begun = oneThatWorksLong();
        start(interrupt -> {
            begun.await();
            workFor(Turns.FREE_MILLIS + 5);
            Thread.currentThread().interrupt();
            interrupt.check();
            kept.set(Thread.interrupted());
        });
        await(kept::get);
    }

    /** Has a thread work by turns until the test is over; told when it has its first. */
    private CountDownLatch oneThatWorksLong() {
        CountDownLatch begun = new CountDownLatch(1);
        start(interrupt -> {
            workFor(Turns.FREE_MILLIS + 5);
            interrupt.check();
            begun.countDown();
            while (!over.get()) {
                interrupt.check();
            }
        });
        return begun;
    }

    private interface Work {
        void run(Interrupt interrupt) throws Exception;
    }

    private void start(Work work) {
        threads.add(CompletableFuture.runAsync(
                () -> {
                    Interrupt interrupt = new Interrupt();
                    try (Interrupt.Binding binding = interrupt.bind(turns)) {
                        work.run(interrupt);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                task -> new Thread(task).start()));
    }

    private static void workFor(long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(1_000_000);
        }
    }
}
