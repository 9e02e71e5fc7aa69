package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Every answer at every checked point equals the batch answer. {@code -Dmillrace.random.queries=N} sets how many queries
 * (1,000), {@code -Dmillrace.random.seed=S} the seed of the first round, which a failure prints,
 * {@code -Dmillrace.random.threads=T} how many rounds run at a time (one).
 */
class RandomQueriesTest {
    private static final int QUERIES = Integer.getInteger("millrace.random.queries", 1000);
    private static final long SEED = Long.getLong("millrace.random.seed", 1);
    private static final int THREADS = Integer.getInteger("millrace.random.threads", 1);
    private static final int QUERIES_PER_ROUND = 10;
    private static final int QUERIES_PER_LINE = 1000;

    @Test
    void randomQueriesGiveTheOraclesAnswersAtEveryCheckedPoint() throws InterruptedException {
        List<Future<Map<String, Integer>>> rounds = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        Map<String, Integer> refusals = new TreeMap<>();
        try {
            for (long round = 0; round * QUERIES_PER_ROUND < QUERIES; round++) {
                long seed = SEED + round;
                rounds.add(threads.submit(() -> refusals(seed)));
            }
            for (int round = 0; round < rounds.size(); round++) {
                outcome(rounds.get(round)).forEach((message, count) -> refusals.merge(message, count, Integer::sum));
                int done = (round + 1) * QUERIES_PER_ROUND;
                if (done % QUERIES_PER_LINE == 0) {
                    System.out.printf(
                            "%,d of %,d random queries agree, seeds %d to %d%n", done, QUERIES, SEED, SEED + round);
                }
            }
        } finally {
            threads.shutdownNow();
        }
        refusals.forEach((message, count) -> System.out.println(count + " random queries were refused: " + message));
        int refused = refusals.values().stream().mapToInt(Integer::intValue).sum();
        int asked = 3 * QUERIES; // over a stream, over a table, pulled
        assertTrue(refused * 10 <= asked, refused + " of " + asked + " queries were refused as not available");
    }

    private static Map<String, Integer> refusals(long seed) {
        try (RandomRound round = new RandomRound(seed)) {
            round.run(QUERIES_PER_ROUND);
            return round.refusals();
        }
    }

    private static Map<String, Integer> outcome(Future<Map<String, Integer>> round) throws InterruptedException {
        try {
            return round.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Error error ? error : new AssertionError(e.getCause());
        }
    }
}
