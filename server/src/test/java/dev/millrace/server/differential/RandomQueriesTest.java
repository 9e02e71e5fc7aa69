package dev.millrace.server.differential;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.differential.RandomQueries.Generated;
import dev.millrace.server.differential.RandomQueries.Kept;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every answer at every checked point equals the batch answer. Half of the queries are variations of what users write
 * ({@link RandomQueries}), half are drawn from the whole grammar ({@link RandomGrammar}); one that fails is made smaller, and the
 * others go on. {@code -Dmillrace.random.queries=N} sets how many queries
 * (60), {@code -Dmillrace.random.seed=S} the seed of the first round, which a failure prints,
 * {@code -Dmillrace.random.threads=T} how many rounds run at a time (one).
 */
@Tag("long")
class RandomQueriesTest {
    private static final int QUERIES = Integer.getInteger("millrace.random.queries", 60);
    private static final long SEED = Long.getLong("millrace.random.seed", 1);
    private static final int THREADS = Integer.getInteger("millrace.random.threads", 1);
    private static final int QUERIES_PER_ROUND = 10;
    private static final int QUERIES_PER_LINE = 1000;
    private static final List<Kept> KEPT =
            List.of(Kept.PLAIN, Kept.PLAIN, Kept.PLAIN, Kept.PLAIN, Kept.PLAIN, Kept.IN_TWO, Kept.ALTERED, Kept.PACED);

    @Test
    void randomQueriesGiveTheOraclesAnswersAtEveryCheckedPoint() throws InterruptedException {
        List<Future<Map<String, Integer>>> rounds = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        Map<String, Integer> refusals = new TreeMap<>();
        AssertionError disagreements = new AssertionError("random queries disagree with the oracle");
        try {
            for (long round = 0; round * QUERIES_PER_ROUND < QUERIES; round++) {
                long seed = SEED + round;
                rounds.add(threads.submit(() -> refusals(seed)));
            }
            for (int round = 0; round < rounds.size(); round++) {
                try {
                    rounds.get(round).get().forEach((message, count) -> refusals.merge(message, count, Integer::sum));
                } catch (ExecutionException e) {
                    disagreements.addSuppressed(e.getCause());
                    System.out.println("ERROR in random queries: " + e.getCause());
                }
                int done = (round + 1) * QUERIES_PER_ROUND;
                if (done % QUERIES_PER_LINE == 0) {
                    System.out.printf(
                            "%,d of %,d random queries ran, %d disagreed, seeds %d to %d%n",
                            done, QUERIES, disagreements.getSuppressed().length, SEED, SEED + round);
                }
            }
        } finally {
            threads.shutdownNow();
        }
        if (disagreements.getSuppressed().length > 0) {
            throw disagreements;
        }
        refusals.forEach((message, count) -> System.out.println(count + " random queries were refused: " + message));
        int refused = refusals.values().stream().mapToInt(Integer::intValue).sum();
        int asked = 3 * QUERIES; // over a stream, over a table, pulled
        assertTrue(refused * 10 <= asked, refused + " of " + asked + " queries were refused as not available");
    }

    private static Map<String, Integer> refusals(long seed) {
        Function<Chance, Generated> generator = seed % 2 == 0
                ? chance -> new RandomQueries(chance).next()
                : chance -> Generated.of(new RandomGrammar(chance).next()).kept(chance.of(KEPT));
        List<Chance> chances = new ArrayList<>();
        List<Generated> queries = new ArrayList<>();
        for (int number = 0; number < QUERIES_PER_ROUND; number++) {
            Chance chance = new Chance(seed * QUERIES_PER_ROUND + number);
            chances.add(chance);
            queries.add(generator.apply(chance));
        }
        try (RandomRound round = new RandomRound(seed)) {
            round.run(queries);
            return round.refusals();
        } catch (RandomRound.Disagreement e) {
            throw new Shrinking(seed, generator, chances.get(e.number()).made(), e).run();
        }
    }
}
