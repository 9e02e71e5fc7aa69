package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.time.Eventually;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("long")
@Timeout(120)
final class HeapWatchTest {
    private static final long MB = 1 << 20;
    private static final String GREEDY = IntStream.range(0, 50_000)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(",", "SELECT 1 WHERE 1 IN (", ")"));

    private final TestDatabase db = new TestDatabase();
    private final Session modest = db.database().session();

    private static CompletableFuture<Long> run(Session session, String sql) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try (StatementResults results = session.execute(sql, List.of())) {
                        long count = 0;
                        while (results.hasNext()) {
                            if (results.next() instanceof StatementResult.Rows rows) {
                                while (rows.next()
                                        .map(batch -> {
                                            batch.close();
                                            return true;
                                        })
                                        .isPresent()) {
                                    count++;
                                }
                            }
                        }
                        return count;
                    }
                },
                work -> new Thread(work).start());
    }

    @Test
    void whoTakesMostIsStoppedWhenLittleRoomIsLeftAndNobodyElse() throws Exception {
        try (db;
                modest) {
            CompletableFuture<Long> sleeping = run(modest, "SELECT pg_sleep(100)");
            Eventually.holds("it sleeps", () -> modest.steps().current().isPresent());
            CompletableFuture<Long> greedy = run(db.session(), GREEDY);
            while (!greedy.isDone()) {
                db.database().heapWatch().look(9 * MB, 10 * MB);
            }
            MillraceException why = (MillraceException)
                    assertThrows(ExecutionException.class, greedy::get).getCause();
            assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
            assertTrue(
                    why.getMessage()
                            .startsWith(
                                    "out of memory on the Java heap: of 10 MB there are 9 MB in use, and this statement"),
                    why::getMessage);
            assertTrue(why.hint().orElseThrow().contains("-Xmx"));
            assertFalse(sleeping.isDone());
            assertEquals("[1]", db.rows("SELECT 1").toString()); // the session goes on
            modest.cancel();
            assertThrows(ExecutionException.class, sleeping::get);
        }
    }

    @Test
    void withRoomNobodyIsStopped() throws Exception {
        try (db;
                modest) {
            CompletableFuture<Long> greedy = run(db.session(), GREEDY);
            while (!greedy.isDone()) {
                db.database().heapWatch().look(7 * MB, 10 * MB);
            }
            assertEquals(1, greedy.get());
        }
    }

    @Test
    void whoTakesLittleIsNotToBlame() throws Exception {
        try (db;
                modest) {
            CompletableFuture<Long> sleeping = run(modest, "SELECT pg_sleep(100)");
            Eventually.holds("it sleeps", () -> modest.steps().current().isPresent());
            for (int i = 0; i < 1_000; i++) {
                db.database().heapWatch().look(99 * MB, 100 * MB);
            }
            assertFalse(sleeping.isDone());
            modest.cancel();
            assertThrows(ExecutionException.class, sleeping::get);
        }
    }
}
