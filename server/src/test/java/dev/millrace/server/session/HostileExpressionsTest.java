package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.millrace.error.MillraceException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Expressions made to take long, to nest deeply or to overflow end: by themselves, or when they are cancelled; and none
 * ends with an internal error. {@code -Dmillrace.hostile.runs} says how many, {@code -Dmillrace.hostile.seed} from which.
 */
@Tag("long")
class HostileExpressionsTest {
    private static final int RUNS = Integer.getInteger("millrace.hostile.runs", 100);
    private static final long SEED = Long.getLong("millrace.hostile.seed", 1);
    private static final long PATIENCE_MILLIS = 2_000; // then it is cancelled
    private static final long END_MILLIS = 60_000; // what does not end then never does
    private static final int SHOWN = 500;

    @Test
    void everyExpressionEnds() throws Exception {
        ExecutorService client = Executors.newSingleThreadExecutor(run -> {
            Thread thread = new Thread(null, run, "hostile client", 4L << 20);
            thread.setDaemon(true);
            return thread;
        });
        int cancelled = 0;
        try (TestDatabase db = new TestDatabase()) {
            HostileExpressions.TABLE.forEach(db::run);
            for (int run = 0; run < RUNS; run++) {
                String query = new HostileExpressions(SEED + run).query();
                Future<List<String>> answer = client.submit(() -> db.rows(query));
                try {
                    answer.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    cancelled++;
                    db.session().cancel("statement timeout");
                    ended(answer, what(run, query));
                } catch (ExecutionException e) {
                    refused(e, what(run, query));
                }
            }
            assertEquals(List.of("1"), client.submit(() -> db.rows("SELECT 1")).get(END_MILLIS, TimeUnit.MILLISECONDS));
        } finally {
            client.shutdownNow();
        }
        System.out.println(RUNS + " hostile expressions, " + cancelled + " cancelled");
    }

    @Test
    void aSleepIsCancelled() throws Exception {
        ExecutorService client = Executors.newSingleThreadExecutor();
        try (TestDatabase db = new TestDatabase()) {
            Future<List<String>> answer = client.submit(() -> db.rows("SELECT pg_sleep(1000000)"));
            boolean ended = false;
            while (!ended) { // a request before the statement has begun has no effect
                db.session().cancel("statement timeout");
                try {
                    answer.get(20, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    continue;
                } catch (ExecutionException e) {
                    refused(e, "a sleep");
                }
                ended = true;
            }
            assertEquals(List.of("2"), client.submit(() -> db.rows("SELECT 2")).get(END_MILLIS, TimeUnit.MILLISECONDS));
        } finally {
            client.shutdownNow();
        }
    }

    private static String what(int run, String query) {
        return "seed " + (SEED + run) + ": " + query.substring(0, Math.min(SHOWN, query.length()));
    }

    private static void ended(Future<List<String>> answer, String what) throws Exception {
        try {
            answer.get(END_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("does not end when it is cancelled: " + what);
        } catch (ExecutionException e) {
            refused(e, what);
        }
    }

    private static void refused(ExecutionException e, String what) {
        if (!(e.getCause() instanceof MillraceException error)) {
            throw new AssertionError(what, e.getCause());
        }
        assertNotEquals("XX000", error.sqlState().code(), () -> what + ": " + error.getMessage());
    }
}
