package dev.millrace.server.heap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.testing.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HeapShareTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    private final HeapShare share = new HeapShare("plans", 100);

    private CompletableFuture<HeapShare.Held> waiting(long bytes, Queue<Long> served) {
        int before = share.waiting();
        CompletableFuture<HeapShare.Held> held = new CompletableFuture<>();
        new Thread(() -> {
                    HeapShare.Held got = share.await(bytes, LONG);
                    served.add(bytes);
                    held.complete(got);
                })
                .start();
        Eventually.holds("it waits", () -> share.waiting() > before || held.isDone());
        return held;
    }

    @Test
    void whoFindsNoRoomWaitsInTurn() throws Exception {
        HeapShare.Held first = share.await(60, LONG);
        Queue<Long> served = new ConcurrentLinkedQueue<>();
        CompletableFuture<HeapShare.Held> large = waiting(90, served);
        CompletableFuture<HeapShare.Held> small = waiting(20, served);
        assertTrue(share.tryTake(1).isEmpty(), "others wait, who would be passed over");
        first.close();
        first.close();
        HeapShare.Held got = large.get();
        assertEquals(List.of(90L), List.copyOf(served));
        got.close();
        small.get().close();
        assertEquals(0, share.takenBytes());
        assertEquals(0, share.waiting());
    }

    @Test
    void whoAsksForMoreThanThereCanBeIsAlone() {
        HeapShare.Held all = share.await(1_000, LONG);
        assertEquals(100, share.takenBytes());
        all.close();
        share.await(1, LONG);
        MillraceException late = assertThrows(MillraceException.class, () -> share.await(1_000, Duration.ofMillis(1)));
        assertEquals(SqlState.OUT_OF_MEMORY, late.sqlState());
        assertTrue(late.getMessage().contains("plans may take"), late.getMessage());
        share.await(99, LONG).close();
        assertEquals(1, share.takenBytes());
        assertEquals(0, share.waiting());
    }

    @Test
    void whoIsStoppedWaitsNoLonger() throws Exception {
        share.await(100, LONG);
        Interrupt interrupt = new Interrupt();
        CompletableFuture<MillraceException> ended = new CompletableFuture<>();
        new Thread(() -> {
                    try (Interrupt.Binding binding = interrupt.bind()) {
                        share.await(1, LONG);
                    } catch (MillraceException e) {
                        ended.complete(e);
                    }
                })
                .start();
        Eventually.holds("it waits", () -> share.waiting() == 1);
        interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "timeout"));
        assertEquals(SqlState.QUERY_CANCELED, ended.get().sqlState());
        assertEquals(0, share.waiting());
    }

    /** Whatever comes and goes, what is taken is what is kept, some steps more, and nothing is left. */
    @Test
    void whatASessionKeepsIsCountedInSteps() {
        HeapShare large = new HeapShare("statements", 100 << 20);
        SplittableRandom random = new SplittableRandom(7);
        try (KeptHeap kept = new KeptHeap(large)) {
            List<Long> sizes = new ArrayList<>();
            long sum = 0;
            long refused = 0;
            for (int i = 0; i < 100_000; i++) {
                if (sizes.isEmpty() || random.nextInt(100) < (i / 10_000 % 2 == 0 ? 70 : 30)) {
                    long bytes = random.nextInt(50) == 0 ? random.nextLong(3 << 20) : random.nextLong(2_000);
                    try {
                        kept.keep(bytes);
                        sizes.add(bytes);
                        sum += bytes;
                    } catch (MillraceException e) {
                        assertEquals(SqlState.OUT_OF_MEMORY, e.sqlState());
                        refused++;
                    }
                } else {
                    long bytes = sizes.remove(random.nextInt(sizes.size()));
                    kept.forget(bytes);
                    sum -= bytes;
                }
                long taken = large.takenBytes();
                assertTrue(taken >= sum - KeptHeap.FREE_BYTES, taken + " for " + sum);
                assertTrue(taken <= sum + 3 * KeptHeap.STEP_BYTES, taken + " for " + sum);
            }
            assertTrue(refused > 0);
        }
        assertEquals(0, large.takenBytes());
    }

    @Test
    void aStatementHasAsManyPartsAsTheParserReads() {
        assertEquals(0, StatementSize.parts(" \n -- nothing 1, 2\n /* 1, 2 */ "));
        assertEquals(6, StatementSize.parts("SELECT a1, 10.5 FROM \"some, table\"" + "-- b"));
        assertEquals(5, StatementSize.parts("INSERT '1, 2, 3' (\"a\")"));
        assertEquals(1, StatementSize.parts("'never ends, 1, 2"));
        assertEquals(4, StatementSize.parts("a-b/*" + "x" + "*/-"));
        assertEquals(0, StatementSize.planned("1,".repeat(1_000)));
        assertTrue(StatementSize.planned("1,".repeat(10_000)) > StatementSize.planned("'" + "1,".repeat(10_000) + "'"));
    }
}
