package dev.millrace.server.cancellation;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.interrupt.Turns;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CancellationTest {
    private final Cancellation cancellation = new Cancellation(new Turns(1));

    @Test
    void aStepThatWorksWithoutWaitingIsStoppedWithTheReason() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Thread canceller = new Thread(() -> {
            try {
                begun.await();
            } catch (InterruptedException e) {
                return;
            }
            cancellation.request("statement timeout");
        });
        canceller.start();
        MillraceException why = assertThrows(
                MillraceException.class,
                () -> cancellation.run(() -> {
                    Interrupt interrupt = Interrupt.current();
                    begun.countDown();
                    while (true) {
                        interrupt.check();
                    }
                }));
        canceller.join();
        assertEquals("canceling statement due to statement timeout", why.getMessage());
    }

    @Test
    void theNextStepIsNotStoppedByARequestForTheLast() {
        assertThrows(
                MillraceException.class,
                () -> cancellation.run(() -> {
                    cancellation.request("user request");
                    Interrupt.checkCurrent();
                    return true;
                }));
        cancellation.request("user request"); // nothing is under way
        assertDoesNotThrow(() -> cancellation.run(() -> {
            Interrupt.checkCurrent();
            return true;
        }));
    }

    @Test
    void whatALibraryMakesOfTheInterruptIsStillCalledByItsReason() {
        MillraceException why = assertThrows(
                MillraceException.class,
                () -> cancellation.run(() -> {
                    cancellation.request("user request");
                    try {
                        Interrupt.checkCurrent();
                    } catch (MillraceException e) {
                        throw new IllegalStateException("while applying a rule", e);
                    }
                    return true;
                }));
        assertEquals("canceling statement due to user request", why.getMessage());
    }

    @Test
    void aRequestBetweenTwoStepsOfAStatementStopsTheNext() {
        cancellation.begins();
        cancellation.run(() -> "parsed");
        cancellation.request("statement timeout"); // nothing runs, but the statement has not ended
        MillraceException why = assertThrows(MillraceException.class, () -> cancellation.run(() -> "executed"));
        assertEquals("canceling statement due to statement timeout", why.getMessage());
        cancellation.ends();
        assertEquals("another", cancellation.run(() -> "another"));
    }

    /** As a timeout at the end of a text's parsing, which nothing looks at any more. */
    @Test
    void aRequestThatAStepDidNotHearStopsTheNextOfTheStatement() {
        cancellation.begins();
        cancellation.run(() -> {
            cancellation.request("statement timeout");
            return "parsed";
        });
        assertThrows(MillraceException.class, () -> cancellation.run(() -> "described"));
        cancellation.run(() -> {
            cancellation.request("user request");
            return "executed";
        });
        assertFalse(Thread.currentThread().isInterrupted());
        cancellation.ends();
        assertEquals("another", cancellation.run(() -> "another"));
    }

    @Test
    void aRequestAfterAStatementIsNotForTheNext() {
        cancellation.begins();
        cancellation.run(() -> "executed");
        cancellation.request("user request");
        cancellation.ends(); // before another step
        cancellation.begins();
        assertEquals("another", cancellation.run(() -> "another"));
        cancellation.request("user request");
        cancellation.begins(); // of a client that sends one after the other
        assertEquals("third", cancellation.run(() -> "third"));
    }

    @Test
    void whatAClientMayFetchMoreOfIsStoppedOnlyByAStatementUnderWayOrTheEndOfTheSession() {
        List<String> seen = new ArrayList<>();
        cancellation.begins();
        cancellation.run(() -> true);
        cancellation.open(why -> seen.add(why.getMessage()));
        cancellation.ends();
        cancellation.request("user request"); // the client has the word
        assertEquals(List.of(), seen);
        cancellation.goesOn();
        cancellation.request("user request");
        assertEquals(List.of("canceling statement due to user request"), seen);
        cancellation.ends();
        cancellation.end("the end of the session");
        assertEquals(2, seen.size());
    }
}
