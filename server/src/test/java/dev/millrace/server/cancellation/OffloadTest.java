package dev.millrace.server.cancellation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.interrupt.Turns;
import dev.millrace.server.heap.HeapShare;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.time.OwnThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class OffloadTest {
    private static final String LONG = "SELECT 1".repeat(Offload.LONG_CHARACTERS);
    private static final int MANY = 64; // works that may be left at a time

    private final Turns turns = new Turns(1);
    private final AtomicInteger coldSteps = new AtomicInteger();
    private final HeapShare room = new HeapShare("statements", 4 << 20);
    private final OffloadThreads threads = new OffloadThreads(turns, room, coldSteps);
    private final Offload offload = new Offload(threads);
    private final Cancellation cancellation = new Cancellation(turns);

    @AfterEach
    void close() {
        threads.close();
    }

    @Test
    void shortStatementsStayOnTheirThread() {
        offload.begins("SELECT 1");
        assertSame(Thread.currentThread(), offload.run(Thread::currentThread));
    }

    @Test
    void theFirstStepsAreDoneAsideHoweverShortTheyAre() {
        coldSteps.set(2);
        offload.begins("SELECT 1");
        assertNotSame(Thread.currentThread(), offload.run(Thread::currentThread));
        assertNotSame(Thread.currentThread(), offload.run(Thread::currentThread));
        assertSame(Thread.currentThread(), offload.run(Thread::currentThread));
        assertEquals(0, coldSteps.get());
    }

    @Test
    void longStatementsGetTheResultOfAnotherThreadThatWorksForTheSame() {
        offload.begins(LONG);
        cancellation.run(() -> {
            Interrupt mine = Interrupt.current();
            assertNotSame(Thread.currentThread(), offload.run(Thread::currentThread));
            assertSame(mine, offload.run(Interrupt::current));
            return true;
        });
    }

    @Test
    void failuresAreThrownToWhoWaits() {
        offload.begins(LONG);
        RuntimeException failure = new IllegalStateException("no");
        assertSame(
                failure,
                assertThrows(
                        IllegalStateException.class,
                        () -> offload.run(() -> {
                            throw failure;
                        })));
        assertThrows(
                StackOverflowError.class,
                () -> offload.run(() -> {
                    throw new StackOverflowError();
                }));
        assertEquals(1, offload.run(() -> 1));
    }

    /** As a statement that waits for what a timeout or a cancel has to reach. */
    @Test
    void whatHearsNothingIsLeftAndItsResultDiscarded() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        BlockingQueue<String> discarded = new LinkedBlockingQueue<>();
        MillraceException stopped = stopWhileAtWork(goOn, discarded);
        assertEquals(SqlState.QUERY_CANCELED, stopped.sqlState());
        assertTrue(discarded.isEmpty());
        assertEquals("next", cancellation.run(() -> offload.run(() -> "next")), "the session goes on meanwhile");
        goOn.countDown();
        assertEquals("late", discarded.take());
    }

    @Test
    void whatEndsInTimeTellsItself() throws Exception {
        offload.begins(LONG);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> stopping = stopWhen(begun);
        MillraceException stopped = assertThrows(
                MillraceException.class,
                () -> cancellation.run(() -> offload.run(() -> {
                    begun.countDown();
                    while (true) {
                        Interrupt.checkCurrent();
                        Thread.onSpinWait();
                    }
                })));
        assertEquals(SqlState.QUERY_CANCELED, stopped.sqlState());
        stopping.get();
    }

    /** It may wait for something that only an interrupt ends. */
    @Test
    void whatWaitsIsInterrupted() throws Exception {
        offload.begins(LONG);
        CountDownLatch begun = new CountDownLatch(1);
        BlockingQueue<String> ended = new LinkedBlockingQueue<>();
        CompletableFuture<Void> stopping = stopWhen(begun);
        assertThrows(
                MillraceException.class,
                () -> cancellation.run(() -> offload.run(() -> {
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        ended.add("interrupted");
                        Interrupt.checkCurrent();
                    }
                    return true;
                })));
        stopping.get();
        assertEquals("interrupted", ended.take());
        assertFalse(offload.run(() -> Thread.currentThread().isInterrupted()), "the next work begins anew");
        assertFalse(Thread.currentThread().isInterrupted());
    }

    /** Many statements that are each allowed would be too much together. */
    @Test
    void aStatementOfManyPartsHasRoomOnTheHeapWhileItIsPlanned() {
        offload.begins("SELECT " + "1,".repeat(4_000));
        assertTrue(cancellation.run(() -> offload.run(room::takenBytes)) > 1_000_000);
        assertTrue(room.takenBytes() > 0, "it is planned after it was parsed");
        offload.ends();
        assertEquals(0, room.takenBytes());
        offload.begins("SELECT " + "1,".repeat(400_000));
        assertEquals(room.mostBytes(), cancellation.run(() -> offload.run(room::takenBytes)), "alone");
        offload.ends();
        offload.begins("SELECT '" + "1,".repeat(400_000) + "'");
        assertEquals("one constant", cancellation.run(() -> offload.run(() -> "one constant")));
        offload.ends();
        assertEquals(0, room.takenBytes());
    }

    @Test
    void whatIsLeftHasItsRoomUntilItEnds() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        BlockingQueue<String> discarded = new LinkedBlockingQueue<>();
        stopWhileAtWork("SELECT " + "1,".repeat(4_000), goOn, discarded);
        offload.ends();
        assertTrue(room.takenBytes() > 0);
        goOn.countDown();
        assertEquals("late", discarded.take());
        Eventually.holds("it is given back", () -> room.takenBytes() == 0);
    }

    /** One more than may be left is waited for, and when the others have ended there is room again. */
    @Test
    void onlySomeAreLeftAtATime() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        BlockingQueue<String> discarded = new LinkedBlockingQueue<>();
        for (int i = 0; i < MANY; i++) {
            stopWhileAtWork(goOn, discarded);
        }
        assertFalse(threads.leave());
        goOn.countDown();
        List<String> late = new ArrayList<>();
        while (late.size() < MANY) {
            late.add(discarded.take());
        }
        CountDownLatch goOnAgain = new CountDownLatch(1);
        stopWhileAtWork(goOnAgain, discarded);
        goOnAgain.countDown();
        assertEquals("late", discarded.take());
    }

    /** Else the other thread would wait for its turn until the session's is taken for lost. */
    @Test
    void whoWaitsLetsTheOtherHaveItsTurn() {
        offload.begins(LONG);
        cancellation.run(() -> {
            work();
            long waits = offload.run(() -> {
                work();
                return 1L;
            });
            work();
            return waits;
        });
        assertEquals(0, turns.waiting());
    }

    /** Long enough to need a turn. */
    private static void work() {
        long until = System.nanoTime() + 10_000_000;
        while (System.nanoTime() < until) {
            Interrupt.checkCurrent();
        }
    }

    private MillraceException stopWhileAtWork(CountDownLatch goOn, BlockingQueue<String> discarded) throws Exception {
        return stopWhileAtWork(LONG, goOn, discarded);
    }

    private MillraceException stopWhileAtWork(String text, CountDownLatch goOn, BlockingQueue<String> discarded)
            throws Exception {
        offload.begins(text);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> stopping = stopWhen(begun);
        MillraceException stopped = assertThrows(
                MillraceException.class,
                () -> cancellation.run(() -> offload.run(
                        () -> {
                            begun.countDown();
                            awaitDeaf(goOn);
                            return "late";
                        },
                        discarded::add)));
        stopping.get();
        return stopped;
    }

    private CompletableFuture<Void> stopWhen(CountDownLatch begun) {
        return CompletableFuture.runAsync(
                () -> {
                    awaitDeaf(begun);
                    cancellation.request("statement timeout");
                },
                OwnThread.EACH);
    }

    private static void awaitDeaf(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // deaf
            }
        }
    }
}
