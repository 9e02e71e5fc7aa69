package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Every answer at every checked point equals the batch answer. {@code -Dmillrace.random.queries=N} sets how many queries
 * (1,000), {@code -Dmillrace.random.seed=S} the seed of the first round, which a failure prints.
 */
class RandomQueriesTest {
    private static final int QUERIES = Integer.getInteger("millrace.random.queries", 1000);
    private static final long SEED = Long.getLong("millrace.random.seed", 1);
    private static final int QUERIES_PER_ROUND = 10;

    @Test
    void randomQueriesGiveTheOraclesAnswersAtEveryCheckedPoint() {
        Map<String, Integer> refusals = new TreeMap<>();
        for (long round = 0; round * QUERIES_PER_ROUND < QUERIES; round++) {
            try (RandomRound each = new RandomRound(SEED + round)) {
                each.run(QUERIES_PER_ROUND);
                each.refusals().forEach((message, count) -> refusals.merge(message, count, Integer::sum));
            }
        }
        refusals.forEach((message, count) -> System.out.println(count + " random queries were refused: " + message));
        int refused = refusals.values().stream().mapToInt(Integer::intValue).sum();
        int asked = 3 * QUERIES; // over a stream, over a table, pulled
        assertTrue(refused * 10 <= asked, refused + " of " + asked + " queries were refused as not available");
    }
}
